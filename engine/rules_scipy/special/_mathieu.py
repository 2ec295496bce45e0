"""Mathieu functions, whose equation gives every order in the argument (DLMF 28.2.1)."""

from __future__ import annotations

import math
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import absolute, cos, cosh
from ._declare import ufunc
from ._differences import Difference

__all__ = [
    "mathieu_a",
    "mathieu_b",
    "mathieu_cem",
    "mathieu_modcem1",
    "mathieu_modcem2",
    "mathieu_modsem1",
    "mathieu_modsem2",
    "mathieu_sem",
]

_sp = scipy.special
_WHOLE = "derivative of a Mathieu function in its order m: pass it as an int"
_DEGREE = math.pi / 180


def _step(m: Any, q: Any, *_x: Any) -> Any:
    return 0.0625 * (1 + absolute(q) / 8)


mathieu_a = ufunc(_sp.mathieu_a, _WHOLE, Difference(_step))
mathieu_b = ufunc(_sp.mathieu_b, _WHOLE, Difference(_step))


def _angular(f: Any, value: Any) -> rc.Primitive:
    r"""$w'' = (2 q \cos 2x - a) w$, with `x` in degrees and `w'` per radian."""

    def slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
        bend = 2 * q * cos(2 * _DEGREE * x) - value(m, q)
        return _DEGREE * y[1], _DEGREE * bend * y[0]

    return ufunc(f, _WHOLE, Difference(_step), slopes)


def _radial(f: Any, value: Any) -> rc.Primitive:
    r"""$w'' = (a - 2 q \cosh 2x) w$."""

    def slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
        return y[1], (value(m, q) - 2 * q * cosh(2 * x)) * y[0]

    return ufunc(f, _WHOLE, Difference(_step), slopes)


mathieu_cem = _angular(_sp.mathieu_cem, mathieu_a)
mathieu_sem = _angular(_sp.mathieu_sem, mathieu_b)
mathieu_modcem1 = _radial(_sp.mathieu_modcem1, mathieu_a)
mathieu_modcem2 = _radial(_sp.mathieu_modcem2, mathieu_a)
mathieu_modsem1 = _radial(_sp.mathieu_modsem1, mathieu_b)
mathieu_modsem2 = _radial(_sp.mathieu_modsem2, mathieu_b)
