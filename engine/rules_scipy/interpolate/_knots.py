"""Knots of splines through data."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy._axes import concat

__all__ = [
    "inner_knots", "knots_for", "not_a_knot", "periodic_knots", "repeated_ends",
    "whole_knots",
]  # fmt: skip


def knots_for(x: Any, k: int, bc_type: Any) -> Any:
    """The knots that SciPy chooses for abscissae."""
    if bc_type == "periodic":
        return periodic_knots(x, k)
    if bc_type in (None, "not-a-knot"):
        return not_a_knot(x, k)
    if bc_type in ("natural", "clamped"):
        return repeated_ends(x, x, k)
    message = f"Unknown boundary condition: {bc_type}"
    raise TypeError(message)


def repeated_ends(x: Any, inner: Any, k: int) -> Any:
    """Inner knots, and both ends `k` more times."""
    return concat([*[x[:1]] * k, inner, *[x[-1:]] * k])


def not_a_knot(x: Any, k: int) -> Any:
    half = (k + 1) // 2 if k % 2 else k // 2
    inner = x if k % 2 else 0.5 * (x[1:] + x[:-1])
    return repeated_ends(x, inner[half : inner.shape[0] - half], k + 1)


def periodic_knots(x: Any, k: int) -> Any:
    xp = rc.array_namespace(x)
    if k % 2 == 0:
        middle = x[1:-1] - 0.5 * (x[1:-1] - x[:-2])
        x = concat([x[:1], middle, x[-1:]])
    dx = x[1:] - x[:-1]
    n = x.shape[0] - 1
    before, after = [x[0]], [x[-1]]
    for i in range(k):
        before.append(before[-1] - dx[n - 1 - i % n])
        after.append(after[-1] + dx[i % n])
    ends = [xp.stack(list(side)) for side in (before[:0:-1], after[1:])] if k else []
    return concat([ends[0], x, ends[1]]) if k else x


def inner_knots(x: Any, k: int) -> Any:
    """The knots inside of an interpolating spline."""
    half = (k + 1) // 2 if k % 2 else k // 2
    inner = x if k % 2 else 0.5 * (x[1:] + x[:-1])
    return inner[half : inner.shape[0] - half]


def whole_knots(inner: Any, ends: Any, k: int) -> Any:
    """Inner knots between both ends, which are repeated."""
    xp = rc.array_namespace(inner, *ends)
    first, last = (xp.reshape(end, (1,)) for end in ends)
    return concat([*[first] * (k + 1), inner, *[last] * (k + 1)])
