r"""Distribution functions by the incomplete beta and gamma functions; their inverses.

A distribution is the map of its arguments to those of the incomplete function: its
partials are one chain rule. Names follow SciPy: a `c` is the complement, an `i` the
inverse, and its next letter the argument that it solves for.
"""

from __future__ import annotations

import math
from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import exp, sign, sqrt, where
from ._declare import ufunc
from ._error_functions import ndtri
from ._incomplete_beta import beta_power, betainc_da, betainc_db
from ._incomplete_gamma import density, gamma_power, gammainc_da
from ._inverses import inverse

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "bdtrik",
    "bdtrin",
    "chdtr",
    "chdtrc",
    "chdtri",
    "chdtriv",
    "fdtr",
    "fdtrc",
    "fdtri",
    "fdtridfd",
    "gdtr",
    "gdtrc",
    "gdtria",
    "gdtrib",
    "gdtrix",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "nbdtrik",
    "nbdtrin",
    "nrdtrimn",
    "nrdtrisd",
    "pdtr",
    "pdtrc",
    "pdtri",
    "pdtrik",
    "stdtr",
    "stdtridf",
    "stdtrit",
]

_sp = scipy.special


def _counts(name: str, argument: str) -> str:
    return (
        f"derivative of {name} in {argument}, which counts events and is rounded to a "
        "whole number: pass it as an int"
    )


# The incomplete beta function of x and y = 1 - x: the smaller one decides.
def _by_smaller(x: Any, y: Any, of_x: Any, of_y: Any) -> Any:
    low = x < 0.5
    return where(low, of_x(where(low, x, 0.5)), of_y(where(low, 0.5, y)))


def beta_a(a: Any, b: Any, x: Any, y: Any) -> Any:
    r"""$\partial_a I_x(a, b)$."""
    return _by_smaller(
        x, y, lambda x: betainc_da(a, b, x), lambda y: -betainc_db(b, a, y)
    )


def beta_b(a: Any, b: Any, x: Any, y: Any) -> Any:
    r"""$\partial_b I_x(a, b)$."""
    return -beta_a(b, a, y, x)


def beta_weight(a: Any, b: Any, x: Any, y: Any) -> Any:
    r"""$x^a y^b / B(a, b)$: the density of $\ln(x / y)$."""
    return _by_smaller(
        x, y, lambda x: beta_power(a, b, a, b, x), lambda y: beta_power(b, a, b, a, y)
    )


def _opposite(partials: dict[str, Any]) -> dict[str, Any]:
    """The partials of the complement."""

    def minus(partial: Any) -> Any:
        return lambda *args: -partial(*args)

    return {name: minus(partial) for name, partial in partials.items()}


def _cdf(f: Any, names: str, partials: dict[str, Any]) -> rc.Primitive:
    """A distribution function by its partials; what has none counts events."""

    def one(name: str) -> Any:
        if name not in partials:
            return _counts(f.__name__, name)
        return lambda _y, *args: partials[name](*args)

    return ufunc(f, *map(one, names.split()))


# F: I_x(d₁ / 2, d₂ / 2) at x = d₁ f / (d₂ + d₁ f).
def _odds(d1: Any, d2: Any, f: Any) -> tuple[Any, Any, Any, Any]:
    total = d2 + d1 * f
    return d1 / 2, d2 / 2, d1 * f / total, d2 / total


def _fdtr_d1(d1: Any, d2: Any, f: Any) -> Any:
    at = _odds(d1, d2, f)
    return beta_a(*at) / 2 + beta_weight(*at) / d1


def _fdtr_d2(d1: Any, d2: Any, f: Any) -> Any:
    at = _odds(d1, d2, f)
    return beta_b(*at) / 2 - beta_weight(*at) / d2


def _fdtr_f(d1: Any, d2: Any, f: Any) -> Any:
    """The density, by lowered powers, which is right at 0."""
    a, b, x, y = _odds(d1, d2, f)
    near = beta_power(a - 1, b + 1, a, b, where(x < 0.5, x, 0.5))
    far = beta_power(b + 1, a - 1, b, a, where(x < 0.5, 0.5, y))
    return where(x < 0.5, near, far) * d1 / d2


