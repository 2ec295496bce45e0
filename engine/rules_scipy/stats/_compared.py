"""Two samples: correlation, lines, tests, distances; and transformed ones."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import scipy.stats as st
from scipy.stats import _stats_py

import rules_core as rc
from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, log, log1p, sqrt, where

from ._declare import covers
from ._numbers import floats, plain
from ._samples import statistic


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


_OTHERS = {
    Test: ("df", "correlation", "confidence_interval"),
    Line: ("intercept_stderr",),
}
for _owner, _names in _OTHERS.items():
    for _name in _names:
        setattr(_owner, _name, _refused(_name))


def _named(base: Any, name: str) -> Any:
    """SciPy's class of results by its name, with the fields of `base`."""
    doc = {"__doc__": f"A `{name}`.", "__module__": __name__, "__slots__": ()}
    doc["__stands_for__"] = getattr(_stats_py, name, base)
    return type(name, (base,), doc)


_PEARSON, _BISERIAL, _T, _T_OF_NUMBERS, _F, _POWER = [
    _named(Test, name)
    for name in (
        "PearsonRResult", "SignificanceResult", "TtestResult", "Ttest_indResult",
        "F_onewayResult", "Power_divergenceResult",
    )
]  # fmt: skip
_LINE = _named(Line, "LinregressResult")


def _tails(statistic: Any, alternative: str, lower: Any) -> Any:
    """The probability by a symmetric distribution's lower tail."""
    if alternative == "less":
        return lower(statistic)
    if alternative == "greater":
        return lower(-statistic)
    return 2 * lower(-absolute(statistic))


def _of_t(statistic: Any, df: Any, alternative: str) -> Any:
    return _T(
        statistic, _tails(statistic, alternative, lambda t: sp.stdtr(df + 0 * t, t))
    )


# correlation


def _products(xp: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Sums of squares and of products about the means."""
    x, y = x - xp.mean(x, axis=-1)[..., None], y - xp.mean(y, axis=-1)[..., None]
    sums = [xp.sum(u * v, axis=-1) for u, v in ((x, x), (x, y), (y, y))]
    return sums[0], sums[1], sums[2]


@statistic(st.pearsonr, "x", "y")
def pearsonr(xp: Any, x: Any, y: Any, alternative: Any) -> Any:
    """The correlation, and its probability by the beta distribution."""
    xx, xy, yy = _products(xp, x, y)
    r, half = xy / sqrt(xx * yy), x.shape[-1] / 2 - 1

    def lower(r: Any) -> Any:
        return sp.betainc(half + 0 * r, half + 0 * r, (1 + r) / 2)

    return _PEARSON(r, _tails(r, alternative, lower))


@statistic(st.pointbiserialr, "x", "y")
def pointbiserialr(xp: Any, x: Any, y: Any) -> Any:
    """The correlation with a sample of zeros and ones."""
    xx, xy, yy = _products(xp, x, y)
    r, df = xy / sqrt(xx * yy), x.shape[-1] - 2
    t = r * sqrt(df / ((1 - r) * (1 + r)))
    return _BISERIAL(r, _of_t(t, df, "two-sided").pvalue)


@statistic(st.linregress, "x", "y")
def linregress(xp: Any, x: Any, y: Any, alternative: Any) -> Any:
    """The line of least squares."""
    xx, xy, yy = _products(xp, x, y)
    df, slope, r = x.shape[-1] - 2, xy / xx, xy / sqrt(xx * yy)
    t = r * sqrt(df / ((1 - r) * (1 + r)))
    error = sqrt((1 - r * r) * yy / xx / df)
    intercept = xp.mean(y, axis=-1) - slope * xp.mean(x, axis=-1)
    return _LINE(slope, intercept, r, _of_t(t, df, alternative).pvalue, error)


# tests of means


def _mean_var(xp: Any, x: Any) -> tuple[Any, Any, int]:
    mean, n = xp.mean(x, axis=-1), x.shape[-1]
    return mean, xp.sum((x - mean[..., None]) ** 2, axis=-1) / (n - 1), n


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
    return _two_means(_mean_var(xp, a), _mean_var(xp, b), equal_var, alternative)


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
    xs = [
        xp.reshape(x, (-1,)) if axis is None else xp.moveaxis(x, axis, -1) for x in xs
    ]
    both = xp.concat(xs, axis=-1)
    n, groups = both.shape[-1], len(xs)
    middle = xp.mean(both, axis=-1)
    parts = [_mean_var(xp, x) for x in xs]
    between = sum(size * (mean - middle) ** 2 for mean, _, size in parts)
    within = sum((size - 1) * var for _, var, size in parts)
    f = between / (groups - 1) / (within / (n - groups))
    p = sp.fdtrc(groups - 1.0 + 0 * f, n - float(groups) + 0 * f, f)
    return _F(plain(f), plain(p))


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


def _chi2(xp: Any, f_obs: Any, f_exp: Any, ddof: Any, power: float) -> Any:
    if f_exp is None:
        f_exp = xp.mean(f_obs, axis=-1)[..., None] + 0 * f_obs
    y = _divergence(xp, f_obs, f_exp, power)
    return _POWER(y, sp.chdtrc(f_obs.shape[-1] - 1.0 - ddof + 0 * y, y))


@statistic(st.chisquare, "f_obs", "f_exp")
def chisquare(xp: Any, f_obs: Any, f_exp: Any, ddof: Any, sum_check: Any = True) -> Any:
    """Pearson's test of counts."""
    return _chi2(xp, f_obs, f_exp, ddof, 1.0)


@statistic(st.power_divergence, "f_obs", "f_exp")
def power_divergence(
    xp: Any, f_obs: Any, f_exp: Any, ddof: Any, lambda_: Any = None
) -> Any:
    """Cressie's and Read's tests of counts, of a constant power."""
    named = _POWERS[lambda_] if isinstance(lambda_, str) else lambda_
    return _chi2(xp, f_obs, f_exp, ddof, 1.0 if named is None else float(named))


# distances of distributions


def _steps(u: Any, v: Any, u_weights: Any, v_weights: Any) -> tuple[Any, Any, Any]:
    """Differences of two distribution functions, and the lengths on which they hold."""
    xp, u, v = floats(u, v)
    u_own = xp.ones_like(u) if u_weights is None else floats(u_weights, u)[1]
    v_own = xp.ones_like(v) if v_weights is None else floats(v_weights, v)[1]
    values = xp.concat([u, v])
    own = xp.concat([u_own / xp.sum(u_own), -v_own / xp.sum(v_own)])
    order = xp.argsort(rc.ignore_derivatives(values))
    values, own = xp.take(values, order, axis=0), xp.take(own, order, axis=0)
    return xp, xp.cumulative_sum(own)[:-1], values[1:] - values[:-1]


@covers(st.wasserstein_distance)
def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """`scipy.stats.wasserstein_distance`, with derivatives in values and weights."""
    xp, heights, lengths = _steps(u_values, v_values, u_weights, v_weights)
    return plain(xp.sum(absolute(heights) * lengths))


@covers(st.energy_distance)
def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """`scipy.stats.energy_distance`, with derivatives in values and weights."""
    xp, heights, lengths = _steps(u_values, v_values, u_weights, v_weights)
    return plain(sqrt(2 * xp.sum(heights**2 * lengths)))


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
