"""Lengths, whose derivative at zero is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc

__all__ = ["cross", "entry_power", "length", "root", "sign", "size"]


def size(x: Any) -> Any:
    """`|x|`, with derivative zero at zero in every framework."""
    return x * sign(x)


def sign(x: Any) -> Any:
    """The sign, a constant; without masks, which PyTorch does not batch."""
    xp = rc.array_namespace(x)
    x = xp.asarray(rc.ignore_derivatives(x))
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


def root(x: Any, order: Any = 2) -> Any:
    """`x ** (1 / order)` of `x >= 0`, with derivatives zero at zero."""
    xp = rc.array_namespace(x)
    zero = rc.ignore_derivatives(x == 0)
    safe = xp.where(zero, xp.ones_like(x), x)
    is_square = isinstance(order, int | float) and order == 2
    found = xp.sqrt(safe) if is_square else safe ** (1.0 / order)
    return xp.where(zero, xp.zeros_like(x), found)


def entry_power(x: Any, p: Any) -> Any:
    """`|x| ** p`, with derivative zero at zero."""
    if isinstance(p, int | float) and p in (1, 2):
        return size(x) if p == 1 else x * x
    own = size(x)
    if isinstance(p, int | float) and p > 2:
        return own**p
    if isinstance(p, int | float) and p > 1:
        return low_power(x, p)
    xp = rc.array_namespace(x)
    zero = rc.ignore_derivatives(own == 0)
    safe = xp.where(zero, xp.ones_like(own), own)
    return xp.where(zero, xp.zeros_like(own), safe**p)


def _low_power(x: Any, p: float) -> Any:
    """`|x| ** p` for 1 < p < 2, whose second derivative at zero is infinite."""
    return rc.array_namespace(x).abs(x) ** p


def _low_slope(x: Any, p: float) -> Any:
    xp = rc.array_namespace(x)
    return p * sign(x) * xp.abs(x) ** (p - 1.0)


low_power: rc.Primitive = rc.primitive(_low_power, static_argnames="p")
low_slope: rc.Primitive = rc.primitive(_low_slope, static_argnames="p")


def _power_partials(y: Any, x: Any, p: float) -> Any:
    return low_slope(x, p), rc.NoTangent()


def _slope_partials(y: Any, x: Any, p: float) -> Any:
    xp = rc.array_namespace(x)
    zero = x == 0
    curved = p * (p - 1.0) * xp.abs(xp.where(zero, xp.ones_like(x), x)) ** (p - 2.0)
    return xp.where(zero, xp.full_like(x, float("inf")), curved), rc.NoTangent()


rc.scalar_rule(low_power, _power_partials)
rc.scalar_rule(low_slope, _slope_partials)


def length(x: Any, p: Any = 2) -> Any:
    """The norm of order `p` along the last axis."""
    xp = rc.array_namespace(x)
    if isinstance(p, int | float) and p == np.inf:
        return xp.max(size(x), axis=-1)
    total = xp.sum(entry_power(x, p), axis=-1)
    return total if isinstance(p, int | float) and p == 1 else root(total, p)


def cross(a: Any, b: Any) -> Any:
    """The cross product along the last axes, which broadcast."""
    xp = rc.array_namespace(a, b)
    x, y, z = (a[..., i] for i in range(3))
    u, v, w = (b[..., i] for i in range(3))
    return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
