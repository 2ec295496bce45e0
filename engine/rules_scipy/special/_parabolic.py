"""Parabolic cylinder functions, by their equation (DLMF 12.2.2, 12.2.4, 12.14.1)."""

from __future__ import annotations

import scipy.special

from ._declare import ufunc
from ._differences import Difference

__all__ = ["pbdv", "pbvv", "pbwa"]

_sp = scipy.special

pbdv = ufunc(
    _sp.pbdv, Difference(), lambda y, v, x: (y[1], (x * x / 4 - v - 0.5) * y[0])
)
pbvv = ufunc(
    _sp.pbvv, Difference(), lambda y, v, x: (y[1], (x * x / 4 - v - 0.5) * y[0])
)
pbwa = ufunc(
    _sp.pbwa,
    "derivative of pbwa in a: SciPy's values are too coarse for differences",
    lambda y, a, x: (y[1], (a - x * x / 4) * y[0]),
)
