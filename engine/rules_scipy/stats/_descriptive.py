"""Means, moments, spreads and angles of samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.stats as st

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.special._arrays import absolute, cos, exp, log, sin, sqrt, where

from ._numbers import atan2, floats
from ._samples import statistic
from ._short import nan_where
from ._support import known_where

# means


def _mean(xp: Any, x: Any, weights: Any = None) -> Any:
    if weights is None:
        return xp.mean(x, axis=-1)
    return xp.sum(weights * x, axis=-1) / xp.sum(weights + 0 * x, axis=-1)


def centred(xp: Any, x: Any) -> Any:
    """Distances from the mean: zero for equal numbers, without rounding."""
    x = x - rc.ignore_derivatives(x[..., :1])
    return x - xp.mean(x, axis=-1, keepdims=True)


def _spread(xp: Any, x: Any, ddof: Any = 0) -> Any:
    """The standard deviation."""
    total = xp.sum(centred(xp, x) ** 2, axis=-1)
    return sqrt(total / (x.shape[-1] - ddof))


@statistic(st.gmean, "a", "weights")
def gmean(xp: Any, a: Any, weights: Any) -> Any:
    """The exponential of the mean logarithm."""
    return exp(_mean(xp, log(a), weights))


@statistic(st.hmean, "a", "weights")
def hmean(xp: Any, a: Any, weights: Any) -> Any:
    """The reciprocal of the mean reciprocal."""
    return 1 / _mean(xp, 1 / a, weights)


@statistic(st.pmean, "a", "weights")
def pmean(xp: Any, a: Any, weights: Any, p: Any) -> Any:
    """A power of the mean of powers."""
    _, p, a = floats(p, a)
    near = rc.ignore_derivatives(absolute(p)) < _NEAR_POWER
    logs = log(where(near, a, 1.0))
    centre = _mean(xp, logs, weights)
    rest = logs - centre[..., None]
    small, large = where(near, p, 0.0), where(near, 1.0, p)
    by_power = _mean(xp, a**large, weights) ** (1 / large)
    return where(near, exp(centre + _log_mean_over(xp, small, rest, weights)), by_power)


# Below it, the series of the cumulants: its terms are centred.
_NEAR_POWER = 1e-3


def _log_mean_over(xp: Any, p: Any, rest: Any, weights: Any) -> Any:
    """The logarithm of the mean of `exp(p * rest)`, over `p`, of mean zero."""
    second, third, fourth, fifth = [_mean(xp, rest**k, weights) for k in (2, 3, 4, 5)]
    last = (fifth - 10 * second * third) / 120
    return p * (
        second / 2 + p * (third / 6 + p * ((fourth - 3 * second**2) / 24 + p * last))
    )


@statistic(st.trim_mean, "a")
def trim_mean(xp: Any, a: Any, proportiontocut: Any) -> Any:
    """The mean of the sorted sample without its ends: ties in the order of sorting."""
    cut = int(proportiontocut * a.shape[-1])
    if 2 * cut >= a.shape[-1] > 0:
        message = "Proportion too big."
        raise ValueError(message)
    return xp.mean(xp.sort(a, axis=-1)[..., cut : a.shape[-1] - cut], axis=-1)


# scores


def _scores(xp: Any, x: Any, of: Any, ddof: Any) -> Any:
    first = rc.ignore_derivatives(of[..., :1])
    middle = xp.mean(of - first, axis=-1, keepdims=True)
    return (x - first - middle) / _spread(xp, of, ddof)[..., None]


@statistic(st.zscore, "a", reduces=False)
def zscore(xp: Any, a: Any, ddof: Any) -> Any:
    """Distances from the mean, in standard deviations."""
    return _scores(xp, a, a, ddof)


@statistic(st.gzscore, "a", reduces=False)
def gzscore(xp: Any, a: Any, ddof: Any) -> Any:
    """Scores of the logarithm."""
    return _scores(xp, log(a), log(a), ddof)


@statistic(st.zmap, "scores", "compare", reduces=False)
def zmap(xp: Any, scores: Any, compare: Any, ddof: Any) -> Any:
    """Scores by mean and spread of another sample."""
    return _scores(xp, scores, compare, ddof)


@statistic(st.gstd, "a")
def gstd(xp: Any, a: Any, ddof: Any) -> Any:
    """The exponential of the spread of logarithms."""
    return exp(_spread(xp, log(a), ddof))


@statistic(st.variation, "a")
def variation(xp: Any, a: Any, ddof: Any) -> Any:
    """The spread in units of the mean."""
    return _spread(xp, a, ddof) / xp.mean(a, axis=-1)


@statistic(st.sem, "a")
def sem(xp: Any, a: Any, ddof: Any) -> Any:
    """The standard error of the mean."""
    return _spread(xp, a, ddof) / math.sqrt(a.shape[-1])


# moments


def _moment(xp: Any, x: Any, order: int) -> Any:
    return xp.mean(centred(xp, x) ** order, axis=-1)


@statistic(st.moment, "a")
def moment(xp: Any, a: Any, order: Any, center: Any) -> Any:
    """A central moment, or about `center`."""
    rest = centred(xp, a) if center is None else a - center
    if isinstance(order, int | float | np.number):
        return _mean_power(xp, rest, int(order), center)
    return xp.stack([_mean_power(xp, rest, int(k), center) for k in order], axis=0)


def _mean_power(xp: Any, rest: Any, order: int, center: Any) -> Any:
    y = xp.mean(rest**order, axis=-1)
    return 0 * y if order == 1 and center is None else y


@statistic(st.skew, "a")
def skew(xp: Any, a: Any, bias: Any) -> Any:
    """The third moment in units of the spread."""
    n = a.shape[-1]
    # Of two numbers SciPy returns the biased value.
    factor = 1.0 if bias or n < 3 else math.sqrt((n - 1) * n) / (n - 2)
    second = _moment(xp, a, 2)
    y = factor * _moment(xp, a, 3) / second**1.5
    return y + nan_where(xp, rc.ignore_derivatives(second) == 0, a)


@statistic(st.kurtosis, "a")
def kurtosis(xp: Any, a: Any, fisher: Any, bias: Any) -> Any:
    """The fourth moment in units of the spread."""
    n, second = a.shape[-1], _moment(xp, a, 2)
    y = _moment(xp, a, 4) / second**2
    y = y + nan_where(xp, rc.ignore_derivatives(second) == 0, a)
    if not bias and n > 3:  # else SciPy returns the biased value
        y = 3 + ((n * n - 1) * y - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3))
    return y - 3 if fisher else y


def _cumulant(xp: Any, x: Any, order: int) -> Any:
    """Fisher's unbiased estimates."""
    n = x.shape[-1]
    if order == 1:
        return xp.mean(x, axis=-1)
    if n < order:  # too few for an estimate
        return xp.mean(x, axis=-1) * math.nan
    second = _moment(xp, x, 2)
    if order == 2:
        return n / (n - 1) * second
    if order == 3:
        return n * n / ((n - 1) * (n - 2)) * _moment(xp, x, 3)
    total = (n + 1) * _moment(xp, x, 4) - 3 * (n - 1) * second**2
    return n * n / ((n - 1) * (n - 2) * (n - 3)) * total


