"""Taylor mode (JAX's `jet`): `f(x₀ + x₁ t + x₂ t² + …) = y₀ + y₁ t + …`.

The coefficients are derivatives along the curve, `y_k = (f∘x)⁽ᵏ⁾(0) / k!`, by forward
mode within forward mode, so that every order goes through the author's rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from rules_jax import _compat

from .leaves import has_tangent

__all__ = ["support_taylor"]

Arrays = list[Any]


def support_taylor(primitive: Any) -> None:
    """Let `jet` push Taylor polynomials through a primitive that has a jvp."""
    _compat.set_taylor(primitive, partial(_push, primitive))


def _push(
    primitive: Any, primals: Sequence[Any], series: Sequence[Any], **params: Any
) -> tuple[Arrays, list[Arrays]]:
    """Results, and for each its coefficients from the first order on."""
    moves = [has_tangent(jax.typeof(x)) for x in primals]
    order = max(map(len, series))

    def at(t: Any) -> Arrays:
        points = [
            _polynomial(x, terms, t) if moved else x
            for x, terms, moved in zip(primals, series, moves, strict=True)
        ]
        return list(primitive.bind(*points, **params))

    results, *derivatives = _derivatives(at, order)
    scaled = [
        [_scaled(d[i], y, k) for k, d in enumerate(derivatives, 1)]
        for i, y in enumerate(results)
    ]
    return results, scaled


def _polynomial(x: Any, terms: Sequence[Any], t: Any) -> Any:
    """`x + c₁ t + c₂ t² + …` by Horner's scheme, in the dtype of `x`."""
    total = jnp.zeros_like(x)
    for term in reversed(terms):
        total = (total + jnp.asarray(term, x.dtype)) * t
    return x + total


def _derivatives(curve: Callable[[Any], Arrays], order: int) -> list[Arrays]:
    """`[curve, curve', …]` at zero; each derivative by one more level of jvp."""

    def along(t: Any, order: int) -> list[Arrays]:
        if order == 0:
            return [curve(t)]
        values, slopes = jax.jvp(lambda s: along(s, order - 1), (t,), (1.0,))
        return [*values, slopes[-1]]

    return along(0.0, order)


def _scaled(derivative: Any, result: Any, order: int) -> Any:
    """`y⁽ᵏ⁾ / k!`; zeros for an integer result, which has no derivative."""
    if not has_tangent(jax.typeof(result)):
        return jnp.zeros_like(result)
    return derivative / math.factorial(order)
