"""Spheroidal wave functions, by their equation (DLMF 30.2.1, 30.11.7)."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc
from rules_core.extend import nan_unless

from ._arrays import absolute
from ._declare import ufunc
from ._differences import Difference

__all__ = [
    "obl_ang1",
    "obl_ang1_cv",
    "obl_cv",
    "obl_rad1",
    "obl_rad1_cv",
    "obl_rad2",
    "obl_rad2_cv",
    "pro_ang1",
    "pro_ang1_cv",
    "pro_cv",
    "pro_rad1",
    "pro_rad1_cv",
    "pro_rad2",
    "pro_rad2_cv",
]

_sp = scipy.special
_WHOLE = "derivative of a spheroidal function in m or n: pass them as ints"
_COARSE = "derivative of {} in c: SciPy's values are too coarse for differences"
_VALUE = (
    "derivative of {} in c or in cv, which belong together: differentiate the function "
    "without _cv"
)


def _step(m: Any, n: Any, c: Any, *_x: Any) -> Any:
    return 0.0625 * (1 + absolute(c) / 8)


def _second(form: int, y: Any, m: Any, c: Any, cv: Any, x: Any) -> tuple[Any, Any]:
    """`w′` and `w″`; form 1: prolate, -1: oblate radial, 0: oblate angular."""
    bend, side = 1 - x * x, m * m
    if form == 1:
        second = (2 * x * y[1] - (cv - c * c * x * x - side / bend) * y[0]) / bend
    elif form == 0:
        second = (2 * x * y[1] - (cv + c * c * x * x - side / bend) * y[0]) / bend
    else:
        wide = 1 + x * x
        second = (-2 * x * y[1] + (cv - c * c * x * x - side / wide) * y[0]) / wide
    return y[1], second


def _checked(y: Any, first: Any, wronskian: Any) -> tuple[Any, Any]:
    """Functions of the second kind, NaN where SciPy's values are wrong.

    With those of the first kind they must have this Wronskian (DLMF 30.11.7).
    """
    found = (first[0] * y[1] - first[1] * y[0]) * wronskian
    good = rc.ignore_derivatives(absolute(found - 1)) <= 1e-9
    return nan_unless(good, y[0]), nan_unless(good, y[1])


def _wave(f: Any, value: Any, form: int, first: Any = None) -> rc.Primitive:
    """The primitive of a function of m, n, c, x; `first` is that of the first kind."""

    def slopes(y: Any, m: Any, n: Any, c: Any, x: Any) -> Any:
        if first is not None:
            y = _checked(y, first(m, n, c, x), c * (x * x - form))
        return _second(form, y, m, c, value(m, n, c), x)

    coarse = _COARSE.format(f.__name__)
    in_c = Difference(_step) if first is None else coarse
    return ufunc(f, _WHOLE, _WHOLE, in_c, slopes)


def _wave_cv(f: Any, form: int, first: Any = None) -> rc.Primitive:
    """That with the characteristic value as an argument."""

    def slopes(y: Any, m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
        if first is not None:
            y = _checked(y, first(m, n, c, cv, x), c * (x * x - form))
        return _second(form, y, m, c, cv, x)

    fixed = _VALUE.format(f.__name__)
    return ufunc(f, _WHOLE, _WHOLE, fixed, fixed, slopes)


pro_cv = ufunc(_sp.pro_cv, _WHOLE, _WHOLE, Difference(_step))
obl_cv = ufunc(_sp.obl_cv, _WHOLE, _WHOLE, Difference(_step))
pro_ang1 = _wave(_sp.pro_ang1, pro_cv, 1)
pro_rad1 = _wave(_sp.pro_rad1, pro_cv, 1)
pro_rad2 = _wave(_sp.pro_rad2, pro_cv, 1, pro_rad1)
obl_ang1 = _wave(_sp.obl_ang1, obl_cv, 0)
obl_rad1 = _wave(_sp.obl_rad1, obl_cv, -1)
obl_rad2 = _wave(_sp.obl_rad2, obl_cv, -1, obl_rad1)
pro_ang1_cv = _wave_cv(_sp.pro_ang1_cv, 1)
pro_rad1_cv = _wave_cv(_sp.pro_rad1_cv, 1)
pro_rad2_cv = _wave_cv(_sp.pro_rad2_cv, 1, pro_rad1_cv)
obl_ang1_cv = _wave_cv(_sp.obl_ang1_cv, 0)
obl_rad1_cv = _wave_cv(_sp.obl_rad1_cv, -1)
obl_rad2_cv = _wave_cv(_sp.obl_rad2_cv, -1, obl_rad1_cv)
