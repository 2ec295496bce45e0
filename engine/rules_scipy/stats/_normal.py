"""The normal distribution, and those that are made of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.stats as st

from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, exp, expm1, log, log1p, sqrt, where
from rules_scipy.special._declare import elementwise, on_doubles, ufunc

from ._continuous import continuous, is_positive
from ._numbers import INF, LOG_2PI, asinh, cosh, log1mexp, log_cosh, logaddexp, sinh

POSITIVE = (0.0, INF)


def log_phi(x: Any) -> Any:
    """The logarithm of the normal density."""
    return -x * x / 2 - LOG_2PI / 2


def phi(x: Any) -> Any:
    """The normal density."""
    return exp(log_phi(x))


norm = continuous(
    st.norm,
    symmetric=True,
    logpdf=log_phi,
    cdf=sp.ndtr,
    logcdf=sp.log_ndtr,
    ppf=sp.ndtri,
    mean=lambda: 0.0,
    var=lambda: 1.0,
    entropy=lambda: (1 + LOG_2PI) / 2,
)

# of logarithms


def _log_pdf(x: Any, s: Any) -> Any:
    return log_phi(log(x) / s) - log(s) - log(x)


lognorm = continuous(
    st.lognorm,
    support=POSITIVE,
    open_ends=True,
    logpdf=_log_pdf,
    cdf=lambda x, s: sp.ndtr(log(x) / s),
    sf=lambda x, s: sp.ndtr(-log(x) / s),
    logcdf=lambda x, s: sp.log_ndtr(log(x) / s),
    logsf=lambda x, s: sp.log_ndtr(-log(x) / s),
    ppf=lambda q, s: exp(s * sp.ndtri(q)),
    isf=lambda q, s: exp(-s * sp.ndtri(q)),
    mean=lambda s: exp(s * s / 2),
    var=lambda s: expm1(s * s) * exp(s * s),
    entropy=lambda s: (1 + LOG_2PI) / 2 + log(s),
)
gibrat = continuous(
    st.gibrat,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x: log_phi(log(x)) - log(x),
    cdf=lambda x: sp.ndtr(log(x)),
    sf=lambda x: sp.ndtr(-log(x)),
    logcdf=lambda x: sp.log_ndtr(log(x)),
    logsf=lambda x: sp.log_ndtr(-log(x)),
    ppf=lambda q: exp(sp.ndtri(q)),
    isf=lambda q: exp(-sp.ndtri(q)),
    mean=lambda: math.sqrt(math.e),
    var=lambda: math.e * (math.e - 1),
    entropy=lambda: (1 + LOG_2PI) / 2,
)
powernorm = continuous(
    st.powernorm,
    logpdf=lambda x, c: log(c) + log_phi(x) + (c - 1) * sp.log_ndtr(-x),
    logsf=lambda x, c: c * sp.log_ndtr(-x),
    cdf=lambda x, c: -expm1(c * sp.log_ndtr(-x)),
    ppf=lambda q, c: -sp.ndtri_exp(log1p(-q) / c),
    isf=lambda q, c: -sp.ndtri_exp(log(q) / c),
)
powerlognorm = continuous(
    st.powerlognorm,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c, s: log(c) + _log_pdf(x, s) + (c - 1) * sp.log_ndtr(-log(x) / s),
    logsf=lambda x, c, s: c * sp.log_ndtr(-log(x) / s),
    cdf=lambda x, c, s: -expm1(c * sp.log_ndtr(-log(x) / s)),
    ppf=lambda q, c, s: exp(-s * sp.ndtri_exp(log1p(-q) / c)),
    isf=lambda q, c, s: exp(-s * sp.ndtri_exp(log(q) / c)),
)


# folded and truncated


def _fold_mean(c: Any) -> Any:
    return 2 * phi(c) + c * (1 - 2 * sp.ndtr(-c))


halfnorm = continuous(
    st.halfnorm,
    support=POSITIVE,
    logpdf=lambda x: log_phi(x) + math.log(2),
    cdf=lambda x: sp.erf(x / math.sqrt(2)),
    sf=lambda x: 2 * sp.ndtr(-x),
    logsf=lambda x: math.log(2) + sp.log_ndtr(-x),
    ppf=lambda q: math.sqrt(2) * sp.erfinv(q),
    isf=lambda q: -sp.ndtri(q / 2),
    mean=lambda: math.sqrt(2 / math.pi),
    var=lambda: 1 - 2 / math.pi,
    entropy=lambda: math.log(math.pi / 2) / 2 + 0.5,
)
foldnorm = continuous(
    st.foldnorm,
    support=POSITIVE,
    valid=lambda c: c >= 0,
    logpdf=lambda x, c: log_phi(x) - c * c / 2 + math.log(2) + log_cosh(c * x),
    cdf=lambda x, c: sp.ndtr(x - c) - sp.ndtr(-x - c),
    sf=lambda x, c: sp.ndtr(c - x) + sp.ndtr(-x - c),
    mean=_fold_mean,
    var=lambda c: 1 + c * c - _fold_mean(c) ** 2,
)


def log_mass(a: Any, b: Any) -> Any:
    r"""$\log(\Phi(b) - \Phi(a))$ for $a < b$, in the lower tail."""
    flip = a > 0
    low, high = where(flip, -b, a), where(flip, -a, b)
    both = high > 0  # zero is between
    left = where(both, -1.0 + 0 * low, low)
    right = where(both, 0 * high, high)
    upper = sp.log_ndtr(right)
    one_tail = upper + log1mexp(sp.log_ndtr(left) - upper)
    rest = sp.ndtr(where(both, low, -1.0)) + sp.ndtr(where(both, -high, -1.0))
    return where(both, log1p(-rest), one_tail)


def _of_masses(x: Any, y: Any, a: Any, b: Any) -> Any:
    return log_mass(x, y) - log_mass(a, b)


def _edges(a: Any, b: Any) -> tuple[Any, Any, Any, Any]:
    r"""$\varphi / Z$ at both ends, and the ends times it: zero at infinite ones."""
    total = log_mass(a, b)
    at_a, at_b = exp(log_phi(a) - total), exp(log_phi(b) - total)
    far_a, far_b = absolute(a) == INF, absolute(b) == INF
    return at_a, at_b, where(far_a, 0.0, a) * at_a, where(far_b, 0.0, b) * at_b


def _truncated_var(a: Any, b: Any) -> Any:
    at_a, at_b, low, high = _edges(a, b)
    return 1 + low - high - (at_a - at_b) ** 2


def _truncated_entropy(a: Any, b: Any) -> Any:
    _, _, low, high = _edges(a, b)
    return (1 + LOG_2PI) / 2 + log_mass(a, b) + (low - high) / 2


truncnorm = continuous(
    st.truncnorm,
    support=(lambda a, b: a + 0 * b, lambda a, b: b + 0 * a),
    valid=lambda a, b: a < b,
    logpdf=lambda x, a, b: log_phi(x) - log_mass(a, b),
    logcdf=lambda x, a, b: _of_masses(a + 0 * x, x + 0 * a, a, b),
    logsf=lambda x, a, b: _of_masses(x + 0 * b, b + 0 * x, a, b),
    mean=lambda a, b: _edges(a, b)[0] - _edges(a, b)[1],
    var=_truncated_var,
    entropy=_truncated_entropy,
)


# skew, and with another tail


def _delta(a: Any) -> Any:
    return a / sqrt(1 + a * a)


def _skew_tail(name: str, sign: float) -> Any:
    """A tail by SciPy, whose derivatives do not cancel as those of its terms would."""
    own = getattr(st.skewnorm, name)

    def tail(x: Any, a: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(own(x, a), dtype=float)

    tail.__name__ = tail.__qualname__ = f"skewnorm_{name}"
    return ufunc(
        elementwise(on_doubles(tail)),
        lambda y, x, a: 2 * sign * exp(log_phi(x) + sp.log_ndtr(a * x)),
        lambda y, x, a: -sign * exp(-x * x * (1 + a * a) / 2) / (math.pi * (1 + a * a)),
    )


skewnorm = continuous(
    st.skewnorm,
    valid=lambda a: absolute(a) < INF,
    logpdf=lambda x, a: math.log(2) + log_phi(x) + sp.log_ndtr(a * x),
    cdf=_skew_tail("cdf", 1.0),
    sf=_skew_tail("sf", -1.0),
    mean=lambda a: _delta(a) * math.sqrt(2 / math.pi),
    var=lambda a: 1 - 2 / math.pi * _delta(a) ** 2,
)


def _log_exponential(x: Any, K: Any) -> Any:
    return 1 / (2 * K * K) - x / K + sp.log_ndtr(x - 1 / K)


exponnorm = continuous(
    st.exponnorm,
    logpdf=lambda x, K: _log_exponential(x, K) - log(K),
    cdf=lambda x, K: sp.ndtr(x) - exp(_log_exponential(x, K)),
    sf=lambda x, K: sp.ndtr(-x) + exp(_log_exponential(x, K)),
    mean=lambda K: K,
    var=lambda K: 1 + K * K,
)


def _log_mills(z: Any) -> Any:
    return sp.log_ndtr(-z) - log_phi(z)


def _double_pareto(x: Any, u: Any, s: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    z = (log(x) - u) / s
    return z, _log_mills(a * s - z), _log_mills(b * s + z)


def _double_pareto_logpdf(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z, left, right = _double_pareto(x, u, s, a, b)
    return log_phi(z) + logaddexp(left, right) + log(a * b / (a + b)) - log(x)


def _double_pareto_cdf(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z, left, right = _double_pareto(x, u, s, a, b)
    tails = b * exp(log_phi(z) + left) - a * exp(log_phi(z) + right)
    return sp.ndtr(z) - tails / (a + b)


def _double_pareto_sf(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    z, left, right = _double_pareto(x, u, s, a, b)
    tails = b * exp(log_phi(z) + left) - a * exp(log_phi(z) + right)
    return sp.ndtr(-z) + tails / (a + b)


dpareto_lognorm = continuous(
    st.dpareto_lognorm,
    support=POSITIVE,
    open_ends=True,
    valid=lambda u, s, a, b: (absolute(u) < INF) & (s > 0) & (a > 0) & (b > 0),
    logpdf=_double_pareto_logpdf,
    cdf=_double_pareto_cdf,
    sf=_double_pareto_sf,
)


def _ball(beta: Any, m: Any) -> tuple[Any, Any]:
    """The mass of the power law's tail, and that of all."""
    tail = m / beta / (m - 1) * exp(-beta * beta / 2)
    return tail, tail + math.sqrt(2 * math.pi) * sp.ndtr(beta)


