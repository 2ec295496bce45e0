"""Polygamma functions of complex arguments, which SciPy does not have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special
from numpy.polynomial import Polynomial

__all__ = ["complex_polygamma"]

_SHIFT = 15  # the series is accurate to rounding from here on
# B(2k), DLMF 24.2.
_BERNOULLI = scipy.special.bernoulli(24)[2::2]


def _asymptotic(n: int, z: Any) -> Any:
    r"""$(-1)^{n+1} \psi^{(n)}$ for large $\mathrm{Re}\, z$ (DLMF 5.15.8)."""
    total = math.factorial(n - 1) / z**n + math.factorial(n) / (2 * z ** (n + 1))
    for k, b in enumerate(_BERNOULLI, start=1):
        ratio = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        total = total + b * ratio / z ** (2 * k + n)
    return total


def _right(n: int, z: Any) -> Any:
    """For `Re z > 0`: steps to the right (DLMF 5.15.5), then the series."""
    total = np.zeros_like(z)
    for k in range(_SHIFT + n):
        total = total + math.factorial(n) / (z + k) ** (n + 1)
    return (-1) ** (n + 1) * (total + _asymptotic(n, z + _SHIFT + n))


def _cotangent(n: int, z: Any) -> Any:
    r"""The $n$-th derivative of $\pi \cot \pi z$, a polynomial in the cotangent."""
    p = Polynomial([0, 1])
    for _ in range(n):
        p = -p.deriv() * Polynomial([1, 0, 1])
    cotangent = 1j + 2j / np.expm1(2j * np.pi * z)
    below = 1j / np.tanh(1j * np.pi * np.where(z.imag < 0, z, 0.5))
    cotangent = np.where(z.imag < 0, below, cotangent)
    return np.pi ** (n + 1) * p(cotangent)


@np.errstate(all="ignore")
def complex_polygamma(n: Any, z: Any) -> Any:
    r"""$\psi^{(n)}(z)$ for a whole number $n \ge 1$ (DLMF 5.15.6 for Re z < 0)."""
    n, z = int(n), np.asarray(z, np.complex128)
    left = z.real < 0
    right = _right(n, np.where(left, 1 - z, z))
    reflected = (-1) ** n * right - _cotangent(n, np.where(left, z, 0.5))
    return np.where(left, reflected, right)
