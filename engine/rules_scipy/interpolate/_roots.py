"""Roots of splines: SciPy finds them, and Newton's steps carry their derivatives.

A step from a root changes its value by rounding. Its derivative is that of the implicit
function theorem, and n steps have the derivatives of order 2**n - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc

from ._arrays import interval, is_numpy, refuse, taken

__all__ = ["crossings", "solutions"]

_STEPS = 2
# Of the terms of a polynomial: below it a value is rounding.
_ROUNDING = 1e-7


def solutions(p: Any, y: Any, discontinuity: bool, extrapolate: Any) -> Any:
    """Where the pieces of `p` have the value `y`."""
    if not is_numpy(p.c, p.x, y):
        refuse(
            "PPoly.solve",
            "finds a number of roots that depends on values, which arrays of a "
            "framework cannot have. Find the roots in NumPy, and take one by a step of "
            "Newton's method",
        )
    found = _found(p.c, p.x, y, discontinuity, extrapolate)
    if p.c.ndim > 2:
        return _unmoved(found, p.c, p.x, y, _LISTS)
    return _moved(found, p.c, p.x, y)


def _found(c: Any, x: Any, y: Any, discontinuity: bool, extrapolate: Any) -> Any:
    return _sp.PPoly(c, x).solve(float(y), discontinuity, extrapolate)


rc.non_differentiable(_found)


@rc.primitive
def _unmoved(found: Any, c: Any, x: Any, y: Any, why: str) -> Any:
    """Roots without derivative: an error where it is asked for."""
    return found


@rc.frule.define(_unmoved)
def _unmoved_frule(tangents: Any, found: Any, c: Any, x: Any, y: Any, why: str) -> Any:
    return found, rc.not_implemented(why)


@rc.rrule.define(_unmoved)
def _unmoved_rrule(found: Any, c: Any, x: Any, y: Any, why: str) -> Any:
    def pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        unknown = [rc.not_implemented(why)] * 3
        return none, rc.ZeroTangent(), *unknown, none

    return found, pullback


_DOUBLE = "derivative of roots, one of which is double, or of a piece that is zero"
_LISTS = (
    "derivative of the roots of several functions, which are lists of different "
    "lengths: find the roots of one function at a time"
)


def _moved(found: Any, c: Any, x: Any, y: Any) -> Any:
    """Roots with their derivatives; NaN marks a piece that is zero, as in SciPy."""
    n = x.shape[0] - 1
    sign = 1.0 if _rises(x) else -1.0
    i = interval(sign * x, sign * found, 0, n - 1)
    kind, j, double = _kinds(found, c, x, y, i)
    if double:
        return _unmoved(found, c, x, y, _DOUBLE)
    r = found
    for _ in range(_STEPS):
        value, slope = _value_and_slope(taken_columns(c, i), r - taken(x, i))
        r = r - (value - y) / np.where(kind == 0, slope, 1.0)
    return np.where(kind == 0, r, np.where(kind == 1, taken(x, j), found))


def taken_columns(c: Any, i: Any) -> Any:
    """The coefficients of the pieces that roots lie in."""
    return c[:, i]


def _rises(x: Any) -> bool:
    return bool(x[-1] >= x[0])


def _kinds(found: Any, c: Any, x: Any, y: Any, i: Any) -> tuple[Any, Any, bool]:
    """0: a root inside; 1: a jump at breakpoint j; 2: NaN. Is one of them double?"""
    value, slope = _value_and_slope(c[:, i], found - x[i])
    size, steep = _value_and_slope(np.abs(c[:, i]), np.abs(found - x[i]))
    j = np.argmin(np.abs(np.subtract.outer(found, x)), axis=-1) if len(found) else i
    far = np.abs(value - y) > _ROUNDING * (size + abs(float(y)))
    kind = np.where(np.isnan(found), 2, np.where(far & (x[j] == found), 1, 0))
    flat = (kind == 0) & (np.abs(slope) <= _ROUNDING * steep)
    return kind, j, bool(flat.any())


rc.non_differentiable([_kinds, _rises])


def crossings(found: Any, spline: Any) -> Any:
    """The roots of a spline, which were found."""
    r = found
    if _has_double(spline(r, 1), spline(r, 2)):
        return _unmoved(found, spline.c, spline.t, 0.0, _DOUBLE)
    for _ in range(_STEPS):
        r = r - spline(r, 0) / spline(r, 1)
    return r


def _has_double(slope: Any, curve: Any) -> bool:
    return bool(np.any(np.abs(slope) <= _ROUNDING * np.abs(curve)))


rc.non_differentiable(_has_double)


def _value_and_slope(c: Any, s: Any) -> tuple[Any, Any]:
    value, slope = c[0] * 0.0, c[0] * 0.0
    for j in range(c.shape[0]):
        slope = slope * s + value
        value = value * s + c[j]
    return value, slope
