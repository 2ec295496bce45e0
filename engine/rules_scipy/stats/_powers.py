"""Distributions of powers, and Cauchy's."""

from __future__ import annotations

import math
from typing import Any

import scipy.stats as st

from rules_scipy import special as sp
from rules_scipy.special._arrays import (
    absolute,
    cos,
    exp,
    log,
    log1p,
    sign,
    sin,
    where,
)

from ._continuous import continuous
from ._exponential import by_logcdf, by_logsf
from ._gamma_beta import where_above, xlog1py, xlogy
from ._normal import POSITIVE
from ._numbers import INF, LOG_2PI, atan, atan2, log1mexp, softplus, tan

UNIT = (0.0, 1.0)
PI = math.pi

# powers

pareto = by_logsf(
    st.pareto,
    lambda x, b: -b * log(x),
    support=(1.0, INF),
    logpdf=lambda x, b: log(b) - (b + 1) * log(x),
    ppf=lambda q, b: (1 - q) ** (-1 / b),
    isf=lambda q, b: q ** (-1 / b),
    mean=lambda b: where_above(b, 1.0, lambda b: b / (b - 1), INF),
    var=lambda b: where_above(b, 2.0, lambda b: b / (b - 2) / (b - 1) ** 2, INF),
    entropy=lambda b: 1 + 1 / b - log(b),
)
lomax = by_logsf(
    st.lomax,
    lambda x, c: -c * log1p(x),
    support=POSITIVE,
    logpdf=lambda x, c: log(c) - (c + 1) * log1p(x),
    ppf=lambda q, c: (1 - q) ** (-1 / c) - 1,
    isf=lambda q, c: q ** (-1 / c) - 1,
    mean=lambda c: where_above(c, 1.0, lambda c: 1 / (c - 1), INF),
    var=lambda c: where_above(c, 2.0, lambda c: c / (c - 2) / (c - 1) ** 2, INF),
    entropy=lambda c: 1 + 1 / c - log(c),
)


def _log_part(b: Any, x: Any) -> Any:
    r"""$\log |1 - x^{-b}|$."""
    return log1mexp(-absolute(b) * log(x)) + where(b > 0, 0.0 * b, -b) * log(x)


truncpareto = continuous(
    st.truncpareto,
    support=(1.0, lambda b, c: c + 0 * b),
    valid=lambda b, c: (b != 0) & (c > 1),
    logpdf=lambda x, b, c: log(absolute(b)) - _log_part(b, c) - (b + 1) * log(x),
    logcdf=lambda x, b, c: _log_part(b, x) - _log_part(b, c),
    logsf=lambda x, b, c: _log_part(b, c / x) - b * log(x) - _log_part(b, c),
)


def _powerlaw_logpdf(x: Any, a: Any) -> Any:
    none = (x == 0) & (a < 1)  # as in SciPy, where it is infinite
    return where(none, -INF, log(a) + xlogy(a - 1, where(none, 1.0, x)))


powerlaw = by_logcdf(
    st.powerlaw,
    lambda x, a: a * log(x),
    support=UNIT,
    logpdf=_powerlaw_logpdf,
    ppf=lambda q, a: q ** (1 / a),
    mean=lambda a: a / (a + 1),
    var=lambda a: a / (a + 2) / (a + 1) ** 2,
    entropy=lambda a: 1 - 1 / a - log(a),
)


def _log_width(a: Any, b: Any) -> Any:
    return log(b) - log(a)


def _log_uniform(scipy: Any) -> Any:
    return continuous(
        scipy,
        support=(lambda a, b: a + 0 * b, lambda a, b: b + 0 * a),
        valid=lambda a, b: (a > 0) & (b > a),
        logpdf=lambda x, a, b: -log(x) - log(_log_width(a, b)),
        cdf=lambda x, a, b: (log(x) - log(a)) / _log_width(a, b),
        sf=lambda x, a, b: (log(b) - log(x)) / _log_width(a, b),
        ppf=lambda q, a, b: exp(log(a) + q * _log_width(a, b)),
        isf=lambda q, a, b: exp(log(b) - q * _log_width(a, b)),
        mean=lambda a, b: (b - a) / _log_width(a, b),
        var=lambda a, b: (
            (b * b - a * a) / (2 * _log_width(a, b)) - ((b - a) / _log_width(a, b)) ** 2
        ),
        entropy=lambda a, b: (log(a) + log(b)) / 2 + log(_log_width(a, b)),
    )


