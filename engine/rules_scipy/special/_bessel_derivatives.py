"""Derivatives of Bessel functions to a given order, `jvp` and the others."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._bessel import order_step
from ._declare import complex_valued, ufunc
from ._differences import Difference

__all__ = ["h1vp", "h2vp", "ivp", "jvp", "kvp", "yvp"]

_sp = scipy.special


def _derivative(f: Any) -> rc.Primitive:
    """The next order is the derivative."""

    def slope(_y: Any, v: Any, z: Any, n: int) -> Any:
        return made(v, z, n + 1)

    order = Difference(lambda v, z, n: order_step(v, z))
    made = ufunc(f, order, slope, None, holomorphic=True)
    return made


jvp = _derivative(_sp.jvp)
yvp = _derivative(_sp.yvp)
ivp = _derivative(_sp.ivp)
kvp = _derivative(_sp.kvp)
h1vp = complex_valued(_derivative(_sp.h1vp))
h2vp = complex_valued(_derivative(_sp.h2vp))
