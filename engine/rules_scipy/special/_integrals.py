"""Integrals: exponential, sine and cosine, the dilogarithm, of Bessel functions, …."""

from __future__ import annotations

import math
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import absolute, cos, cosh, exp, log, where
from ._bessel import airy, i0, j0, k0, y0
from ._declare import ufunc
from ._differences import Difference
from ._spherical import spherical_in, spherical_jn
from ._struve import modstruve, struve

__all__ = [
    "besselpoly",
    "exp1",
    "expi",
    "expn",
    "it2i0k0",
    "it2j0y0",
    "it2struve0",
    "itairy",
    "iti0k0",
    "itj0y0",
    "itmodstruve0",
    "itstruve0",
    "shichi",
    "sici",
    "spence",
]

_sp = scipy.special
_WHOLE = "derivative of {} in {}, a whole number: pass it as an int"

exp1 = ufunc(_sp.exp1, lambda y, z: -exp(-z) / z, holomorphic=True)
expi = ufunc(_sp.expi, lambda y, z: exp(z) / z, holomorphic=True)


def _expn_x(y: Any, n: Any, x: Any) -> Any:
    r"""$E_n' = -E_{n-1}$ (DLMF 8.19.13), where $E_0 = e^{-x} / x$."""
    if not rc.is_array(n):
        return -expn(n - 1, x) if n > 0 else -y * (1 + 1 / x)
    first = n < 1
    below = expn(where(first, n, n - 1), x)
    return where(first, -y * (1 + 1 / x), -below)


expn = ufunc(_sp.expn, _WHOLE.format("expn", "n"), _expn_x)


def _powers(coefficients: Any, x: Any) -> Any:
    """A polynomial by its coefficients from the constant on."""
    total = 0 * x
    for coefficient in reversed(coefficients):
        total = coefficient + x * total
    return total


_LOG = [-1 / (k + 1) for k in range(40)]  # ln(1 - u) / u
_BESSEL = [1 / (4 * math.factorial(k + 1) ** 2) for k in range(14)]


def _spence_slope(_y: Any, z: Any) -> Any:
    r"""$\mathrm{Li}_2(1 - z)' = \ln z / (1 - z)$ (DLMF 25.12.2), -1 at 1."""
    u = 1 - z
    near = rc.array_namespace(u).abs(u) < 0.35
    outer = where(near, 0.5, z)
    return where(near, _powers(_LOG, where(near, u, 0.0)), log(outer) / (1 - outer))


def _even(sign: int, x: Any, bessel: Any) -> Any:
    r"""$\pm (B(x) - 1) / x$ for $B = I_0$, or $J_0$ with sign -1."""
    near = absolute(x) < 2
    square = sign * where(near, x * x, 0.0) / 4
    far = where(near, 2.0, x)
    return where(near, x * _powers(_BESSEL, square), sign * (bessel(far) - 1) / far)


spence = ufunc(_sp.spence, _spence_slope, holomorphic=True)
sici = ufunc(_sp.sici, lambda y, z: (spherical_jn(0, z), cos(z) / z), holomorphic=True)
shichi = ufunc(
    _sp.shichi, lambda y, z: (spherical_in(0, z), cosh(z) / z), holomorphic=True
)

# Integrals from 0 to x, and of Y₀/t, K₀/t and H₀/t from x on.
itj0y0 = ufunc(_sp.itj0y0, lambda y, x: (j0(x), y0(x)))
iti0k0 = ufunc(_sp.iti0k0, lambda y, x: (i0(x), k0(x)))
it2j0y0 = ufunc(_sp.it2j0y0, lambda y, x: (_even(-1, x, j0), -y0(x) / x))
it2i0k0 = ufunc(_sp.it2i0k0, lambda y, x: (_even(1, x, i0), -k0(x) / x))
itstruve0 = ufunc(_sp.itstruve0, lambda y, x: struve(0.0, x))
itmodstruve0 = ufunc(_sp.itmodstruve0, lambda y, x: modstruve(0.0, x))
it2struve0 = ufunc(_sp.it2struve0, lambda y, x: -struve(0.0, x) / x)


def _itairy_slopes(_y: Any, x: Any) -> Any:
    """Ai(x), Bi(x), Ai(-x), Bi(-x)."""
    forward, backward = airy(x), airy(-x)
    return forward[0], forward[2], backward[0], backward[2]


itairy = ufunc(_sp.itairy, _itairy_slopes)


def _besselpoly_a(y: Any, a: Any, power: Any, v: Any) -> Any:
    r"""$a f_a + (\lambda + 1) f = J_\nu(2 a)$; by the integral where it cancels."""
    del y
    below, above = besselpoly(a, power + 1, v - 1), besselpoly(a, power + 1, v + 1)
    return below - above


besselpoly = ufunc(_sp.besselpoly, _besselpoly_a, Difference(), Difference())
