"""Discrete distributions: derivatives in their parameters.

The point `k` and `loc` count, and what are numbers of trials too: these are constants.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.stats as st

import rules_core as rc
from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, exp, expm1, floor, log, log1p, where

from ._continuous import DISTRIBUTIONS
from ._distribution import Distribution
from ._frozen import DiscreteFrozen
from ._gamma_beta import gammaln, ncx2_sf, where_above, xlog1py, xlogy
from ._infinite import at_minus_infinity
from ._numbers import INF, floats, log1mexp, raised, sinh, tanh
from ._standard import Formula, Standard, is_positive


@final
class Discrete(Distribution):
    """A discrete distribution of `scipy.stats` with derivatives in every framework.

    >>> from rules_scipy import stats
    >>> round(float(stats.poisson.logpmf(3, 2.0)), 6)
    -1.712318
    """

    kind = DiscreteFrozen

    def _at(self, k: Any, args: Any, kwds: Any) -> tuple[Any, Any]:
        _, k, loc, *shapes = floats(k, *self.standard.parameters(args, kwds))
        return rc.ignore_derivatives(k - loc), shapes

    def _mass(self, name: str, none: float, k: Any, args: Any, kwds: Any) -> Any:
        z, shapes = self._at(k, args, kwds)
        whole = floor(z) == z

        def mass(z: Any, *shapes: Any) -> Any:
            return where(whole, self.standard.density(name, floor(z), *shapes), none)

        return self._value(mass, z, shapes, (none, none), ~whole)

    def _value(
        self, formula: Formula, z: Any, shapes: Any, outside: Any, none: Any = False
    ) -> Any:
        """The formula inside of the support; `none`: it is a constant there too."""

        def value(*shapes: Any) -> Any:
            return self.standard.masked(formula, z, shapes, z == z, outside)  # noqa: PLR0124

        def constant() -> Any:
            return self.standard.beyond(z, shapes) | none

        with np.errstate(all="ignore"):
            return at_minus_infinity(value, value(*shapes), tuple(shapes), constant)

    def logpmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of the probability of `k`."""
        return self._mass("logpmf", -INF, k, args, kwds)

    def pmf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of `k`."""
        return self._mass("pmf", 0.0, k, args, kwds)

    def _tail(self, name: str, outside: Any, k: Any, args: Any, kwds: Any) -> Any:
        z, shapes = self._at(k, args, kwds)
        standard = self.standard

        def tail(z: Any, *shapes: Any) -> Any:
            if name.startswith("log"):
                return standard.log_tail(name.removeprefix("log"), z, *shapes)
            return standard.tail(name, z, *shapes)

        # All is at or below the upper end.
        _, end = standard.ends
        if not callable(end):
            last = z >= end
        else:
            last = z >= rc.ignore_derivatives(end(*shapes))
        z = where(last, INF, floor(z))
        return self._value(tail, z, shapes, outside)

    def cdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of values up to `k`."""
        return self._tail("cdf", (0.0, 1.0), k, args, kwds)

    def sf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The probability of values above `k`."""
        return self._tail("sf", (1.0, 0.0), k, args, kwds)

    def logcdf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `cdf`."""
        return self._tail("logcdf", (-INF, 0.0), k, args, kwds)

    def logsf(self, k: Any, *args: Any, **kwds: Any) -> Any:
        """The logarithm of `sf`."""
        return self._tail("logsf", (0.0, -INF), k, args, kwds)

    def ppf(self, *_args: Any, **_kwds: Any) -> Any:
        """Refused: the quantile is a whole number, which jumps."""
        message = (
            f"scipy.stats.{self.name}: a quantile is a whole number, and has no "
            "derivative. Call SciPy's with ignore_derivatives of the parameters."
        )
        raise rc.UnsupportedError(message)

    isf = median = interval = rvs = ppf


def discrete(
    scipy: Any,
    *,
    support: tuple[Any, Any] = (0.0, INF),
    valid: Formula = is_positive,
    **formulas: Formula,
) -> Discrete:
    """Declare a distribution; see `continuous`."""
    standard = Standard(scipy, support, valid, formulas, loc=0.0)
    made = DISTRIBUTIONS[scipy.name] = Discrete(standard)
    return made


