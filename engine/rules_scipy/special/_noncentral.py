r"""Noncentral distributions of χ², F and t, and their inverses.

Densities, and derivatives in the noncentrality, are Bessel and hypergeometric functions
or an integral with a positive integrand; degrees of freedom are differences.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from ._arrays import absolute, exp, log, sqrt, where
from ._declare import PARTIALS, elementwise, on_doubles, ufunc
from ._differences import Difference
from ._gamma import betaln, gammaln
from ._hypergeometric import hyp1f1
from ._inverses import inverse
from ._quadrature import half_line
from ._scaled_bessel import ive

__all__ = [
    "chndtr",
    "chndtridf",
    "chndtrinc",
    "chndtrix",
    "ncfdtr",
    "ncfdtri",
    "ncfdtridfd",
    "ncfdtridfn",
    "ncfdtrinc",
    "nctdtr",
    "nctdtridf",
    "nctdtrinc",
    "nctdtrit",
]

_sp = scipy.special


def _step(degrees: Any, size: Any) -> Any:
    """For degrees of freedom, which are positive and an exponent of `size`."""
    wide = 0.125 / (1 + absolute(log(where(size > 0, size, 1.0))) / 2)
    return where(degrees / 32 < wide, degrees / 32, wide)


# χ²: a mixture of central densities (DLMF 10.25.2).
def _chi2_density(v: Any, nc: Any, x: Any) -> Any:
    r"""$\frac12 e^{-(\sqrt x - \sqrt\lambda)^2/2} (x/\lambda)^{v/4-1/2}$ times ive."""
    central = nc == 0
    safe = where(central, 1.0, nc)
    root = sqrt(safe * x)
    power = (v / 2 - 1) / 2 * (log(x) - log(safe))
    own = ive(v / 2 - 1, root) * exp(power - (sqrt(x) - sqrt(safe)) ** 2 / 2) / 2
    half = v / 2
    log_central = (half - 1) * log(x / 2) - x / 2 - gammaln(half) - math.log(2)
    near = exp(log_central) * chi2_ratio(v, where(central, nc, 0.0), x)
    return where(central, near, own)


def chi2_ratio(v: Any, nc: Any, x: Any) -> Any:
    """The density over the central one, to second order in `nc`: its Poisson series."""
    rate, first = nc / 2, x / v
    second = first * x / (v + 2)
    return 1 + rate * (first - 1) + rate * rate * (0.5 - first + second / 2)


chndtr = ufunc(
    _sp.chndtr,
    lambda y, x, v, nc: _chi2_density(v, nc, x),
    Difference(lambda x, v, nc: _step(v, x)),
    lambda y, x, v, nc: -_chi2_density(v + 2, nc, x),
)


def _partials(f: Any, names: str) -> dict[str, Any]:
    """The partials of a function by the names of its arguments, without its value."""

    def without_value(partial: Any) -> Any:
        return lambda *args: partial(None, *args)

    pairs = zip(names.split(), PARTIALS[f], strict=True)
    return {name: without_value(partial) for name, partial in pairs}


_CHI2 = _partials(chndtr, "x v nc")
chndtrix = inverse(_sp.chndtrix, "p v nc -> x", "x v nc", _CHI2)
chndtridf = inverse(_sp.chndtridf, "x p nc -> v", "x v nc", _CHI2)
chndtrinc = inverse(_sp.chndtrinc, "x v p -> nc", "x v nc", _CHI2, clipped=True)


# F: a mixture of incomplete beta functions of x = m f / (n + m f).
def _mixture(a: Any, b: Any, nc: Any, x: Any, y: Any, lower: Any) -> Any:
    r"""$e^{-\lambda/2} x^a y^b / B(a, b)\; {}_1F_1(a + b; c; \lambda x / 2)$."""
    u = nc * x / 2
    size = a * log(x) + b * log(y) - betaln(a, b) - nc * y / 2
    return exp(size) * hyp1f1(lower - a - b, lower, -u)


def _odds(m: Any, n: Any, nc: Any, f: Any) -> tuple[Any, Any, Any, Any, Any]:
    total = n + m * f
    return m / 2, n / 2, nc, m * f / total, n / total


def _ncf_density(m: Any, n: Any, nc: Any, f: Any) -> Any:
    at = _odds(m, n, nc, f)
    return _mixture(*at, at[0]) / f


def _ncf_nc(m: Any, n: Any, nc: Any, f: Any) -> Any:
    at = _odds(m, n, nc, f)
    return -_mixture(*at, at[0] + 1) / (2 * at[0])


ncfdtr = ufunc(
    _sp.ncfdtr,
    Difference(lambda m, n, nc, f: _step(m, f)),
    Difference(lambda m, n, nc, f: _step(n, f)),
    lambda y, *args: _ncf_nc(*args),
    lambda y, *args: _ncf_density(*args),
)
_F = _partials(ncfdtr, "m n nc x")
ncfdtri = inverse(_sp.ncfdtri, "m n nc p -> x", "m n nc x", _F)
ncfdtridfn = inverse(_sp.ncfdtridfn, "p n nc x -> m", "m n nc x", _F)
ncfdtridfd = inverse(_sp.ncfdtridfd, "m p nc x -> n", "m n nc x", _F)
ncfdtrinc = inverse(_sp.ncfdtrinc, "m n p x -> nc", "m n nc x", _F, clipped=True)


# t: the normal distribution of t s - nc, where v s² is χ² with v degrees of freedom.
@elementwise
@on_doubles
def t_moment(k: Any, v: Any, nc: Any, t: Any) -> Any:
    r"""$\int_0^\infty s^k \varphi(t s - \delta)\, p_v(s)\, ds$ for $v > 0$.

    In $u = \ln s$, to both sides of the only maximum.
    """
    with np.errstate(all="ignore"):
        valid = (v > 0) & np.isfinite(v + nc + t)
        v, nc, t = (np.where(valid, x, 1.0) for x in (v, nc, t))
        # The exponent is (v + k) u - (v + t²) s² / 2 + t δ s, largest at:
        power, width, drift = v + k, v + t * t, t * nc
        root = np.sqrt(drift * drift + 4 * width * power)
        top = np.where(
            drift > 0, (drift + root) / (2 * width), 2 * power / (root - drift)
        )
        norm = v / 2 * np.log(v / 2) - scipy.special.gammaln(v / 2) + math.log(2)
        rest = -v * top * top / 2 - (t * top - nc) ** 2 / 2
        height = np.exp(norm + power * np.log(top) + rest) / math.sqrt(2 * math.pi)
        scale = 1 / np.sqrt(2 * width * top * top - drift * top)

        def half(side: int) -> Any:
            def drop(u: Any) -> Any:
                growth = np.expm1(side * u)
                square = width * top * top / 2 * growth * (2 + growth)
                return square - drift * top * growth - power * side * u

            return half_line(drop, np.ones_like, 3 * scale, scale)

        return np.where(valid, height * (half(-1) + half(1)), np.nan)


ufunc(
    t_moment,
    "derivative of a moment in its power, which is a whole number",
    Difference(lambda k, v, nc, t: _step(v, t * t)),
    lambda y, k, v, nc, t: t * t_moment(k + 1, v, nc, t) - nc * y,
    lambda y, k, v, nc, t: (
        nc * t_moment(k + 1, v, nc, t) - t * t_moment(k + 2, v, nc, t)
    ),
)
nctdtr = ufunc(
    _sp.nctdtr,
    Difference(lambda v, nc, t: _step(v, t * t)),
    lambda y, v, nc, t: -t_moment(0, v, nc, t),
    lambda y, v, nc, t: t_moment(1, v, nc, t),
)
_T = _partials(nctdtr, "v nc t")
nctdtrit = inverse(_sp.nctdtrit, "v nc p -> t", "v nc t", _T)
nctdtridf = inverse(_sp.nctdtridf, "p nc t -> v", "v nc t", _T)
nctdtrinc = inverse(_sp.nctdtrinc, "v p t -> nc", "v nc t", _T)
