"""Distributions by exponentials: waiting times, extreme values, logistic ones."""

from __future__ import annotations

import math
from typing import Any

import scipy.stats as st

from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, exp, expm1, log, log1p, sqrt, where

from ._continuous import continuous
from ._gamma_beta import LOG_2, where_above, xlogy
from ._normal import POSITIVE
from ._numbers import (
    EULER,
    INF,
    atan,
    atanh,
    expm1_over,
    log1mexp,
    log1p_over,
    log_cosh,
    softplus,
    tan,
    tanh,
)  # fmt: skip


def by_logsf(scipy: Any, logsf: Any, **formulas: Any) -> Any:
    """A distribution by the logarithm of its upper tail."""
    return continuous(
        scipy, logsf=logsf, cdf=lambda *args: -expm1(logsf(*args)), **formulas
    )


def by_logcdf(scipy: Any, logcdf: Any, **formulas: Any) -> Any:
    """A distribution by the logarithm of its lower tail."""
    return continuous(
        scipy, logcdf=logcdf, sf=lambda *args: -expm1(logcdf(*args)), **formulas
    )


# waiting times

expon = by_logsf(
    st.expon,
    lambda x: -x,
    support=POSITIVE,
    logpdf=lambda x: -x,
    ppf=lambda q: -log1p(-q),
    isf=lambda q: -log(q),
    mean=lambda: 1.0,
    var=lambda: 1.0,
    entropy=lambda: 1.0,
)
truncexpon = continuous(
    st.truncexpon,
    support=(0.0, lambda b: b),
    logpdf=lambda x, b: -x - log(-expm1(-b)),
    cdf=lambda x, b: expm1(-x) / expm1(-b),
    sf=lambda x, b: exp(-x) * expm1(x - b) / expm1(-b),
    ppf=lambda q, b: -log1p(q * expm1(-b)),
    mean=lambda b: 1 - b / expm1(b),
    var=lambda b: 1 - b * b * exp(b) / expm1(b) ** 2,
    entropy=lambda b: log(expm1(b)) + 1 - b * exp(b) / expm1(b),
)
exponpow = by_logsf(
    st.exponpow,
    lambda x, b: -expm1(x**b),
    support=POSITIVE,
    logpdf=lambda x, b: 1 + log(b) + xlogy(b - 1, x) + x**b - exp(x**b),
    ppf=lambda q, b: log1p(-log1p(-q)) ** (1 / b),
    isf=lambda q, b: log1p(-log(q)) ** (1 / b),
)
gompertz = by_logsf(
    st.gompertz,
    lambda x, c: -c * expm1(x),
    support=POSITIVE,
    logpdf=lambda x, c: log(c) + x - c * expm1(x),
    ppf=lambda q, c: log1p(-log1p(-q) / c),
    isf=lambda q, c: log1p(-log(q) / c),
)


def _genexpon_logsf(x: Any, a: Any, b: Any, c: Any) -> Any:
    return -(a + b) * x - b * expm1(-c * x) / c


genexpon = by_logsf(
    st.genexpon,
    _genexpon_logsf,
    support=POSITIVE,
    logpdf=lambda x, a, b, c: log(a - b * expm1(-c * x)) + _genexpon_logsf(x, a, b, c),
)

# Weibull's, and what is made of them


def _gamma_of(c: Any, k: float) -> Any:
    return sp.gamma(1 + k / c)


def _weibull_logpdf(x: Any, c: Any) -> Any:
    return log(c) + xlogy(c - 1, x) - x**c


def _weibull_var(c: Any) -> Any:
    return _gamma_of(c, 2.0) - _gamma_of(c, 1.0) ** 2


def _weibull_entropy(c: Any) -> Any:
    return -EULER / c - log(c) + EULER + 1