def _ball_base(x: Any, beta: Any, m: Any) -> tuple[Any, Any]:
    """Whether a point is in the tail, and the base of its power."""
    tail = x < -beta
    return tail, where(tail, 1 - beta * (beta + x) / m, 1.0)


def _ball_logpdf(x: Any, beta: Any, m: Any) -> Any:
    tail, base = _ball_base(x, beta, m)
    power = -beta * beta / 2 - m * log(base)
    return where(tail, power, -x * x / 2) - log(_ball(beta, m)[1])


def _ball_cdf(x: Any, beta: Any, m: Any) -> Any:
    tail, base = _ball_base(x, beta, m)
    left, total = _ball(beta, m)
    middle = math.sqrt(2 * math.pi) * (sp.ndtr(x) - sp.ndtr(-beta))
    return where(tail, left * base ** (1 - m), left + middle) / total


def _ball_sf(x: Any, beta: Any, m: Any) -> Any:
    tail, _ = _ball_base(x, beta, m)
    right = math.sqrt(2 * math.pi) * sp.ndtr(-x) / _ball(beta, m)[1]
    return where(tail, 1 - _ball_cdf(x, beta, m), right)


crystalball = continuous(
    st.crystalball,
    valid=lambda beta, m: (m > 1) & (beta > 0),
    logpdf=_ball_logpdf,
    cdf=_ball_cdf,
    sf=_ball_sf,
)


