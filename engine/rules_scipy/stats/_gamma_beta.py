"""Distributions by the incomplete gamma and beta functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.stats as st

from rules_core.extend import nan_unless
from rules_scipy import special as sp
from rules_scipy.special._arrays import absolute, exp, log, log1p, sqrt, where
from rules_scipy.special._declare import elementwise, on_doubles, partial_of, ufunc
from rules_scipy.special._differences import Difference
from rules_scipy.special._noncentral import (
    _ncf_density,
    _step as degrees_step,
    chi2_ratio,
    t_moment,
)

from ._continuous import continuous
from ._normal import POSITIVE, log_phi
from ._numbers import EULER, INF, LOG_2PI

xlogy, xlog1py, gammaln = sp.xlogy, sp.xlog1py, sp.gammaln
LOG_2 = math.log(2)


def where_above(x: Any, bound: float, y: Any, otherwise: float) -> Any:
    """A formula of `x` where it is above the bound, else a constant."""
    return where(x > bound, y(where(x > bound, x, bound + 1.0)), otherwise)


# gamma


def _gamma_entropy(a: Any) -> Any:
    return a + gammaln(a) + (1 - a) * sp.psi(a)


def _gamma_like(scipy: Any) -> Any:
    return continuous(
        scipy,
        support=POSITIVE,
        logpdf=lambda x, a: xlogy(a - 1, x) - x - gammaln(a),
        cdf=lambda x, a: sp.gammainc(a, x),
        sf=lambda x, a: sp.gammaincc(a, x),
        ppf=lambda q, a: sp.gammaincinv(a, q),
        isf=lambda q, a: sp.gammainccinv(a, q),
        mean=lambda a: a,
        var=lambda a: a,
        entropy=_gamma_entropy,
    )


gamma, erlang = _gamma_like(st.gamma), _gamma_like(st.erlang)
chi2 = continuous(
    st.chi2,
    support=POSITIVE,
    logpdf=lambda x, df: (
        xlogy(df / 2 - 1, x) - x / 2 - gammaln(df / 2) - LOG_2 * df / 2
    ),
    cdf=lambda x, df: sp.gammainc(df / 2, x / 2),
    sf=lambda x, df: sp.gammaincc(df / 2, x / 2),
    ppf=lambda q, df: 2 * sp.gammaincinv(df / 2, q),
    isf=lambda q, df: 2 * sp.gammainccinv(df / 2, q),
    mean=lambda df: df,
    var=lambda df: 2 * df,
    entropy=lambda df: _gamma_entropy(df / 2) + LOG_2,
)


def _root_mean(half: Any) -> Any:
    r"""$\Gamma(h + 1/2) / \Gamma(h)$."""
    return sp.poch(half, 0.5 + 0 * half)


chi = continuous(
    st.chi,
    support=POSITIVE,
    logpdf=lambda x, df: (
        LOG_2 - LOG_2 * df / 2 - gammaln(df / 2) + xlogy(df - 1, x) - x * x / 2
    ),
    cdf=lambda x, df: sp.gammainc(df / 2, x * x / 2),
    sf=lambda x, df: sp.gammaincc(df / 2, x * x / 2),
    ppf=lambda q, df: sqrt(2 * sp.gammaincinv(df / 2, q)),
    isf=lambda q, df: sqrt(2 * sp.gammainccinv(df / 2, q)),
    mean=lambda df: math.sqrt(2) * _root_mean(df / 2),
    var=lambda df: df - 2 * _root_mean(df / 2) ** 2,
    entropy=lambda df: gammaln(df / 2) + (df - LOG_2 - (df - 1) * sp.psi(df / 2)) / 2,
)
maxwell = continuous(
    st.maxwell,
    support=POSITIVE,
    logpdf=lambda x: math.log(2 / math.pi) / 2 + 2 * log(x) - x * x / 2,
    cdf=lambda x: sp.gammainc(1.5 + 0 * x, x * x / 2),
    sf=lambda x: sp.gammaincc(1.5 + 0 * x, x * x / 2),
    ppf=lambda q: sqrt(2 * sp.gammaincinv(1.5 + 0 * q, q)),
    isf=lambda q: sqrt(2 * sp.gammainccinv(1.5 + 0 * q, q)),
    mean=lambda: 2 * math.sqrt(2 / math.pi),
    var=lambda: 3 - 8 / math.pi,
    entropy=lambda: EULER + LOG_2PI / 2 - 0.5,
)
loggamma = continuous(
    st.loggamma,
    logpdf=lambda x, c: c * x - exp(x) - gammaln(c),
    cdf=lambda x, c: sp.gammainc(c, exp(x)),
    sf=lambda x, c: sp.gammaincc(c, exp(x)),
    ppf=lambda q, c: log(sp.gammaincinv(c, q)),
    isf=lambda q, c: log(sp.gammainccinv(c, q)),
    mean=sp.psi,
    var=lambda c: sp.polygamma(1, c),
    entropy=lambda c: gammaln(c) - c * sp.psi(c) + c,
)


def _by_sign(c: Any, a: Any, u: Any, of_plus: Any, of_minus: Any) -> Any:
    return where(c > 0, of_plus(a, u), of_minus(a, u))


def _gengamma_point(a: Any, q: Any, c: Any, plus: Any, minus: Any) -> Any:
    return where(c > 0, plus(a, q), minus(a, q)) ** (1 / c)


def _gengamma_logpdf(x: Any, a: Any, c: Any) -> Any:
    none = (x == 0) & (c < 0)
    u = where(none, 1.0, x)
    own = log(absolute(c)) + xlogy(c * a - 1, u) - u**c - gammaln(a)
    return where(none, -INF, own)


gengamma = continuous(
    st.gengamma,
    support=POSITIVE,
    valid=lambda a, c: (a > 0) & (c != 0),
    logpdf=_gengamma_logpdf,
    cdf=lambda x, a, c: _by_sign(c, a, x**c, sp.gammainc, sp.gammaincc),
    sf=lambda x, a, c: _by_sign(c, a, x**c, sp.gammaincc, sp.gammainc),
    ppf=lambda q, a, c: _gengamma_point(a, q, c, sp.gammaincinv, sp.gammainccinv),
    isf=lambda q, a, c: _gengamma_point(a, q, c, sp.gammainccinv, sp.gammaincinv),
    mean=lambda a, c: sp.poch(a, 1 / c),
    var=lambda a, c: sp.poch(a, 2 / c) - sp.poch(a, 1 / c) ** 2,
)
invgamma = continuous(
    st.invgamma,
    support=POSITIVE,
    open_ends=True,
    logpdf=lambda x, a: -(a + 1) * log(x) - gammaln(a) - 1 / x,
    cdf=lambda x, a: sp.gammaincc(a, 1 / x),
    sf=lambda x, a: sp.gammainc(a, 1 / x),
    ppf=lambda q, a: 1 / sp.gammainccinv(a, q),
    isf=lambda q, a: 1 / sp.gammaincinv(a, q),
    mean=lambda a: where_above(a, 1.0, lambda a: 1 / (a - 1), INF),
    var=lambda a: where_above(a, 2.0, lambda a: 1 / (a - 1) ** 2 / (a - 2), INF),
    entropy=lambda a: a - (a + 1) * sp.psi(a) + gammaln(a),
)
nakagami = continuous(
    st.nakagami,
    support=POSITIVE,
    logpdf=lambda x, nu: (
        LOG_2 + xlogy(nu, nu) - gammaln(nu) + xlogy(2 * nu - 1, x) - nu * x * x
    ),
    cdf=lambda x, nu: sp.gammainc(nu, nu * x * x),
    sf=lambda x, nu: sp.gammaincc(nu, nu * x * x),
    ppf=lambda q, nu: sqrt(sp.gammaincinv(nu, q) / nu),
    isf=lambda q, nu: sqrt(sp.gammainccinv(nu, q) / nu),
    mean=lambda nu: _root_mean(nu) / sqrt(nu),
    var=lambda nu: 1 - _root_mean(nu) ** 2 / nu,
)


def _two_sided(x: Any, tail: Any) -> Any:
    """The distribution function of a symmetric one, by twice its upper tail."""
    half = tail(absolute(x)) / 2
    return where(x > 0, 1 - half, half)


dgamma = continuous(
    st.dgamma,
    symmetric=True,
    logpdf=lambda x, a: xlogy(a - 1, absolute(x)) - absolute(x) - LOG_2 - gammaln(a),
    cdf=lambda x, a: _two_sided(x, lambda u: sp.gammaincc(a, u)),
    mean=lambda a: 0.0,
    var=lambda a: a * (a + 1),
)
gennorm = continuous(
    st.gennorm,
    symmetric=True,
    logpdf=lambda x, beta: log(beta / 2) - gammaln(1 / beta) - absolute(x) ** beta,
    cdf=lambda x, beta: _two_sided(x, lambda u: sp.gammaincc(1 / beta, u**beta)),
    mean=lambda beta: 0.0,
    var=lambda beta: exp(gammaln(3 / beta) - gammaln(1 / beta)),
    entropy=lambda beta: 1 / beta - log(beta / 2) + gammaln(1 / beta),
)
halfgennorm = continuous(
    st.halfgennorm,
    support=POSITIVE,
    logpdf=lambda x, beta: log(beta) - gammaln(1 / beta) - x**beta,
    cdf=lambda x, beta: sp.gammainc(1 / beta, x**beta),
    sf=lambda x, beta: sp.gammaincc(1 / beta, x**beta),
    ppf=lambda q, beta: sp.gammaincinv(1 / beta, q) ** (1 / beta),
    isf=lambda q, beta: sp.gammainccinv(1 / beta, q) ** (1 / beta),
    entropy=lambda beta: 1 / beta - log(beta) + gammaln(1 / beta),
)

# beta


def _beta_logpdf(x: Any, a: Any, b: Any) -> Any:
    return xlogy(a - 1, x) + xlog1py(b - 1, -x) - sp.betaln(a, b)


def _beta_entropy(a: Any, b: Any) -> Any:
    return (
        sp.betaln(a, b)
        - (a - 1) * sp.psi(a)
        - (b - 1) * sp.psi(b)
        + (a + b - 2) * sp.psi(a + b)
    )


beta = continuous(
    st.beta,
    support=(0.0, 1.0),
    logpdf=_beta_logpdf,
    cdf=lambda x, a, b: sp.betainc(a, b, x),
    sf=lambda x, a, b: sp.betaincc(a, b, x),
    ppf=lambda q, a, b: sp.betaincinv(a, b, q),
    isf=lambda q, a, b: sp.betainccinv(a, b, q),
    mean=lambda a, b: a / (a + b),
    var=lambda a, b: a * b / (a + b) ** 2 / (a + b + 1),
    entropy=_beta_entropy,
)
rdist = continuous(
    st.rdist,
    support=(-1.0, 1.0),
    logpdf=lambda x, c: _beta_logpdf((x + 1) / 2, c / 2, c / 2) - LOG_2,
    cdf=lambda x, c: sp.betainc(c / 2, c / 2, (x + 1) / 2),
    sf=lambda x, c: sp.betainc(c / 2, c / 2, (1 - x) / 2),
    ppf=lambda q, c: 2 * sp.betaincinv(c / 2, c / 2, q) - 1,
    isf=lambda q, c: 1 - 2 * sp.betaincinv(c / 2, c / 2, q),
    mean=lambda c: 0.0,
    var=lambda c: 1 / (c + 1),
)


def _prime_tail(a: Any, b: Any, x: Any, of_low: Any, of_high: Any) -> Any:
    """By `x / (1 + x)` or its rest, whichever is small."""
    low = x < 1
    near, far = where(low, x, 1.0), where(low, 1.0, x)
    return where(low, of_low(a, b, near / (1 + near)), of_high(b, a, 1 / (1 + far)))


betaprime = continuous(
    st.betaprime,
    support=POSITIVE,
    logpdf=lambda x, a, b: xlogy(a - 1, x) - xlog1py(a + b, x) - sp.betaln(a, b),
    cdf=lambda x, a, b: _prime_tail(a, b, x, sp.betainc, sp.betaincc),
    sf=lambda x, a, b: _prime_tail(a, b, x, sp.betaincc, sp.betainc),
    mean=lambda a, b: where_above(b, 1.0, lambda b: a / (b - 1), INF),
    var=lambda a, b: where_above(
        b, 2.0, lambda b: a * (a + b - 1) / (b - 2) / (b - 1) ** 2, INF
    ),
)


def _f_logpdf(x: Any, m: Any, n: Any) -> Any:
    own = m / 2 * log(m) + n / 2 * log(n) + xlogy(m / 2 - 1, x)
    return own - (m + n) / 2 * log(n + m * x) - sp.betaln(m / 2, n / 2)


f = continuous(
    st.f,
    support=POSITIVE,
    logpdf=_f_logpdf,
    cdf=lambda x, m, n: sp.fdtr(m, n, x),
    sf=lambda x, m, n: sp.fdtrc(m, n, x),
    ppf=lambda q, m, n: sp.fdtri(m, n, q),
    mean=lambda m, n: where_above(n, 2.0, lambda n: n / (n - 2), INF),
    var=lambda m, n: where_above(
        n, 4.0, lambda n: 2 * n * n * (m + n - 2) / m / (n - 2) ** 2 / (n - 4), INF
    ),
)

_NORMAL_FROM = 1e18  # degrees of freedom, for which t is normal to the last bit


def _t_logpdf(x: Any, df: Any) -> Any:
    normal = df > _NORMAL_FROM
    v = where(normal, 1.0, df)
    own = -(v + 1) / 2 * log1p(x * x / v) - log(v) / 2 - sp.betaln(v / 2, 0.5 + 0 * v)
    return where(normal, log_phi(x), own)


def _t_cdf(x: Any, df: Any) -> Any:
    normal = df == INF
    return where(normal, sp.ndtr(x), sp.stdtr(where(normal, 1.0, df), x))


def _t_entropy(df: Any) -> Any:
    half, above = df / 2, (df + 1) / 2
    slope = above * (sp.psi(above) - sp.psi(half))
    return slope + log(df) / 2 + sp.betaln(half, 0.5 + 0 * half)


def _t_var(df: Any) -> Any:
    own = where_above(df, 2.0, lambda df: 1 + 2 / (df - 2), INF)
    return nan_unless(df > 1, own)


t = continuous(
    st.t,
    symmetric=True,
    logpdf=_t_logpdf,
    cdf=_t_cdf,
    ppf=lambda q, df: sp.stdtrit(df, q),
    mean=lambda df: where(df > 1, 0.0 * df, INF),
    var=_t_var,
    entropy=_t_entropy,
)


def _skew_t(x: Any, a: Any, b: Any) -> Any:
    return x / sqrt(a + b + x * x)


def _skew_t_logpdf(x: Any, a: Any, b: Any) -> Any:
    u = _skew_t(x, a, b)
    norm = (a + b - 1) * LOG_2 + sp.betaln(a, b) + log(a + b) / 2
    return (a + 0.5) * log1p(u) + (b + 0.5) * log1p(-u) - norm


jf_skew_t = continuous(
    st.jf_skew_t,
    logpdf=_skew_t_logpdf,
    cdf=lambda x, a, b: sp.betainc(a, b, (1 + _skew_t(x, a, b)) / 2),
    sf=lambda x, a, b: sp.betainc(b, a, (1 - _skew_t(x, a, b)) / 2),
)


# argus: a truncated distribution of the square root of a gamma variable


def _argus_tail(x: Any, chi: Any) -> Any:
    return sp.gammainc(1.5 + 0 * (x + chi), chi * chi * (1 - x * x) / 2)


def _argus_logpdf(x: Any, chi: Any) -> Any:
    norm = 3 * log(chi) - LOG_2PI / 2 - log(_argus_tail(0 * chi, chi) / 2)
    return norm + log(x) + log1p(-x * x) / 2 - chi * chi * (1 - x * x) / 2


argus = continuous(
    st.argus,
    support=(0.0, 1.0),
    logpdf=_argus_logpdf,
    sf=lambda x, chi: _argus_tail(x, chi) / _argus_tail(0 * chi, chi),
)

# noncentral: SciPy has upper tails that do not cancel, without functions of their own


def _upper_tail(scipy: Any, *partials: Any) -> Any:
    """The primitive of `sf` by its partials in the point and the shapes.

    Differences in degrees of freedom are those of `sf` itself: where it is small, those
    of `cdf` are rounding errors.
    """

    def sf(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(scipy.sf(*args), dtype=float)

    sf.__name__ = sf.__qualname__ = f"{scipy.name}_sf"
    return ufunc(elementwise(on_doubles(sf)), *partials)


ncx2_sf = _upper_tail(
    st.ncx2,
    lambda y, x, v, nc: -partial_of(sp.chndtr, 0, x, v, nc),
    Difference(lambda x, v, nc: degrees_step(v, x)),
    lambda y, x, v, nc: -partial_of(sp.chndtr, 2, x, v, nc),
)
ncf_sf = _upper_tail(
    st.ncf,
    lambda y, x, m, n, nc: -_ncf_density(m, n, nc, x),
    Difference(lambda x, m, n, nc: degrees_step(m, x)),
    Difference(lambda x, m, n, nc: degrees_step(n, x)),
    lambda y, x, m, n, nc: -partial_of(sp.ncfdtr, 2, m, n, nc, x),
)
nct_sf = _upper_tail(
    st.nct,
    lambda y, x, v, nc: -t_moment(1, v, nc, x),
    Difference(lambda x, v, nc: degrees_step(v, x * x)),
    lambda y, x, v, nc: t_moment(0, v, nc, x),
)


def _ncx2_logpdf(x: Any, df: Any, nc: Any) -> Any:
    central = nc == 0
    power, safe = df / 4 - 0.5, where(central, 1.0, nc)
    roots = sqrt(x) - sqrt(safe)
    bessel = sp.ive(df / 2 - 1, sqrt(x * safe)) / 2
    own = xlogy(power, x) - xlogy(power, safe) - roots * roots / 2 + log(bessel)
    near = xlogy(2 * power, x) - x / 2 - gammaln(df / 2) - LOG_2 * df / 2
    near = near + log(chi2_ratio(df, where(central, nc, 0.0), x))
    return where(central, near, own)


ncx2 = continuous(
    st.ncx2,
    support=POSITIVE,
    valid=lambda df, nc: (df > 0) & (nc >= 0),
    logpdf=_ncx2_logpdf,
    cdf=sp.chndtr,
    sf=ncx2_sf,
    mean=lambda df, nc: df + nc,
    var=lambda df, nc: 2 * df + 4 * nc,
)
ncf = continuous(
    st.ncf,
    support=POSITIVE,
    open_ends=True,
    valid=lambda m, n, nc: (m > 0) & (n > 0) & (nc >= 0),
    pdf=lambda x, m, n, nc: _ncf_density(m, n, nc, x),
    cdf=lambda x, m, n, nc: sp.ncfdtr(m, n, nc, x),
    sf=ncf_sf,
)
nct = continuous(
    st.nct,
    valid=lambda df, nc: (df > 0) & (absolute(nc) < INF),
    pdf=lambda x, df, nc: t_moment(1, df, nc, x),
    cdf=lambda x, df, nc: sp.nctdtr(df, nc, x),
    sf=nct_sf,
)
rice = continuous(
    st.rice,
    support=POSITIVE,
    valid=lambda b: b >= 0,
    logpdf=lambda x, b: log(x) - (x - b) ** 2 / 2 + log(sp.i0e(x * b)),
    cdf=lambda x, b: sp.chndtr(x * x, 2.0 + 0 * x, b * b),
    sf=lambda x, b: ncx2_sf(x * x, 2.0 + 0 * x, b * b),
)


# of samples: the supremum of an empirical distribution
def _small_supremum(x: Any) -> Any:
    """The distribution function where it is small, by the theta series."""
    low = x < 1
    u, total = where(low, x, 1.0), 0 * x
    for k in range(1, 9):
        total = total + exp(-(((2 * k - 1) * math.pi / u) ** 2) / 8)
    own = math.sqrt(2 * math.pi) / u * total
    return where(low, own, 1 - sp.kolmogorov(where(low, 1.0, x)))


kstwobign = continuous(
    st.kstwobign,
    support=POSITIVE,
    open_ends=True,
    cdf=_small_supremum,
    pdf=lambda x: -partial_of(sp.kolmogorov, 0, x),
    sf=sp.kolmogorov,
    isf=sp.kolmogi,
)