@statistic(st.kstat, "data")
def kstat(xp: Any, data: Any, n: Any) -> Any:
    """A k-statistic."""
    return _cumulant(xp, data, int(n))


@statistic(st.kstatvar, "data")
def kstatvar(xp: Any, data: Any, n: Any) -> Any:
    """An estimate of the variance of a k-statistic."""
    size, second = data.shape[-1], _cumulant(xp, data, 2)
    if int(n) == 1:
        return second / size
    rest = (size - 1) * _cumulant(xp, data, 4)
    return (2 * size * second**2 + rest) / (size * (size + 1))


# within limits


def _within(xp: Any, x: Any, limits: Any, inclusive: Any) -> Any:
    """Whether numbers are within limits, and how many are."""
    inside = xp.ones_like(x) > 0
    low, high = (None, None) if limits is None else limits
    if low is not None:
        inside = inside & ((x >= low) if inclusive[0] else (x > low))
    if high is not None:
        inside = inside & ((x <= high) if inclusive[1] else (x < high))
    return inside, xp.sum(xp.where(inside, xp.ones_like(x), 0 * x), axis=-1)


def _within_mean(xp: Any, x: Any, limits: Any, inclusive: Any) -> Any:
    inside, count = _within(xp, x, limits, inclusive)
    return xp.sum(where(inside, x, 0.0), axis=-1) / count


