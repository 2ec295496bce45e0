r"""The zeta functions of Riemann and of Hurwitz.

The derivative in the exponent $s$ is that of the Euler–Maclaurin sum (DLMF 25.11.28):
its first terms are differentiated one by one, the small remainder, which is analytic
but for the pole at 1, by Cauchy's integral around $s$.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

import rules_core as rc

from ._arrays import cos, log, sin, where
from ._declare import elementwise, is_complex, on_doubles, ufunc
from ._gamma import digamma, gamma

__all__ = ["zeta", "zetac"]

_sp = scipy.special
_STEPS = 20
_CIRCLE = np.exp(2j * np.pi * np.arange(32) / 32)
# B(2k) / (2k)!, DLMF 24.2.
_BERNOULLI = [
    b / math.factorial(2 * k)
    for k, b in enumerate(scipy.special.bernoulli(24)[2::2], start=1)
]


def _remainder(s: Any, q: Any) -> Any:
    """The zeta function of complex `s` for large `q`."""
    total = q ** (1 - s) / (s - 1) + q**-s / 2
    factor = s * q ** (-s - 1)
    for k, b in enumerate(_BERNOULLI, start=1):
        total = total + b * factor
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (q * q)
    return total


@elementwise
@on_doubles
def zeta_slope(order: Any, s: Any, q: Any) -> Any:
    r"""$\partial_s^m\, \zeta(s, q)$ for $s > -1$ and $q > 0$, otherwise NaN."""
    result = np.full_like(s, np.nan)
    inside = (s > -1) & (s != 1) & (q > 0) & (order >= 1) & np.isfinite(s + q)
    if inside.any():
        m, s, q = order[inside], s[inside], q[inside]
        start = q + np.arange(_STEPS)[:, None]
        first = (((-np.log(start)) ** m) * start**-s).sum(axis=0)
        radius = np.minimum(1, np.abs(s - 1) / 4)
        around = _remainder(s + radius * _CIRCLE[:, None], q + _STEPS)
        mean = (around * _CIRCLE[:, None] ** -m).mean(axis=0).real
        result[inside] = first + scipy.special.gamma(m + 1) / radius**m * mean
    return result


def _slope_start(_y: Any, m: Any, s: Any, q: Any) -> Any:
    """By Leibniz' rule from DLMF 25.11.17."""
    above = s * zeta_slope(m, s + 1, q)
    if rc.is_array(m):
        lower = zeta_slope(where(m > 1, m - 1, 0 * m + 1), s + 1, q)
        lower = where(m > 1, lower, zeta(s + 1, q))
    else:
        lower = zeta_slope(m - 1, s + 1, q) if m > 1 else zeta(s + 1, q)
    return -above - m * lower


ufunc(
    zeta_slope,
    "derivative of zeta in the order of differentiation: it is an integer",
    lambda y, m, s, q: zeta_slope(m + 1, s, q),
    _slope_start,
)


def _riemann_slope(s: Any) -> Any:
    """Left of -1/2 by reflection (DLMF 25.4.1)."""
    left = s < -0.5
    right = zeta_slope(1, where(left, 1 - s, s), 1.0)
    t = where(left, s, -1.0)
    factor = 2 * (2 * math.pi) ** (t - 1) * gamma(1 - t)
    angle = math.pi * t / 2
    turned = (log(2 * math.pi + 0 * t) - digamma(1 - t)) * sin(angle)
    outer = (turned + math.pi / 2 * cos(angle)) * (1 + zetac(1 - t))
    return where(left, factor * (outer - sin(angle) * right), right)


def _check_out(out: Any) -> None:
    if out is not None:
        message = (
            "the derivative of zeta must be taken without a third argument, but got an "
            "array to write to. Pass it by name, as out=."
        )
        raise rc.UnsupportedError(message)


def _zeta_exponent(_y: Any, x: Any, q: Any, out: Any) -> Any:
    _check_out(out)
    if is_complex(x):
        return rc.not_implemented("derivative of zeta at complex x: pass a real one")
    return _riemann_slope(x) if q is None else zeta_slope(1, x, q)


def _zeta_start(_y: Any, x: Any, q: Any, out: Any) -> Any:
    """DLMF 25.11.17."""
    _check_out(out)
    if is_complex(x):
        return rc.not_implemented("derivative of zeta at complex x: pass a real one")
    return rc.NoTangent() if q is None else -x * zeta(x + 1, q)


zeta: rc.Primitive = ufunc(_sp.zeta, _zeta_exponent, _zeta_start, None)
zetac = ufunc(_sp.zetac, lambda y, x: _riemann_slope(x))
