"""Distributions of vectors and matrices, and kernel density estimates."""

import numpy as np
import pytest
import scipy.stats

import rules_core as rc
from rules_autodiff import grad
from rules_scipy import stats

pytestmark = pytest.mark.filterwarnings("ignore:Some rows:FutureWarning")
RNG = np.random.default_rng(0)
X, MEAN = RNG.normal(size=(4, 3)), RNG.normal(size=3)


def positive(size, more=1.0):
    a = RNG.normal(size=(size, size))
    return a @ a.T + more * np.eye(size)


COV, SMALL, DRAW = positive(3), positive(2), positive(3, 2.0)
ALPHA, P, COUNTS = np.array([1.2, 2.0, 0.7]), np.array([0.2, 0.3, 0.5]), [1, 2, 3]
TABLES = RNG.normal(size=(2, 3, 2))
UNIT = [v / np.linalg.norm(v) for v in X[:2]]
CASES = [
    ("multivariate_normal", "logpdf", (X, MEAN, COV)),
    ("multivariate_normal", "pdf", (X[0], MEAN, COV)),
    ("multivariate_normal", "logpdf", (0.4, 0.1, 2.0)),
    ("multivariate_normal", "logpdf", (X[:, 0], 0.1, 2.0)),
    ("multivariate_normal", "logpdf", (X[0], None, 2.0)),
    ("multivariate_normal", "logpdf", (X[0], MEAN, np.array([1.0, 2.0, 3.0]))),
    ("multivariate_normal", "entropy", (MEAN, COV)),
    ("multivariate_t", "logpdf", (X, MEAN, COV, 3.5)),
    ("multivariate_t", "entropy", (MEAN, COV, 3.5)),
    ("dirichlet", "logpdf", (P, ALPHA)), ("dirichlet", "mean", (ALPHA,)),
    ("dirichlet", "var", (ALPHA,)), ("dirichlet", "cov", (ALPHA,)),
    ("dirichlet", "entropy", (ALPHA,)), ("dirichlet", "pdf", (P[:2], ALPHA)),
    ("wishart", "logpdf", (DRAW, 5.5, COV)), ("wishart", "mean", (5.5, COV)),
    ("invwishart", "logpdf", (DRAW, 5.5, COV)), ("invwishart", "mean", (5.5, COV)),
    ("multinomial", "logpmf", (COUNTS, 6, P)), ("multinomial", "cov", (6, P)),
    ("multinomial", "pmf", ([1, 2, 4], 6, P)), ("multinomial", "mean", (6, P)),
    ("dirichlet_multinomial", "logpmf", (COUNTS, ALPHA, 6)),
    ("dirichlet_multinomial", "mean", (ALPHA, 6)),
    ("matrix_normal", "logpdf", (TABLES[0], TABLES[1], COV, SMALL)),
    ("vonmises_fisher", "logpdf", (*UNIT, 2.5)),
    ("normal_inverse_gamma", "logpdf", (0.3, 1.2, 0.1, 0.9, 2.0, 3.0)),
]  # fmt: skip
CASES = [case for case in CASES if hasattr(scipy.stats, case[0])]
IDS = [f"{i}-{name}-{method}" for i, (name, method, _) in enumerate(CASES)]
cases = pytest.mark.parametrize(("name", "method", "args"), CASES, ids=IDS)
FIXED = {"vonmises_fisher": (0, 1)}  # of unit length


def summed(f):
    """A number of all entries of the result."""

    def total(*args):
        y = f(*args)
        shape = tuple(getattr(y, "shape", ()))
        return (y * np.cos(np.arange(int(np.prod(shape))).reshape(shape))).sum()

    return total


def moving(name, method, args):
    if method == "entropy" and len(args) > 1:
        return range(1, len(args))  # not in the mean
    floating = [i for i, x in enumerate(args) if np.asarray(x).dtype.kind == "f"]
    return [i for i in floating if i not in FIXED.get(name, ())]


def direction(name, x, i):
    """Symmetric for a symmetric matrix, of sum zero for probabilities."""
    move = np.random.default_rng(i).normal(size=np.shape(x))
    square = np.ndim(x) == 2 and np.shape(x)[0] == np.shape(x)[1]
    if square and np.allclose(x, np.transpose(x)):
        return move + move.T
    of_sum = name == "dirichlet" and i == 0 and np.size(x) == 3
    return move - move.mean() if of_sum else move


def along(f, args, i, move):
    return lambda t: f(*args[:i], args[i] + t * move, *args[i + 1 :])


def slope(f, h=1e-4):
    return (8 * (f(h) - f(-h)) - f(2 * h) + f(-2 * h)) / (12 * h)


@cases
@pytest.mark.covering(every=6)
def test_values_are_scipys(name, method, args):
    y, own = (getattr(getattr(m, name), method)(*args) for m in (scipy.stats, stats))
    assert np.shape(own) == np.shape(y)
    np.testing.assert_allclose(own, y, rtol=1e-11)


@cases
@pytest.mark.covering(every=6, start=1)
def test_scipys_own_have_derivatives_in_programs(name, method, args):
    f = summed(getattr(getattr(scipy.stats, name), method))
    for i in moving(name, method, args):
        move = direction(name, args[i], i)
        line = along(f, args, i, move)
        found = np.sum(grad(f, i)(*args) * move)
        np.testing.assert_allclose(found, slope(line), rtol=1e-7, atol=1e-9)
        second = grad(grad(line))(0.0)
        bend = (line(1e-3) - 2 * line(0.0) + line(-1e-3)) / 1e-6
        np.testing.assert_allclose(second, bend, rtol=1e-4, atol=1e-4)


