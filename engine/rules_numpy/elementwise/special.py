"""NumPy's own special functions: `i0` and `sinc`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.derivative import derivative
from rules_numpy._declare.maps import times

__all__ = ["bessel_i"]


def bessel_i(order: int, x: Any) -> Any:
    """Modified Bessel function Iₙ(x) = mean over θ of exp(x cos θ) cos(n θ).

    The trapezoidal rule on the circle converges faster than any power; DLMF 10.32.3.
    The points θ and π - θ together have sinh or cosh for exp, so that small values do
    not cancel.
    """
    largest = float(np.max(np.abs(x), initial=0.0))
    points = 32 + 2 * order + 2 * int(6.0 * largest**0.5)
    part = np.sinh if order % 2 else np.cosh
    theta = 2.0 * np.pi / points * np.arange(points)
    x = np.expand_dims(x, -1)
    return np.mean(part(x * np.cos(theta)) * np.cos(order * theta), axis=-1)


@derivative(np.i0)
def i0_derivative(y: Any, x: Any) -> Any:
    """∂I₀ = I₁."""
    slope = bessel_i(1, x)

    def i0_pushforward(dx: Any) -> Any:
        return slope * dx

    return i0_pushforward, i0_pushforward


# Coefficients of sin(t) / t in t²; with eleven of them the truncation is below
# rounding for |t| < 1.
_SERIES = (
    1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800,
    -1 / 1307674368000, 1 / 355687428096000, -1 / 121645100408832000,
    1 / 51090942171709440000,
)  # fmt: skip


def _sinc_slope(x: Any, y: Any) -> Any:
    """(cos πx - sinc x) / x; near zero, where that cancels, by its series."""
    small = np.abs(x) < 1.0 / np.pi
    if not np.any(small):
        return (_cos_pi(x) - y) / x
    near = (np.pi * np.where(small, x, 0.0)) ** 2
    total = near * 0.0
    for k in range(len(_SERIES) - 1, 0, -1):
        total = total * near + 2 * k * _SERIES[k]
    far = np.where(small, 1.0, x)
    outer = (_cos_pi(far) - np.sinc(far)) / far
    return np.where(small, np.pi**2 * x * total, outer)


def _cos_pi(x: Any) -> Any:
    """cos πx, exact for large real x too."""
    if np.asarray(x).dtype.kind == "c":
        return np.cos(np.pi * x)
    return np.cos(np.pi * np.fmod(x, 2.0))


@derivative(np.sinc)
def sinc_derivative(y: Any, x: Any) -> Any:
    """∂sinc = (cos πx - sinc x) / x, zero at zero."""
    return times(_sinc_slope(x, y))