# numbers of trials


@rc.primitive
def whole(n: Any, name: str) -> Any:
    """A parameter that counts: a whole number, without derivative."""
    return n


@rc.frule.define(whole)
def whole_frule(tangents: Any, n: Any, name: str) -> Any:
    """Not implemented."""
    return n, rc.not_implemented(_COUNTS.format(name))


@rc.rrule.define(whole)
def whole_rrule(n: Any, name: str) -> Any:
    """Not implemented."""

    def whole_pullback(dn: Any) -> Any:
        return rc.NoTangent(), rc.not_implemented(_COUNTS.format(name)), rc.NoTangent()

    return n, whole_pullback


_COUNTS = "derivative of {}, which is a whole number: pass it as an int"


def _is_chance(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def _is_whole(n: Any) -> Any:
    return floor(rc.ignore_derivatives(n)) == rc.ignore_derivatives(n)


def at_edge(edge: Any, x: Any, exact: Formula, inside: Formula) -> Any:
    """A mass: by powers at an edge of the domain of `x`, where logarithms are infinite.

    There the derivative is that from inside, and `exp` of a logarithm has none.
    """
    edge = rc.ignore_derivatives(edge)
    y = inside(where(edge, 0.5, x))
    return where(edge, exact(where(edge, x, 0.5 + 0 * x)) + 0 * y, y)


def _is_end(p: Any) -> Any:
    return (p == 0) | (p == 1)


def _ways(log_ways: Any) -> Any:
    """How many: beyond all floats it is times zero at an edge, in every order."""
    return exp(where(log_ways < 700, log_ways, 700.0))


# trials


def _binomial_pmf(k: Any, n: Any, p: Any) -> Any:
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    trials = rc.ignore_derivatives(n - k)
    return at_edge(
        _is_end(p),
        p,
        lambda p: (
            _ways(rc.ignore_derivatives(ways)) * raised(p, k) * raised(1 - p, trials)
        ),
        lambda p: exp(_binomial_logpmf(k, n, p)),
    )


def _negative_logpmf(k: Any, n: Any, p: Any) -> Any:
    ways = gammaln(n + k) - gammaln(k + 1) - gammaln(n)
    return ways + xlogy(n, p) + xlog1py(k, -p)


def _negative_pmf(k: Any, n: Any, p: Any) -> Any:
    return at_edge(
        p == 1,
        p,
        lambda p: (
            _ways(gammaln(n + k) - gammaln(k + 1) - gammaln(n))
            * p**n
            * raised(1 - p, k)
        ),
        lambda p: exp(_negative_logpmf(k, n, p)),
    )


def _misses(k: Any, p: Any) -> Any:
    """The probability of `k` failures in a row."""
    return at_edge(p == 1, p, lambda p: raised(1 - p, k), lambda p: exp(k * log1p(-p)))


def _poisson_logpmf(k: Any, mu: Any) -> Any:
    return xlogy(k, mu) - gammaln(k + 1) - mu


def _poisson_pmf(k: Any, mu: Any) -> Any:
    return at_edge(
        mu == 0,
        mu,
        lambda mu: raised(mu, k) * exp(-mu - gammaln(k + 1)),
        lambda mu: exp(_poisson_logpmf(k, mu)),
    )


def _binomial_logpmf(k: Any, n: Any, p: Any) -> Any:
    n = whole(n, "n of binom")
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return ways + xlogy(k, p) + xlog1py(n - k, -p)


def _two_entropy(p: Any) -> Any:
    return -xlogy(p, p) - xlog1py(1 - p, -p)


bernoulli = discrete(
    st.bernoulli,
    support=(0.0, 1.0),
    valid=_is_chance,
    logpmf=lambda k, p: xlogy(k, p) + xlog1py(1 - k, -p),
    pmf=lambda k, p: k * p + (1 - k) * (1 - p),
    cdf=lambda k, p: 1 - p + 0 * k,
    sf=lambda k, p: p + 0 * k,
    mean=lambda p: p,
    var=lambda p: p * (1 - p),
    entropy=_two_entropy,
)
binom = discrete(
    st.binom,
    support=(0.0, lambda n, p: n + 0 * p),
    valid=lambda n, p: (n >= 0) & _is_whole(n) & _is_chance(p),
    logpmf=_binomial_logpmf,
    pmf=_binomial_pmf,
    cdf=lambda k, n, p: sp.betaincc(k + 1, whole(n, "n of binom") - k, p),
    sf=lambda k, n, p: sp.betainc(k + 1, whole(n, "n of binom") - k, p),
    mean=lambda n, p: whole(n, "n of binom") * p,
    var=lambda n, p: whole(n, "n of binom") * p * (1 - p),
)


def _beta_binomial_logpmf(k: Any, n: Any, a: Any, b: Any) -> Any:
    n = whole(n, "n of betabinom")
    ways = -log(n + 1) - sp.betaln(n - k + 1, k + 1)
    return ways + sp.betaln(k + a, n - k + b) - sp.betaln(a, b)


betabinom = discrete(
    st.betabinom,
    support=(0.0, lambda n, a, b: n + 0 * (a + b)),
    valid=lambda n, a, b: (n >= 0) & _is_whole(n) & (a > 0) & (b > 0),
    logpmf=_beta_binomial_logpmf,
    mean=lambda n, a, b: whole(n, "n of betabinom") * a / (a + b),
    var=lambda n, a, b: (
        whole(n, "n of betabinom") * (a + b + n) * a * b / ((a + b) ** 2 * (a + b + 1))
    ),
)


def _beta_negative_logpmf(k: Any, n: Any, a: Any, b: Any) -> Any:
    n = whole(n, "n of betanbinom")
    ways = -log(n + k) - sp.betaln(n, k + 1)
    return ways + sp.betaln(a + n, b + k) - sp.betaln(a, b)


betanbinom = discrete(
    st.betanbinom,
    valid=lambda n, a, b: (n >= 0) & _is_whole(n) & (a > 0) & (b > 0),
    logpmf=_beta_negative_logpmf,
    mean=lambda n, a, b: where_above(
        a, 1.0, lambda a: whole(n, "n of betanbinom") * b / (a - 1), INF
    ),
)
nbinom = discrete(
    st.nbinom,
    valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1),
    logpmf=_negative_logpmf,
    pmf=_negative_pmf,
    cdf=lambda k, n, p: sp.betainc(n, k + 1, p),
    sf=lambda k, n, p: sp.betaincc(n, k + 1, p),
    mean=lambda n, p: n * (1 - p) / p,
    var=lambda n, p: n * (1 - p) / p**2,
)
geom = discrete(
    st.geom,
    support=(1.0, INF),
    valid=lambda p: (p > 0) & (p <= 1),
    logpmf=lambda k, p: xlog1py(k - 1, -p) + log(p),
    pmf=lambda k, p: p * _misses(k - 1, p),
    cdf=lambda k, p: at_edge(
        p == 1, p, lambda p: 1 - raised(1 - p, k), lambda p: -expm1(k * log1p(-p))
    ),
    sf=_misses,
    logsf=lambda k, p: k * log1p(-p),
    mean=lambda p: 1 / p,
    var=lambda p: (1 - p) / p**2,
    entropy=lambda p: _two_entropy(p) / p,
)