# transformed


def _unbounded(x: Any, a: Any, b: Any) -> Any:
    return a + b * asinh(x)


def _bounded(x: Any, a: Any, b: Any) -> Any:
    return a + b * (log(x) - log1p(-x))


johnsonsu = continuous(
    st.johnsonsu,
    valid=lambda a, b: (b > 0) & (a == a),  # noqa: PLR0124  NaN
    logpdf=lambda x, a, b: log(b) - log1p(x * x) / 2 + log_phi(_unbounded(x, a, b)),
    cdf=lambda x, a, b: sp.ndtr(_unbounded(x, a, b)),
    sf=lambda x, a, b: sp.ndtr(-_unbounded(x, a, b)),
    logcdf=lambda x, a, b: sp.log_ndtr(_unbounded(x, a, b)),
    logsf=lambda x, a, b: sp.log_ndtr(-_unbounded(x, a, b)),
    ppf=lambda q, a, b: sinh((sp.ndtri(q) - a) / b),
    isf=lambda q, a, b: -sinh((sp.ndtri(q) + a) / b),
    mean=lambda a, b: -exp(1 / (2 * b * b)) * sinh(a / b),
    var=lambda a, b: expm1(b**-2) * (exp(b**-2) * cosh(2 * a / b) + 1) / 2,
)
johnsonsb = continuous(
    st.johnsonsb,
    support=(0.0, 1.0),
    open_ends=True,
    valid=lambda a, b: (b > 0) & (a == a),  # noqa: PLR0124  NaN
    logpdf=lambda x, a, b: log(b) - log(x) - log1p(-x) + log_phi(_bounded(x, a, b)),
    cdf=lambda x, a, b: sp.ndtr(_bounded(x, a, b)),
    sf=lambda x, a, b: sp.ndtr(-_bounded(x, a, b)),
    logcdf=lambda x, a, b: sp.log_ndtr(_bounded(x, a, b)),
    logsf=lambda x, a, b: sp.log_ndtr(-_bounded(x, a, b)),
    ppf=lambda q, a, b: sp.expit((sp.ndtri(q) - a) / b),
    isf=lambda q, a, b: sp.expit(-(sp.ndtri(q) + a) / b),
)


