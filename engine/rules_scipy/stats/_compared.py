"""Two samples: correlation, lines, tests; and transformed ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.stats as st
from scipy.stats import _stats_py

import rules_core as rc
from rules_core.extend import find_adapter
from rules_scipy import special as sp
from rules_scipy._axes import concat, moveaxis
from rules_scipy.special._arrays import absolute, log, log1p, sqrt, where

from ._declare import covers
from ._descriptive import centred
from ._numbers import INF, floats, plain
from ._samples import statistic
from ._short import has_no_value, without_value


def _refused(name: str) -> Any:
    """What SciPy's results have besides."""

    def refused(_self: Any) -> Any:
        message = (
            f"scipy.stats: {name} of this result has no formula here. Call it "
            "with numbers without derivative (ignore_derivatives) for it."
        )
        raise rc.UnsupportedError(message)

    return property(refused, doc=f"Refused: `{name}`.")


class Test(NamedTuple):
    """A statistic and the probability of a larger one."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """A fitted line."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def _named(base: Any, name: str, *others: str) -> Any:
    """SciPy's class of results by its name, with the fields of `base`.

    Args:
        base: Its fields that have formulas.
        name: Of SciPy's class.
        *others: What SciPy's has besides.
    """
    doc = {"__doc__": f"A `{name}`.", "__module__": __name__, "__slots__": ()}
    doc["__stands_for__"] = getattr(_stats_py, name, base)
    doc |= {other: _refused(other) for other in others}
    return type(name, (base,), doc)


class Correlation(Test):
    """A correlation, which is the statistic."""

    __slots__ = ()

    @property
    def correlation(self) -> Any:
        """The statistic."""
        return self.statistic


_PEARSON = _named(Correlation, "PearsonRResult", "confidence_interval")
_BISERIAL = _named(Correlation, "SignificanceResult")
_T = _named(Test, "TtestResult", "df", "confidence_interval")
_T_OF_NUMBERS, _F, _POWER = [
    _named(Test, name)
    for name in ("Ttest_indResult", "F_onewayResult", "Power_divergenceResult")
]
_LINE = _named(Line, "LinregressResult", "intercept_stderr")


def _tails(statistic: Any, alternative: str, lower: Any) -> Any:
    """The probability by a symmetric distribution's lower tail."""
    if alternative == "less":
        return lower(statistic)
    if alternative == "greater":
        return lower(-statistic)
    return 2 * lower(-absolute(statistic))


def _of_t(statistic: Any, df: Any, alternative: str) -> Any:
    # At infinity the probability is zero or one, and flat.
    xp, known = rc.array_namespace(statistic), rc.ignore_derivatives(statistic)
    finite = absolute(known) != INF

    def lower(t: Any) -> Any:
        inner = where(finite, t, 0.0)
        ends = where(rc.ignore_derivatives(t) > 0, xp.ones_like(known), 0.0)
        return where(finite, sp.stdtr(df + 0 * inner, inner), ends)

    return _T(statistic, _tails(statistic, alternative, lower))


# correlation