def _within_var(xp: Any, x: Any, limits: Any, inclusive: Any, ddof: Any) -> Any:
    inside, count = _within(xp, x, limits, inclusive)
    rest = x - _within_mean(xp, x, limits, inclusive)[..., None]
    var = xp.sum(where(inside, rest * rest, 0.0), axis=-1) / (count - ddof)
    return known_where(count > ddof, var)


@statistic(st.tmean, "a")
def tmean(xp: Any, a: Any, limits: Any, inclusive: Any) -> Any:
    """The mean within limits."""
    return _within_mean(xp, a, limits, inclusive)


@statistic(st.tvar, "a")
def tvar(xp: Any, a: Any, limits: Any, inclusive: Any, ddof: Any) -> Any:
    """The variance within limits."""
    return _within_var(xp, a, limits, inclusive, ddof)


@statistic(st.tstd, "a")
def tstd(xp: Any, a: Any, limits: Any, inclusive: Any, ddof: Any) -> Any:
    """The standard deviation within limits."""
    return sqrt(_within_var(xp, a, limits, inclusive, ddof))


@statistic(st.tsem, "a")
def tsem(xp: Any, a: Any, limits: Any, inclusive: Any, ddof: Any) -> Any:
    """The standard error within limits."""
    _, count = _within(xp, a, limits, inclusive)
    return sqrt(_within_var(xp, a, limits, inclusive, ddof) / count)


# of the sorted sample


def percentile(xp: Any, x: Any, percent: float) -> Any:
    """A percentile, linear between two numbers of the sample."""
    ordered, place = xp.sort(x, axis=-1), percent / 100 * (x.shape[-1] - 1)
    low = min(math.floor(place), x.shape[-1] - 1)
    high = min(low + 1, x.shape[-1] - 1)
    part = place - low
    return ordered[..., low] * (1 - part) + ordered[..., high] * part


_QUARTILE = 0.6744897501960817  # of the normal distribution


@statistic(st.iqr, "x")
def iqr(xp: Any, x: Any, rng: Any, scale: Any) -> Any:
    """The distance between two percentiles."""
    unit = 2 * _QUARTILE if isinstance(scale, str) else scale
    return (percentile(xp, x, rng[1]) - percentile(xp, x, rng[0])) / unit


@statistic(st.median_abs_deviation, "x")
def median_abs_deviation(xp: Any, x: Any, scale: Any) -> Any:
    """The median of the distances from the median."""
    unit = _QUARTILE if isinstance(scale, str) else scale
    rest = x - percentile(xp, x, 50.0)[..., None]
    return percentile(xp, absolute(rest), 50.0) / unit


@statistic(st.scoreatpercentile, "a")
def scoreatpercentile(xp: Any, a: Any, per: Any) -> Any:
    """A percentile, which is a constant number."""
    if isinstance(per, int | float | np.number):
        return percentile(xp, a, float(per))
    return xp.stack([percentile(xp, a, float(each)) for each in per], axis=0)


@statistic(st.lmoment, "sample")
def lmoment(xp: Any, sample: Any, order: Any, standardize: Any) -> Any:
    """L-moments: sums of the sorted sample (Hosking, 1990)."""
    wanted: Any = [1, 2, 3, 4] if order is None else order
    orders = [wanted] if isinstance(wanted, int) else wanted
    ordered = xp.sort(sample, axis=-1)
    found = [_l_moment(xp, ordered, r) for r in orders]
    if standardize:
        second = _l_moment(xp, ordered, 2)
        found = [y / second if r > 2 else y for y, r in zip(found, orders, strict=True)]
    return found[0] if isinstance(wanted, int) else xp.stack(found, axis=0)


def _l_moment(xp: Any, ordered: Any, order: int) -> Any:
    n = ordered.shape[-1]
    if order > 1:  # of equal numbers it is zero, without rounding
        ordered = ordered - rc.ignore_derivatives(ordered[..., :1])
    weights = [_l_weight(i, n, order) for i in range(n)]
    return xp.sum(ordered * xp.asarray(weights, dtype=ordered.dtype), axis=-1)


