"""Powers, complex parts and steps of ufuncs that are no formulas."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import moves
from rules_numpy._declare.derivative import derivative
from rules_numpy._declare.elementwise import elementwise
from rules_numpy._declare.maps import strong

__all__: list[str] = []

_ZERO = rc.ZeroTangent()


@elementwise([np.power, np.float_power], holomorphic=True)
def power_partials(y: Any, x: Any, p: Any, *, needs: Any = (True, True)) -> Any:
    """∂xᵖ = (p xᵖ⁻¹, xᵖ ln x); at x = 0 the limits 0 ln 0 = 0 and 0 · 0⁻¹ = 0."""
    by_exponent = _by_exponent(y, x, p) if needs[1] and moves(p) else rc.NoTangent()
    if type(p) is int and p == 2:
        return 2.0 * x, by_exponent
    with np.errstate(all="ignore"):
        nan = x != x  # noqa: PLR0124  (of whole numbers and objects too)
        flat = ((x == 0) | nan) & (p == 0)  # x⁰ is 1 for every x
        exponent = np.where(flat, 0.0, p - 1.0) if np.any(flat) else p - 1
        base = x * 1.0 if np.asarray(x).dtype.kind in "iub" else x
        return p * np.power(base, exponent), by_exponent


def _by_exponent(y: Any, x: Any, p: Any) -> Any:
    """xᵖ ln x, which is NaN for a negative x, and beyond the pole at -0."""
    pole = (x == 0) & (np.real(p) < 0)
    with np.errstate(all="ignore"):
        base = np.where((x == 0) & np.logical_not(pole), 1.0, x)
        if np.asarray(x).dtype.kind == "f":
            base = np.where(pole & np.signbit(x), np.nan, base)
        return y * np.log(base)


@derivative(np.sign)
def sign_derivative(y: Any, x: Any) -> Any:
    """Zero for real x; for complex x, d(x/|x|) = i s Im(conj(s) dx) / |x|."""
    if np.asarray(x).dtype.kind != "c":
        return _step, _step
    size = np.absolute(x)
    size = np.where(size == 0, np.inf, size)

    def sign_pushforward(dx: Any) -> Any:
        return 1j * y * (np.imag(np.conjugate(y) * dx) / size)

    return sign_pushforward, sign_pushforward


def _step(dx: Any) -> Any:
    return np.zeros_like(dx)


@derivative([np.conjugate])
def conjugate_derivative(y: Any, x: Any) -> Any:
    """d conj(x) = conj(dx)."""
    return np.conjugate, np.conjugate


@derivative(np.real)
def real_derivative(y: Any, x: Any) -> Any:
    """d Re(x) = Re(dx)."""
    return np.real, _same


@derivative(np.imag)
def imag_derivative(y: Any, x: Any) -> Any:
    """d Im(x) = Im(dx)."""

    def imag_pullback(dy: Any) -> Any:
        return 1j * dy

    return np.imag, imag_pullback


def _same(dx: Any) -> Any:
    return dx


@derivative(np.angle)
def angle_derivative(y: Any, z: Any, deg: Any = False) -> Any:
    """d arg(z) = Im(dz / z), in radians or degrees."""
    scale = 180.0 / np.pi if deg else 1.0
    if z.dtype.kind != "c":
        return _step, _step

    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / z

    def angle_pushforward(dz: Any) -> Any:
        return scale * np.imag(strong(inverse, dz))

    def angle_pullback(dy: Any) -> Any:
        return strong(np.conjugate(inverse), 1j * scale * dy)

    return angle_pushforward, angle_pullback


@elementwise(np.heaviside)
def heaviside_partials(y: Any, x: Any, middle: Any) -> Any:
    """A step in x; the value at zero is the second argument."""
    return _ZERO, np.where(x == 0, 1.0, 0.0)
