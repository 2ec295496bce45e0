"""The gamma family: Γ, ln Γ, ψ and its derivatives, B and ln B, and factorials."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

import rules_core as rc

from . import _parameters
from ._arrays import cos, floor, sin, where, where_number
from ._declare import elementwise, is_complex, on_doubles, ufunc
from ._polygamma import complex_polygamma

__all__ = [
    "beta",
    "betaln",
    "binom",
    "digamma",
    "factorial",
    "gamma",
    "gammaln",
    "loggamma",
    "multigammaln",
    "poch",
    "polygamma",
    "psi",
    "rgamma",
]

_sp = scipy.special
_WHOLE = "derivative of {} in {}, which must be an integer: pass it as an int"


@elementwise
@on_doubles
def digamma_increment(a: Any, b: Any) -> Any:
    r"""$\psi(a + b) - \psi(a)$, to full relative accuracy for positive arguments."""
    positive = (a > 0) & (b > 0)
    with np.errstate(all="ignore"):
        accurate = _parameters.digamma_increment(a, b)
        plain = scipy.special.digamma(a + b) - scipy.special.digamma(a)
    return np.where(positive, accurate, plain)


def _digamma_slope(_y: Any, x: Any) -> Any:
    return psi_of_complex(1, x) if is_complex(x) else polygamma(1, x)


# DLMF 5.2.2 and 5.15.1. Γ and its logarithm have poles at 0, -1, …: NaN there.
gamma: rc.Primitive = ufunc(_sp.gamma, lambda y, x: y * digamma(x), holomorphic=True)
gammaln = ufunc(_sp.gammaln, lambda y, x: digamma(x))
loggamma = ufunc(
    _sp.loggamma, lambda y, x: where_number(y, digamma(x)), holomorphic=True
)
digamma: rc.Primitive = ufunc(_sp.digamma, _digamma_slope, holomorphic=True)
psi = digamma  # one ufunc
polygamma: rc.Primitive = ufunc(
    _sp.polygamma,
    _WHOLE.format("polygamma", "n"),
    lambda y, n, x: polygamma(n + 1, x),
)
psi_of_complex: rc.Primitive = ufunc(
    complex_polygamma,
    _WHOLE.format("polygamma", "n"),
    lambda y, n, z: psi_of_complex(n + 1, z),
    holomorphic=True,
)


def _rgamma_slope(y: Any, x: Any) -> Any:
    r"""$-\psi / \Gamma$ (DLMF 5.2.2); left of 1/2, where both have poles, reflected.

    $1 / \Gamma(x) = \Gamma(1 - x) \sin(\pi x) / \pi$ (DLMF 5.5.3).
    """
    if is_complex(x):
        return -y * digamma(x)
    left = x < 0.5
    t = where(left, x, 0.0)
    nearest = floor(t + 0.5)
    parity = 1 - 2 * (nearest - 2 * floor(nearest / 2))
    angle = math.pi * (t - nearest)
    turned = cos(angle) - digamma(1 - t) * sin(angle) / math.pi
    return where(
        left, parity * gamma(1 - t) * turned, -y * digamma(where(left, 1.0, x))
    )


rgamma: rc.Primitive = ufunc(_sp.rgamma, _rgamma_slope, holomorphic=True)


# DLMF 5.12.1.
beta = ufunc(
    _sp.beta,
    lambda y, a, b: -y * digamma_increment(a, b),
    lambda y, a, b: -y * digamma_increment(b, a),
)
betaln = ufunc(
    _sp.betaln,
    lambda y, a, b: -digamma_increment(a, b),
    lambda y, a, b: -digamma_increment(b, a),
)


def _digamma_between(low: Any, high: Any) -> Any:
    r"""$\psi(h) - \psi(l)$; at $h = l$ with its slope."""
    rising = high > low
    start, end = where(rising, low, high), where(rising, high, low)
    increment = digamma_increment(start, end - start)
    regular = where((low > 0) | (low != floor(low)), low, 0.5)
    near = (high - low) * polygamma(1, regular)
    return where(high == low, near, where(rising, increment, -increment))


# (z)ₘ = Γ(z + m) / Γ(z), and the binomial coefficient by Γ.
poch = ufunc(
    _sp.poch,
    lambda y, z, m: y * _digamma_between(z, z + m),
    lambda y, z, m: y * digamma(z + m),
)
binom = ufunc(
    _sp.binom,
    lambda y, n, k: y * _digamma_between(n - k + 1, n + 1),
    lambda y, n, k: y * _digamma_between(k + 1, n - k + 1),
)
factorial = ufunc(
    _sp.factorial, lambda y, n, exact, extend: y * digamma(n + 1), None, None
)


def _digamma_sum(_y: Any, a: Any, d: Any) -> Any:
    if d <= 0:  # SciPy's value is then one number, for arrays too
        return rc.ZeroTangent()
    return sum(digamma(a - j / 2) for j in range(int(d)))


multigammaln = ufunc(_sp.multigammaln, _digamma_sum, _WHOLE.format("multigammaln", "d"))


def _increment_a(_y: Any, a: Any, b: Any) -> Any:
    return polygamma(1, a + b) - polygamma(1, a)


ufunc(digamma_increment, _increment_a, lambda y, a, b: polygamma(1, a + b))
