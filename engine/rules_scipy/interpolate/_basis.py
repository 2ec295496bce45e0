"""Values of B-splines by Cox's and de Boor's recursion."""

from __future__ import annotations

from typing import Any

import rules_core as rc

from ._arrays import beside, interval, wrapped

__all__ = ["basis", "knot_interval", "spline_values"]


def knot_interval(t: Any, q: Any, k: int, count: int) -> Any:
    """The interval of knots that is not empty and counts for points, `(n,)`."""
    xp = rc.array_namespace(t)
    t = rc.ignore_derivatives(t)
    if k == 0:
        return interval(t, q, 0, count - 1)
    last = xp.sum(xp.astype(t < t[count], xp.int32)) - 1
    return interval(t, xp.clip(q, t[k], t[count]), k, last)


def basis(t: Any, q: Any, i: Any, k: int, nu: int = 0) -> list[Any]:
    """Derivatives of the k + 1 splines that are not zero at points in intervals `i`.

    By Cox's and de Boor's recursion; each is `(n,)`.
    """
    if nu > k:
        return [q * 0.0] * (k + 1)
    values = [q * 0.0 + 1.0]
    for d in range(1, k - nu + 1):
        new = [q * 0.0] * (d + 1)
        for j in range(d):
            left, right = t[i + j + 1 - d], t[i + j + 1]
            share = values[j] / (right - left)
            new[j] = new[j] + (right - q) * share
            new[j + 1] = new[j + 1] + (q - left) * share
        values = new
    for d in range(k - nu + 1, k + 1):
        new = [q * 0.0] * (d + 1)
        for j in range(d):
            share = d * values[j] / (t[i + j + 1] - t[i + j + 1 - d])
            new[j] = new[j] - share
            new[j + 1] = new[j + 1] + share
        values = new
    return values


def spline_values(
    t: Any, c: Any, k: int, q: Any, nu: int = 0, extrapolate: Any = True
) -> Any:
    """Values, or derivatives of order `nu`, of a spline at points.

    Args:
        t: Knots.
        c: Coefficients, `(n, ...)`.
        k: The degree.
        q: Points.
        nu: The order.
        extrapolate: Whether points outside have values: True, False or `"periodic"`.
    """
    xp = rc.array_namespace(t, c, q)
    shape, q = q.shape, xp.reshape(q, (-1,))
    count = t.shape[0] - k - 1
    if extrapolate == "periodic":
        q = wrapped(q, t[k], t[count])
    i = knot_interval(t, q, k, count)
    weights = basis(t, q, i, k, nu)
    ndim = len(c.shape)
    terms = [beside(w, ndim) * c[i - k + a] for a, w in enumerate(weights)]
    y = sum(terms[1:], terms[0])
    if not extrapolate:
        inside = (q >= t[k]) & (q <= t[count])
        y = xp.where(beside(inside, ndim), y, xp.full_like(y, float("nan")))
    return xp.reshape(y, (*shape, *y.shape[1:]))
