"""The error functions, Faddeeva's and Dawson's, Fresnel's, and the normal distribution.

Far from the origin the slope of Faddeeva's function and its kin is the difference of
two nearly equal numbers; there it is an asymptotic series (DLMF 7.12.1).
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import absolute, cos, exp, imag, real, sin, where
from ._declare import by_formula, complex_valued, is_complex, ufunc

__all__ = [
    "dawsn",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfi",
    "erfinv",
    "fresnel",
    "log_ndtr",
    "modfresnelm",
    "modfresnelp",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "owens_t",
    "voigt_profile",
    "wofz",
]

_sp = scipy.special
_HEIGHT = 2 / math.sqrt(math.pi)
_NORMAL = 1 / math.sqrt(2 * math.pi)
_FAR = 7.0
_TERMS = 16

# erf, its complement and inverses: DLMF 7.2.1, 7.2.2.
erf = ufunc(_sp.erf, by_formula("erf"), holomorphic=True)
erfc = ufunc(_sp.erfc, by_formula("erfc"), holomorphic=True)
erfi = ufunc(_sp.erfi, lambda y, x: _HEIGHT * exp(x * x), holomorphic=True)
erfinv = ufunc(_sp.erfinv, lambda y, x: exp(y * y) / _HEIGHT)
erfcinv = ufunc(_sp.erfcinv, lambda y, x: -exp(y * y) / _HEIGHT)


def _series(square: Any) -> Any:
    r"""$\sum_k (2k + 1)!! / (2 s)^k$."""
    total = 0 * square + 1
    for k in range(_TERMS, 0, -1):
        total = 1 + (2 * k + 1) / (2 * square) * total
    return total


def _beyond(near: Any, z: Any, far: Any) -> Any:
    """`near`, but `far(z)` where `|z|` exceeds `_FAR`."""
    outside = rc.array_namespace(z).abs(z) > _FAR
    return where(outside, far(where(outside, z, _FAR)), near)


def _wofz_slope(w: Any, z: Any) -> Any:
    r"""$w'(z) = -2 z w(z) + 2 i / \sqrt\pi$ (DLMF 7.10.2)."""

    def far(z: Any) -> Any:
        tail = -1j / math.sqrt(math.pi) / (z * z) * _series(z * z)
        lower = imag(z) < 0
        below = where(lower, z, 0j)  # w(z) = 2 exp(-z²) - w(-z)
        return tail - where(lower, 4 * below * exp(-below * below), 0j)

    # PyTorch's where gives a real operand beside a complex one a complex cotangent.
    return _beyond(-2 * z * w + 1j * _HEIGHT, z + 0j, far)


def _erfcx_slope(y: Any, x: Any) -> Any:
    if is_complex(x):
        return 1j * _wofz_slope(y, 1j * x)
    right = where(x > 0, x, 0.0)

    def far(x: Any) -> Any:
        return -_series(-x * x) / (x * x) / math.sqrt(math.pi)

    return _beyond(2 * x * y - _HEIGHT, right, far)


def _dawsn_slope(y: Any, z: Any) -> Any:
    r"""$F'(z) = 1 - 2 z F(z)$ (DLMF 7.10.3)."""

    def far(z: Any) -> Any:
        tail = -_series(z * z) / (2 * z * z)
        if not is_complex(z):
            return tail
        side = where(imag(z) > 0, -1j, where(imag(z) < 0, 1j, 0j))
        return tail + side * math.sqrt(math.pi) * z * exp(-z * z)

    return _beyond(1 - 2 * z * y, z, far)


wofz = complex_valued(ufunc(_sp.wofz, _wofz_slope, holomorphic=True))
erfcx = ufunc(_sp.erfcx, _erfcx_slope, holomorphic=True)
dawsn = ufunc(_sp.dawsn, _dawsn_slope, holomorphic=True)


def _faddeeva_slope(z: Any) -> Any:
    return _wofz_slope(wofz(z), z)


def _voigt(x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any]:
    r"""$V_x$ and $V_\gamma$ of $V = \mathrm{Re}\, w(z) / (\sigma \sqrt{2 \pi})$.

    $z = (x + i \gamma) / (\sigma \sqrt 2)$. At $\sigma = 0$ this is $i / (\sqrt\pi z)$
    with factors that cancel.
    """
    z = x + 1j * gamma
    narrow = (sigma == 0) | (rc.array_namespace(z).abs(z) > 1e100 * sigma)
    scale = math.sqrt(2) * where(narrow, 1.0, absolute(sigma))
    gauss = _faddeeva_slope(where(narrow, 1j, z) / scale) / (
        scale * scale * math.sqrt(math.pi)
    )
    outside = where(narrow, z, 1j)
    slope = where(narrow, -1j / (math.pi * outside * outside), gauss)
    return real(slope), -imag(slope)


def _voigt_sigma(y: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    r"""$V_\sigma = -(V + x V_x + \gamma V_\gamma) / \sigma$: of degree -1; 0 at 0."""
    in_x, in_gamma = _voigt(x, sigma, gamma)
    flat = sigma == 0
    total = -(y + x * in_x + gamma * in_gamma) / where(flat, 1.0, sigma)
    return where(flat, 0.0, total)


voigt_profile = ufunc(
    _sp.voigt_profile,
    lambda y, *args: _voigt(*args)[0],
    _voigt_sigma,
    lambda y, *args: _voigt(*args)[1],
)

# Fresnel's integrals (DLMF 7.2.7) and the modified ones, K±(x) = w(x e^{±iπ/4}) / 2.
fresnel = ufunc(
    _sp.fresnel,
    lambda y, z: (sin(math.pi / 2 * z * z), cos(math.pi / 2 * z * z)),
    holomorphic=True,
)


def _modified_fresnel(turn: complex) -> Any:
    """The slopes of F± and K±, for a turn of ±45°; that of K₋ is conjugate to K₊'s."""
    upper = turn.imag > 0
    up = turn if upper else turn.conjugate()

    def partial(_y: Any, x: Any) -> tuple[Any, Any]:
        slope = up / 2 * _faddeeva_slope(x * up)
        conj = rc.array_namespace(slope).conj
        return -exp(turn * turn * x * x), slope if upper else conj(slope)

    return partial


_TURN = cmath.exp(0.25j * math.pi)
modfresnelp = complex_valued(ufunc(_sp.modfresnelp, _modified_fresnel(_TURN)))
modfresnelm = complex_valued(
    ufunc(_sp.modfresnelm, _modified_fresnel(_TURN.conjugate()))
)


# The normal distribution. The hazard is by erfcx: nothing cancels.
def _hazard(x: Any) -> Any:
    return math.sqrt(2 / math.pi) / erfcx(-x / math.sqrt(2))


ndtr = ufunc(_sp.ndtr, lambda y, x: _NORMAL * exp(-x * x / 2), holomorphic=True)
log_ndtr = ufunc(_sp.log_ndtr, lambda y, x: _hazard(x), holomorphic=True)
ndtri = ufunc(_sp.ndtri, lambda y, p: exp(y * y / 2) / _NORMAL)
ndtri_exp = ufunc(_sp.ndtri_exp, lambda y, x: 1 / _hazard(y))


def _owens_h(_y: Any, h: Any, a: Any) -> Any:
    return -_NORMAL / 2 * exp(-h * h / 2) * erf(a * h / math.sqrt(2))


def _owens_a(_y: Any, h: Any, a: Any) -> Any:
    rise = 1 + a * a
    return exp(-h * h * rise / 2) / (2 * math.pi * rise)


owens_t = ufunc(_sp.owens_t, _owens_h, _owens_a)
