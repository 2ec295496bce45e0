"""Integrals of derivatives, on the intervals on which the function itself was resolved.

Where a function is steep, so is its derivative, and may be nearly zero elsewhere: by
itself an adaptive rule would not see it. So the intervals are found with the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.integrate as _sp

__all__ = ["edges", "integrated", "remembered"]

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