loguniform, reciprocal = _log_uniform(st.loguniform), _log_uniform(st.reciprocal)
burr12 = by_logsf(
    st.burr12,
    lambda x, c, d: -d * log1p(x**c),
    support=POSITIVE,
    logpdf=lambda x, c, d: log(c) + log(d) + xlogy(c - 1, x) - xlog1py(d + 1, x**c),
    ppf=lambda q, c, d: ((1 - q) ** (-1 / d) - 1) ** (1 / c),
)
burr = by_logcdf(
    st.burr,
    lambda x, c, d: -d * log1p(x**-c),
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c, d: log(c) + log(d) - (c + 1) * log(x) - (d + 1) * log1p(x**-c),
    ppf=lambda q, c, d: (q ** (-1 / d) - 1) ** (-1 / c),
)
fisk = continuous(
    st.fisk,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: log(c) + (c - 1) * log(x) - 2 * softplus(c * log(x)),
    logcdf=lambda x, c: -softplus(-c * log(x)),
    logsf=lambda x, c: -softplus(c * log(x)),
    cdf=lambda x, c: sp.expit(c * log(x)),
    sf=lambda x, c: sp.expit(-c * log(x)),
    ppf=lambda q, c: exp(sp.logit(q) / c),
    isf=lambda q, c: exp(-sp.logit(q) / c),
    mean=lambda c: where_above(c, 1.0, lambda c: PI / c / sin(PI / c), INF),
    entropy=lambda c: 2 - log(c),
)
mielke = by_logcdf(
    st.mielke,
    lambda x, k, s: -k / s * softplus(-s * log(x)),
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, k, s: log(k) + (k - 1) * log(x) - (1 + k / s) * log1p(x**s),
)


def _kappa3_sf(x: Any, a: Any) -> Any:
    r"""$1 - (1 + a x^{-a})^{-1/a}$."""
    far = x > 1
    at = where(far, x, 1.0)
    own = -sp.expm1(-log1p(a * at**-a) / a)
    return where(far, own, 1 - x * (a + x**a) ** (-1 / a))


kappa3 = continuous(
    st.kappa3,
    support=POSITIVE,
    logpdf=lambda x, a: log(a) - (1 + 1 / a) * log(a + x**a),
    cdf=lambda x, a: x * (a + x**a) ** (-1 / a),
    sf=_kappa3_sf,
)


def _loglaplace(x: Any, c: Any, side: float) -> Any:
    """The tail on a side of 1."""
    tail = exp(-c * absolute(log(x))) / 2
    return where(side * (x - 1) >= 0, tail, 1 - tail)


loglaplace = continuous(
    st.loglaplace,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: log(c / 2) - log(x) - c * absolute(log(x)),
    cdf=lambda x, c: _loglaplace(x, c, -1.0),
    sf=lambda x, c: _loglaplace(x, c, 1.0),
    mean=lambda c: where_above(c, 1.0, lambda c: c * c / (c * c - 1), INF),
    entropy=lambda c: log(2 / c) + 1,
)

# Cauchy's


def _turn(x: Any) -> Any:
    """The part of a half turn: the lower tail of Cauchy's distribution."""
    return atan2(1 + 0 * x, -x) / PI


cauchy = continuous(
    st.cauchy,
    symmetric=True,
    logpdf=lambda x: -math.log(PI) - log1p(x * x),
    cdf=_turn,
    ppf=lambda q: -1 / tan(PI * q),
    mean=lambda: math.nan,
    var=lambda: math.nan,
    entropy=lambda: math.log(4 * PI),
)
halfcauchy = continuous(
    st.halfcauchy,
    support=POSITIVE,
    logpdf=lambda x: math.log(2 / PI) - log1p(x * x),
    cdf=lambda x: 2 / PI * atan(x),
    sf=lambda x: 2 * _turn(-x),
    ppf=lambda q: tan(PI / 2 * q),
    isf=lambda q: 1 / tan(PI / 2 * q),
    mean=lambda: INF,
    var=lambda: INF,
    entropy=lambda: math.log(2 * PI),
)
foldcauchy = continuous(
    st.foldcauchy,
    support=POSITIVE,
    valid=lambda c: c >= 0,
    pdf=lambda x, c: (1 / (1 + (x - c) ** 2) + 1 / (1 + (x + c) ** 2)) / PI,
    cdf=lambda x, c: (atan(x - c) + atan(x + c)) / PI,
    sf=lambda x, c: _turn(c - x) + _turn(-c - x),
)


def _skewed(x: Any, a: Any) -> Any:
    return x / (1 + a * sign(x))


skewcauchy = continuous(
    st.skewcauchy,
    valid=lambda a: absolute(a) < 1,
    logpdf=lambda x, a: -math.log(PI) - log1p(_skewed(x, a) ** 2),
    cdf=lambda x, a: where(
        x <= 0, (1 - a) * _turn(_skewed(x, a)), 1 - (1 + a) * _turn(-_skewed(x, a))
    ),
    sf=lambda x, a: where(
        x <= 0, 1 - (1 - a) * _turn(_skewed(x, a)), (1 + a) * _turn(-_skewed(x, a))
    ),
)


def _wrapped(x: Any, c: Any) -> Any:
    ratio, half = (1 + c) / (1 - c), x / 2
    return atan2(ratio * sin(half), cos(half)) / PI


wrapcauchy = continuous(
    st.wrapcauchy,
    support=(0.0, 2 * PI),
    valid=lambda c: (c > 0) & (c < 1),
    logpdf=lambda x, c: log1p(-c * c) - LOG_2PI - log(1 + c * c - 2 * c * cos(x)),
    cdf=_wrapped,
    sf=lambda x, c: _wrapped(2 * PI - x, c),
)
