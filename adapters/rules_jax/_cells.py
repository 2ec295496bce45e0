"""The host matrix of JAX: the combinations of transformations that `check_rule` runs.

Cotangents arrive in the convention of rules_core and are conjugated for JAX here, as
the adapter conjugates them back: an error in either place shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import tree_util

from . import _compat

__all__ = ["cells"]


def cells(level: str) -> Iterator[Any]:
    """Cells of a level: `"quick"` compiles nothing, `"full"` is everything."""
    from rules_core.testing import Cell

    yield Cell("eager", "value", _exact(_value))
    yield Cell("jvp", "jvp", _exact(_jvp))
    yield Cell("vjp", "vjp", _exact(_vjp))
    yield Cell("jvp(vjp)", "second", _exact(_forward_over_reverse))
    yield Cell("vmap", "batched", _exact(_batched))
    if level != "full":
        return
    yield Cell("jit", "value", _exact(_value, jax.jit))
    yield Cell("jit(jvp)", "jvp", _exact(_jvp, jax.jit))
    yield Cell("linearize", "jvp", _exact(_linearize))
    yield Cell("jit(vjp)", "vjp", _exact(_vjp, jax.jit))
    yield Cell("vjp(checkpoint)", "vjp", _exact(_checkpointed))
    yield Cell("vjp(scan)", "vjp", _exact(_scanned))
    yield Cell("transpose(linearize)", "vjp", _exact(_transposed))
    yield Cell("jit(jvp(vjp))", "second", _exact(_forward_over_reverse, jax.jit))
    yield Cell("vjp(jvp)", "second", _exact(_reverse_over_forward))
    yield Cell("vjp(vjp)", "second", _exact(_reverse_over_reverse))
    yield Cell("jvp(jvp)", "second", _exact(_forward_over_forward, jax.jit))
    yield Cell("jit(vmap)", "batched", _exact(_batched, jax.jit))
    yield Cell("vmap(vjp)", "batched_vjp", _exact(_batched_vjp))
    yield Cell("jit(vmap(vjp))", "batched_vjp", _exact(_batched_vjp, jax.jit))


def _same(f: Any) -> Any:
    return f


def _exact(run: Callable[..., Any], wrap: Callable[..., Any] = _same) -> Any:
    """The cell in the precision of its primals."""

    def exact(*args: Any) -> Any:
        wide = any(_is_wide(x) for x in tree_util.tree_leaves(args[1:]))
        with _compat.enable_x64(wide or bool(jax.config.jax_enable_x64)):
            return run(wrap, *args)

    return exact


def _is_wide(x: Any) -> bool:
    dtype = getattr(x, "dtype", None)
    return dtype in (np.float64, np.complex128) or isinstance(x, float)


class _Flat:
    """A call as a function of its differentiable leaves, with flat results."""

    def __init__(self, f: Any, primals: Any, kwargs: dict[str, Any]) -> None:
        self.f, self.kwargs = f, kwargs
        leaves, self.treedef = tree_util.tree_flatten(tuple(primals))
        self.leaves = [_move(x) for x in leaves]
        self.where = [i for i, x in enumerate(self.leaves) if _moves(x)]
        self.moving = [self.leaves[i] for i in self.where]
        self.out: Any = None

    def full(self, *moving: Any) -> list[Any]:
        """Every result."""
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        out = self.f(*self.treedef.unflatten(leaves), **self.kwargs)
        flat, self.out = tree_util.tree_flatten(out)
        self.smooth = [_moves(jnp.asarray(x)) for x in flat]
        return [jnp.asarray(x) for x in flat]

    def __call__(self, *moving: Any) -> list[Any]:
        """The results that have a tangent."""
        return [x for x in self.full(*moving) if _moves(x)]

    def given(self, tangents: Any) -> list[Any]:
        """Tangents of the differentiable leaves."""
        flat = self.treedef.flatten_up_to(tuple(tangents))
        return [jnp.asarray(flat[i], dtype=self.leaves[i].dtype) for i in self.where]

    def cotangents(self, cotangents: Any) -> list[Any]:
        """Cotangents of the differentiable results, as JAX has them."""
        shapes = jax.eval_shape(self.full, *self.moving)
        flat = self.out.flatten_up_to(cotangents)
        return [
            jnp.conj(jnp.asarray(ct, dtype=aval.dtype))
            for ct, aval in zip(flat, shapes, strict=True)
            if jnp.issubdtype(aval.dtype, jnp.inexact)
        ]

    def inputs(self, found: Sequence[Any]) -> tuple[Any, ...]:
        """Cotangents per primal, in the convention of rules_core."""
        flat: list[Any] = [None] * len(self.leaves)
        for i, x in zip(self.where, found, strict=True):
            flat[i] = np.asarray(jnp.conj(x))
        return tuple(self.treedef.unflatten(flat))

    def outputs(self, found: Sequence[Any]) -> Any:
        """Tangents of the results, None where they have none."""
        rest = iter(found)
        flat = [np.asarray(next(rest)) if smooth else None for smooth in self.smooth]
        return self.out.unflatten(flat)


def _move(x: Any) -> Any:
    is_data = isinstance(x, (np.ndarray, np.generic, float, complex))
    return jnp.asarray(x) if is_data else x


def _moves(x: Any) -> bool:
    return isinstance(x, jax.Array) and bool(jnp.issubdtype(x.dtype, jnp.inexact))


def _value(wrap: Any, f: Any, primals: Any, kwargs: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    found = wrap(flat.full)(*flat.moving)
    return flat.out.unflatten([np.asarray(x) for x in found])


def _jvp(wrap: Any, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    run = wrap(lambda x, dx: jax.jvp(flat, x, dx)[1])
    return flat.outputs(run(flat.moving, flat.given(tangents)))


def _linearize(_: Any, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    _, linear = jax.linearize(flat, *flat.moving)
    return flat.outputs(linear(*flat.given(tangents)))


def _pullback(f: Any, x: Sequence[Any], ct: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(jax.vjp(f, *x)[1](list(ct)))


def _vjp(wrap: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    run = wrap(lambda x, ct: _pullback(flat, x, ct))
    return flat.inputs(run(flat.moving, flat.cotangents(cotangents)))


def _checkpointed(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    kept = jax.checkpoint(flat.__call__)
    return flat.inputs(_pullback(kept, flat.moving, flat.cotangents(cotangents)))


def _scanned(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)

    def loop(*x: Any) -> list[Any]:
        _, rows = jax.lax.scan(lambda _, __: (None, flat(*x)), None, None, length=1)
        return [row[0] for row in rows]

    return flat.inputs(_pullback(loop, flat.moving, flat.cotangents(cotangents)))


def _transposed(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _Flat(f, primals, kwargs)
    _, linear = jax.linearize(flat, *flat.moving)
    back = jax.linear_transpose(linear, *flat.moving)
    return flat.inputs(back(flat.cotangents(cotangents)))


def _forward_over_reverse(
    wrap: Any, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> Any:
    flat = _Flat(f, primals, kwargs)
    ct = flat.cotangents(cotangents)

    def run(x: Any, dx: Any) -> Any:
        return jax.jvp(lambda *x: _pullback(flat, x, ct), x, dx)[1]

    return flat.inputs(wrap(run)(flat.moving, flat.given(tangents)))


def _inner(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Real inner product of two lists of arrays."""
    terms = [jnp.sum(jnp.real(jnp.conj(x) * y)) for x, y in zip(a, b, strict=True)]
    return sum(terms, jnp.zeros(()))