def _fatigue(x: Any, c: Any) -> Any:
    return (sqrt(x) - 1 / sqrt(x)) / c


def _fatigue_point(w: Any) -> Any:
    return (w + sqrt(w * w + 4)) ** 2 / 4


fatiguelife = continuous(
    st.fatiguelife,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, c: (
        log(x + 1) - 1.5 * log(x) - log(2 * c) + log_phi(_fatigue(x, c))
    ),
    cdf=lambda x, c: sp.ndtr(_fatigue(x, c)),
    sf=lambda x, c: sp.ndtr(-_fatigue(x, c)),
    logcdf=lambda x, c: sp.log_ndtr(_fatigue(x, c)),
    logsf=lambda x, c: sp.log_ndtr(-_fatigue(x, c)),
    ppf=lambda q, c: _fatigue_point(c * sp.ndtri(q)),
    isf=lambda q, c: _fatigue_point(-c * sp.ndtri(q)),
    mean=lambda c: c * c / 2 + 1,
    var=lambda c: c * c * (1.25 * c * c + 1),
)


# first passages


def _gauss_parts(x: Any, mu: Any) -> tuple[Any, Any]:
    root = sqrt(x)
    return (x / mu - 1) / root, 2 / mu + sp.log_ndtr(-(x / mu + 1) / root)


def _gauss_logpdf(x: Any, mu: Any) -> Any:
    return log_phi((x / mu - 1) / sqrt(x)) - 1.5 * log(x)