# counts

poisson = discrete(
    st.poisson,
    valid=lambda mu: mu >= 0,
    logpmf=_poisson_logpmf,
    pmf=_poisson_pmf,
    cdf=lambda k, mu: sp.gammaincc(k + 1, mu),
    sf=lambda k, mu: sp.gammainc(k + 1, mu),
    mean=lambda mu: mu,
    var=lambda mu: mu,
)


def _skellam_logpmf(k: Any, mu1: Any, mu2: Any) -> Any:
    root = 2 * (mu1 * mu2) ** 0.5
    own = k / 2 * (log(mu1) - log(mu2)) - (mu1**0.5 - mu2**0.5) ** 2
    return own + log(sp.ive(absolute(k), root))


def _skellam_cdf(k: Any, mu1: Any, mu2: Any) -> Any:
    left = k < 0
    low, high = where(left, k, -1.0), where(left, 0.0, k)
    below = sp.chndtr(2 * mu2, -2 * low, 2 * mu1)
    return where(left, below, ncx2_sf(2 * mu1, 2 * (high + 1), 2 * mu2))


def _skellam_sf(k: Any, mu1: Any, mu2: Any) -> Any:
    left = k < 0
    low, high = where(left, k, -1.0), where(left, 0.0, k)
    above = sp.chndtr(2 * mu1, 2 * (high + 1), 2 * mu2)
    return where(left, ncx2_sf(2 * mu2, -2 * low, 2 * mu1), above)


