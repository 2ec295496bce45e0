"""B-splines: values by de Boor's scheme, and splines that interpolate or fit data.

A value is linear in the coefficients, and a rational function of knots and point. The
coefficients of an interpolating spline solve banded equations.
"""

from __future__ import annotations

import operator
from math import factorial
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
    field,
    full_like,
    increasing,
    is_numpy,
    own_class,
    placed,
    refuse,
)
from ._basis import knot_interval, spline_values
from ._knots import knots_for
from ._matrices import sparse_design

__all__ = ["BSpline", "antiderivative_of", "derivative_of", "inserted"]


@covers(_sp.BSpline)
class BSpline(_sp.BSpline):
    """`scipy.interpolate.BSpline`, with derivatives in knots, coefficients and points.

    Attributes:
        t: Knots.
        c: Coefficients, `(n, ...)`.
        k: The degree.
        extrapolate: Whether points outside have values: True, False or `"periodic"`.
        axis: That of the data.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import BSpline
    >>> t = np.asarray([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    >>> c = np.asarray([1.0, 2.0, 4.0])
    >>> jax.grad(lambda c: BSpline(t, c, 2)(2.5))(c).tolist()
    [0.125, 0.75, 0.125]
    """

    t: Any = None
    c: Any = None
    k: int = 0
    extrapolate: Any = True
    axis: int = 0

    def __init__(
        self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0
    ) -> None:
        check(_sp.BSpline, t, c, k, extrapolate, axis)
        t, c = arrays(t, c)
        axis = axis % len(c.shape)
        c = moveaxis(c, axis, 0)
        if c.shape[0] < t.shape[0] - k - 1:
            message = "Knots, coefficients and degree are inconsistent."
            raise ValueError(message)
        if extrapolate != "periodic":
            extrapolate = bool(extrapolate)
        self.assign(increasing(t, strictly=False), c, k, extrapolate, axis)

    def assign(self, t: Any, c: Any, k: Any, extrapolate: Any, axis: int) -> None:
        self.t, self.c, self.k = t, c, operator.index(k)
        self.extrapolate, self.axis = extrapolate, axis

    @classmethod
    def construct_fast(
        cls, t: Any, c: Any, k: Any, extrapolate: Any = True, axis: int = 0
    ) -> Any:
        """An instance without checks."""
        made = cls.__new__(cls)
        made.assign(t, c, k, extrapolate, axis)
        return made

    @property
    def tck(self) -> tuple[Any, Any, int]:
        """Knots, coefficients and degree."""
        return self.t, self.c, self.k

    @classmethod
    def basis_element(cls, t: Any, extrapolate: Any = True) -> Any:
        """The spline of degree `len(t) - 2` that is not zero between these knots."""
        [t] = arrays(t)
        k = t.shape[0] - 2
        whole = concat([*[t[:1] - 1.0] * k, t, *[t[-1:] + 1.0] * k])
        c = np.zeros(whole.shape[0])
        c[k] = 1.0
        return cls.construct_fast(
            whole, full_like(t, c.shape) + _as(c, t), k, extrapolate
        )

    @classmethod
    def design_matrix(cls, x: Any, t: Any, k: int, extrapolate: Any = False) -> Any:
        """The matrix of the splines' values at `x`.

        In NumPy SciPy's `csr_array`; for arrays of a framework a `SparseArray`, whose
        intervals must be known.
        """
        check(_sp.BSpline.design_matrix, x, t, k, extrapolate)
        return sparse_design(x, t, k, extrapolate)

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        """Values, or derivatives of order `nu`, at points."""
        t, c, q = arrays(self.t, self.c, x)
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        y = spline_values(t, c, self.k, q, nu, extrapolate)
        return placed(y, len(q.shape), self.axis)

    def derivative(self, nu: int = 1) -> Any:
        """The derivative of order `nu`."""
        tck = derivative_of(self.t, self.c, self.k, nu)
        return own_class(self).construct_fast(
            *tck, extrapolate=self.extrapolate, axis=self.axis
        )

    def antiderivative(self, nu: int = 1) -> Any:
        """The antiderivative of order `nu` that is zero at the first knot."""
        tck = antiderivative_of(self.t, self.c, self.k, nu)
        extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
        return own_class(self).construct_fast(
            *tck, extrapolate=extrapolate, axis=self.axis
        )

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """The integral from `a` to `b`."""
        extrapolate = self.extrapolate if extrapolate is None else extrapolate
        t, c, a, b = arrays(self.t, self.c, a, b)
        xp = rc.array_namespace(t, c)
        first, last = t[self.k], t[t.shape[0] - self.k - 1]
        ta, ca, ka = antiderivative_of(t, c, self.k, 1)
        whole: Any = BSpline.construct_fast(ta, ca, ka)
        if extrapolate == "periodic":
            period = whole(last) - whole(first)
            ends = [self._over_periods(whole, q, first, last, period) for q in (b, a)]
            return ends[0] - ends[1]
        if not extrapolate:
            a, b = (xp.clip(q, first, last) for q in (a, b))
        return whole(b) - whole(a)

    def _over_periods(
        self, whole: Any, q: Any, first: Any, last: Any, period: Any
    ) -> Any:
        xp = rc.array_namespace(q, first)
        turns = rc.ignore_derivatives(xp.floor((q - first) / (last - first)))
        return turns * period + whole(q - turns * (last - first)) - whole(first)

    @classmethod
    def from_power_basis(cls, pp: Any, bc_type: Any = "not-a-knot") -> Any:
        """The spline of a `CubicSpline`."""
        if not isinstance(pp, _sp.CubicSpline):
            message = (
                f"Only CubicSpline objects are accepted for now. Got {type(pp)} "
                "instead."
            )
            raise NotImplementedError(message)
        c, x = arrays(pp.c, pp.x)
        t, k = knots_for(x, 3, bc_type), c.shape[0] - 1
        count = t.shape[0] - k - 1
        rows = [_by_blossom(c, x, t, j, k) for j in range(count)]
        made = rc.array_namespace(c).stack(rows)
        return cls.construct_fast(t, made, k, pp.extrapolate, pp.axis)

    def insert_knot(self, x: Any, m: int = 1) -> Any:
        """A spline with `m` more knots at `x`, of equal values."""
        check(_sp.BSpline.insert_knot, _plain(self), x, m)
        t, c, x = arrays(self.t, self.c, x)
        for _ in range(m):
            t, c = inserted(t, c, self.k, x, periodic=self.extrapolate == "periodic")
        return own_class(self).construct_fast(t, c, self.k, self.extrapolate, self.axis)


