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

import rules_core as rc
from rules_core.extend import Opener
from rules_core.testing import Cell, FlatFunction, HostArrays

from . import _compat

__all__ = ["cells"]


def cells(level: str) -> Iterator[Any]:
    """Cells of a level: `"quick"` compiles nothing, `"full"` is everything."""
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
    yield Cell("vmap(jvp)", "batched_jvp", _exact(_batched_jvp))
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


class _Opener(Opener):
    """JAX's arrays, in containers that are registered with it."""

    def convert(self, value: Any) -> Any:
        """The array of NumPy's arrays and of numbers."""
        is_data = isinstance(value, (np.ndarray, np.generic, float, complex))
        return jnp.asarray(value) if is_data else None

    def level(self, value: Any) -> rc.Structure | None:
        """The children of a pytree."""
        if tree_util.all_leaves([value]):
            return None
        children, form = tree_util.tree_flatten(value, lambda x: x is not value)
        places = range(len(children))
        return rc.Structure(type(value), "position", places, children, form.unflatten)


_HOST = HostArrays(
    opener=_Opener(jax.Array, numbers=True),
    to_numpy=np.asarray,
    like=lambda dx, x: jnp.asarray(dx, dtype=x.dtype),
    is_smooth=lambda x: bool(jnp.issubdtype(x.dtype, jnp.inexact)),
    conj=jnp.conj,
)


def _flat(f: Any, primals: Any, kwargs: Any) -> FlatFunction:
    return FlatFunction(_HOST, f, primals, kwargs)


def _value(wrap: Any, f: Any, primals: Any, kwargs: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    return flat.value(wrap(flat.full)(*flat.moving))


def _jvp(wrap: Any, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    run = wrap(lambda x, dx: jax.jvp(flat, x, dx)[1])
    return flat.outputs(run(flat.moving, flat.given(tangents)))


def _linearize(_: Any, f: Any, primals: Any, kwargs: Any, tangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    _, linear = jax.linearize(flat, *flat.moving)
    return flat.outputs(linear(*flat.given(tangents)))


def _pullback(f: Any, x: Sequence[Any], ct: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(jax.vjp(f, *x)[1](tuple(ct)))


def _vjp(wrap: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    run = wrap(lambda x, ct: _pullback(flat, x, ct))
    return flat.inputs(run(flat.moving, flat.cotangents(cotangents)))


def _checkpointed(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    kept = jax.checkpoint(flat.__call__)
    return flat.inputs(_pullback(kept, flat.moving, flat.cotangents(cotangents)))


def _scanned(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)

    def loop(*x: Any) -> tuple[Any, ...]:
        _, rows = jax.lax.scan(lambda _, __: (None, flat(*x)), None, None, length=1)
        return tuple(row[0] for row in rows)

    return flat.inputs(_pullback(loop, flat.moving, flat.cotangents(cotangents)))


def _transposed(_: Any, f: Any, primals: Any, kwargs: Any, cotangents: Any) -> Any:
    flat = _flat(f, primals, kwargs)
    _, linear = jax.linearize(flat, *flat.moving)
    back = jax.linear_transpose(linear, *flat.moving)
    return flat.inputs(back(flat.cotangents(cotangents)))


def _forward_over_reverse(
    wrap: Any, f: Any, primals: Any, kwargs: Any, tangents: Any, cotangents: Any
) -> Any:
    flat = _flat(f, primals, kwargs)
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
) -> tuple[FlatFunction, Callable[[Any], Any]]:
    """`x ↦ ⟨ct, f'(x) dx⟩`, whose gradient is the second derivative of a cell."""
    flat = _flat(f, primals, kwargs)
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
        return jax.jvp(f, (tuple(x),), (tuple(moved),))[1]

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
    flat = _flat(f, primals, kwargs)
    ct, dx = flat.cotangents(cotangents), flat.given(tangents)

    def along(x: Any) -> Any:
        return _inner([jnp.conj(g) for g in _pullback(flat, x, ct)], dx)

    return flat.inputs(jax.grad(along)(flat.moving))


def _in_batches(examples: Sequence[Any]) -> list[Any]:
    """The arrays of several examples, each with a batch axis."""
    return [jnp.stack(column) for column in zip(*examples, strict=True)]


def _stacked(flats: Sequence[FlatFunction]) -> list[Any]:
    """Every array of a batch of calls."""
    return _in_batches([flat.leaves for flat in flats])


def _batched(wrap: Any, f: Any, batch: Sequence[Any], kwargs: Any) -> list[Any]:
    flats = [_flat(f, primals, kwargs) for primals in batch]
    seen: list[FlatFunction] = []

    def one(*row: Any) -> Any:
        seen.append(flats[0].at(row))
        return seen[-1].full(*seen[-1].moving)

    found = wrap(jax.vmap(one))(*_stacked(flats))
    return [seen[0].value([x[i] for x in found]) for i in range(len(batch))]


def _batched_vjp(
    wrap: Any, f: Any, batch: Sequence[Any], kwargs: Any, cotangents: Sequence[Any]
) -> list[Any]:
    flats = [_flat(f, primals, kwargs) for primals in batch]
    columns = [flat.cotangents(ct) for flat, ct in zip(flats, cotangents, strict=True)]
    given = _in_batches(columns)

    def one(row: Any, ct: Any) -> Any:
        at = flats[0].at(row)
        return _pullback(at, at.moving, ct)

    found = wrap(jax.vmap(one))(_stacked(flats), given)
    return [flats[0].inputs([x[i] for x in found]) for i in range(len(batch))]


def _batched_jvp(
    wrap: Any, f: Any, batch: Sequence[Any], kwargs: Any, tangents: Sequence[Any]
) -> list[Any]:
    flats = [_flat(f, primals, kwargs) for primals in batch]
    columns = [flat.given(dx) for flat, dx in zip(flats, tangents, strict=True)]
    given = _in_batches(columns)
    seen: list[FlatFunction] = []

    def one(row: Any, dxs: Any) -> Any:
        seen.append(flats[0].at(row))
        return jax.jvp(seen[-1], seen[-1].moving, tuple(dxs))[1]

    found = wrap(jax.vmap(one))(_stacked(flats), given)
    return [seen[-1].outputs([dy[i] for dy in found]) for i in range(len(batch))]
