"""Distributions in programs: SciPy's own, frozen ones, edges, samples, refusals."""

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

import rules_core as rc
from rules_autodiff import grad, jvp, vjp
from rules_scipy import stats

DATA = np.array([0.4, 0.9, 1.7])
FROZEN = scipy.stats.invgauss(0.4, scale=2.0)
PROGRAMS = {
    "method": lambda m: scipy.stats.norm.logpdf(0.3, m, 2.0),
    "by name": lambda m: scipy.stats.norm.cdf(0.3, loc=1.0, scale=m),
    "frozen": lambda m: scipy.stats.gamma(m, scale=m).logsf(1.3),
    "frozen outside": lambda m: FROZEN.ppf(m),
    "mean": lambda m: scipy.stats.lognorm(s=m).mean(),
    "interval": lambda m: scipy.stats.t.interval(0.9, 4.0, loc=m)[0],
    "median": lambda m: scipy.stats.betaprime(m, 2.0).median(),
    "shape and point": lambda m: scipy.stats.beta.sf(m, m, 2.0),
    "mass": lambda m: scipy.stats.poisson(m).logpmf(3),
    "likelihood": lambda m: scipy.stats.weibull_min.nnlf((m, 0.0, 1.0), DATA),
    "support": lambda m: scipy.stats.uniform.support(m, m)[1],
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.covering(every=2)
def test_scipys_own_methods_have_derivatives_of_both_orders(name):
    f, h = PROGRAMS[name], 1e-3
    slope = (8 * (f(0.5 + h) - f(0.5 - h)) - f(0.5 + 2 * h) + f(0.5 - 2 * h)) / (12 * h)
    bend = (f(0.5 + h) - 2 * f(0.5) + f(0.5 - h)) / h**2
    assert np.isclose(grad(f)(0.5), slope, rtol=1e-7)
    assert np.isclose(jvp(f, (0.5,), (1.0,))[1], slope, rtol=1e-7)
    assert np.isclose(grad(grad(f))(0.5), bend, rtol=1e-4, atol=1e-5)


# edges


def test_outside_of_the_support_the_derivative_is_zero():
    x = np.array([-1.0, 3.0, np.inf])
    for method, y in (("logpdf", [-np.inf] * 3), ("cdf", [0.0, 1.0, 1.0])):
        found, pullback = vjp(getattr(stats.uniform, method), x, 0.0, 2.0)
        assert found.tolist() == y
        assert [np.any(np.asarray(g)) for g in pullback(np.ones(3))] == [False] * 3


@pytest.mark.parametrize(
    "args", [(1.0, -1.0), (np.nan, 1.0), (1.0, 1.0, 0.0, -2.0), (1.0, 1.0, 0.0, 0.0)]
)
def test_without_a_domain_values_and_derivatives_are_nan(args):
    y, pullback = vjp(stats.gamma.logpdf, *args)
    assert np.isnan(y)
    assert np.all(np.isnan(pullback(1.0)))


def test_single_precision_is_kept():
    x = np.linspace(0.5, 2.0, 3, dtype=np.float32)
    for method in ("logpdf", "cdf", "ppf"):
        f, shape = getattr(stats.betaprime, method), np.float32(2.0)
        y, pullback = vjp(f, x / 4, shape, shape)
        assert {y.dtype, pullback(y)[0].dtype} == {np.dtype(np.float32)}


def test_parameters_broadcast():
    a, scale = np.array([[1.0], [2.0]]), np.array([1.0, 2.0, 3.0])
    y, pullback = vjp(lambda a, s: stats.gamma.sf(1.5, a, scale=s), a, scale)
    assert y.shape == (2, 3)
    in_a, in_scale = pullback(np.ones((2, 3)))
    assert in_a.shape == (2, 1)
    assert in_scale.shape == (3,)


def test_the_derivative_passes_through_the_limit_of_a_shape():
    """At zero the formulas are other ones, in SciPy too."""
    for f in (scipy.stats.genextreme.logpdf, scipy.stats.genpareto.logsf):
        for c in (-1e-9, 0.0, 1e-9, 0.005):
            slope = (f(0.7, c + 1e-3) - f(0.7, c - 1e-3)) / 2e-3
            assert np.isclose(grad(lambda c, f=f: f(0.7, c))(c), slope, rtol=1e-5)


# tails, against mpmath

TAILS = {
    "norm": ("logcdf", -40.0, 1.0, 2.0),
    "gamma": ("logsf", 80.0, 2.5),
    "invgamma": ("logcdf", 0.01, 2.5),
    "t": ("logcdf", -500.0, 3.5),
    "genlogistic": ("logsf", 60.0, 0.4),
    "beta": ("logcdf", 1e-6, 2.5, 3.5),
    "betaprime": ("logsf", 1e5, 2.5, 3.5),
    "lognorm": ("logcdf", 1e-9, 0.7),
    "poisson": ("logsf", 60.0, 3.0),
    "skewnorm": ("logcdf", -3.0, 4.0),
    "exponnorm": ("logcdf", -9.0, 1.5),
    "semicircular": ("logcdf", -0.999999),
    "cosine": ("logsf", 3.14),
    "mielke": ("logsf", 2000.0, 10.4, 4.6),
    "kstwobign": ("logcdf", 0.2),
    "ncx2": ("logsf", 200.0, 4.0, 3.0),
}
EXACT = {
    "norm": lambda x, m, s: mp.ncdf(x, m, s),
    "gamma": lambda x, a: mp.gammainc(a, x, mp.inf, regularized=True),
    "invgamma": lambda x, a: mp.gammainc(a, 1 / x, mp.inf, regularized=True),
    "t": lambda x, v: mp.betainc(v / 2, 0.5, 0, v / (v + x * x), regularized=True) / 2,
    "genlogistic": lambda x, c: 1 - (1 + mp.exp(-x)) ** -c,
    "beta": lambda x, a, b: mp.betainc(a, b, 0, x, regularized=True),
    "betaprime": lambda x, a, b: mp.betainc(b, a, 0, 1 / (1 + x), regularized=True),
    "lognorm": lambda x, s: mp.ncdf(mp.log(x) / s),
    "poisson": lambda k, mu: mp.gammainc(k + 1, 0, mu, regularized=True),
    "skewnorm": lambda x, a: (
        2 * mp.quad(lambda u: mp.npdf(u) * mp.ncdf(a * u), [x - 1, x - 0.2, x])
    ),
    "exponnorm": lambda x, K: (
        mp.ncdf(x) - mp.exp(1 / (2 * K * K) - x / K) * mp.ncdf(x - 1 / K)
    ),
    "semicircular": lambda x: 0.5 + (x * mp.sqrt(1 - x * x) + mp.asin(x)) / mp.pi,
    "cosine": lambda x: (mp.pi - x - mp.sin(x)) / (2 * mp.pi),
    "mielke": lambda x, k, s: 1 - mp.exp(-mp.mpf(k) / s * mp.log1p(x**-s)),
    "kstwobign": lambda x: (
        mp.sqrt(2 * mp.pi)
        / x
        * mp.nsum(lambda k: mp.exp(-(((2 * k - 1) * mp.pi / x) ** 2) / 8), [1, mp.inf])
    ),
    "ncx2": lambda x, v, c: (
        mp.exp(-c / 2)
        * sum(
            (c / 2) ** j
            / mp.factorial(j)
            * mp.gammainc(v / 2 + j, x / 2, mp.inf, regularized=True)
            for j in range(90)
        )
    ),
}


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.covering(every=3)
def test_logarithms_of_tails(name):
    method, *args = TAILS[name]
    f = getattr(getattr(scipy.stats, name), method)
    for i in range(name == "poisson", len(args)):

        def along(t, i=i):
            return mp.log(EXACT[name](*args[:i], t, *args[i + 1 :]))

        with mp.workdps(50):
            expected = float(mp.diff(along, mp.mpf(args[i])))
        near = 1e-6 if (name, i) == ("ncx2", 1) else 2e-10  # by differences
        assert np.isclose(grad(f, i)(*args), expected, rtol=near), (i, expected)


CIRCLES = [(0.7, 0.3), (-2.0, 4.0), (2.9, 60.0)]


@pytest.mark.parametrize(("x", "kappa"), CIRCLES)
@pytest.mark.covering(every=3)
def test_an_integral_of_the_density(x, kappa):
    """To the accuracy that the page states."""

    def cdf(x, kappa):
        norm = 2 * mp.pi * mp.besseli(0, kappa)
        path = [-mp.pi, -1, 0, x] if x > 0 else [-mp.pi, x]
        return mp.quad(lambda u: mp.exp(kappa * mp.cos(u)), path) / norm

    with mp.workdps(25):
        expected = float(mp.diff(cdf, (x, kappa), (0, 1)))
    found = grad(scipy.stats.vonmises.cdf, 1)(x, kappa)
    assert np.isclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.isclose(stats.vonmises.cdf(x, kappa), float(cdf(x, kappa)), rtol=1e-12)


def test_a_turn_more_is_a_probability_of_one_more():
    inside = stats.vonmises.cdf(0.4, 2.0)
    assert np.isclose(stats.vonmises.cdf(0.4 + 2 * np.pi, 2.0), inside + 1)
    assert np.isclose(stats.vonmises.sf(0.4 + 2 * np.pi, 2.0), -inside)


# samples


def test_a_sample_is_a_constant_unless_it_is_reparameterised():
    def mean(a, *, how):
        x = stats.gamma.rvs(a, size=200, random_state=3, reparameterised=how)
        return np.mean(x * x)

    assert grad(lambda a: mean(a, how=False) + 0 * a)(2.0) == 0.0
    slope = (mean(2.0 + 1e-4, how=True) - mean(2.0 - 1e-4, how=True)) / 2e-4
    assert np.isclose(grad(lambda a: mean(a, how=True))(2.0), slope, rtol=1e-6)
    sample = stats.norm(1.0, 2.0).rvs(size=(2, 3), random_state=0)
    assert sample.shape == (2, 3)


# refusals


class Own(scipy.stats.rv_continuous):
    def _pdf(self, x):
        return np.exp(-x)


REFUSED = {
    "rvs": (lambda m: scipy.stats.norm.rvs(m), "reparameterised"),
    "frozen rvs": (lambda m: scipy.stats.norm(0.0, m).rvs(), "reparameterised"),
    "no formulas": (lambda m: scipy.stats.landau.cdf(m), "landau"),
    "own": (lambda m: Own(a=0.0, name="own").pdf(m), "own"),
    "another support": (
        lambda m: type(scipy.stats.gamma)(a=0.0, b=9.0, name="gamma").cdf(m, 2.0),
        "gamma",
    ),
    "no entropy": (lambda m: scipy.stats.alpha.entropy(m), "alpha.entropy"),
    "whole number": (lambda m: scipy.stats.binom.logpmf(1, 3.0 * m, 0.3), "n of binom"),
    "quantile of counts": (lambda m: scipy.stats.poisson.ppf(0.3, m), "quantile is"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused_in_words(name):
    f, text = REFUSED[name]
    with pytest.raises(rc.RulesCoreError, match=text):
        grad(f)(1.0)


def test_wrong_parameters_are_refused():
    with pytest.raises(TypeError, match="must be given a"):
        stats.gamma.pdf(1.0)
    with pytest.raises(TypeError, match="each once"):
        stats.gamma.pdf(1.0, 2.0, a=2.0)
    with pytest.raises(TypeError, match="by name"):
        stats.norm.pdf(1.0, sigma=2.0)
