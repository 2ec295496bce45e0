"""One argument of a framework beside NumPy's, and arguments of frozen ones by name."""

import inspect

import numpy as np
import pytest
import scipy.interpolate
import scipy.stats

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import interpolate, stats

RNG = np.random.default_rng(0)
X, Q = np.arange(8.0), np.array([0.5, 2.3, 3.1])
Y, W = np.sin(X), 1.0 + X
PLANE, FAR = RNG.uniform(size=(9, 2)), np.array([[0.4, 0.5], [3.0, 3.0]])
SCALES = RNG.uniform(1.0, 2.0, 9)
A, B = np.arange(5.0), np.arange(6.0)
TABLE, OUT = np.outer(np.sin(A), np.cos(B)), np.array([[-1.0, 1.0], [1.5, 2.5]])
FILL, ONE = np.asarray(0.3), np.asarray(1.2)


def bracket(stats_, loc, scale, part):
    return stats_.norm(loc, scale).interval(confidence=part)[0]


# By name: the arguments after the module, the module's name, and a function of both.
CASES = {
    "interp1d": (
        (X, Y, np.array([-1.0, 0.5]), FILL),
        lambda m, x, y, q, f: m.interp1d(x, y, bounds_error=False, fill_value=f)(q),
    ),
    "interp1d of two fills": (
        (X, Y, np.array([-1.0, 9.5]), FILL),
        lambda m, x, y, q, f: m.interp1d(
            x, y, bounds_error=False, fill_value=(f, 0.4), kind="cubic"
        )(q),
    ),
    "grid": (
        (A, B, TABLE, OUT, FILL),
        lambda m, a, b, v, q, f: m.RegularGridInterpolator(
            (a, b), v, bounds_error=False, fill_value=f
        )(q),
    ),
    "radial": (
        (PLANE, SCALES, FAR, ONE, ONE),
        lambda m, y, d, q, s, e: m.RBFInterpolator(
            y, d, smoothing=s, kernel="gaussian", epsilon=e
        )(q),
    ),
    "radial of neighbours": (
        (PLANE, SCALES, FAR, ONE),
        lambda m, y, d, q, s: m.RBFInterpolator(y, d, smoothing=s, neighbors=5)(q),
    ),
    "old radial": (
        (PLANE[:, 0], PLANE[:, 1], SCALES, FILL, FILL),
        lambda m, a, b, d, e, s: m.Rbf(a, b, d, epsilon=e, smooth=s)(Q, Q),
    ),
    "triangles": (
        (PLANE, SCALES, FILL),
        lambda m, p, v, f: m.LinearNDInterpolator(p, v, fill_value=f)(FAR),
    ),
    "pieces": ((np.ones((3, 7)), X, Q), lambda m, c, x, q: m.PPoly(c, x)(q)),
    "pieces of two axes": (
        (np.ones((2, 2, 4, 5)), np.array([[0.4, 0.5], [1.3, 1.6]])),
        lambda m, c, q: m.NdPPoly(c, (A, B))(q),
    ),
    "krogh": ((X, Y, Q), lambda m, x, y, q: m.KroghInterpolator(x, y)(q)),
    "barycentric": ((X, Y, Q), lambda m, x, y, q: m.BarycentricInterpolator(x, y)(q)),
    "spline": ((X, Y, Q), lambda m, x, y, q: m.CubicSpline(x, y)(q)),
    "estimate": (
        (Y, W, Q),
        lambda m, d, w, q: m.gaussian_kde(d, weights=w, bw_method=_factor)(q),
    ),
    "estimate's interval": (
        (Y, W, FILL, ONE),
        lambda m, d, w, a, b: m.gaussian_kde(d, weights=w).integrate_box_1d(a, b),
    ),
    "interval by name": ((FILL, ONE, np.asarray(0.9)), bracket),
    "boxcox_llf": ((W, FILL), lambda m, x, lmb: m.boxcox_llf(lmb, x)),
    "yeojohnson_llf": ((X, FILL), lambda m, x, lmb: m.yeojohnson_llf(lmb, x)),
    "tmean": ((X, FILL), lambda m, x, low: m.tmean(x, (low, None))),
    "moment": ((X, FILL), lambda m, x, c: m.moment(x, 2, center=c)),
    "distance": (
        (X, Y, W, W[::-1].copy()),
        lambda m, u, v, a, b: m.energy_distance(u, v, a, b),
    ),
    "distance, one weighted": (
        (X, Y, W),
        lambda m, u, v, a: m.wasserstein_distance(u, v, v_weights=a),
    ),
}
OF_SAMPLES = {
    "estimate", "estimate's interval", "interval by name", "boxcox_llf",
    "yeojohnson_llf", "tmean", "moment", "distance",
    "distance, one weighted",
}  # fmt: skip
PLACES = [(name, i) for name, (args, _) in CASES.items() for i in range(len(args))]


def _factor(estimate):
    return estimate.n**-0.3


def differences(f, x, move, h=1e-5):
    return (f(x + h * move) - f(x - h * move)) / (2 * h)