def _as(x: Any, like: Any) -> Any:
    return arrays(x, like)[0]


def _plain(s: Any) -> Any:
    """SciPy's instance, of constants; None for arrays of a framework."""
    if not is_numpy(s.t, s.c):
        return s
    return _scipys(s.t, s.c, s.k, s.extrapolate)


def _scipys(t: Any, c: Any, k: int, extrapolate: Any) -> Any:
    # Copies: a constant that shares an array would make that array constant.
    return _sp.BSpline.construct_fast(np.array(t), np.array(c), k, extrapolate)


rc.non_differentiable(_scipys)


def derivative_of(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of a derivative."""
    if nu < 0:
        return antiderivative_of(t, c, k, -nu)
    if nu > k:
        message = f"Order of derivative (n = {nu}) must be <= order of spline (k = {k})"
        raise ValueError(message)
    t, c = arrays(t, c)
    check(_refused_derivative, t, c, k, nu)
    xp = rc.array_namespace(t, c)
    for _ in range(nu):
        count = t.shape[0] - k - 1
        own = c[:count]
        d = t[k + 1 : -1] - t[1:count]
        # Between equal knots the coefficient counts for nothing.
        d = beside(d, len(c.shape))
        empty = rc.ignore_derivatives(d == 0)
        rise = (own[1:] - own[:-1]) * k / xp.where(empty, xp.ones_like(d), d)
        rise = xp.where(empty, xp.zeros_like(rise), rise)
        c = concat([rise, *[rise[:1] * 0.0] * k])
        t, k = t[1:-1], k - 1
    return t, c, k


def _refused_derivative(t: Any, c: Any, k: int, nu: int) -> None:
    """SciPy's error for repeated knots."""
    more = np.zeros((max(len(t) - len(c), 0), *c.shape[1:]))
    _sp.splder((t, np.concatenate([c, more]), k), nu)


def antiderivative_of(t: Any, c: Any, k: int, nu: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of an antiderivative."""
    if nu < 0:
        return derivative_of(t, c, k, -nu)
    t, c = arrays(t, c)
    xp = rc.array_namespace(t, c)
    for _ in range(nu):
        count = t.shape[0] - k - 1
        d = beside(t[k + 1 :] - t[:count], len(c.shape))
        sums = xp.cumulative_sum(c[:count] * d, axis=0) / (k + 1)
        c = concat([sums[:1] * 0.0, sums, *[sums[-1:]] * (k + 2)])
        t, k = concat([t[:1], t, t[-1:]]), k + 1
    return t, c, k


def _by_blossom(c: Any, x: Any, t: Any, j: int, k: int) -> Any:
    """A coefficient of a spline: the blossom of one piece at k successive knots."""
    n = x.shape[0]
    i = min(j, n - 2)
    own = [t[j + 1 + r] - x[i] for r in range(k)]
    total = c[k, i] * 1.0
    symmetric = [1.0] + [0.0] * k
    for u in own:
        symmetric = [
            symmetric[m] + (u * symmetric[m - 1] if m else 0.0) for m in range(k + 1)
        ]
    for m in range(1, k + 1):
        binomial = factorial(k) / factorial(m) / factorial(k - m)
        total = total + c[k - m, i] * symmetric[m] / binomial
    return total


def inserted(
    t: Any, c: Any, k: int, x: Any, *, periodic: bool = False
) -> tuple[Any, Any]:
    """Knots and coefficients with one more knot, by Boehm's formula."""
    if not is_numpy(t, c, x):
        refuse("insert_knot", "needs to know the interval: give NumPy's arrays")
    xp = np
    count = t.shape[0] - k - 1
    i = _whole(knot_interval(t, x.reshape(1), k, count)[0])
    if _same(t[i], t[i + k + 1]):
        i -= 1
    tt = xp.concatenate([t[: i + 1], x.reshape(1), t[i + 1 :]])
    rows = []
    for j in range(i - k + 1, i + 1):
        share = (x - tt[j]) / (tt[j + k + 1] - tt[j])
        rows.append(share * c[j] + (1.0 - share) * c[j - 1])
    middle = xp.stack(rows) if rows else c[:0]
    cc = xp.concatenate([c[: i - k + 1], middle, c[i:]])
    return _periodic(tt, cc, k, i) if periodic else (tt, cc)


def _periodic(tt: Any, cc: Any, k: int, i: int) -> tuple[Any, Any]:
    """The conditions of a periodic spline after a knot was inserted in interval i."""
    n = tt.shape[0]
    count, inner = n - k - 1, n - 2 * k - 1
    period = tt[count] - tt[k]
    if i >= count - k:
        tt = np.concatenate([tt[count - k : count] - period, tt[k:]])
        cc = np.concatenate([cc[inner : inner + k], cc[k:]])
    if i <= 2 * k - 1:
        tt = np.concatenate([tt[: n - k], tt[k + 1 : 2 * k + 1] + period])
        cc = np.concatenate([cc[:inner], cc[:k], cc[inner + k :]])
    return tt, cc


def _whole(i: Any) -> int:
    return int(i)


def _same(a: Any, b: Any) -> bool:
    return bool(a == b)


rc.non_differentiable([_whole, _same])


# Where SciPy's splines keep `t` and `c`: in later versions behind properties.
_HIDDEN = "_" if hasattr(_sp.BSpline, "t") else ""


def own_spline(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, BSpline):
        return s
    t, c = (field(s, f"{_HIDDEN}{name}", name) for name in ("t", "c"))
    return BSpline.construct_fast(t, c, s.k, s.extrapolate, s.axis)


covers_methods(
    _sp.BSpline,
    own_spline,
    "__call__ t c tck derivative antiderivative integrate insert_knot",
)
covers_class_methods(
    _sp.BSpline, "construct_fast basis_element design_matrix from_power_basis"
)
