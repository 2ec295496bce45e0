"""Piecewise polynomials, in powers and in Bernstein's basis.

A value is linear in the coefficients and a polynomial in the point: both, and the
breakpoints, are differentiated by the formula. At a breakpoint the piece to its right
counts, at the last one that to its left, as in SciPy; so do its derivatives.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis

from ._arrays import (
    arrays,
    beside,
    check,
    covers,
    covers_class_methods,
    covers_methods,
    defining,
    field,
    interval,
    is_numpy,
    own_class,
    placed,
    wrapped,
)
from ._basis import spline_values
from ._roots import solutions

__all__ = ["BPoly", "PPoly", "end_of", "horner"]


def horner(c: Any, s: Any, nu: int = 0) -> Any:
    """A derivative of sum c[j] s**(k - 1 - j), by Horner's scheme."""
    count = c.shape[0]
    total = c[0] * 0.0
    for j in range(count - nu):
        power = count - 1 - j
        factor = factorial(power) / factorial(power - nu)
        total = total * s + c[j] * factor
    return total


def end_of(x: Any, q: Any) -> Any:
    """Whether points lie outside of the breakpoints."""
    xp = rc.array_namespace(x, q)
    low, high = xp.minimum(x[0], x[-1]), xp.maximum(x[0], x[-1])
    return ~((q >= low) & (q <= high))