weibull_min = by_logsf(
    st.weibull_min,
    lambda x, c: -(x**c),
    support=POSITIVE,
    logpdf=_weibull_logpdf,
    ppf=lambda q, c: (-log1p(-q)) ** (1 / c),
    isf=lambda q, c: (-log(q)) ** (1 / c),
    mean=lambda c: _gamma_of(c, 1.0),
    var=_weibull_var,
    entropy=_weibull_entropy,
)
weibull_max = by_logcdf(
    st.weibull_max,
    lambda x, c: -((-x) ** c),
    support=(-INF, 0.0),
    logpdf=lambda x, c: _weibull_logpdf(-x, c),
    ppf=lambda q, c: -((-log(q)) ** (1 / c)),
    isf=lambda q, c: -((-log1p(-q)) ** (1 / c)),
    mean=lambda c: -_gamma_of(c, 1.0),
    var=_weibull_var,
    entropy=_weibull_entropy,
)
rayleigh = by_logsf(
    st.rayleigh,
    lambda x: -x * x / 2,
    support=POSITIVE,
    logpdf=lambda x: log(x) - x * x / 2,
    ppf=lambda q: sqrt(-2 * log1p(-q)),
    isf=lambda q: sqrt(-2 * log(q)),
    mean=lambda: math.sqrt(math.pi / 2),
    var=lambda: 2 - math.pi / 2,
    entropy=lambda: EULER / 2 + 1 - LOG_2 / 2,
)
invweibull = by_logcdf(
    st.invweibull,
    lambda x, c: -(x**-c),
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: log(c) - (c + 1) * log(x) - x**-c,
    ppf=lambda q, c: (-log(q)) ** (-1 / c),
    isf=lambda q, c: (-log1p(-q)) ** (-1 / c),
    mean=lambda c: where_above(c, 1.0, lambda c: sp.gamma(1 - 1 / c), INF),
    entropy=lambda c: 1 + EULER + EULER / c - log(c),
)
exponweib = by_logcdf(
    st.exponweib,
    lambda x, a, c: a * log1mexp(-(x**c)),
    support=POSITIVE,
    logpdf=lambda x, a, c: (
        log(a) + log(c) + xlogy(a - 1, -expm1(-(x**c))) - x**c + xlogy(c - 1, x)
    ),
    ppf=lambda q, a, c: (-log1p(-(q ** (1 / a)))) ** (1 / c),
)


def _half_dweibull(x: Any, c: Any) -> Any:
    half = exp(-(absolute(x) ** c)) / 2
    return where(x > 0, 1 - half, half)


dweibull = continuous(
    st.dweibull,
    symmetric=True,
    logpdf=lambda x, c: _weibull_logpdf(absolute(x), c) - LOG_2,
    cdf=_half_dweibull,
    mean=lambda c: 0.0,
    var=lambda c: _gamma_of(c, 2.0),
    entropy=lambda c: _weibull_entropy(c) + LOG_2,
)


def _truncated(c: Any, a: Any, b: Any) -> Any:
    r"""$\log(e^{-a^c} - e^{-b^c})$."""
    return -(a**c) + log1mexp(a**c - b**c)


truncweibull_min = continuous(
    st.truncweibull_min,
    support=(lambda c, a, b: a + 0 * (b + c), lambda c, a, b: b + 0 * (a + c)),
    valid=lambda c, a, b: (a >= 0) & (b > a) & (c > 0),
    logpdf=lambda x, c, a, b: _weibull_logpdf(x, c) - _truncated(c, a, b),
    logcdf=lambda x, c, a, b: _truncated(c, a, x) - _truncated(c, a, b),
    logsf=lambda x, c, a, b: _truncated(c, x, b) - _truncated(c, a, b),
)

# extreme values


def _gumbel(scipy: Any, sign: float) -> Any:
    def log_rest(q: Any) -> Any:
        return log1p(-q)

    make: Any = by_logcdf if sign > 0 else by_logsf
    first, second = (log, log_rest) if sign > 0 else (log_rest, log)
    return make(
        scipy,
        lambda x: -exp(-sign * x),
        logpdf=lambda x: -sign * x - exp(-sign * x),
        ppf=lambda q: -sign * log(-first(q)),
        isf=lambda q: -sign * log(-second(q)),
        mean=lambda: sign * EULER,
        var=lambda: math.pi**2 / 6,
        entropy=lambda: EULER + 1,
    )


