"""Elementary functions: powers, exponentials, and angles in degrees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

import rules_core as rc

from ._arrays import sin
from ._declare import by_formula, ufunc
from ._hypergeometric import hyp1f1
from ._logarithms import strong_times, xlogy

__all__ = [
    "cbrt",
    "cosdg",
    "cosm1",
    "cotdg",
    "diric",
    "exp10",
    "exp2",
    "expm1",
    "exprel",
    "log1p",
    "powm1",
    "radian",
    "sinc",
    "sindg",
    "tandg",
]

_DEGREE = math.pi / 180
_LN10 = math.log(10)
_sp = scipy.special

cbrt = ufunc(_sp.cbrt, by_formula("cbrt"))
exp2 = ufunc(_sp.exp2, by_formula("exp2"))
exp10 = ufunc(_sp.exp10, lambda y, x: _LN10 * y)
expm1 = ufunc(_sp.expm1, by_formula("expm1"), holomorphic=True)
log1p = ufunc(_sp.log1p, by_formula("log1p"), holomorphic=True)
exprel = ufunc(_sp.exprel, lambda y, x: hyp1f1(2.0, 3.0, x) / 2)
cosm1 = ufunc(_sp.cosm1, lambda y, x: -sin(x))
sindg: rc.Primitive = ufunc(_sp.sindg, lambda y, x: _DEGREE * cosdg(x))
cosdg: rc.Primitive = ufunc(_sp.cosdg, lambda y, x: -_DEGREE * sindg(x))
tandg = ufunc(_sp.tandg, lambda y, x: _DEGREE * (1 + y * y))
cotdg = ufunc(_sp.cotdg, lambda y, x: -_DEGREE * (1 + y * y))
radian = ufunc(
    _sp.radian,
    lambda y, d, m, s: 0 * y + _DEGREE,
    lambda y, d, m, s: 0 * y + _DEGREE / 60,
    lambda y, d, m, s: 0 * y + _DEGREE / 3600,
)


def _powm1_x(_y: Any, x: Any, power: Any) -> Any:
    return strong_times(power, x ** (power - 1))


def _powm1_power(y: Any, x: Any, power: Any) -> Any:
    """`x^p ln x`, zero at `x = 0` for positive powers."""
    return xlogy(y + 1, x)


powm1 = ufunc(_sp.powm1, _powm1_x, _powm1_power)


def _diric_slope(_y: Any, x: Any, n: Any) -> Any:
    r"""The slope of a sum of cosines, $\frac2n \sum_k \cos k x$, $k < n / 2$."""
    if not _is_whole(n):
        return rc.not_implemented("derivative of diric: pass n as a positive int")
    size = int(n)
    k = rc.array_namespace(x).asarray(
        [j / 2 for j in range(1 + size % 2, size, 2)] or [0.0], dtype=x.dtype
    )
    return -2 / size * rc.array_namespace(x).sum(k * sin(k * x[..., None]), axis=-1)


def _is_whole(n: Any) -> bool:
    """Whether `n` is one positive whole number."""
    return isinstance(n, (int, float, np.number)) and bool(n > 0 and n == int(n))


diric = ufunc(_sp.diric, _diric_slope, "derivative of diric in n: pass it as an int")

sinc = rc.primitive(_sp.sinc, host=True, elementwise=True)  # NumPy's, as are its rules