def call(name, i, *, own):
    """A number of all results in one argument."""
    args, f = CASES[name]
    scipys = (scipy.interpolate, interpolate)
    if name in OF_SAMPLES:
        scipys = (scipy.stats, stats)

    def of_one(x):
        return f(scipys[own], *args[:i], x, *args[i + 1 :]).sum()

    return of_one, args[i], np.cos(np.arange(args[i].size) + 0.3).reshape(args[i].shape)


@pytest.mark.parametrize("host", ["jax", "torch"])
@pytest.mark.parametrize(("name", "i"), PLACES, ids=[f"{n}-{i}" for n, i in PLACES])
@pytest.mark.covering(every=16)
def test_any_argument_may_be_of_a_framework(name, i, host):
    f, x, move = call(name, i, own=0)
    expected, value = differences(f, x, move), f(x)
    f, _, _ = call(name, i, own=1)
    if host == "jax":
        jax = pytest.importorskip("jax")
        y, slope = jax.jvp(f, (jax.numpy.asarray(x),), (jax.numpy.asarray(move),))
    else:
        torch = pytest.importorskip("torch")
        at = torch.as_tensor(x.copy()).requires_grad_(True)
        y = f(at)
        (dx,) = torch.autograd.grad(y, at) if y.requires_grad else (0 * at.detach(),)
        y, slope = y.detach(), (dx * torch.as_tensor(move)).sum()
    np.testing.assert_allclose(float(y), value, rtol=1e-6)
    np.testing.assert_allclose(float(slope), expected, rtol=1e-5, atol=1e-6)


FROZEN = [
    (scipy.stats.gamma(2.0), stats.gamma), (scipy.stats.poisson(3.0), stats.poisson)
]  # fmt: skip
QUANTILES = ("ppf", "isf", "interval")
POINTS = "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf interval".split()


@pytest.mark.parametrize("name", POINTS)
def test_frozen_methods_take_scipys_names(name):
    for theirs, own in FROZEN:
        method = getattr(theirs, name, None)
        whole = own.name == "poisson" and name in QUANTILES
        if method is None or whole:
            continue
        key = next(iter(inspect.signature(method).parameters))
        at = 0.5 if name in QUANTILES else 2
        shape = theirs.args[0]
        expected = method(at)
        for found in (
            getattr(own(shape), name)(at),
            getattr(own(shape), name)(**{key: at}),
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        with pytest.raises(TypeError, match="by name"):
            getattr(own(shape), name)(at, **{key: at})


def test_numbers_of_distributions_are_those_of_frozen_ones():
    def f(a):
        mean, variance = scipy.stats.gamma.stats(a, scale=2.0, moments="mv")
        return mean * variance + scipy.stats.gamma.moment(2, a, loc=0.3)

    np.testing.assert_allclose(grad(f)(2.0), differences(f, 2.0, 1.0), rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (2.0,), (1.0,))[0], f(2.0))


def test_an_expectation_names_the_remedy():
    def f(x):
        return scipy.stats.norm(x, 1.0).expect(lambda t: t)

    with pytest.raises(rc.UnsupportedError, match=r"expect of(.|\n)*quad"):
        grad(f)(0.3)


def test_an_error_names_the_distribution_that_has_no_formula():
    def f(x):
        return scipy.stats.rv_histogram(np.histogram(Y, 3)).pdf(x)

    with pytest.raises(rc.RulesCoreError, match="rv_histogram"):
        grad(f)(0.3)


def test_frozen_methods_take_scipys_names_in_programs():
    def part(p):
        return scipy.stats.norm(0.0, 1.0).interval(confidence=p)[1]

    def shape(a):
        return scipy.stats.gamma(a).ppf(q=0.3) + scipy.stats.gamma(a).logsf(x=1.5)

    for f, x in ((part, 0.9), (shape, 2.0)):
        expected = differences(f, x, 1.0)
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
        np.testing.assert_allclose(jvp(f, (x,), (1.0,))[1], expected, rtol=1e-6)


def test_a_frozen_distribution_of_two_points_takes_both():
    if not hasattr(scipy.stats, "normal_inverse_gamma"):
        pytest.skip("since SciPy 1.15")

    def f(mu):
        frozen = scipy.stats.normal_inverse_gamma(mu, 1.0, 2.0, 3.0)
        return frozen.logpdf(0.3, 0.5) + frozen.pdf(x=0.3, s2=0.5)

    np.testing.assert_allclose(grad(f)(0.1), differences(f, 0.1, 1.0), rtol=1e-6)
    frozen = stats.normal_inverse_gamma(0.1, 1.0, 2.0, 3.0)
    with pytest.raises(TypeError, match="x, s2"):
        frozen.logpdf(0.3)


def test_an_estimate_takes_another_bandwidth():
    def f(factor):
        estimate = scipy.stats.gaussian_kde(Y * factor)
        estimate.set_bandwidth(0.4)
        return estimate(np.array([0.3]))[0]

    np.testing.assert_allclose(grad(f)(1.1), differences(f, 1.1, 1.0), rtol=1e-6)
