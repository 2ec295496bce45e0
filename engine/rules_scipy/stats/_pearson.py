"""Pearson's distribution of the third kind."""

from __future__ import annotations

from typing import Any

import scipy.stats as st

import rules_core as rc
from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, exp, log, where

from ._continuous import continuous
from ._gamma_beta import gammaln, xlogy
from ._normal import log_phi
from ._numbers import INF

# Pearson's third: a gamma distribution of x, which skewness reflects.
_STRAIGHT = 1.6e-5  # below it, the normal distribution, as in SciPy


def _pearson(x: Any, skew: Any) -> tuple[Any, Any, Any, Any]:
    straight = absolute(skew) < _STRAIGHT
    beta = 2 / where(straight, 1.0, skew)
    point = beta * (x + beta)
    outside = ~straight & (point <= 0)
    return straight, beta * beta, where(outside | straight, 1.0, point), outside


def _near_normal(skew: Any, first: Any, second: Any) -> Any:
    """Zero, as in SciPy, with the derivatives of Edgeworth's series up to order two."""
    series = skew * first + skew * skew * second
    return series - rc.ignore_derivatives(series)


def _bounded(x: Any) -> Any:
    """So that the sixth power is a float."""
    return where(x > _LARGE, _LARGE, where(x < -_LARGE, -_LARGE, x))


_LARGE = 1e6


def _log_edgeworth(x: Any, skew: Any) -> Any:
    x2 = x * x
    third = x * (x2 - 3)
    second = ((x2 - 6) * x2 + 3) / 16 + (((x2 - 15) * x2 + 45) * x2 - 15) / 72
    return _near_normal(skew, third / 6, second - third * third / 72)


def _edgeworth(x: Any, skew: Any) -> Any:
    """Of the distribution function."""
    x2, density = x * x, exp(log_phi(x))
    second = x * (x2 - 3) / 16 + x * ((x2 - 10) * x2 + 15) / 72
    return _near_normal(skew, -density * (x2 - 1) / 6, -density * second)


def _pearson_logpdf(x: Any, skew: Any) -> Any:
    straight, shape, u, outside = _pearson(x, skew)
    own = log(shape) / 2 + xlogy(shape - 1, u) - u - gammaln(shape)
    normal = log_phi(x) + _log_edgeworth(_bounded(x), where(straight, skew, 0.0))
    return where(straight, normal, where(outside, -INF, own))


def _pearson_tail(x: Any, skew: Any, sign: float) -> Any:
    straight, shape, u, outside = _pearson(x, skew)
    right = sign * skew > 0
    own = where(right, sp.gammainc(shape, u), sp.gammaincc(shape, u))
    own = where(outside, where(right, 0.0 * own, 1.0), own)
    rest = sign * _edgeworth(_bounded(x), where(straight, skew, 0.0))
    return where(straight, sp.ndtr(sign * x) + rest, own)


pearson3 = continuous(
    st.pearson3,
    valid=lambda skew: absolute(skew) < INF,
    logpdf=_pearson_logpdf,
    cdf=lambda x, skew: _pearson_tail(x, skew, 1.0),
    sf=lambda x, skew: _pearson_tail(x, skew, -1.0),
    mean=lambda skew: 0.0,
    var=lambda skew: 1.0,
)
