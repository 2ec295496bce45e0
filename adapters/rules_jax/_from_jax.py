"""`from_jax`: a JAX function that carries its derivatives into every host.

Its rules are JAX's own AD. Pullback and pushforward are `from_jax` functions again, so
any order is there, in any host; inside JAX the function is simply called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_jax._values.exchange import give, take, take_large
from rules_jax._values.layouts import layout_of
from rules_jax._values.leaves import Fixed, Slot, Template

from . import _compat

__all__ = ["from_jax", "native_of"]

_COMPILED = "_compiled_by_rules"


def native_of(primitive: Any) -> Callable[..., Any] | None:
    """The JAX function inside a primitive made by `from_jax`, or None."""
    foreign = rc.Foreign.of(primitive)
    return foreign.f if isinstance(foreign, _Foreign) else None


def from_jax(f: Callable[..., Any]) -> Any:
    """A JAX function as a primitive whose rules are JAX's own derivatives.

    Usable by `rrule`, `frule` and `check_rule`, on NumPy arrays, and in every other
    host; there it runs on the CPU, in the precision of its arguments. Called from there
    it is traced at every call, and its derivatives too, unless it is a function made by
    `jax.jit`: then these are compiled as well.

    Args:
        f: A function of JAX arrays (and pytrees of them, and static values).

    >>> import jax, jax.numpy as jnp, numpy as np
    >>> import rules_core as rc
    >>> from rules_jax import from_jax
    >>> softplus = from_jax(jax.nn.softplus)
    >>> y, pullback = rc.rrule(softplus, np.asarray(0.0))
    >>> float(pullback(np.asarray(1.0))[1])
    0.5
    """
    return _Foreign(f).primitive


@final
class _Foreign(rc.Foreign):
    """A JAX function, its primitive, and the functions that its rules call."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`f` of NumPy arrays, in the precision that they have."""
        leaves, treedef = tree_util.tree_flatten((args, kwargs))
        with _precision(leaves):
            convert = take_large if self.compiled else take
            taken = [convert(x) for x in leaves]  # held until the results are given
            args, kwargs = treedef.unflatten(taken)
            found, treedef = tree_util.tree_flatten(self.f(*args, **kwargs))
            return treedef.unflatten(give(found))

    @cached_property
    def compiled(self) -> bool:
        """Whether `f` is the work of `jax.jit`, which takes NumPy arrays by itself."""
        return isinstance(self.f, jax.stages.Wrapped) or hasattr(self.f, _COMPILED)

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The shape rule: `jax.eval_shape`."""
        leaves, treedef = tree_util.tree_flatten((args, kwargs))
        where = [i for i, x in enumerate(leaves) if isinstance(x, rc.ShapeDtype)]

        def run(*arrays: Any) -> Any:
            full = list(leaves)
            for i, x in zip(where, arrays, strict=True):
                full[i] = x
            args, kwargs = treedef.unflatten(full)
            return self.f(*args, **kwargs)

        given = [jax.ShapeDtypeStruct(leaves[i].shape, leaves[i].dtype) for i in where]
        with _precision(given):
            out = jax.eval_shape(run, *given)
        return jax.tree.map(lambda a: rc.ShapeDtype(a.shape, np.dtype(a.dtype)), out)

    def batch(self, size: int, in_batched: Any, *args: Any, **kwargs: Any) -> Any:
        """The batch rule: `jax.vmap`."""
        axes = jax.tree.map(lambda b: 0 if b else None, in_batched)

        def run(*args: Any) -> Any:
            return self.f(*args, **kwargs)

        with _precision(tree_util.tree_leaves((args, kwargs))):
            args = jax.tree.map(take, args)
            mapped = jax.vmap(run, in_axes=axes, axis_size=size)
            leaves, treedef = tree_util.tree_flatten(mapped(*args))
            flags = treedef.unflatten([True] * len(leaves))
            return treedef.unflatten(give(leaves)), flags

    def vjp(self) -> Callable[..., Any]:
        """By `jax.vjp`, conjugated to the convention of rules."""
        return self._like(_vjp_of(self.f))

    def jvp(self) -> Callable[..., Any]:
        """By `jax.jvp`."""
        return self._like(_jvp_of(self.f))

    def _like(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return _compiled(f) if self.compiled else f

    def layout(self, primal: Any, leaves: list[Any]) -> Any:
        """The layout of a pytree."""
        if _is_plain(primal):  # which an engine can look into
            return super().layout(_in_order(primal), leaves)
        leaves += filter(rc.Foreign.moves, tree_util.tree_leaves(primal))
        return layout_of(_template(primal))


def _is_plain(tree: Any) -> bool:
    """Whether a value is a leaf, or Python's containers of leaves."""
    if type(tree) in (tuple, list):
        return all(map(_is_plain, tree))
    if type(tree) is dict:
        return all(map(_is_plain, tree.values()))
    static = tree is None or isinstance(tree, (int, float, complex, str))
    return static or rc.is_array(tree)


