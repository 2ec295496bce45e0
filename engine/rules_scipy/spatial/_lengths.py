"""Lengths, whose derivative at zero is zero."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._arrays import arrays, concrete

from ._powers import sign, size_power

__all__ = [
    "cross",
    "entry_power",
    "is_order",
    "length",
    "root",
    "sign",
    "size",
    "with_order",
]


def size(x: Any) -> Any:
    """`|x|`, with derivative zero at zero in every framework."""
    return x * sign(x)


def is_order(p: Any, value: float) -> bool:
    """Whether an order is this one, and a constant.

    A float may be differentiated. A whole number is not, nor is an infinite one, where
    lengths do not depend on the order.
    """
    kind = float if value == np.inf else int | np.integer
    return bool(isinstance(p, kind) and p == value)


def with_order(p: Any, *xs: Any) -> list[Any]:
    """An order and arrays: an order that is an array is one of their framework."""
    if isinstance(p, int | float | np.integer):
        return [p, *arrays(*xs)]
    p, *found = arrays(p, *xs)
    known = concrete(rc.ignore_derivatives(p))
    if known is not None and known.shape == () and np.isinf(known):
        p = float("inf")
    return [p, *found]


def root(x: Any, order: Any = 2) -> Any:
    """`x ** (1 / order)` of `x >= 0`, with derivatives zero at zero."""
    xp = rc.array_namespace(x)
    zero = rc.ignore_derivatives(x == 0)
    safe = xp.where(zero, xp.ones_like(x), x)
    found = xp.sqrt(safe) if is_order(order, 2) else safe ** (1.0 / order)
    return xp.where(zero, xp.zeros_like(found), found)


def entry_power(x: Any, p: Any) -> Any:
    """`|x| ** p`, with derivative zero at a kink."""
    if is_order(p, 1):
        return size(x)
    return x * x if is_order(p, 2) else size_power(x, p)


def length(x: Any, p: Any = 2) -> Any:
    """The norm of order `p` along the last axis."""
    xp = rc.array_namespace(x)
    if is_order(p, np.inf):
        return xp.max(size(x), axis=-1)
    total = xp.sum(entry_power(x, p), axis=-1)
    return total if is_order(p, 1) else root(total, p)


def cross(a: Any, b: Any) -> Any:
    """The cross product along the last axes, which broadcast."""
    xp = rc.array_namespace(a, b)
    x, y, z = (a[..., i] for i in range(3))
    u, v, w = (b[..., i] for i in range(3))
    return xp.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)