gumbel_r, gumbel_l = _gumbel(st.gumbel_r, 1.0), _gumbel(st.gumbel_l, -1.0)


def _end_of(c: Any, side: float) -> Any:
    """1 / c on the side where the support ends, else infinite."""
    ends = side * c > 0
    return where(ends, 1 / where(ends, c, 1.0), side * INF)


genextreme = by_logcdf(
    st.genextreme,
    lambda x, c: -exp(-log1p_over(-c, x)),
    support=(lambda c: _end_of(c, -1.0), lambda c: _end_of(c, 1.0)),
    open_ends=True,
    valid=lambda c: absolute(c) < INF,
    logpdf=lambda x, c: -exp(-log1p_over(-c, x)) - (1 - c) * log1p_over(-c, x),
    ppf=lambda q, c: expm1_over(-c, -log(-log(q))),
    isf=lambda q, c: expm1_over(-c, -log(-log1p(-q))),
    entropy=lambda c: EULER * (1 - c) + 1,
)
genpareto = by_logsf(
    st.genpareto,
    lambda x, c: -log1p_over(c, x),
    support=(0.0, lambda c: -_end_of(c, -1.0)),
    valid=lambda c: absolute(c) < INF,
    logpdf=lambda x, c: -(c + 1) * log1p_over(c, x),
    ppf=lambda q, c: expm1_over(c, -log1p(-q)),
    isf=lambda q, c: expm1_over(c, -log(q)),
    mean=lambda c: -where_above(-c, -1.0, lambda c: -1 / (1 + c), -INF),
    var=lambda c: where_above(
        -c, -0.5, lambda c: 1 / ((1 + c) ** 2 * (1 + 2 * c)), INF
    ),
    entropy=lambda c: 1 + c,
)


def _kappa_logcdf(x: Any, h: Any, k: Any) -> Any:
    return -log1p_over(-h, exp(-log1p_over(-k, x)))


def _kappa_lower(h: Any, k: Any) -> Any:
    flat, ends = absolute(k) < 1e-300, h > 0
    height = where(ends, h, 1.0)
    power = where(flat, log(height), (1 - height ** (-k)) / where(flat, 1.0, k))
    below = where(k < 0, 1 / where(k < 0, k, 1.0), -INF)
    return where(ends, power, below + 0 * h)


# logistic ones


def _logistic_logpdf(x: Any) -> Any:
    return -absolute(x) - 2 * log1p(exp(-absolute(x)))


logistic = continuous(
    st.logistic,
    symmetric=True,
    logpdf=_logistic_logpdf,
    cdf=sp.expit,
    logcdf=lambda x: -softplus(-x),
    ppf=sp.logit,
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 3,
    entropy=lambda: 2.0,
)
halflogistic = continuous(
    st.halflogistic,
    support=POSITIVE,
    logpdf=lambda x: LOG_2 + _logistic_logpdf(x),
    cdf=lambda x: tanh(x / 2),
    sf=lambda x: 2 * sp.expit(-x),
    logsf=lambda x: LOG_2 - softplus(x),
    ppf=lambda q: 2 * atanh(q),
    isf=lambda q: -sp.logit(q / 2),
    mean=lambda: 2 * LOG_2,
    var=lambda: math.pi**2 / 3 - (2 * LOG_2) ** 2,
    entropy=lambda: 2 - LOG_2,
)
genlogistic = by_logcdf(
    st.genlogistic,
    lambda x, c: -c * softplus(-x),
    logpdf=lambda x, c: log(c) - x - (c + 1) * softplus(-x),
    ppf=lambda q, c: -log(expm1(-log(q) / c)),
    mean=lambda c: sp.psi(c) + EULER,
    var=lambda c: sp.polygamma(1, c) + math.pi**2 / 6,
)


