"""Cubic interpolants: by given slopes, by Akima's and by splines' conditions.

Slopes of a spline solve banded equations, which are linear in the data. Those of
`PchipInterpolator` and `Akima1DInterpolator` are not: at their kinks, where a slope of
the data is zero or two are equal, they have the derivative of the branch that SciPy
takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg import solve_banded

from ._arrays import (
    along,
    arrays,
    beside,
    check,
    covers,
    full_like,
    increasing,
    is_numpy,
    kept,
)
from ._pieces import PPoly

__all__ = [
    "Akima1DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "PchipInterpolator",
    "pchip",
    "pchip_interpolate",
    "pchip_slopes",
]


def _data(x: Any, y: Any, axis: int, *others: Any) -> tuple[Any, ...]:
    """Abscissae, and data with the axis first."""
    x, *ys = arrays(x, y, *others)
    ys = [along(own, axis) for own in ys]
    for own in ys:
        if own.shape[0] != x.shape[0]:
            message = (
                f"The length of `y` along `axis`={axis} doesn't match the length of `x`"
            )
            raise ValueError(message)
    return increasing(kept(x)), *ys


def hermite(x: Any, y: Any, s: Any) -> Any:
    """Coefficients of the cubics with values `y` and slopes `s` at `x`."""
    h = beside(x[1:] - x[:-1], len(y.shape))
    slope = (y[1:] - y[:-1]) / h
    t = (s[:-1] + s[1:] - 2.0 * slope) / h
    rows = [t / h, (slope - s[:-1]) / h - t, s[:-1], y[:-1]]
    return rc.array_namespace(*rows).stack([r + 0.0 * t for r in rows])


@covers(_sp.CubicHermiteSpline)
class CubicHermiteSpline(PPoly, _sp.CubicHermiteSpline):
    """`scipy.interpolate.CubicHermiteSpline`: cubics by values and slopes.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import CubicHermiteSpline
    >>> x, y = np.asarray([0.0, 1.0]), np.zeros(2)
    >>> jax.grad(lambda s: CubicHermiteSpline(x, y, s)(0.5))(np.ones(2)).tolist()
    [0.125, -0.125]
    """

    def __init__(
        self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None
    ) -> None:
        check(_sp.CubicHermiteSpline, x, y, dydx, axis, extrapolate)
        x, y, s = _data(x, y, axis, dydx)
        self._by_slopes(x, y, s, axis, extrapolate)

    def _by_slopes(self, x: Any, y: Any, s: Any, axis: int, extrapolate: Any) -> None:
        self.assign(hermite(x, y, s), x, extrapolate, axis % len(y.shape))


# Fritsch and Carlson


def pchip_slopes(x: Any, y: Any) -> Any:
    """The slopes of `PchipInterpolator`."""
    xp = rc.array_namespace(x, y)
    h = beside(x[1:] - x[:-1], len(y.shape))
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return concat([m, m])
    one, two = m[:-1], m[1:]
    flat = rc.ignore_derivatives(_turns(one, two) | (one == 0))
    a, b = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    safe = [xp.where(flat, xp.ones_like(s), s) for s in (one, two)]
    inner = xp.where(flat, xp.zeros_like(one), (a + b) / (a / safe[0] + b / safe[1]))
    first = _end_slope(h[0], h[1], m[0], m[1])
    last = _end_slope(h[-1], h[-2], m[-1], m[-2])
    return concat([first[None, ...], inner, last[None, ...]])


def _turns(a: Any, b: Any) -> Any:
    """Whether two signs differ."""
    return ((a > 0) != (b > 0)) | ((a < 0) != (b < 0))


def _end_slope(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """By three points, made smaller where it would not keep the shape."""
    xp = rc.array_namespace(m0)
    d = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turns = rc.ignore_derivatives(_turns(d, m0))
    steep = rc.ignore_derivatives((xp.abs(d) > 3.0 * xp.abs(m0)) & _turns(m0, m1))
    return xp.where(turns, xp.zeros_like(d), xp.where(steep, 3.0 * m0, d))


@covers(_sp.PchipInterpolator)
class PchipInterpolator(CubicHermiteSpline, _sp.PchipInterpolator):
    """`scipy.interpolate.PchipInterpolator`: cubics that keep the data's shape.

    The slopes have kinks where the data's slope changes its sign, and where it is zero:
    there their derivative is zero, that of SciPy's branch.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import PchipInterpolator
    >>> x, y = np.arange(3.0), np.asarray([0.0, 1.0, 4.0])
    >>> jax.grad(lambda y: PchipInterpolator(x, y)(1.5))(y).round(4).tolist()
    [-0.2031, 0.875, 0.3281]
    """

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        check(_sp.PchipInterpolator, x, y, axis, extrapolate)
        x, y = _data(x, y, axis)
        self._by_slopes(x, y, pchip_slopes(x, y), axis, extrapolate)


pchip = PchipInterpolator


@covers(_sp.pchip_interpolate)
def pchip_interpolate(xi: Any, yi: Any, x: Any, der: Any = 0, axis: int = 0) -> Any:
    """`scipy.interpolate.pchip_interpolate`."""
    p = PchipInterpolator(xi, yi, axis=axis)
    if np.ndim(der) == 0:
        return p(x, int(der))
    return [p(x, int(nu)) for nu in der]


# Akima

# SciPy's: below it, of the largest, weights of two slopes are both zero.
_EQUAL = 1e-9


@covers(_sp.Akima1DInterpolator)
class Akima1DInterpolator(CubicHermiteSpline, _sp.Akima1DInterpolator):
    """`scipy.interpolate.Akima1DInterpolator`: slopes of the neighbours' mean.

    The weights are absolute differences of slopes. At equal slopes they have the
    derivative zero, and where both weights vanish the slope is the mean, as in SciPy.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import Akima1DInterpolator
    >>> x, y = np.arange(5.0), np.asarray([0.0, 1.0, 4.0, 2.0, 3.0])
    >>> round(float(jax.grad(lambda q: Akima1DInterpolator(x, y)(q))(2.5)), 3)
    -3.219
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, *, method: Any = "akima",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        check(
            _sp.Akima1DInterpolator, x, y, axis, method=method, extrapolate=extrapolate
        )
        if method not in ("akima", "makima"):
            message = f"`method`={method} is unsupported."
            raise NotImplementedError(message)
        x, y = _data(x, y, axis)
        slopes = _akima_slopes(x, y, method)
        extrapolate = False if extrapolate is None else extrapolate
        self._by_slopes(x, y, slopes, axis, extrapolate)

    def extend(self, c: Any, x: Any, right: bool = True) -> None:
        """Not for this class, as in SciPy."""
        message = "Extending a 1-D Akima interpolator is not yet implemented"
        raise NotImplementedError(message)

    @classmethod
    def from_spline(cls, tck: Any, extrapolate: Any = None) -> Any:
        """Not for this class, as in SciPy."""
        message = "This method does not make sense for an Akima interpolator."
        raise NotImplementedError(message)

    @classmethod
    def from_bernstein_basis(cls, bp: Any, extrapolate: Any = None) -> Any:
        """Not for this class, as in SciPy."""
        return cls.from_spline(bp, extrapolate)