_F = {"m": _fdtr_d1, "n": _fdtr_d2, "x": _fdtr_f}
fdtr = _cdf(_sp.fdtr, "m n x", _F)
fdtrc = _cdf(_sp.fdtrc, "m n x", _opposite(_F))
fdtri = inverse(_sp.fdtri, "m n p -> x", "m n x", _F)
fdtridfd = inverse(_sp.fdtridfd, "m p x -> n", "m n x", _F)


# Student's t: half of I_x(ν / 2, 1 / 2) at x = ν / (ν + t²), left of 0.
def _stdtr_t(v: Any, t: Any) -> Any:
    a, b, x, y = v / 2, 0.5 + 0 * v, v / (v + t * t), t * t / (v + t * t)
    near = beta_power(a + 0.5, b - 0.5, a, b, where(x < 0.5, x, 0.5))
    far = beta_power(b - 0.5, a + 0.5, b, a, where(x < 0.5, 0.5, y))
    return where(x < 0.5, near, far) / sqrt(v)


def _stdtr_v(v: Any, t: Any) -> Any:
    r"""By the sum, or for large $\nu$, where it cancels, by the series in $1 / \nu$."""
    t4 = t**4
    normal = v > 1e4 * (1 + t4)
    v_, t_ = where(normal, 1.0, v), where(normal, 1.0, t)
    half, square = v_ / 2, t_ * t_
    at = half, 0.5 + 0 * v_, v_ / (v_ + square), square / (v_ + square)
    exact = -sign(t_) / 2 * (beta_a(*at) / 2 + beta_weight(*at) / v_)
    return where(normal, _near_normal(v, where(normal, t, 0.0)), exact)


_FISHER = (
    (4, (1, 1)),
    (96, (-3, -5, -7, 3)),
    (384, (-15, -3, 6, 14, -11, 1)),
    (92160, (945, -915, -213, -939, -2141, 2225, -375, 15)),
)


def _near_normal(v: Any, t: Any) -> Any:
    r"""Fisher's $F - \Phi = -\varphi(t) \sum_k t P_k(t^2) \nu^{-k}$, differentiated."""
    total = 0 * t
    for k, (divisor, coefficients) in enumerate(_FISHER, start=1):
        polynomial = 0 * t
        for c in reversed(coefficients):
            polynomial = c + t * t * polynomial
        total = total + k / divisor * polynomial / v ** (k + 1)
    return t * exp(-t * t / 2) / math.sqrt(2 * math.pi) * total


_T = {"v": _stdtr_v, "t": _stdtr_t}
stdtr = _cdf(_sp.stdtr, "v t", _T)
stdtrit = inverse(_sp.stdtrit, "v p -> t", "v t", _T)
stdtridf = inverse(_sp.stdtridf, "p t -> v", "v t", _T)

# χ²: P(ν / 2, x / 2). SciPy's inverse chdtri is that of the complement.
_CHI2 = {
    "v": lambda v, x: gammainc_da(v / 2, x / 2) / 2,
    "x": lambda v, x: density(v / 2, x / 2) / 2,
}
chdtr = _cdf(_sp.chdtr, "v x", _CHI2)
chdtrc = _cdf(_sp.chdtrc, "v x", _opposite(_CHI2))
chdtri = inverse(_sp.chdtri, "v p -> x", "v x", _opposite(_CHI2))
chdtriv = inverse(_sp.chdtriv, "p x -> v", "v x", _CHI2)

# Γ: P(b, a x), with a rate a and a shape b.
_GAMMA = {
    "a": lambda a, b, x: gamma_power(b, b, a * x) / a,
    "b": lambda a, b, x: gammainc_da(b, a * x),
    "x": lambda a, b, x: a * density(b, a * x),
}
gdtr = _cdf(_sp.gdtr, "a b x", _GAMMA)
gdtrc = _cdf(_sp.gdtrc, "a b x", _opposite(_GAMMA))
gdtria = inverse(_sp.gdtria, "p b x -> a", "a b x", _GAMMA)
gdtrib = inverse(_sp.gdtrib, "a p x -> b", "a b x", _GAMMA)
gdtrix = inverse(_sp.gdtrix, "a b p -> x", "a b x", _GAMMA)

