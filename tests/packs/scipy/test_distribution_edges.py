"""Distributions at edges of the domains of their parameters, and what SciPy reads."""

import numpy as np
import pytest
import scipy.stats

from rules_autodiff import grad, jvp, value_and_grad
from rules_scipy import stats

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
MASSES = [
    ("bernoulli", (), p, k) for p in (0.0, 1.0) for k in (0, 1)
] + [
    ("binom", (5,), p, k) for p in (0.0, 1.0) for k in range(6)
] + [
    ("nbinom", (n,), 1.0, k) for n in (3, 2.5) for k in range(3)
] + [
    ("geom", (), 1.0, k) for k in range(1, 4)
] + [
    ("poisson", (), 0.0, k) for k in range(3)
]  # fmt: skip
METHODS = ("pmf", "cdf", "sf")


def inward(f, x):
    """The one-sided derivative."""
    h = 1e-4 if x == 0 else -1e-4
    y = [f(x + i * h) for i in range(5)]
    return (-25 * y[0] + 48 * y[1] - 36 * y[2] + 16 * y[3] - 3 * y[4]) / (12 * h)


@pytest.mark.parametrize(("name", "shapes", "p", "k"), MASSES)
@pytest.mark.covering(every=3)
def test_at_the_edge_of_a_parameter_the_derivative_is_from_inside(name, shapes, p, k):
    for method in METHODS:
        theirs = getattr(getattr(scipy.stats, name), method)

        def f(p, theirs=theirs):
            return theirs(k, *shapes, p)

        expected = inward(f, p)
        assert np.isclose(grad(f)(p), expected, atol=1e-9)
        y, slope = jvp(f, (p,), (1.0,))
        assert np.isclose(y, f(p), rtol=1e-12)
        assert np.isclose(slope, expected, atol=1e-9)


@pytest.mark.parametrize(("name", "shapes", "p", "k"), MASSES)
@pytest.mark.covering(every=20)
def test_frameworks_have_the_derivative_at_the_edge(name, shapes, p, k):
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def f(p):
        return getattr(stats, name).pmf(k, *shapes, p)

    expected = inward(lambda p: getattr(scipy.stats, name).pmf(k, *shapes, p), p)
    at = torch.tensor(p, dtype=torch.float64, requires_grad=True)
    found = [
        jax.grad(f)(p),
        jax.jacfwd(f)(p),
        torch.autograd.grad(f(at), at)[0],
        torch.func.jvp(f, (at.detach(),), (torch.ones_like(at),))[1],
    ]
    np.testing.assert_allclose(np.array([float(x) for x in found]), expected, atol=1e-9)


def test_second_derivatives_at_the_edge():
    assert np.isclose(grad(grad(lambda p: scipy.stats.binom.pmf(2, 5, p)))(0.0), 20.0)
    assert grad(lambda p: scipy.stats.binom.pmf(900, 2000, p))(0.0) == 0.0


@pytest.mark.parametrize("x", [[1, 2, 0], [0, 3, 0], [1, 1, 1], [0, 2, 1]])
def test_multinomial_with_a_probability_of_zero(x):
    def f(p):
        return scipy.stats.multinomial.pmf(x, 3, [p, 1 - 2 * p, p])

    assert np.isclose(grad(f)(0.0), inward(f, 0.0), atol=1e-9)
    assert np.isclose(jvp(f, (0.0,), (1.0,))[1], inward(f, 0.0), atol=1e-9)
    many = np.array([[0.0, 1.0, 0.0], [0.2, 0.5, 0.3]])
    own = stats.multinomial.pmf(x, 3, many)
    np.testing.assert_allclose(own, scipy.stats.multinomial.pmf(x, 3, many), rtol=1e-12)


# matrices that are not symmetric

SKEW = np.array([[2.0, 0.9], [0.3, 1.0]])
EVEN, POINT = np.array([[2.0, 0.4], [0.4, 1.5]]), np.array([0.3, 0.7])
READ = {
    "normal": lambda c: scipy.stats.multivariate_normal.logpdf(POINT, None, c),
    "normal entropy": lambda c: scipy.stats.multivariate_normal.entropy(None, c),
    "t": lambda c: scipy.stats.multivariate_t.logpdf(POINT, None, c, 3.0),
    "t entropy": lambda c: scipy.stats.multivariate_t.entropy(None, c, 3.0),
    "wishart scale": lambda c: scipy.stats.wishart.logpdf(EVEN, 4.0, c),
    "wishart point": lambda c: scipy.stats.wishart.logpdf(c, 4.0, EVEN),
    "invwishart scale": lambda c: scipy.stats.invwishart.logpdf(EVEN, 4.0, c),
    "invwishart point": lambda c: scipy.stats.invwishart.logpdf(c, 4.0, EVEN),
    "rows": lambda c: scipy.stats.matrix_normal.logpdf(EVEN, None, c, EVEN),
    "columns": lambda c: scipy.stats.matrix_normal.logpdf(EVEN, None, EVEN, c),
}


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("matrix", [SKEW, EVEN, np.tril(SKEW)], ids=str)
def test_of_a_matrix_is_read_what_scipy_reads(name, matrix):
    f = READ[name]
    y, found = value_and_grad(f)(matrix)
    assert np.isclose(y, f(matrix), rtol=1e-12)
    moves = np.eye(4).reshape(4, 2, 2) * 1e-5
    slopes = [(f(matrix + m) - f(matrix - m)) / 2e-5 for m in moves]
    np.testing.assert_allclose(found.ravel(), slopes, atol=1e-8)


# statistics at limits

