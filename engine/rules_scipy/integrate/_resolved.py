"""Integrals of derivatives, on the intervals on which the function itself was resolved.

Where a function is steep, so is its derivative, and may be nearly zero elsewhere: by
itself an adaptive rule would not see it. So the intervals are found with the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.integrate as _sp

__all__ = ["REACHED", "edges", "edges_of_vector", "halves", "integrated", "remembered"]

# What quad_vec reports where it is as exact as asked for, or as rounding lets it be.
REACHED = (0, 2)

_Given = dict[str, Any]


def remembered(f: Callable[[float], Any]) -> Callable[[float], Any]:
    """`f`, called once for each number: the same places are asked for again."""
    known: dict[float, Any] = {}

    def value(x: float) -> Any:
        if x not in known:
            known[x] = f(x)
        return known[x]

    return value


def edges(
    f: Callable[[float], float],
    a: float,
    b: float,
    given: _Given,
    inner: Sequence[float],
) -> list[float]:
    """Where `quad` divides the line between `a < b`.

    Args:
        f: The function.
        a: The lower limit.
        b: The upper limit.
        given: Options of `quad`.
        inner: Places that are known to divide it.
    """
    is_finite = math.isfinite(a) and math.isfinite(b)
    points = {"points": inner} if is_finite and inner else {}
    more = given | points | {"limit": given["limit"] + len(inner)}
    info = _sp.quad(f, a, b, **more)[2]
    starts = info["alist"][: info["last"]]
    if not is_finite:
        starts = _on_the_line(starts[starts > 0], a, b)
    return sorted({x for x in (*inner, *map(float, starts)) if a < x < b})


def edges_of_vector(
    f: Callable[[float], Any],
    a: float,
    b: float,
    given: _Given,
    inner: Sequence[float],
) -> list[float]:
    """Where `quad_vec` divides the line between `a < b` for a vector."""
    found = set(inner)
    for low, high in halves(a, b):
        points = [x for x in inner if low < x < high]
        more = {"points": points or None, "limit": given["limit"] + len(points)}
        info = _sp.quad_vec(f, low, high, full_output=True, norm="max", **given | more)
        starts = info[2].intervals[:, 0]
        if not (math.isfinite(low) and math.isfinite(high)):
            starts = _on_the_line(starts[starts > 0], low, high)
        found |= set(map(float, starts))
    return sorted(x for x in found if a < x < b)


def halves(a: float, b: float) -> list[tuple[float, float]]:
    """The line between limits; of the whole line its two halves.

    There quad_vec calls the function where squares overflow.
    """
    middle = (0.0,) if math.isinf(a) and math.isinf(b) else ()
    return list(pairwise([a, *middle, b]))


def _on_the_line(t: Any, a: float, b: float) -> Any:
    """Places between infinite limits, for those in (0, 1] that QUADPACK maps there."""
    away = (1.0 - t) / t
    if math.isfinite(a):
        return a + away
    return b - away if math.isfinite(b) else np.concatenate([-away, [0.0], away])


def integrated(
    f: Callable[[float], float],
    a: float,
    b: float,
    given: _Given,
    inner: Sequence[float],
) -> list[Any]:
    """`quad` on intervals that end at the inner places, `a < b`: its results, added."""
    low = a if math.isfinite(a) or not inner else inner[0]
    high = b if math.isfinite(b) or not inner else inner[-1]
    parts = [_part(f, low, high, given, [x for x in inner if low < x < high])]
    if low != a:
        parts.append(_part(f, a, low, given, []))
    if high != b:
        parts.append(_part(f, high, b, given, []))
    value, error = (sum(part[i] for part in parts) for i in (0, 1))
    return [value, error, parts[0][2], *(text for part in parts for text in part[3:])]


def _part(f: Any, a: float, b: float, given: _Given, points: list[float]) -> Any:
    if a == b:
        return 0.0, 0.0, {}
    own: _Given = {"points": points} if points else {}
    own["limit"] = given["limit"] + 2 * len(points)
    return _sp.quad(f, a, b, **(given | own))