def _products(xp: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Sums of squares and of products about the means."""
    x, y = centred(xp, x), centred(xp, y)
    sums = [xp.sum(u * v, axis=-1) for u, v in ((x, x), (x, y), (y, y))]
    return sums[0], sums[1], sums[2]


def _correlation(xx: Any, xy: Any, yy: Any) -> Any:
    r = xy / sqrt(xx * yy)
    beyond = absolute(rc.ignore_derivatives(r)) > 1  # by rounding
    return where(beyond, where(rc.ignore_derivatives(r) > 0, 0 * r + 1.0, -1.0), r)


def _with_probability(n: int, r: Any, alternative: str) -> Any:
    """Of a correlation, by the beta distribution; of two numbers it is one."""
    if n == 2:
        return _sign(r), 1.0 + 0 * r
    half = n / 2 - 1

    def lower(r: Any) -> Any:
        return sp.betainc(half + 0 * r, half + 0 * r, (1 + r) / 2)

    return r, _tails(r, alternative, lower)


def _sign(r: Any) -> Any:
    """Of a correlation of two numbers: a constant, or NaN."""
    return where(rc.ignore_derivatives(r) > 0, 1.0, -1.0) + 0 * r


@statistic(st.pearsonr, "x", "y")
def pearsonr(xp: Any, x: Any, y: Any, alternative: Any) -> Any:
    """The correlation, and its probability by the beta distribution."""
    r = _correlation(*_products(xp, x, y))
    return _PEARSON(*_with_probability(x.shape[-1], r, alternative))


@statistic(st.pointbiserialr, "x", "y")
def pointbiserialr(xp: Any, x: Any, y: Any) -> Any:
    """The correlation with a sample of zeros and ones."""
    r = _correlation(*_products(xp, x, y))
    return _BISERIAL(*_with_probability(x.shape[-1], r, "two-sided"))


@statistic(st.linregress, "x", "y")
def linregress(xp: Any, x: Any, y: Any, alternative: Any) -> Any:
    """The line of least squares."""
    xx, xy, yy = _products(xp, x, y)
    df, slope, r = x.shape[-1] - 2, xy / xx, _correlation(xx, xy, yy)
    intercept = xp.mean(y, axis=-1) - slope * xp.mean(x, axis=-1)
    if df == 0:  # the line meets both points
        level = where(rc.ignore_derivatives(yy) == 0, 1.0 + 0 * slope, 0.0)
        return _LINE(slope, intercept, _sign(r), level, 0 * slope)
    t = r * sqrt(df / ((1 - r) * (1 + r)))
    error = sqrt(yy / xx * (1 - r) * (1 + r) / df)
    return _LINE(slope, intercept, r, _of_t(t, df, alternative).pvalue, error)


# tests of means


def _mean_var(xp: Any, x: Any) -> tuple[Any, Any, int]:
    n = x.shape[-1]
    return xp.mean(x, axis=-1), xp.sum(centred(xp, x) ** 2, axis=-1) / (n - 1), n


@statistic(st.ttest_1samp, "a")
def ttest_1samp(xp: Any, a: Any, popmean: Any, alternative: Any) -> Any:
    """Student's test of the mean."""
    mean, var, n = _mean_var(xp, a)
    return _of_t((mean - popmean) / sqrt(var / n), n - 1, alternative)


@statistic(st.ttest_rel, "a", "b")
def ttest_rel(xp: Any, a: Any, b: Any, alternative: Any) -> Any:
    """Student's test of paired differences."""
    mean, var, n = _mean_var(xp, a - b)
    return _of_t(mean / sqrt(var / n), n - 1, alternative)


def _two_means(first: Any, second: Any, equal_var: Any, alternative: Any) -> Any:
    (mean1, var1, n1), (mean2, var2, n2) = first, second
    if equal_var:
        df = n1 + n2 - 2.0
        pooled = ((n1 - 1) * var1 + (n2 - 1) * var2) / df
        error = sqrt(pooled * (1 / n1 + 1 / n2))
    else:
        own1, own2 = var1 / n1, var2 / n2
        df = (own1 + own2) ** 2 / (own1**2 / (n1 - 1) + own2**2 / (n2 - 1))
        error = sqrt(own1 + own2)
    return _of_t((mean1 - mean2) / error, df, alternative)


@statistic(st.ttest_ind, "a", "b")
def ttest_ind(xp: Any, a: Any, b: Any, equal_var: Any, alternative: Any) -> Any:
    """Student's or Welch's test of two means."""
    both = [_mean_var(xp, a), _mean_var(xp, b)]
    if equal_var:  # one number counts for the mean alone
        both = [part if part[2] > 1 else (part[0], 0 * part[0], 1) for part in both]
    return _two_means(both[0], both[1], equal_var, alternative)


@covers(st.ttest_ind_from_stats)
def ttest_ind_from_stats(
    mean1: Any, std1: Any, nobs1: Any, mean2: Any, std2: Any, nobs2: Any,
    equal_var: bool = True, alternative: str = "two-sided",
) -> Any:  # fmt: skip
    """`scipy.stats.ttest_ind_from_stats`, with derivatives."""
    _, mean1, std1, mean2, std2 = floats(mean1, std1, mean2, std2)
    first, second = (mean1, std1 * std1, nobs1), (mean2, std2 * std2, nobs2)
    return _T_OF_NUMBERS(*map(plain, _two_means(first, second, equal_var, alternative)))


@covers(st.f_oneway)
def f_oneway(*samples: Any, axis: int | None = 0) -> Any:
    """`scipy.stats.f_oneway`, with derivatives."""
    xp, *xs = floats(*samples)
    xs = [xp.reshape(x, (-1,)) if axis is None else moveaxis(x, axis, -1) for x in xs]
    if has_no_value(st.f_oneway, tuple([x.shape[-1] for x in xs])):
        f, p = without_value(xp, xs, lambda *xs: _f_of_groups(xp, *xs))
    else:
        f, p = _f_of_groups(xp, *xs)
    return _F(plain(f), plain(p))


def _f_of_groups(xp: Any, *xs: Any) -> Any:
    first = rc.ignore_derivatives(xs[0][..., :1])
    xs = tuple([x - first for x in xs])  # without rounding where all are equal
    both = concat(xs, axis=-1)
    n, groups, middle = both.shape[-1], len(xs), xp.mean(both, axis=-1)
    between = sum(x.shape[-1] * (xp.mean(x, axis=-1) - middle) ** 2 for x in xs)
    within = sum(xp.sum(centred(xp, x) ** 2, axis=-1) for x in xs)
    f = between / (groups - 1) / (within / (n - groups))
    return _F(f, _of_f(f, groups - 1.0, n - float(groups)))


def _of_f(f: Any, dfn: float, dfd: float) -> Any:
    finite = rc.ignore_derivatives(f) != INF  # there it is zero, and flat
    inner = where(finite, f, 1.0)
    return where(finite, sp.fdtrc(dfn + 0 * inner, dfd + 0 * inner, inner), 0.0)


_POWERS = {
    "pearson": 1.0, "log-likelihood": 0.0, "freeman-tukey": -0.5,
    "mod-log-likelihood": -1.0, "neyman": -2.0, "cressie-read": 2 / 3,
}  # fmt: skip


def _divergence(xp: Any, seen: Any, expected: Any, power: float) -> Any:
    if power == 1:
        return xp.sum((seen - expected) ** 2 / expected, axis=-1)
    if power == 0:
        return 2 * xp.sum(sp.xlogy(seen, seen / expected), axis=-1)
    if power == -1:
        return 2 * xp.sum(sp.xlogy(expected, expected / seen), axis=-1)
    own = seen * ((seen / expected) ** power - 1)
    return 2 * xp.sum(own, axis=-1) / (power * (power + 1))


def _check_sums(seen: Any, expected: Any) -> None:
    """Raise SciPy's error, where the numbers are known."""
    if find_adapter((seen, expected), {}) is None and not np.allclose(
        np.sum(seen, axis=-1), np.sum(expected, axis=-1), rtol=_SUMS, atol=0.0
    ):
        message = (
            "The sum of the observed frequencies must agree with the sum of the "
            f"expected ones to a relative tolerance of {_SUMS}."
        )
        raise ValueError(message)


_SUMS = 1.5e-8
rc.non_differentiable(_check_sums)


def _chi2(
    xp: Any, f_obs: Any, f_exp: Any, ddof: Any, power: float, sum_check: bool = True
) -> Any:
    if f_exp is None:
        f_exp = xp.mean(f_obs, axis=-1)[..., None] + 0 * f_obs
    elif sum_check:
        _check_sums(f_obs, f_exp)
    y = _divergence(xp, f_obs, f_exp, power)
    return _POWER(y, sp.chdtrc(f_obs.shape[-1] - 1.0 - ddof + 0 * y, y))


@statistic(st.chisquare, "f_obs", "f_exp")
def chisquare(xp: Any, f_obs: Any, f_exp: Any, ddof: Any, sum_check: Any = True) -> Any:
    """Pearson's test of counts."""
    return _chi2(xp, f_obs, f_exp, ddof, 1.0, sum_check)


@statistic(st.power_divergence, "f_obs", "f_exp")
def power_divergence(
    xp: Any, f_obs: Any, f_exp: Any, ddof: Any, lambda_: Any = None
) -> Any:
    """Cressie's and Read's tests of counts, of a constant power."""
    named = _POWERS[lambda_] if isinstance(lambda_, str) else lambda_
    return _chi2(xp, f_obs, f_exp, ddof, 1.0 if named is None else float(named))


# entropy


@statistic(st.entropy, "pk", "qk")
def entropy(xp: Any, pk: Any, qk: Any, base: Any) -> Any:
    """Shannon's entropy, or the divergence from another distribution."""
    pk = pk / xp.sum(pk, axis=-1, keepdims=True)
    if qk is None:
        total = xp.sum(sp.entr(pk), axis=-1)
    else:
        qk = qk / xp.sum(qk, axis=-1, keepdims=True)
        total = xp.sum(sp.rel_entr(pk, qk), axis=-1)
    return total if base is None else total / math.log(base)


# transformed samples


@covers(st.boxcox)
def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    """`scipy.stats.boxcox` for a power that is given."""
    if lmbda is None:
        message = (
            "scipy.stats.boxcox must be given lmbda to be differentiated. Find it by "
            "rules_scipy.optimize.minimize_scalar of boxcox_llf."
        )
        raise rc.UnsupportedError(message)
    _, x, lmbda = floats(x, lmbda)
    return plain(sp.boxcox(x, lmbda))


@covers(st.yeojohnson)
def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """`scipy.stats.yeojohnson` for a power that is given."""
    if lmbda is None:
        message = (
            "scipy.stats.yeojohnson must be given lmbda to be differentiated. Find it "
            "by rules_scipy.optimize.minimize_scalar of yeojohnson_llf."
        )
        raise rc.UnsupportedError(message)
    _, x, lmbda = floats(x, lmbda)
    return plain(_yeojohnson(x, lmbda))


def _yeojohnson(x: Any, power: Any) -> Any:
    """Box-Cox transforms of both sides, of `1 + |x|`."""
    right = x >= 0
    up, down = where(right, x, 0.0), where(right, 0.0, -x)
    return where(right, sp.boxcox1p(up, power), -sp.boxcox1p(down, 2 - power))


def _log_likelihood(xp: Any, y: Any, slopes: Any) -> Any:
    n = y.shape[-1]
    spread = xp.mean((y - xp.mean(y, axis=-1)[..., None]) ** 2, axis=-1)
    return xp.sum(slopes, axis=-1) - n / 2 * log(spread)


@statistic(st.boxcox_llf, "data")
def boxcox_llf(xp: Any, data: Any, lmb: Any) -> Any:
    """The logarithm of the likelihood of a power."""
    _, lmb, data = floats(lmb, data)
    return _log_likelihood(xp, sp.boxcox(data, lmb), (lmb - 1) * log(data))


@statistic(st.yeojohnson_llf, "data")
def yeojohnson_llf(xp: Any, data: Any, lmb: Any) -> Any:
    """The logarithm of the likelihood of a power."""
    _, lmb, data = floats(lmb, data)
    side = where(data >= 0, 1.0 + 0 * data, -1.0)
    slopes = (lmb - 1) * side * log1p(absolute(data))
    return _log_likelihood(xp, _yeojohnson(data, lmb), slopes)