skellam = discrete(
    st.skellam,
    support=(-INF, INF),
    logpmf=_skellam_logpmf,
    cdf=_skellam_cdf,
    sf=_skellam_sf,
    mean=lambda mu1, mu2: mu1 - mu2,
    var=lambda mu1, mu2: mu1 + mu2,
)

# powers

logser = discrete(
    st.logser,
    support=(1.0, INF),
    valid=lambda p: (p > 0) & (p < 1),
    logpmf=lambda k, p: k * log(p) - log(k) - log(-log1p(-p)),
    mean=lambda p: p / (p - 1) / log1p(-p),
    var=lambda p: -p * (p + log1p(-p)) / ((1 - p) * log1p(-p)) ** 2,
)
zipf = discrete(
    st.zipf,
    support=(1.0, INF),
    valid=lambda a: a > 1,
    logpmf=lambda k, a: -a * log(k) - log(sp.zeta(a, 1.0 + 0 * a)),
    sf=lambda k, a: sp.zeta(a, k + 1) / sp.zeta(a, 1.0 + 0 * a),
)
yulesimon = discrete(
    st.yulesimon,
    support=(1.0, INF),
    logpmf=lambda k, alpha: log(alpha) + sp.betaln(k, alpha + 1),
    logsf=lambda k, alpha: log(k) + sp.betaln(k, alpha + 1),
    mean=lambda alpha: where_above(alpha, 1.0, lambda a: a / (a - 1), INF),
)

# exponentials

planck = discrete(
    st.planck,
    logpmf=lambda k, lam: -lam * k + log(-expm1(-lam)),
    cdf=lambda k, lam: -expm1(-lam * (k + 1)),
    logsf=lambda k, lam: -lam * (k + 1),
    mean=lambda lam: 1 / expm1(lam),
    var=lambda lam: exp(-lam) / expm1(-lam) ** 2,
    entropy=lambda lam: lam / expm1(lam) - log(-expm1(-lam)),
)


def _boltzmann_total(lam: Any, n: Any) -> Any:
    return log1mexp(-lam * whole(n, "N of boltzmann"))


boltzmann = discrete(
    st.boltzmann,
    support=(0.0, lambda lam, n: n - 1 + 0 * lam),
    valid=lambda lam, n: (lam > 0) & (n > 0) & _is_whole(n),
    logpmf=lambda k, lam, n: log1mexp(-lam) - _boltzmann_total(lam, n) - lam * k,
    logcdf=lambda k, lam, n: log1mexp(-lam * (k + 1)) - _boltzmann_total(lam, n),
)


def _two_sided_cdf(k: Any, a: Any) -> Any:
    right = k >= 0
    tail = exp(-a * where(right, k, -k - 1)) / (exp(a) + 1)
    return where(right, 1 - tail, tail)


def _two_sided_sf(k: Any, a: Any) -> Any:
    right = k >= 0
    tail = exp(-a * where(right, k, -k - 1)) / (exp(a) + 1)
    return where(right, tail, 1 - tail)


dlaplace = discrete(
    st.dlaplace,
    support=(-INF, INF),
    logpmf=lambda k, a: log(tanh(a / 2)) - a * absolute(k),
    cdf=_two_sided_cdf,
    sf=_two_sided_sf,
    mean=lambda a: 0.0,
    var=lambda a: 2 * exp(a) / expm1(a) ** 2,
    entropy=lambda a: a / sinh(a) - log(tanh(a / 2)),
)