# Poisson: Q(k + 1, m); the inverse in k takes k as a real number.
_POISSON = {
    "k": lambda k, m: -gammainc_da(k + 1, m),
    "m": lambda k, m: -density(k + 1, m),
}
_IN_MEAN = {"m": lambda k, m: -density(_floor(k) + 1.0, m)}


def _floor(k: Any) -> Any:
    """A count as SciPy rounds it."""
    return rc.array_namespace(k).floor(k) if _is_real(k) else k


def _is_real(k: Any) -> bool:
    if not rc.is_array(k):
        return isinstance(k, float)
    return bool(rc.array_namespace(k).isdtype(k.dtype, "real floating"))


pdtr = _cdf(_sp.pdtr, "k m", _IN_MEAN)
pdtrc = _cdf(_sp.pdtrc, "k m", _opposite(_IN_MEAN))
pdtri = inverse(_sp.pdtri, "k p -> m", "k m", _IN_MEAN)
pdtrik = inverse(_sp.pdtrik, "p m -> k", "k m", _POISSON, clipped=True)


# Binomial: I_{1-p}(n - k, k + 1), of probability q; negative binomial: I_q(n, k + 1).
def _binomial(k: Any, n: Any, q: Any) -> tuple[Any, Any, Any, Any]:
    return n - k, k + 1.0, 1 - q, q


def _binomial_q(k: Any, n: Any, q: Any) -> Any:
    k = _floor(k)
    return -beta_power(k * 1.0, n - k - 1.0, k + 1.0, 1.0 * n - k, q)


_BINOMIAL = {
    "k": lambda k, n, q: beta_b(*_binomial(k, n, q)) - beta_a(*_binomial(k, n, q)),
    "n": lambda k, n, q: beta_a(*_binomial(k, n, q)),
    "q": lambda k, n, q: -beta_power(k, n - k - 1, k + 1, n - k, q),
}
_IN_CHANCE = {"q": _binomial_q}
bdtr = _cdf(_sp.bdtr, "k n q", _IN_CHANCE)
bdtrc = _cdf(_sp.bdtrc, "k n q", _opposite(_IN_CHANCE))
bdtri = inverse(_sp.bdtri, "k n p -> q", "k n q", _IN_CHANCE)
bdtrik = inverse(_sp.bdtrik, "p n q -> k", "k n q", _BINOMIAL, clipped=True)
bdtrin = inverse(_sp.bdtrin, "k p q -> n", "k n q", _BINOMIAL)


def _negative_q(k: Any, n: Any, q: Any) -> Any:
    k, n = _floor(k), _floor(n)
    return beta_power(n - 1.0, k * 1.0, n * 1.0, k + 1.0, q)


_NEGATIVE = {
    "k": lambda k, n, q: beta_b(n, k + 1, q, 1 - q),
    "n": lambda k, n, q: beta_a(n, k + 1, q, 1 - q),
    "q": lambda k, n, q: beta_power(n - 1, k, n, k + 1, q),
}
_IN_SUCCESS = {"q": _negative_q}
nbdtr = _cdf(_sp.nbdtr, "k n q", _IN_SUCCESS)
nbdtrc = _cdf(_sp.nbdtrc, "k n q", _opposite(_IN_SUCCESS))
nbdtri = inverse(_sp.nbdtri, "k n p -> q", "k n q", _IN_SUCCESS)
nbdtrik = inverse(_sp.nbdtrik, "p n q -> k", "k n q", _NEGATIVE, clipped=True)
nbdtrin = inverse(_sp.nbdtrin, "k p q -> n", "k n q", _NEGATIVE)


# The normal distribution, solved for its mean and for its standard deviation.
def _ndtri_slope(p: Any) -> Any:
    quantile = ndtri(p)
    return math.sqrt(2 * math.pi) * exp(quantile * quantile / 2)


nrdtrimn = ufunc(
    _sp.nrdtrimn,
    lambda y, p, sd, x: -sd * _ndtri_slope(p),
    lambda y, p, sd, x: -ndtri(p),
    lambda y, p, sd, x: 1 + 0 * y,
)
nrdtrisd = ufunc(
    _sp.nrdtrisd,
    lambda y, mean, p, x: -1 / ndtri(p),
    lambda y, mean, p, x: -y * _ndtri_slope(p) / ndtri(p),
    lambda y, mean, p, x: 1 / ndtri(p),
)