def _akima_slopes(x: Any, y: Any, method: str) -> Any:
    xp = rc.array_namespace(x, y)
    h = beside(x[1:] - x[:-1], len(y.shape))
    m = (y[1:] - y[:-1]) / h
    if y.shape[0] == 2:
        return concat([m, m])
    before = 2.0 * m[:1] - m[1:2]
    after = 2.0 * m[-1:] - m[-2:-1]
    ends = 2.0 * before - m[:1], 2.0 * after - m[-1:]
    m = concat([ends[0], before, m, after, ends[1]])
    d = xp.abs(m[1:] - m[:-1])
    if method == "makima":
        d = d + 0.5 * xp.abs(m[1:] + m[:-1])
    left, right = d[:-2], d[2:]
    both = left + right
    sizes = rc.ignore_derivatives(both)
    equal = sizes <= _EQUAL * xp.max(sizes)
    share = left / xp.where(equal, xp.ones_like(both), both)
    mean = 0.5 * (m[3:] + m[:-3])
    return xp.where(equal, mean, m[1:-2] + share * (m[2:-1] - m[1:-2]))


# splines


@covers(_sp.CubicSpline)
class CubicSpline(CubicHermiteSpline, _sp.CubicSpline):
    """`scipy.interpolate.CubicSpline`: cubics with two continuous derivatives.

    The slopes solve a tridiagonal system, whose derivatives in data, abscissae and
    boundary values are further solves.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import CubicSpline
    >>> x, y = np.arange(4.0), np.asarray([0.0, 1.0, 8.0, 27.0])
    >>> jax.grad(lambda q: CubicSpline(x, y)(q))(1.5).round(4).tolist()
    6.75
    >>> jax.jit(jax.grad(lambda y: CubicSpline(x, y)(1.5)))(y).round(4).tolist()
    [-0.0625, 0.5625, 0.5625, -0.0625]
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot",
        extrapolate: Any = None,
    ) -> None:  # fmt: skip
        check(_sp.CubicSpline, x, y, axis, bc_type, extrapolate)
        kinds, values = _ends(bc_type)
        x, y, *values = _with_values(x, y, axis, values)
        if extrapolate is None:
            extrapolate = "periodic" if kinds[0] == "periodic" else True
        slopes = _spline_slopes(x, y, kinds, values)
        self._by_slopes(x, y, slopes, axis, extrapolate)


def _ends(bc_type: Any) -> tuple[list[Any], list[Any]]:
    """The conditions at both ends: a name or an order each, and values."""
    pair = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    kinds, values = [], []
    for bc in pair:
        named = {"clamped": (1, None), "natural": (2, None)}
        kind, value = (
            named.get(bc, (bc, None)) if isinstance(bc, str) else (bc[0], bc[1])
        )
        if kind not in (1, 2, "not-a-knot", "periodic"):
            message = f"bc_type={bc} is not allowed."
            raise ValueError(message)
        kinds.append(kind)
        values.append(value)
    return kinds, values


def _with_values(x: Any, y: Any, axis: int, values: list[Any]) -> Any:
    x, y, one, two = arrays(x, y, *values)
    x, y = _data(x, y, axis)
    zero = y[0] * 0.0
    return x, y, *[zero if v is None else v + zero for v in (one, two)]


def _spline_slopes(x: Any, y: Any, kinds: list[Any], values: Any) -> Any:
    n = x.shape[0]
    dx = x[1:] - x[:-1]
    h = beside(dx, len(y.shape))
    slope = (y[1:] - y[:-1]) / h
    kinds, values = list(kinds), list(values)
    if n == 2:
        for side in range(2):
            if kinds[side] in ("not-a-knot", "periodic"):
                kinds[side], values[side] = 1, slope[0]
    if n == 3 and kinds[0] == kinds[1] == "not-a-knot":
        return _parabola_slopes(dx, h, slope)
    if n == 3 and kinds[0] == "periodic":
        xp = rc.array_namespace(y)
        t = xp.sum(slope / h, axis=0) / xp.sum(1.0 / h, axis=0)
        return xp.stack([t, t, t])
    if kinds[0] == "periodic":
        return _periodic_slopes(dx, h, slope)
    return _open_slopes(x, dx, h, slope, y, kinds, values)


def _parabola_slopes(dx: Any, h: Any, slope: Any) -> Any:
    """Of the parabola through three points."""
    xp = rc.array_namespace(slope)
    both = h[0] + h[1]
    middle = (h[0] * slope[1] + h[1] * slope[0]) / both
    return xp.stack([2.0 * slope[0] - middle, middle, 2.0 * slope[1] - middle])


def _tridiagonal(below: Any, middle: Any, above: Any, b: Any) -> Any:
    """The solution, with bands as long as their diagonals are."""
    xp = rc.array_namespace(middle, b)
    none = middle[:1] * 0.0
    ab = xp.stack([
        concat([none, above]), middle, concat([below, none])
    ])  # fmt: skip
    flat = xp.reshape(b, (b.shape[0], -1))
    if not is_numpy(ab, flat) and ab.dtype != flat.dtype:
        ab = xp.astype(ab, flat.dtype)
    return xp.reshape(solve_banded((1, 1), ab, flat), b.shape)


def _open_slopes(
    x: Any, dx: Any, h: Any, slope: Any, y: Any, kinds: list[Any], values: Any
) -> Any:
    xp = rc.array_namespace(y)
    first = _end_row(kinds[0], values[0], dx[:2], h[:2], slope[:2], 1.0)
    last = _end_row(
        kinds[1], values[1], xp.flip(dx)[:2], xp.flip(h, axis=0)[:2],
        xp.flip(slope, axis=0)[:2], -1.0,
    )  # fmt: skip
    inner = 3.0 * (h[1:] * slope[:-1] + h[:-1] * slope[1:])
    middle = concat([
        _row(first[0]), 2.0 * (dx[:-1] + dx[1:]), _row(last[0])
    ])  # fmt: skip
    above = concat([_row(first[1]), dx[:-1]])
    below = concat([dx[1:], _row(last[1])])
    b = concat([first[2][None, ...], inner, last[2][None, ...]])
    return _tridiagonal(below, middle, above, b)


def _row(x: Any) -> Any:
    return rc.array_namespace(x).reshape(x, (1,))


def _end_row(
    kind: Any, value: Any, dx: Any, h: Any, slope: Any, sign: float
) -> tuple[Any, Any, Any]:
    """The entry on the diagonal, the one beside it, and the right-hand side."""
    one, none = dx[0] * 0.0 + 1.0, dx[0] * 0.0
    if kind == "not-a-knot":
        d = dx[0] + dx[1]
        b = ((h[0] + 2.0 * d) * h[1] * slope[0] + h[0] ** 2 * slope[1]) / d
        return dx[1], d, b
    if kind == 1:
        return one, none, value + 0.0 * slope[0]
    b = -sign * 0.5 * value * dx[0] ** 2 + 3.0 * slope[0] * dx[0]
    return 2.0 * dx[0], dx[0], b


def _periodic_slopes(dx: Any, h: Any, slope: Any) -> Any:
    """The last unknown is taken out, so that a tridiagonal system remains."""
    b = 3.0 * (h[1:-1] * slope[:-2] + h[:-2] * slope[1:-1])
    b0 = 3.0 * (h[0] * slope[-1] + h[-1] * slope[0])
    last = 3.0 * (h[-1] * slope[-2] + h[-2] * slope[-1])
    middle = concat([_row(2.0 * (dx[-1] + dx[0])), 2.0 * (dx[:-2] + dx[1:-1])])
    above = concat([_row(dx[-1]), dx[:-3]])
    below = dx[1:-1]
    right = concat([b0[None, ...], b])
    none = full_like(dx, (dx.shape[0] - 3,))
    corner = concat([_row(-dx[0]), none, _row(-dx[-3])])
    one = _tridiagonal(below, middle, above, right)
    two = beside(_tridiagonal(below, middle, above, corner), len(slope.shape))
    top = last - dx[-2] * one[0] - dx[-1] * one[-1]
    bottom = 2.0 * (dx[-1] + dx[-2]) + dx[-2] * two[0] + dx[-1] * two[-1]
    s = top / bottom
    inner = one + s * two
    return concat([inner, s[None, ...], inner[:1]])
