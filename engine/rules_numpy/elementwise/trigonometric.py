"""Trigonometric and hyperbolic functions, their inverses, and sinc."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.derivative import derivative
from rules_numpy._declare.elementwise import elementwise
from rules_numpy._declare.maps import times

__all__: list[str] = []


@elementwise(np.sin, holomorphic=True)
def sin_partials(y: Any, x: Any) -> Any:
    """∂sin = cos."""
    return (np.cos(x),)


@elementwise(np.cos, holomorphic=True)
def cos_partials(y: Any, x: Any) -> Any:
    """∂cos = -sin."""
    return (-np.sin(x),)


@elementwise(np.tan, holomorphic=True, generic=True)
def tan_partials(y: Any, x: Any) -> Any:
    """∂tan = 1 + tan²."""
    return (1.0 + y * y,)


@elementwise(np.sinh, holomorphic=True)
def sinh_partials(y: Any, x: Any) -> Any:
    """∂sinh = cosh."""
    return (np.cosh(x),)


@elementwise(np.cosh, holomorphic=True)
def cosh_partials(y: Any, x: Any) -> Any:
    """∂cosh = sinh."""
    return (np.sinh(x),)


@elementwise(np.tanh, holomorphic=True, generic=True)
def tanh_partials(y: Any, x: Any) -> Any:
    """∂tanh = (1 - tanh)(1 + tanh)."""
    return ((1.0 - y) * (1.0 + y),)


def _over_roots(a: Any, b: Any) -> Any:
    """1 / (√a √b): the product of roots has the branches that √(a b) has not.

    On a cut the sign of a zero imaginary part tells the side: 1 - x would lose it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(1.0, np.sqrt(a) * np.sqrt(b))


@elementwise(np.arcsin, holomorphic=True)
def arcsin_partials(y: Any, x: Any) -> Any:
    """∂arcsin = 1 / √(1 - x²)."""
    return (_over_roots(-(x - 1.0), 1.0 + x),)


@elementwise(np.arccos, holomorphic=True)
def arccos_partials(y: Any, x: Any) -> Any:
    """∂arccos = -1 / √(1 - x²)."""
    return (-_over_roots(-(x - 1.0), 1.0 + x),)


@elementwise(np.arctan, holomorphic=True)
def arctan_partials(y: Any, x: Any) -> Any:
    """∂arctan = 1 / (1 + x²)."""
    return (np.divide(1.0, 1.0 + x * x),)


@elementwise(np.arcsinh, holomorphic=True)
def arcsinh_partials(y: Any, x: Any) -> Any:
    """∂arcsinh = 1 / √(1 + x²)."""
    return (np.divide(1.0, np.sqrt(1.0 + x * x)),)


@elementwise(np.arccosh, holomorphic=True)
def arccosh_partials(y: Any, x: Any) -> Any:
    """∂arccosh = 1 / (√(x - 1) √(x + 1))."""
    return (_over_roots(x - 1.0, x + 1.0),)


@elementwise(np.arctanh, holomorphic=True)
def arctanh_partials(y: Any, x: Any) -> Any:
    """∂arctanh = 1 / ((1 - x)(1 + x))."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return (np.divide(1.0, (1.0 - x) * (1.0 + x)),)


@elementwise(np.arctan2)
def arctan2_partials(y: Any, a: Any, b: Any) -> Any:
    """∂arctan2(a, b) = (b, -a) / (a² + b²); undefined at the origin."""
    h = np.hypot(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        return b / h / h, -a / h / h


# Coefficients of sin(t) / t in t²; with eleven of them the truncation is below
# rounding for |t| < 1.
_SERIES = (
    1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800, 1 / 6227020800,
    -1 / 1307674368000, 1 / 355687428096000, -1 / 121645100408832000,
    1 / 51090942171709440000,
)  # fmt: skip


def _sinc_slope(x: Any, y: Any) -> Any:
    """(cos πx - sinc x) / x; near zero, where that cancels, by its series."""
    t2 = (np.pi * x) ** 2
    small = np.abs(x) < 1.0 / np.pi
    if not np.any(small):
        return (np.cos(np.pi * x) - y) / x
    near = np.where(small, t2, 0.0)
    total = near * 0.0
    for k in range(len(_SERIES) - 1, 0, -1):
        total = total * near + 2 * k * _SERIES[k]
    far = np.where(small, 1.0, x)
    outer = (np.cos(np.pi * far) - np.sinc(far)) / far
    return np.where(small, np.pi**2 * x * total, outer)


@derivative(np.sinc)
def sinc_derivative(y: Any, x: Any) -> Any:
    """∂sinc = (cos πx - sinc x) / x, zero at zero."""
    return times(_sinc_slope(x, y))