def _along(
    f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> tuple[_Flat, Callable[[Any], Any]]:
    """`x ↦ ⟨ct, f'(x) dx⟩`, whose gradient is the second derivative of a cell."""
    flat = _Flat(f, primals, kwargs)
    ct = [jnp.conj(x) for x in flat.cotangents(cotangents)]
    dx = flat.given(tangents)
    return flat, lambda x: _inner(ct, jax.jvp(flat, x, dx)[1])


def _reverse_over_forward(
    _: Any, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> Any:
    flat, along = _along(f, primals, kwargs, tangents, cotangents)
    return flat.inputs(jax.grad(along)(flat.moving))


def _forward_over_forward(
    wrap: Any, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> Any:
    flat, along = _along(f, primals, kwargs, tangents, cotangents)
    return flat.inputs(wrap(lambda x: _forward_gradient(along, x))(flat.moving))


def _forward_gradient(f: Callable[[Any], Any], x: Sequence[Any]) -> list[Any]:
    """The gradient of a real function, as `jax.grad` gives it, in forward mode."""

    def slope(i: int, step: Any) -> Any:
        moved = [jnp.zeros_like(leaf) for leaf in x]
        moved[i] = step
        return jax.jvp(f, (list(x),), (moved,))[1]

    return [_slopes(partial(slope, i), leaf) for i, leaf in enumerate(x)]


def _slopes(slope: Callable[[Any], Any], leaf: Any) -> Any:
    units = jnp.eye(leaf.size, dtype=leaf.dtype).reshape(leaf.size, *leaf.shape)
    found = jax.vmap(slope)(units)
    if jnp.iscomplexobj(leaf):
        found = found - 1j * jax.vmap(slope)(1j * units)
    return found.reshape(leaf.shape)


def _reverse_over_reverse(
    _: Any, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> Any:
    flat = _Flat(f, primals, kwargs)
    ct, dx = flat.cotangents(cotangents), flat.given(tangents)

    def along(x: Any) -> Any:
        return _inner([jnp.conj(g) for g in _pullback(flat, x, ct)], dx)

    return flat.inputs(jax.grad(along)(flat.moving))


def _batch(flats: Sequence[_Flat]) -> tuple[list[int], list[Any]]:
    """Every array leaf of a batch of calls, stacked; static ones are the first's."""
    arrays = [i for i, x in enumerate(flats[0].leaves) if isinstance(x, jax.Array)]
    return arrays, [jnp.stack([flat.leaves[i] for flat in flats]) for i in arrays]


def _at(flat: _Flat, arrays: Sequence[int], row: Sequence[Any]) -> _Flat:
    """The same call at one row of a batch."""
    leaves = list(flat.leaves)
    for i, x in zip(arrays, row, strict=True):
        leaves[i] = x
    made = _Flat(flat.f, (), flat.kwargs)
    made.treedef, made.leaves, made.where = flat.treedef, leaves, flat.where
    made.moving = [leaves[i] for i in flat.where]
    return made


def _batched(wrap: Any, f: Any, batch: Sequence[Any], kwargs: Any) -> list[Any]:
    flats = [_Flat(f, primals, kwargs) for primals in batch]
    arrays, stacked = _batch(flats)
    seen: list[Any] = []

    def one(*row: Any) -> list[Any]:
        at = _at(flats[0], arrays, row)
        found = at.full(*at.moving)
        seen.append(at.out)
        return found

    found = wrap(jax.vmap(one))(*stacked)
    return [
        seen[0].unflatten([np.asarray(x[i]) for x in found]) for i in range(len(batch))
    ]


def _batched_vjp(
    wrap: Any, f: Any, batch: Sequence[Any], kwargs: Any, cotangents: Sequence[Any]
) -> list[Any]:
    flats = [_Flat(f, primals, kwargs) for primals in batch]
    arrays, stacked = _batch(flats)
    columns = [flat.cotangents(ct) for flat, ct in zip(flats, cotangents, strict=True)]
    given = [jnp.stack(column) for column in zip(*columns, strict=True)]

    def one(row: Any, ct: Any) -> Any:
        at = _at(flats[0], arrays, row)
        return _pullback(at, at.moving, ct)

    found = wrap(jax.vmap(one))(stacked, given)
    return [flats[0].inputs([x[i] for x in found]) for i in range(len(batch))]