SAMPLE = np.array([0.4, 1.3, 0.5, 2.3, 1.0, 1.7])


@pytest.mark.parametrize("p", [0, 0.0, 1e-4, -9e-4, 0.002, 0.5])
def test_the_mean_of_powers_at_the_power_zero(p):
    def f(p):
        return scipy.stats.pmean(SAMPLE, p)

    h = 2e-3
    slope = (8 * (f(p + h) - f(p - h)) - f(p + 2 * h) + f(p - 2 * h)) / (12 * h)
    y, found = value_and_grad(f)(float(p))
    assert np.isclose(y, f(p), rtol=1e-11)
    assert np.isclose(found, slope, rtol=1e-7)
    assert np.isclose(jvp(f, (float(p),), (1.0,))[1], slope, rtol=1e-7)


SHORT = {
    "skew": lambda x: scipy.stats.skew(x, bias=False),
    "kurtosis": lambda x: scipy.stats.kurtosis(x, bias=False, fisher=False),
    "kstat": lambda x: scipy.stats.kstat(x, 4),
    "kstatvar": lambda x: scipy.stats.kstatvar(x, 2),
    "lmoment": lambda x: scipy.stats.lmoment(x, order=4),
}


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_short_samples_have_scipys_value_or_nan(name, count):
    f, x = SHORT[name], SAMPLE[:count]
    y, slopes = value_and_grad(f)(x)
    if not np.isfinite(f(x)):
        assert np.isnan(y)
        assert np.isnan(slopes).all()
        return
    assert np.isclose(y, f(x))
    moves = np.eye(count) * 1e-5
    expected = [(f(x + m) - f(x - m)) / 2e-5 for m in moves]
    np.testing.assert_allclose(slopes, expected, atol=1e-7)


def test_the_mean_of_squares_with_a_zero_in_jax():
    jax, x = pytest.importorskip("jax"), np.array([0.0, 3.0])
    for value in (jax.grad(lambda x: stats.pmean(x, 2))(x), grad(stats.pmean)(x, 2)):
        np.testing.assert_allclose(value, x / 2 / stats.pmean(x, 2), rtol=1e-9)


@pytest.mark.parametrize("x", [-2.0, -0.5244, 1.3])
@pytest.mark.parametrize("method", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.covering(every=5)
def test_pearsons_distribution_without_skewness(method, x):
    def f(skew):
        return getattr(scipy.stats.pearson3, method)(x, skew)

    h = 1e-2
    slope = (8 * (f(h) - f(-h)) - f(2 * h) + f(-2 * h)) / (12 * h)
    bend = (16 * (f(h) + f(-h)) - 30 * f(0.0) - f(2 * h) - f(-2 * h)) / (12 * h * h)
    y, found = value_and_grad(f)(0.0)
    assert np.isclose(y, f(0.0), rtol=1e-14)
    assert np.isclose(found, slope, rtol=1e-6)
    assert np.isclose(jvp(f, (0.0,), (1.0,))[1], slope, rtol=1e-6)
    assert np.isclose(grad(grad(f))(0.0), bend, rtol=1e-4, atol=1e-6)


def test_pearsons_distribution_far_out_without_skewness():
    assert np.isclose(stats.pearson3.logpdf(1e60, 0.0), -0.5e120)


# A case is a, b, c, z, x.
HYPER = [
    (1.0, 1.0, 0.0, 0.5, 0.3),
    (1.0, 1.0, 0.5, 0.5, 0.8),
    (1.5, 1.0, 0.5, 0.5, 0.8),
]


@pytest.mark.parametrize("case", HYPER)
def test_gausshyper_with_a_density_that_is_finite_at_an_end(case):
    *shapes, x = case
    for i in (0, 1):
        for method in ("cdf", "logsf"):

            def f(t, i=i, method=method):
                own = [*shapes[:i], t, *shapes[i + 1 :]]
                return getattr(scipy.stats.gausshyper, method)(x, *own)

            slope = (f(shapes[i] + 1e-4) - f(shapes[i] - 1e-4)) / 2e-4
            assert np.isclose(grad(f)(shapes[i]), slope, rtol=1e-4)


METHODS_AT = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
CENTRAL = {
    "ncx2": lambda m, x: getattr(scipy.stats.ncx2, m)(x, 3.0, 0.0),
    "rice": lambda m, x: getattr(scipy.stats.rice, m)(x, 0.0),
    "t": lambda m, x: getattr(scipy.stats.t, m)(x, np.inf),
}


@pytest.mark.parametrize("name", CENTRAL)
@pytest.mark.parametrize("method", METHODS_AT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_densities_at_the_limit_of_a_shape(name, method):
    def f(x):
        return CENTRAL[name](method, x)

    y, found = value_and_grad(f)(0.9)
    assert np.isclose(y, f(0.9), rtol=1e-12)
    assert np.isclose(found, (f(0.9 + 1e-5) - f(0.9 - 1e-5)) / 2e-5, rtol=1e-7)


@pytest.mark.parametrize("method", METHODS_AT[:4])
def test_the_chi_square_distribution_at_its_centre(method):
    def f(nc):
        return getattr(scipy.stats.ncx2, method)(1.4, 3.0, nc)

    h = 1e-3
    y = [f(i * h) for i in range(5)]
    bend = (35 * y[0] - 104 * y[1] + 114 * y[2] - 56 * y[3] + 11 * y[4]) / (12 * h * h)
    assert np.isclose(grad(f)(0.0), inward(f, 0.0), rtol=1e-6)
    assert np.isclose(grad(grad(f))(0.0), bend, rtol=1e-3)
