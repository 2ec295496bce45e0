"""Kolmogorov's and Smirnov's distributions, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ._arrays import exp, where
from ._declare import elementwise, on_doubles, ufunc
from ._inverses import inverse

__all__ = ["kolmogi", "kolmogorov", "smirnov", "smirnovi"]

_sp = scipy.special
_TWICE = "second derivative of smirnov: there is no formula for it in this pack"
_WHOLE = "derivative of {} in n, the size of a sample: pass it as an int"


def _kolmogorov_slope(_y: Any, x: Any) -> Any:
    """The theta series of the slope: one for small, one for large arguments."""
    low = x < 1
    near, far = where(low, x, 1.0), where(low, 1.0, x)
    near = where(near > 0.02, near, 0.02)  # exp(-3000) on the left of it
    left = right = 0 * x
    for k in range(1, 9):
        c = ((2 * k - 1) * math.pi) ** 2 / 8
        left = left + exp(-c / near**2) * (2 * c / near**2 - 1)
        right = right + (-1) ** k * k * k * exp(-2 * (k * far) ** 2)
    left = -math.sqrt(2 * math.pi) / near**2 * left
    return where(x < 0, 0.0, where(low, left, 8 * far * right))


kolmogorov = ufunc(_sp.kolmogorov, _kolmogorov_slope)
kolmogi = inverse(
    _sp.kolmogi, "p -> x", "x", {"x": lambda x: _kolmogorov_slope(None, x)}
)


@elementwise
@on_doubles
def smirnov_slope(n: Any, d: Any) -> Any:
    r"""The slope of $d \sum_j \binom{n}{j} (d+j/n)^{j-1} (1-d-j/n)^{n-j}$."""
    return np.array([_smirnov_one(int(m), t) for m, t in zip(n, d, strict=True)])


def _smirnov_one(n: int, d: float) -> float:
    if not 0 <= d <= 1 or n < 1:
        return math.nan
    j = np.arange(math.floor(n * (1 - d)) + 1)
    up, down = d + j / n, 1 - d - j / n
    keep = (up > 0) & (down > 0)
    j, up, down = j[keep], up[keep], down[keep]
    logs = scipy.special.gammaln(n + 1) - scipy.special.gammaln(j + 1)
    logs = logs - scipy.special.gammaln(n - j + 1)
    terms = np.exp(logs + (j - 1) * np.log(up) + (n - j) * np.log(down))
    return float(np.sum(terms * (1 + d * ((j - 1) / up - (n - j) / down))))


ufunc(smirnov_slope, _WHOLE.format("smirnov"), _TWICE)
smirnov = ufunc(
    _sp.smirnov, _WHOLE.format("smirnov"), lambda y, n, d: smirnov_slope(n, d)
)
smirnovi = inverse(_sp.smirnovi, "n p -> d", "n d", {"d": smirnov_slope})
