"""`from_jax`: a JAX function that carries its derivatives into every host.

Its rules are JAX's own AD. Pullback and pushforward are `from_jax` functions again, so
any order is there, in any host; inside JAX the function is simply called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from itertools import compress
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

import rules_core as rc
from rules_core.extend import flatten, leaf_flags, of_moving, unflatten
from rules_jax._values.exchange import give, take, take_large
from rules_jax._values.layouts import PytreeOpener
from rules_jax._values.leaves import Fixed

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


rc.non_differentiable(from_jax)  # a program may call it when it is differentiated


@final
class _Foreign(rc.Foreign):
    """A JAX function, its primitive, and the functions that its rules call."""

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """`f` of NumPy arrays, in the precision that they have."""
        leaves: list[Any] = []
        layout = flatten((args, kwargs), leaves, _ARRAYS)
        with _precision(leaves):
            convert = take_large if self.compiled else take
            taken = [convert(x) for x in leaves]  # held until the results are given
            args, kwargs = unflatten(layout, taken)
            found: list[Any] = []
            layout = flatten(self.f(*args, **kwargs), found, _RESULTS)
            return unflatten(layout, give(found))

    @cached_property
    def compiled(self) -> bool:
        """Whether `f` is the work of `jax.jit`, which takes NumPy arrays by itself."""
        return isinstance(self.f, jax.stages.Wrapped) or hasattr(self.f, _COMPILED)

    def shapes(self, *args: Any, **kwargs: Any) -> Any:
        """The shape rule: `jax.eval_shape`."""
        shapes: list[Any] = []
        layout = flatten((args, kwargs), shapes, _SHAPES)
        run = _OnLeaves(self.f, layout)
        given = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in shapes]
        with _precision(given):
            found = jax.eval_shape(run, *given)
        out = [rc.ShapeDtype(x.shape, np.dtype(x.dtype)) for x in found]
        return unflatten(run.result, out)

    def batch(self, size: int, in_batched: Any, *args: Any, **kwargs: Any) -> Any:
        """The batch rule: `jax.vmap`."""
        leaves: list[Any] = []
        layout = flatten((args, kwargs), leaves, _ARRAYS)
        run = _OnLeaves(self.f, layout)
        axes = [0 if x else None for x in leaf_flags(layout, (in_batched, False))]
        with _precision(leaves):
            taken = list(map(take, leaves))  # held until the results are given
            found = list(jax.vmap(run, in_axes=axes, axis_size=size)(*taken))
            return unflatten(run.result, give(found)), self.batched(run.result)

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
        return flatten(primal, leaves, _TANGENTS)

    def is_static(self, leaf: Any) -> bool:
        """Whether a leaf stands for a static field of a registered class."""
        return isinstance(leaf, Fixed)


def _moving(x: Any) -> Any:
    return x if rc.is_array(x) and rc.Foreign.moves(x) else None


def _moving_or_static(x: Any) -> Any:
    if isinstance(x, Fixed):
        return x if rc.Foreign.moves(x.value) else None
    return _moving(x)


_NUMPY = (np.ndarray, np.generic)
_ARRAYS, _SHAPES = PytreeOpener(_NUMPY), PytreeOpener(rc.ShapeDtype)
_RESULTS = PytreeOpener((jax.Array, *_NUMPY, bool, int, float, complex))
_MOVING = PytreeOpener((float, complex), _moving)
_TANGENTS = PytreeOpener((float, complex), _moving_or_static)


class _OnLeaves:
    """A function of the leaves of its arguments, with the leaves of its results.

    Attributes:
        result: The layout of the last result.
    """

    def __init__(self, f: Callable[..., Any], layout: Any) -> None:
        self.f, self.layout, self.result = f, layout, None

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = unflatten(self.layout, leaves)
        found: list[Any] = []
        self.result = flatten(self.f(*args, **kwargs), found, _RESULTS)
        return found


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
        leaves: list[Any] = []
        self.layout = flatten(tuple(args), leaves, _MOVING)
        self.moving = tuple(map(jnp.asarray, leaves))

    def __call__(self, *moving: Any) -> tuple[Any, ...]:
        found: list[Any] = []
        args = unflatten(self.layout, moving)
        flatten(self.f(*args, **self.kwargs), found, _MOVING)
        return tuple(found)


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
        wanted = [ct is not None for ct in cotangents]
        y, transposed = jax.vjp(
            lambda *xs: tuple(compress(flat(*xs), wanted)), *flat.moving
        )
        pairs = zip(compress(cotangents, wanted), y, strict=True)
        given = tuple(_conj(jnp.asarray(ct, x.dtype)) for ct, x in pairs)
        return tuple(map(_conj, transposed(given)))

    return pullback


def _jvp_of(f: Any) -> Callable[..., Any]:
    def pushforward(tangents: Any, args: Any, kwargs: Any) -> Any:
        flat = _Flat(f, args, kwargs)
        active = [t is not None for t in tangents]
        along, xs = of_moving(flat, flat.moving, active)
        pairs = zip(compress(tangents, active), xs, strict=True)
        given = tuple(jnp.asarray(t, x.dtype) for t, x in pairs)
        return jax.jvp(along, xs, given)[1]

    return pushforward