@cases
@pytest.mark.covering(every=30)
def test_frameworks_agree(name, method, args):
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    f = getattr(getattr(stats, name), method)
    for i in moving(name, method, args):
        y = np.asarray(f(*args))
        expected = grad(lambda x, i=i: np.sum(f(*args[:i], x, *args[i + 1 :])), 0)(
            args[i]
        )

        def total(x, i=i):
            return f(*args[:i], x, *args[i + 1 :]).sum()

        traced = jax.jit(jax.grad(total))(jax.numpy.asarray(args[i]))
        np.testing.assert_allclose(traced, expected, rtol=1e-9, atol=1e-10)
        own = torch.tensor(np.asarray(args[i]), requires_grad=True)
        result = f(*args[:i], own, *args[i + 1 :])
        assert tuple(result.shape) == y.shape
        found = torch.autograd.grad(result.sum(), own)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


def test_a_batch_in_jax():
    jax = pytest.importorskip("jax")
    slopes = jax.vmap(
        jax.grad(lambda x: stats.multivariate_normal.logpdf(x, MEAN, COV))
    )
    expected = -np.linalg.solve(COV, (X - MEAN).T).T
    np.testing.assert_allclose(slopes(jax.numpy.asarray(X)), expected, rtol=1e-9)


DATA, WEIGHTS = RNG.normal(size=(2, 6)), RNG.uniform(0.2, 1.0, 6)
POINTS = RNG.normal(size=(2, 3))
OUTSIDE = scipy.stats.gaussian_kde(DATA, weights=WEIGHTS)
FROZEN = scipy.stats.multivariate_normal(MEAN[:2], SMALL)
ESTIMATES = {
    "density": lambda d, w, q: scipy.stats.gaussian_kde(d, weights=w)(q).sum(),
    "logarithm": lambda d, w, q: (
        scipy.stats.gaussian_kde(d, "silverman", w).logpdf(q) @ np.arange(3.0)
    ),
    "one dimension": lambda d, w, q: (
        scipy.stats.gaussian_kde(d[0], 0.4).evaluate(q[0]) @ np.arange(3.0)
    ),
    "interval": lambda d, w, q: scipy.stats.gaussian_kde(d[0]).integrate_box_1d(
        q[0, 0], 1.3
    ),
    "made outside": lambda d, w, q: OUTSIDE.pdf(q).sum() + OUTSIDE.logpdf(q)[0],
    "frozen outside": lambda d, w, q: FROZEN.logpdf(q.T).sum() + FROZEN.pdf(q[:, 0]),
    "frozen": lambda d, w, q: (
        scipy.stats.multivariate_normal(d[:, 0], SMALL).logpdf(q.T).sum()
    ),
}


@pytest.mark.parametrize("name", ESTIMATES)
@pytest.mark.covering(every=6)
def test_estimates_in_programs(name):
    f, args = ESTIMATES[name], (DATA, WEIGHTS, POINTS)
    for i, found in enumerate(grad(f, (0, 1, 2))(*args)):
        move = np.random.default_rng(i).normal(size=args[i].shape)
        expected = slope(along(f, args, i, move))
        np.testing.assert_allclose(np.sum(found * move), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.full
def test_estimates_in_frameworks():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def total(d):
        return stats.gaussian_kde(d).logpdf(POINTS).sum()

    expected = grad(total)(DATA)
    traced = jax.jit(jax.grad(total))(jax.numpy.asarray(DATA))
    np.testing.assert_allclose(traced, expected, rtol=1e-9)
    own = torch.func.grad(total)(torch.tensor(DATA))
    np.testing.assert_allclose(own, expected, rtol=1e-9)


REFUSED = {
    "allow_singular": lambda t: scipy.stats.multivariate_normal.logpdf(
        X[0] * t, MEAN, COV, allow_singular=True
    ),
    "allow_singular=False": lambda t: scipy.stats.multivariate_normal.logpdf(
        X[0] * t, MEAN, COV, True
    ),
    "matrix itself": lambda t: scipy.stats.multivariate_normal.logpdf(
        X[0] * t, MEAN, scipy.stats.Covariance.from_diagonal([1.0, 2.0, 3.0])
    ),
    "cdf": lambda t: scipy.stats.multivariate_normal.cdf(X[0] * t, MEAN, COV),
    "one matrix": lambda t: scipy.stats.wishart.logpdf(
        np.stack([DRAW, DRAW], axis=-1) * t, 5.0, COV
    ).sum(),
    "parameters": lambda t: scipy.stats.dirichlet.logpdf(P, alpha=ALPHA * t, beta=1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused_in_words(name):
    with pytest.raises((rc.RulesCoreError, TypeError), match=name):
        grad(REFUSED[name])(1.0)


def test_options_by_position():
    f = lambda t: scipy.stats.multivariate_normal.logpdf(X[0] * t, MEAN, COV, False)
    g = lambda t: scipy.stats.multivariate_normal.logpdf(X[0] * t, MEAN, COV)
    assert grad(f)(0.7) == grad(g)(0.7)