def _gauss_logsf(x: Any, mu: Any) -> Any:
    z, second = _gauss_parts(x, mu)
    first = sp.log_ndtr(-z)
    return first + log1mexp(second - first)


def _gauss_logcdf(x: Any, mu: Any) -> Any:
    z, second = _gauss_parts(x, mu)
    return logaddexp(sp.log_ndtr(z), second)


invgauss = continuous(
    st.invgauss,
    support=POSITIVE,
    open_ends=True,
    logpdf=_gauss_logpdf,
    logcdf=_gauss_logcdf,
    logsf=_gauss_logsf,
    mean=lambda mu: mu,
    var=lambda mu: mu**3,
)
wald = continuous(
    st.wald,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x: _gauss_logpdf(x, 1.0),
    logcdf=lambda x: _gauss_logcdf(x, 1.0),
    logsf=lambda x: _gauss_logsf(x, 1.0),
    mean=lambda: 1.0,
    var=lambda: 1.0,
)
recipinvgauss = continuous(
    st.recipinvgauss,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, mu: log_phi((1 / mu - x) / sqrt(x)) - log(x) / 2,
    logcdf=lambda x, mu: _gauss_logsf(1 / x, mu),
    logsf=lambda x, mu: _gauss_logcdf(1 / x, mu),
    mean=lambda mu: 1 / mu + 1,
    var=lambda mu: 1 / mu + 2,
)
levy = continuous(
    st.levy,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x: -LOG_2PI / 2 - 1.5 * log(x) - 1 / (2 * x),
    cdf=lambda x: sp.erfc(sqrt(0.5 / x)),
    sf=lambda x: sp.erf(sqrt(0.5 / x)),
    logcdf=lambda x: math.log(2) + sp.log_ndtr(-1 / sqrt(x)),
    ppf=lambda q: sp.ndtri(q / 2) ** -2.0,
    isf=lambda q: sp.erfinv(q) ** -2.0 / 2,
)
levy_l = continuous(
    st.levy_l,
    support=(-INF, 0.0),
    open_ends=True,
    logpdf=lambda x: -LOG_2PI / 2 - 1.5 * log(-x) + 1 / (2 * x),
    cdf=lambda x: sp.erf(sqrt(-0.5 / x)),
    sf=lambda x: sp.erfc(sqrt(-0.5 / x)),
    logsf=lambda x: math.log(2) + sp.log_ndtr(-1 / sqrt(-x)),
    ppf=lambda q: -(sp.erfinv(q) ** -2.0) / 2,
    isf=lambda q: -(sp.ndtri(q / 2) ** -2.0),
)

moyal = continuous(
    st.moyal,
    logpdf=lambda x: -(x + exp(-x)) / 2 - LOG_2PI / 2,
    cdf=lambda x: sp.erfc(exp(-x / 2) / math.sqrt(2)),
    sf=lambda x: sp.erf(exp(-x / 2) / math.sqrt(2)),
    logcdf=lambda x: math.log(2) + sp.log_ndtr(-exp(-x / 2)),
    ppf=lambda q: -2 * log(-sp.ndtri(q / 2)),
    isf=lambda q: -2 * log(math.sqrt(2) * sp.erfinv(q)),
    mean=lambda: math.log(2) + 0.5772156649015329,
    var=lambda: math.pi**2 / 2,
)


def _alpha_sf(x: Any, a: Any) -> Any:
    return exp(log_mass(a - 1 / x, a + 0 * x)) / sp.ndtr(a)


alpha = continuous(
    st.alpha,
    support=POSITIVE,
    open_ends=True,
    valid=is_positive,
    logpdf=lambda x, a: -2 * log(x) + log_phi(a - 1 / x) - sp.log_ndtr(a),
    logcdf=lambda x, a: sp.log_ndtr(a - 1 / x) - sp.log_ndtr(a),
    sf=_alpha_sf,
    ppf=lambda q, a: 1 / (a - sp.ndtri(q * sp.ndtr(a))),
)
