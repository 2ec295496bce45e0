"""`UnivariateSpline` and its kin: FITPACK's splines as objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc

from ._arrays import (
    arrays,
    check,
    covers,
    covers_methods,
    field,
    increasing,
    is_numpy,
    refuse,
)
from ._bsplines import BSpline, antiderivative_of, derivative_of
from ._fitpack import spalde, sproot, values
from ._fitting import fitted, how_it_ended

__all__ = ["InterpolatedUnivariateSpline", "LSQUnivariateSpline", "UnivariateSpline"]

_MODES = {0: 0, "extrapolate": 0, 1: 1, "zeros": 1, 2: 2, "raise": 2, 3: 3, "const": 3}
_ENDS = (None, None)


@covers(_sp.UnivariateSpline)
class UnivariateSpline(_sp.UnivariateSpline):
    """`scipy.interpolate.UnivariateSpline`, with derivatives where it does not smooth.

    With `s=0` it interpolates, and with a large `s` it is a polynomial of least
    squares. Between, FITPACK searches knots, and a derivative is an error.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import UnivariateSpline
    >>> x, y = np.arange(5.0), np.asarray([0.0, 1.0, 0.0, 1.0, 0.0])
    >>> jax.grad(lambda y: UnivariateSpline(x, y, s=0)(0.5))(y).round(3).tolist()
    [0.297, 1.0, -0.406, 0.125, -0.016]
    """

    t: Any = None
    c: Any = None
    k: int = 3
    ext: int = 0
    residual: Any = None
    smooths: Any = None

    @property
    def __stands_for__(self) -> Any:
        """That to which SciPy changes an instance."""
        if self.smooths is None:
            return _sp.UnivariateSpline
        through = self.smooths == 0
        return _sp.InterpolatedUnivariateSpline if through else _sp.LSQUnivariateSpline

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = _ENDS, k: int = 3,
        s: Any = None, ext: Any = 0, check_finite: bool = False,
    ) -> None:  # fmt: skip
        check(_sp.UnivariateSpline, x, y, w, list(bbox), k, s, ext, check_finite)
        self._fit(x, y, w, bbox, k, s, ext, None)
        self.smooths = 1.0 if s is None else s

    def _fit(
        self, x: Any, y: Any, w: Any, bbox: Any, k: int, s: Any, ext: Any, t: Any
    ) -> None:
        first, last = bbox
        x, y, w, t, first, last = arrays(x, y, w, t, first, last)
        x = increasing(x, strictly=False)
        s = float(x.shape[0]) if s is None else s
        own = x * 0.0 + 1.0 if w is None else w
        ends = (x[0] if first is None else first), (x[-1] if last is None else last)

        def scipys() -> int:
            return how_it_ended(_sp.splrep, x, y, own, *ends, k, 0, s)

        name = type(self).__name__
        self.t, self.c = fitted(name, x, y, own, ends, k, s, t, scipys)
        self.k, self.ext = k, _MODES[ext]
        rest = own * (y - values(self.t, self.c, k, x, 0, 0))
        self.residual = rc.array_namespace(rest).sum(rest * rest)

    @classmethod
    def from_tck(cls, tck: Any, ext: int) -> Any:
        """The spline of knots, coefficients and a degree."""
        made = UnivariateSpline.__new__(UnivariateSpline)
        made.t, made.c, made.k = tck
        made.ext = ext
        return made

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        """Values, or derivatives of order `nu`, at points."""
        mode = self.ext if ext is None else _MODES[ext]
        if mode == 2:
            _check_inside(self.t, self.k, x)
        return values(self.t, self.c, self.k, x, nu, mode)

    def get_knots(self) -> Any:
        """Knots inside, and both ends."""
        return self.t[self.k : self.t.shape[0] - self.k]

    def get_coeffs(self) -> Any:
        """Coefficients."""
        return self.c[: self.t.shape[0] - self.k - 1]

    def get_residual(self) -> Any:
        """The weighted sum of squares of what remains."""
        return self.residual

    def set_smoothing_factor(self, s: Any) -> None:
        """Not here: make a new spline."""
        refuse("set_smoothing_factor", "goes on from the last knots. Make a new spline")

    def integral(self, a: Any, b: Any) -> Any:
        """The integral from `a` to `b`; zero outside of the knots."""
        spline: Any = BSpline.construct_fast(self.t, self.c, self.k)
        return spline.integrate(a, b, False)

    def derivatives(self, x: Any) -> Any:
        """All derivatives at a point."""
        return spalde(x, (self.t, self.c, self.k))

    def roots(self) -> Any:
        """The roots of a cubic spline."""
        if self.k != 3:
            message = "finding roots unsupported for non-cubic splines"
            raise NotImplementedError(message)
        return sproot((self.t, self.c, self.k), 3 * (self.t.shape[0] - 7))

    def derivative(self, n: int = 1) -> Any:
        """A derivative, as a spline."""
        tck = derivative_of(self.t, self.c, self.k, n)
        return self.from_tck(tck, 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: int = 1) -> Any:
        """An antiderivative, as a spline."""
        return self.from_tck(antiderivative_of(self.t, self.c, self.k, n), self.ext)


def _check_inside(t: Any, k: int, x: Any) -> None:
    if not is_numpy(t, x):
        refuse("ext='raise'", "cannot raise an error for traced points: give ext=0")
    _raise_outside(t, k, x)


def _raise_outside(t: Any, k: int, x: Any) -> None:
    x = np.asarray(x)
    if np.any((x < t[k]) | (x > t[len(t) - k - 1])):
        message = "Found x value not in the domain"
        raise ValueError(message)


rc.non_differentiable(_raise_outside)


@covers(_sp.InterpolatedUnivariateSpline)
class InterpolatedUnivariateSpline(UnivariateSpline, _sp.InterpolatedUnivariateSpline):
    """`scipy.interpolate.InterpolatedUnivariateSpline`: through all data."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = _ENDS, k: int = 3,
        ext: Any = 0, check_finite: bool = False,
    ) -> None:  # fmt: skip
        given = (x, y, w, list(bbox), k, ext, check_finite)
        check(_sp.InterpolatedUnivariateSpline, *given)
        self._fit(x, y, w, bbox, k, 0.0, ext, None)


@covers(_sp.LSQUnivariateSpline)
class LSQUnivariateSpline(UnivariateSpline, _sp.LSQUnivariateSpline):
    """`scipy.interpolate.LSQUnivariateSpline`: nearest to data, with given knots."""

    def __init__(
        self, x: Any, y: Any, t: Any, w: Any = None, bbox: Any = _ENDS, k: int = 3,
        ext: Any = 0, check_finite: bool = False,
    ) -> None:  # fmt: skip
        given = (x, y, t, w, list(bbox), k, ext, check_finite)
        check(_sp.LSQUnivariateSpline, *given)
        self._fit(x, y, w, bbox, k, 0.0, ext, t)


def own_univariate(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, UnivariateSpline):
        return s
    made = UnivariateSpline.from_tck(field(s, "_eval_args"), s.ext)
    made.residual = field(s, "_data")[10]
    return made


covers_methods(
    _sp.UnivariateSpline,
    own_univariate,
    "__call__ get_knots get_coeffs get_residual integral derivatives roots derivative "
    "antiderivative",
)