def _genhalf(x: Any, c: Any) -> Any:
    r"""$(1 - c x)^{1/c}$."""
    return exp(-log1p_over(-c, x))


genhalflogistic = continuous(
    st.genhalflogistic,
    support=(0.0, lambda c: 1 / c),
    logpdf=lambda x, c: LOG_2 - (1 - c) * log1p_over(-c, x) - 2 * log1p(_genhalf(x, c)),
    cdf=lambda x, c: (1 - _genhalf(x, c)) / (1 + _genhalf(x, c)),
    sf=lambda x, c: 2 * _genhalf(x, c) / (1 + _genhalf(x, c)),
    ppf=lambda q, c: (1 - ((1 - q) / (1 + q)) ** c) / c,
    entropy=lambda c: 2 - (2 * c + 1) * LOG_2,
)


def _two_arctan(x: Any) -> Any:
    half = 2 / math.pi * atan(exp(-absolute(x)))
    return where(x > 0, 1 - half, half)


hypsecant = continuous(
    st.hypsecant,
    symmetric=True,
    logpdf=lambda x: -math.log(math.pi) - log_cosh(x),
    cdf=_two_arctan,
    ppf=lambda q: log(tan(math.pi * q / 2)),
    mean=lambda: 0.0,
    var=lambda: math.pi**2 / 4,
    entropy=lambda: math.log(2 * math.pi),
)


# two exponentials


def _laplace_tail(x: Any) -> Any:
    half = exp(-absolute(x)) / 2
    return where(x > 0, 1 - half, half)


laplace = continuous(
    st.laplace,
    symmetric=True,
    logpdf=lambda x: -LOG_2 - absolute(x),
    cdf=_laplace_tail,
    logcdf=lambda x: where(x > 0, log1p(-exp(-absolute(x)) / 2), -LOG_2 - absolute(x)),
    ppf=lambda q: where(
        q > 0.5,
        -log(2 * where(q > 0.5, 1 - q, 0.5)),
        log(2 * where(q > 0.5, 0.5, q)),
    ),
    mean=lambda: 0.0,
    var=lambda: 2.0,
    entropy=lambda: LOG_2 + 1,
)


def _slope_of(x: Any, kappa: Any) -> Any:
    return absolute(x) * where(x >= 0, kappa, 1 / kappa)


def _asymmetric(x: Any, kappa: Any, side: float) -> Any:
    """The tail on a side."""
    weight = where(x >= 0, 1 / (1 + kappa * kappa), 1 / (1 + kappa**-2))
    tail = weight * exp(-_slope_of(x, kappa))
    return where(side * x >= 0, tail, 1 - tail)


laplace_asymmetric = continuous(
    st.laplace_asymmetric,
    logpdf=lambda x, kappa: -_slope_of(x, kappa) - log(kappa + 1 / kappa),
    cdf=lambda x, kappa: where(
        x >= 0, 1 - _asymmetric(x, kappa, 1.0), _asymmetric(x, kappa, -1.0)
    ),
    sf=lambda x, kappa: _asymmetric(x, kappa, 1.0),
    mean=lambda kappa: 1 / kappa - kappa,
    var=lambda kappa: kappa**-2 + kappa**2,
    entropy=lambda kappa: 1 + log(kappa + 1 / kappa),
)

# Hosking's, of which many are limits
kappa4 = by_logcdf(
    st.kappa4,
    _kappa_logcdf,
    support=(
        _kappa_lower,
        lambda h, k: where(k > 0, 1 / where(k > 0, k, 1.0), INF) + 0 * h,
    ),
    open_ends=True,
    valid=lambda h, k: (absolute(h) < INF) & (absolute(k) < INF),
    logpdf=lambda x, h, k: (
        (1 - h) * _kappa_logcdf(x, h, k) - (1 - k) * log1p_over(-k, x)
    ),
)