def _l_weight(i: int, n: int, order: int) -> float:
    total = 0.0 if order <= n else math.nan
    for k in range(min(order, n)):
        sign = (-1) ** (order - 1 - k)
        polynomial = sign * math.comb(order - 1, k) * math.comb(order - 1 + k, k)
        total += polynomial * math.comb(i, k) / math.comb(n - 1, k)
    return total / n


@statistic(st.differential_entropy, "values")
def differential_entropy(
    xp: Any, values: Any, window_length: Any, base: Any, method: Any
) -> Any:
    """Of a sample, by the spacings of its sorted numbers."""
    n = values.shape[-1]
    m = math.floor(math.sqrt(n) + 0.5) if window_length is None else window_length
    known, m = 2 <= 2 * m < n, max(m, 1)
    if method == "auto":
        method = "van es" if n <= 10 else "ebrahimi" if n <= 1000 else "vasicek"
    ordered = xp.sort(values, axis=-1)
    unit = 1.0 if base is None else math.log(base)
    y = _SPACINGS[method](xp, ordered, n, m) / unit
    return y if known else y * math.nan


def _ends_repeated(xp: Any, x: Any, m: int) -> Any:
    first, last = x[..., :1] + 0 * x[..., :m], x[..., -1:] + 0 * x[..., :m]
    return concat([first, x, last], axis=-1)


def _padded(xp: Any, x: Any, m: int) -> Any:
    padded = _ends_repeated(xp, x, m)
    return padded[..., 2 * m :] - padded[..., : -2 * m]


def _vasicek(xp: Any, x: Any, n: int, m: int) -> Any:
    return xp.mean(log(n / (2 * m) * _padded(xp, x, m)), axis=-1)


def _ebrahimi(xp: Any, x: Any, n: int, m: int) -> Any:
    sizes = [1 + min(i, m, n - 1 - i) / m for i in range(n)]
    factors = xp.asarray([n / (size * m) for size in sizes], dtype=x.dtype)
    return xp.mean(log(_padded(xp, x, m) * factors), axis=-1)


def _van_es(xp: Any, x: Any, n: int, m: int) -> Any:
    gaps = log((n + 1) / m * (x[..., m:] - x[..., :-m]))
    constant = sum(1 / k for k in range(m, n + 1)) + math.log(m) - math.log(n + 1)
    return xp.sum(gaps, axis=-1) / (n - m) + constant


def _correa(xp: Any, x: Any, n: int, m: int) -> Any:
    padded = _ends_repeated(xp, x, m)
    near = xp.stack([padded[..., j : j + n] for j in range(2 * m + 1)], axis=-1)
    rest = near - xp.mean(near, axis=-1, keepdims=True)
    slopes = sum(rest[..., j] * (j - m) for j in range(2 * m + 1))
    return -xp.mean(log(slopes / (n * xp.sum(rest * rest, axis=-1))), axis=-1)


_SPACINGS = {
    "vasicek": _vasicek, "ebrahimi": _ebrahimi, "van es": _van_es, "correa": _correa
}  # fmt: skip

# angles


def _direction(xp: Any, x: Any, high: Any, low: Any) -> tuple[Any, Any, Any]:
    unit = 2 * math.pi / (high - low)
    angles = (x - low) * unit
    s, c = xp.mean(sin(angles), axis=-1), xp.mean(cos(angles), axis=-1)
    return s, c, sqrt(s * s + c * c)


@statistic(st.circmean, "samples")
def circmean(xp: Any, samples: Any, high: Any, low: Any) -> Any:
    """The angle of the mean direction."""
    s, c, _ = _direction(xp, samples, high, low)
    angle = atan2(s, c)
    turned = where(angle < 0, angle + 2 * math.pi, angle)
    return turned * (high - low) / (2 * math.pi) + low


@statistic(st.circvar, "samples")
def circvar(xp: Any, samples: Any, high: Any, low: Any) -> Any:
    """One minus the length of the mean direction."""
    return 1 - _direction(xp, samples, high, low)[2]


@statistic(st.circstd, "samples")
def circstd(xp: Any, samples: Any, high: Any, low: Any, normalize: Any) -> Any:
    """The spread of a wrapped normal distribution."""
    spread = sqrt(-2 * log(_direction(xp, samples, high, low)[2]))
    return spread if normalize else spread * ((high - low) / (2 * math.pi))