class _Pieces:
    """The common base of both bases of polynomials.

    Attributes:
        c: Coefficients, `(k, m, ...)`.
        x: Breakpoints, `(m + 1,)`.
        extrapolate: Whether points outside have values: True, False or `"periodic"`.
        axis: That of the data.
    """

    c: Any = None
    x: Any = None
    extrapolate: Any = True
    axis: int = 0

    def __init__(self, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
        check(_of_scipy(own_class(self)), c, x, extrapolate, axis)
        c, x = arrays(c, x)
        if axis:
            c = moveaxis(moveaxis(c, axis + 1, 0), axis + 1, 0)
        if c.shape[1] != x.shape[0] - 1:
            message = "number of coefficients != len(x)-1"
            raise ValueError(message)
        self.assign(c, x, extrapolate, axis)

    def assign(self, c: Any, x: Any, extrapolate: Any, axis: int) -> None:
        if extrapolate is None:
            extrapolate = True
        if extrapolate != "periodic":
            extrapolate = bool(extrapolate)
        self.c, self.x, self.extrapolate, self.axis = c, x, extrapolate, axis

    @classmethod
    def construct_fast(
        cls, c: Any, x: Any, extrapolate: Any = None, axis: int = 0
    ) -> Any:
        """An instance without checks."""
        made = cls.__new__(cls)
        made.assign(c, x, extrapolate, axis)
        return made

    def like(self, c: Any, extrapolate: Any = None) -> Any:
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return own_class(self).construct_fast(c, self.x, extrapolate, self.axis)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Values, or derivatives of order `nu`, at points."""
        c, own, q = arrays(self.c, self.x, x)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        y = self.at(c, own, q, nu, extrapolate)
        return placed(y, len(q.shape), self.axis)

    def at(self, c: Any, x: Any, q: Any, nu: int, extrapolate: Any) -> Any:
        xp = rc.array_namespace(c, x, q)
        shape, q = q.shape, xp.reshape(q, (-1,))
        if extrapolate == "periodic":
            q = wrapped(q, x[0], x[-1])
        sign = _direction(x)
        i = interval(sign * x, sign * q, 0, x.shape[0] - 2)
        rest = len(c.shape) - 2
        own = c[:, i, ...]
        start, width = x[i], x[i + 1] - x[i]
        s, h = (beside(a, 1 + rest) for a in (q - start, width))
        y = self._values(own, s, h, nu)
        if not extrapolate:
            outside = beside(end_of(x, q), len(y.shape))
            y = xp.where(outside, xp.full_like(y, float("nan")), y)
        return xp.reshape(y, (*shape, *y.shape[1:]))

    def _values(self, c: Any, s: Any, h: Any, nu: int) -> Any:
        """Of the pieces with coefficients `c`, at `s` from their starts, widths `h`."""
        raise NotImplementedError

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        whole: Any = self.antiderivative()
        c, x, a, b = arrays(whole.c, whole.x, a, b)
        if extrapolate != "periodic":
            ends = [whole.at(c, x, q, 0, bool(extrapolate)) for q in (b, a)]
            return ends[0] - ends[1]
        period = whole.at(c, x, x[-1], 0, True) - whole.at(c, x, x[0], 0, True)
        ends = [_with_periods(whole, c, x, q, period) for q in (b, a)]
        return ends[0] - ends[1]

    def antiderivative(self, nu: int = 1) -> Any:
        """The antiderivative of order `nu` that is zero at the first breakpoint."""
        if nu <= 0:
            return self.derivative(-nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        made = self
        for _ in range(nu):
            made = made._antiderivative()
        return made.like(made.c, extrapolate)

    def derivative(self, nu: int = 1) -> Any:
        """The derivative of order `nu`."""
        if nu < 0:
            return self.antiderivative(-nu)
        made = self
        for _ in range(nu):
            made = made._derivative()
        return made

    def _derivative(self) -> Any:
        raise NotImplementedError

    def _antiderivative(self) -> Any:
        raise NotImplementedError

    def extend(self, c: Any, x: Any) -> None:
        """Add pieces at one end."""
        check(_extended, self, c, x)
        own, c = self._same_degree(*arrays(self.c, c))
        at, x = arrays(self.x, x)
        before = _is_before(at, x)
        pair = (c, own) if before else (own, c)
        self.c = concat(list(pair), axis=1)
        self.x = concat([x, at] if before else [at, x])

    def _same_degree(self, one: Any, two: Any) -> tuple[Any, Any]:
        count = max(one.shape[0], two.shape[0])
        return self._raised(one, count), self._raised(two, count)

    def _raised(self, c: Any, count: int) -> Any:
        raise NotImplementedError


def _of_scipy(cls: type) -> Any:
    return next(base for base in cls.__mro__ if base.__module__.startswith("scipy."))


rc.non_differentiable(_of_scipy)


def _extended(own: Any, c: Any, x: Any) -> None:
    """SciPy's checks of `extend`, on a copy."""
    cls = _sp.BPoly if isinstance(own, _sp.BPoly) else _sp.PPoly
    cls(own.c, own.x).extend(np.asarray(c), np.asarray(x))


def _is_before(at: Any, x: Any) -> bool:
    """Whether new breakpoints lie before the others."""
    at, x = rc.ignore_derivatives(at), rc.ignore_derivatives(x)
    rising = bool(at[-1] >= at[0])
    return bool(x[-1] <= at[0]) if rising else bool(x[-1] >= at[0])


def _direction(x: Any) -> Any:
    """One, or minus one where breakpoints decrease."""
    xp = rc.array_namespace(x)
    x = rc.ignore_derivatives(x)
    return xp.where(x[-1] >= x[0], xp.ones_like(x[0]), -xp.ones_like(x[0]))


def _with_periods(whole: Any, c: Any, x: Any, q: Any, period: Any) -> Any:
    """An antiderivative of a periodic function."""
    xp = rc.array_namespace(x, q)
    turns = rc.ignore_derivatives(xp.floor((q - x[0]) / (x[-1] - x[0])))
    inside = q - turns * (x[-1] - x[0])
    return turns * period + whole.at(c, x, inside, 0, True)


@covers(_sp.PPoly)
class PPoly(_Pieces, _sp.PPoly):
    """`scipy.interpolate.PPoly`: sum c[j] (q - x[i])**(k - 1 - j) on piece i.

    It has derivatives in coefficients, breakpoints and points.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import PPoly
    >>> x = np.asarray([0.0, 1.0, 2.0])
    >>> slope = jax.grad(lambda q: PPoly([[1.0, 2.0], [0.0, 1.0]], x)(q))
    >>> float(slope(0.5)), float(slope(1.5))
    (1.0, 2.0)
    """

    def _values(self, c: Any, s: Any, h: Any, nu: int) -> Any:
        return horner(c, s, nu)

    def _derivative(self) -> Any:
        count = self.c.shape[0]
        if count == 1:
            return self.like(self.c * 0.0)
        return self.like(self.c[:-1] * self._powers(count)[:-1])

    def _powers(self, count: int) -> Any:
        """The exponents of the coefficients, as a column."""
        powers = np.arange(count - 1.0, -1.0, -1.0)
        [powers] = arrays(powers) if is_numpy(self.c) else arrays(powers, self.c)[:1]
        return beside(powers, len(self.c.shape))

    def _antiderivative(self) -> Any:
        xp = rc.array_namespace(self.c)
        c = self.c / (self._powers(self.c.shape[0]) + 1.0)
        c = concat([c, c[:1] * 0.0])
        h = beside(self.x[1:] - self.x[:-1], len(c.shape) - 1)
        ends = xp.cumulative_sum(horner(c, h)[:-1, ...], axis=0)
        start = concat([c[0, :1, ...] * 0.0, ends])
        return self.like(concat([c[:-1], start[None, ...]]))

    def _raised(self, c: Any, count: int) -> Any:
        zeros = [c[:1] * 0.0] * (count - c.shape[0])
        return concat([*zeros, c])

    def solve(
        self, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None
    ) -> Any:
        """Where the function has the value `y`; real roots, as in SciPy."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        return solutions(self, y, bool(discontinuity), extrapolate)

    def roots(self, discontinuity: bool = True, extrapolate: Any = None) -> Any:
        """Where the function is zero."""
        return self.solve(0.0, discontinuity, extrapolate)

    @classmethod
    def from_spline(cls, tck: Any, extrapolate: Any = None) -> Any:
        """The pieces of a spline."""
        if isinstance(tck, _sp.BSpline):
            extrapolate = tck.extrapolate if extrapolate is None else extrapolate
            t, c, k = tck.t, tck.c, tck.k
        else:
            t, c, k = tck
        t, c = arrays(t, c)
        rows = [
            spline_values(t, c, k, t[:-1], m) / factorial(m) for m in range(k, -1, -1)
        ]
        rows = rc.array_namespace(c).stack(rows)
        return cls.construct_fast(rows, t, extrapolate)

    @classmethod
    def from_bernstein_basis(cls, bp: Any, extrapolate: Any = None) -> Any:
        """These pieces in powers."""
        if not isinstance(bp, _sp.BPoly):
            message = (
                f".from_bernstein_basis only accepts BPoly instances. Got {type(bp)} "
                "instead."
            )
            raise TypeError(message)
        own, x = arrays(bp.c, bp.x)
        k = own.shape[0] - 1
        h = beside(x[1:] - x[:-1], len(own.shape) - 1)
        rows = [own[0] * 0.0] * (k + 1)
        for a in range(k + 1):
            for s in range(a, k + 1):
                weight = (-1) ** (a + s) * comb(k, a) * comb(k - a, s - a)
                rows[k - s] = rows[k - s] + weight * own[a] / h**s
        c = rc.array_namespace(own).stack(rows)
        extrapolate = bp.extrapolate if extrapolate is None else extrapolate
        return cls.construct_fast(c, x, extrapolate, bp.axis)


@covers(_sp.BPoly)
class BPoly(_Pieces, _sp.BPoly):
    """`scipy.interpolate.BPoly`: piecewise polynomials in Bernstein's basis.

    >>> import numpy as np
    >>> from rules_autodiff import grad
    >>> from rules_scipy.interpolate import BPoly
    >>> c, x = np.asarray([[1.0], [2.0], [4.0]]), np.asarray([0.0, 2.0])
    >>> grad(lambda c: BPoly(c, x)(1.0))(c).ravel()
    array([0.25, 0.5 , 0.25])
    """

    def _values(self, c: Any, s: Any, h: Any, nu: int) -> Any:
        """De Casteljau's scheme."""
        k = c.shape[0] - 1
        if nu > k:
            return c[0] * s * 0.0
        for _ in range(nu):
            c = c[1:] - c[:-1]
        u = s / h
        for _ in range(k - nu):
            c = c[:-1] * (1.0 - u) + c[1:] * u
        return c[0] * (factorial(k) / factorial(k - nu)) / h**nu + 0.0 * s

    def _derivative(self) -> Any:
        k = self.c.shape[0] - 1
        if k == 0:
            return self.like(self.c * 0.0)
        h = beside(self.x[1:] - self.x[:-1], len(self.c.shape) - 1)
        return self.like(k * (self.c[1:] - self.c[:-1]) / h)

    def _antiderivative(self) -> Any:
        xp = rc.array_namespace(self.c)
        h = beside(self.x[1:] - self.x[:-1], len(self.c.shape) - 1)
        sums = xp.cumulative_sum(self.c, axis=0) / self.c.shape[0] * h
        starts = xp.cumulative_sum(sums[-1, :-1, ...], axis=0)
        zero = self.c[0, :1, ...] * 0.0
        starts = concat([zero, starts])[None, ...]
        return self.like(concat([starts, sums + starts]))

    def _raised(self, c: Any, count: int) -> Any:
        return raised_degree(c, count - c.shape[0])

    @classmethod
    def from_power_basis(cls, pp: Any, extrapolate: Any = None) -> Any:
        """These pieces in Bernstein's basis."""
        if not isinstance(pp, _sp.PPoly):
            message = (
                f".from_power_basis only accepts PPoly instances. Got {type(pp)} "
                "instead."
            )
            raise TypeError(message)
        own, x = arrays(pp.c, pp.x)
        k = own.shape[0] - 1
        h = beside(x[1:] - x[:-1], len(own.shape) - 1)
        rows = [own[0] * 0.0] * (k + 1)
        for a in range(k + 1):
            factor = own[a] / comb(k, k - a) * h ** (k - a)
            for j in range(k - a, k + 1):
                rows[j] = rows[j] + factor * comb(j, k - a)
        c = rc.array_namespace(own).stack(rows)
        extrapolate = pp.extrapolate if extrapolate is None else extrapolate
        return cls.construct_fast(c, x, extrapolate, pp.axis)

    @classmethod
    def from_derivatives(
        cls, xi: Any, yi: Any, orders: Any = None, extrapolate: Any = None
    ) -> Any:
        """Pieces with given values and derivatives at the breakpoints."""
        check(_sp.BPoly.from_derivatives, xi, yi, orders, extrapolate)
        xi, *yi = arrays(xi, *[list_of(y) for y in yi])
        m = len(yi) - 1
        count = max(len(yi[i]) + len(yi[i + 1]) for i in range(m))
        orders = orders if isinstance(orders, list | tuple) else [orders] * m
        count = max([count, *[n for n in orders if n is not None]])
        columns = []
        for i, order in enumerate(orders):
            one, two = _conditions(yi[i], yi[i + 1], order)
            b = _between(xi[i + 1] - xi[i], one, two)
            columns.append(raised_degree(b, count - b.shape[0]))
        c = rc.array_namespace(*columns).stack(columns, axis=1)
        return cls(c, xi, extrapolate)


def list_of(y: Any) -> Any:
    """The value and derivatives at one breakpoint."""
    return y if rc.is_array(y) else list(y)


def _conditions(one: Any, two: Any, order: Any) -> tuple[Any, Any]:
    """How many derivatives at both ends a polynomial of an order takes."""
    if order is None:
        return one, two
    n = order + 1
    n1 = min(n // 2, len(one))
    n2 = min(n - n1, len(two))
    return one[: min(n - n2, len(one))], two[:n2]


def _between(h: Any, ya: Any, yb: Any) -> Any:
    """Bernstein's coefficients from derivatives at both ends."""
    na, nb = ya.shape[0], yb.shape[0]
    n = na + nb
    c: list[Any] = [None] * n
    for q in range(na):
        value = ya[q] / _poch(n - q, q) * h**q
        for j in range(q):
            value = value - (-1) ** (j + q) * comb(q, j) * c[j]
        c[q] = value
    for q in range(nb):
        value = yb[q] / _poch(n - q, q) * (-1) ** q * h**q
        for j in range(q):
            value = value - (-1) ** (j + 1) * comb(q, j + 1) * c[n - q + j]
        c[n - q - 1] = value
    return rc.array_namespace(ya).stack(c)


def _poch(n: int, q: int) -> float:
    return factorial(n + q - 1) / factorial(n - 1)


def raised_degree(c: Any, more: int) -> Any:
    """Bernstein's coefficients of the same polynomial at a higher degree."""
    if not more:
        return c
    k = c.shape[0] - 1
    rows = [c[0] * 0.0] * (k + 1 + more)
    for a in range(k + 1):
        for j in range(more + 1):
            weight = comb(k, a) * comb(more, j) / comb(k + more, a + j)
            rows[a + j] = rows[a + j] + c[a] * weight
    return rc.array_namespace(c).stack(rows)


def own_pieces(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, _Pieces):
        return s
    cls = BPoly if isinstance(s, _sp.BPoly) else PPoly
    held = getattr(s, "_delegate_to", s)  # since SciPy 1.18
    c, x = (field(held, f"_{name}", name) for name in ("c", "x"))
    return cls.construct_fast(c, x, held.extrapolate, held.axis)


for _base in {defining(cls, "construct_fast") for cls in (_sp.PPoly, _sp.BPoly)}:
    covers_methods(_base, own_pieces, "__call__ c x")
    covers_class_methods(_base, "construct_fast")
covers_methods(_sp.PPoly, own_pieces, "derivative antiderivative integrate solve roots")
covers_methods(_sp.BPoly, own_pieces, "derivative antiderivative integrate")
covers_class_methods(_sp.PPoly, "from_spline from_bernstein_basis")
covers_class_methods(_sp.BPoly, "from_power_basis from_derivatives")