def _in_order(tree: Any) -> Any:
    """Containers with the keys of dicts in JAX's order."""
    if type(tree) in (tuple, list):
        return type(tree)([_in_order(x) for x in tree])
    if type(tree) is dict:
        return {key: _in_order(tree[key]) for key in sorted(tree)}
    return tree


def _template(tree: Any) -> Template:
    leaves, treedef = tree_util.tree_flatten(tree)
    count = 0
    places: list[Slot | Fixed] = []
    for leaf in leaves:
        places.append(Slot(count) if rc.Foreign.moves(leaf) else Fixed(None))
        count += rc.Foreign.moves(leaf)
    return Template(treedef, places)


def _precision(leaves: Iterable[Any]) -> Any:
    """The context that keeps double precision where there is some."""
    wide = any(_is_wide(x.dtype) for x in leaves if hasattr(x, "dtype"))
    return _compat.enable_x64(wide or bool(jax.config.jax_enable_x64))


@cache
def _is_wide(dtype: Any) -> bool:
    name = str(dtype)
    return name.endswith(("64", "128")) and name != "complex64"


class _Flat:
    """A call as a function of its inexact leaves, with its inexact results."""

    def __init__(self, f: Any, args: Any, kwargs: Any) -> None:
        self.f, self.kwargs = f, kwargs
        self.leaves, self.treedef = tree_util.tree_flatten(tuple(args))
        self.where = [i for i, x in enumerate(self.leaves) if rc.Foreign.moves(x)]
        self.moving = tuple(jnp.asarray(self.leaves[i]) for i in self.where)

    def __call__(self, *moving: Any) -> tuple[Any, ...]:
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        out = self.f(*self.treedef.unflatten(leaves), **self.kwargs)
        return tuple(x for x in tree_util.tree_leaves(out) if rc.Foreign.moves(x))


def _compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, compiled for calls of arrays; other arguments may decide about its path."""
    fast = jax.jit(f)

    def run(*args: Any) -> Any:
        leaves = tree_util.tree_leaves(args)
        arrays = all(isinstance(x, (np.ndarray, np.generic, jax.Array)) for x in leaves)
        return fast(*args) if arrays else f(*args)

    setattr(run, _COMPILED, True)
    return run


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _vjp_of(f: Any) -> Callable[..., Any]:
    def pullback(cotangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        y, transposed = jax.vjp(flat, *flat.moving)
        given = tuple(
            _conj(jnp.asarray(ct, x.dtype)) for ct, x in zip(cotangents, y, strict=True)
        )
        return tuple(map(_conj, transposed(given)))

    return pullback


def _jvp_of(f: Any) -> Callable[..., Any]:
    def pushforward(tangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        given = tuple(
            jnp.asarray(t, x.dtype) for t, x in zip(tangents, flat.moving, strict=True)
        )
        return jax.jvp(flat, flat.moving, given)[1]

    return pushforward
