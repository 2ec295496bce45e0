"""Struve functions, modified Struve functions, and Kelvin functions."""

from __future__ import annotations

import cmath
import math
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import imag, real
from ._bessel import jv, order_step
from ._declare import complex_valued, ufunc
from ._differences import Difference
from ._gamma import rgamma

__all__ = [
    "bei",
    "beip",
    "ber",
    "berp",
    "kei",
    "keip",
    "kelvin",
    "ker",
    "kerp",
    "modstruve",
    "struve",
]

_sp = scipy.special


def _power(v: Any, x: Any) -> Any:
    r"""$(x / 2)^v / (\sqrt\pi\, \Gamma(v + 3/2))$."""
    return (x / 2) ** v * rgamma(v + 1.5) / math.sqrt(math.pi)


def _struve_x(_y: Any, v: Any, x: Any) -> Any:
    """DLMF 11.4.23, 11.4.27."""
    v = 1.0 * v
    return (struve(v - 1, x) - struve(v + 1, x) + _power(v, x)) / 2


def _modstruve_x(_y: Any, v: Any, x: Any) -> Any:
    """DLMF 11.4.25, 11.4.29."""
    v = 1.0 * v
    return (modstruve(v - 1, x) + modstruve(v + 1, x) + _power(v, x)) / 2


struve = ufunc(_sp.struve, Difference(order_step), _struve_x)
modstruve = ufunc(_sp.modstruve, Difference(order_step), _modstruve_x)


_TURN = cmath.exp(0.75j * math.pi)


def _first(x: Any) -> Any:
    r"""The slope of $J_0(x e^{3 \pi i / 4})$, more accurate than SciPy's ber′."""
    return -_TURN * jv(1.0, x * _TURN)


def _second(x: Any) -> Any:
    r"""The second derivative of $J_0(x e^{3 \pi i / 4})$, without division."""
    z = x * _TURN
    return 0.5j * (jv(0.0, z) - jv(2.0, z))


# Kelvin's equation (DLMF 10.61.3): w = ber + i bei and ker + i kei have
# w″ = i w - w′ / x.
ber: rc.Primitive = ufunc(_sp.ber, lambda y, x: real(_first(x)))
bei: rc.Primitive = ufunc(_sp.bei, lambda y, x: imag(_first(x)))
ker: rc.Primitive = ufunc(_sp.ker, lambda y, x: kerp(x))
kei: rc.Primitive = ufunc(_sp.kei, lambda y, x: keip(x))
berp: rc.Primitive = ufunc(_sp.berp, lambda y, x: real(_second(x)))
beip: rc.Primitive = ufunc(_sp.beip, lambda y, x: imag(_second(x)))
kerp: rc.Primitive = ufunc(_sp.kerp, lambda y, x: -kei(x) - y / x)
keip: rc.Primitive = ufunc(_sp.keip, lambda y, x: ker(x) - y / x)


def _kelvin_slopes(y: Any, x: Any) -> Any:
    """Of Be, Ke, Be′ and Ke′."""
    _, ke, in_be, in_ke = y
    return in_be, in_ke, _second(x), 1j * ke - in_ke / x


kelvin = complex_valued(ufunc(_sp.kelvin, _kelvin_slopes))
