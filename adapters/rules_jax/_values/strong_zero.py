"""The product in which zero is strong, `0 · ∞ = 0`, as a primitive that is bilinear.

Written out it compares the tangent with zero, which JAX cannot transpose: neither could
what implicit solvers transpose, the pullback of a `scalar_rule`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp

from rules_jax import _compat

from .jax_primitive import register
from .leaves import is_traced
from .placement import match_placement

__all__ = ["strong_product"]

strong_mul_p = _compat.Primitive("strong_mul")
strong_mul_p.multiple_results = True


def strong_product(p: Any, dx: Any) -> Any:
    """`p · dx`, zero where `dx` is and `p` is infinite or NaN."""
    return _bind(p, dx) if is_traced(p) or is_traced(dx) else _product(p, dx)[0]


def _bind(p: Any, dx: Any) -> Any:
    dtype = jnp.result_type(p, dx)
    operands = (jnp.asarray(x, dtype=dtype) for x in (p, dx))
    return strong_mul_p.bind(*jnp.broadcast_arrays(*operands))[0]


def _product(p: Any, dx: Any) -> list[Any]:
    return [_masked(p, p, dx) * dx]


def _masked(x: Any, p: Any, dx: Any) -> Any:
    """`x`, zero where the zero `dx` meets a partial that is no finite number."""
    dead = ~jnp.isfinite(p) & (dx == 0)
    return jnp.where(dead, jnp.zeros_like(x), x)


_compat.lower_by_tracing(strong_mul_p, _product)


@strong_mul_p.def_abstract_eval
def _abstract(p: Any, dx: Any) -> list[Any]:
    return list(_types(p, dx, _compat.trace_key()))


@lru_cache(maxsize=256)
def _types(p: Any, dx: Any, _: Any) -> Sequence[Any]:
    return jax.make_jaxpr(_product)(p, dx).out_avals


def _jvp(primals: Any, tangents: Any) -> Any:
    """`d(p · dx) = p · ddx + dp · dx`, where the product is not dead."""
    (p, dx), (dp, ddx) = primals, tangents
    terms = []
    if not isinstance(ddx, _compat.Zero):
        terms.append(_bind(_masked(p, p, dx), ddx))
    if not isinstance(dp, _compat.Zero):
        terms.append(_bind(_masked(dp, p, dx), dx))
    return [_bind(p, dx)], [sum(terms[1:], terms[0])]


def _transpose(cotangents: Any, p: Any, dx: Any) -> list[Any]:
    (ct,) = cotangents
    if isinstance(ct, _compat.Zero):
        return [None, None]
    if _compat.is_undefined_primal(dx):
        return [None, match_placement(_bind(p, ct), dx.aval)]
    return [match_placement(_bind(dx, ct), p.aval), None]


def _batch(axis: Any, operands: Any, dims: Any) -> Any:
    if all(dim is None for dim in dims):
        return [_bind(*operands)], [None]
    pairs = zip(operands, dims, strict=True)
    front = [jnp.moveaxis(x, d, 0) if d is not None else x[None] for x, d in pairs]
    return [_bind(*jnp.broadcast_arrays(*front))], [0]


register(strong_mul_p, impl=_product, jvp=_jvp, transpose=_transpose, batch=_batch)
