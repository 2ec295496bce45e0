"""Logarithms at minus infinity: derivatives of both modes agree and are not finite."""

import numpy as np
import pytest
import scipy.stats

from rules_autodiff import grad, jacfwd, jacrev, jvp
from rules_scipy import special, stats
from tests.packs.scipy.distribution_cases import ALL, COUNTS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
INF = np.inf
NO_TAILS = {"betabinom", "betanbinom", "logser"}  # without a formula


def places(name, shapes):
    """Points and shapes: at ends of the support, far out, at edges of domains."""
    dist = getattr(scipy.stats, name)
    a, b = dist.support(*shapes)
    middle = float(np.floor(dist.median(*shapes)))
    points = {middle, middle + 1e5, middle - 1e5, *(x for x in (a, b) if abs(x) < INF)}
    edges = [
        (*shapes[:i], edge, *shapes[i + 1 :])
        for i in range(len(shapes))
        for edge in (0.0, 1.0)
    ]
    return [(x, s) for s in [shapes, *edges] for x in sorted(points)]


def lost(name, method, shapes):
    """Arguments at which the logarithm is minus infinity in the support."""
    dist = getattr(scipy.stats, name)
    if name in NO_TAILS and method != "logpmf":
        return
    for x, own in places(name, shapes):
        low, high = dist.support(*own)
        if getattr(dist, method)(x, *own) == -INF and low <= x <= high:
            if name in dict(COUNTS) and (x, method) == (high, "logsf"):
                continue  # a constant: none is above
            yield x, own


def check(name, method, args, i):
    f = getattr(getattr(scipy.stats, name), method)

    def of_one(t):
        return f(*args[:i], t, *args[i + 1 :])

    backward, (value, forward) = grad(of_one)(args[i]), jvp(of_one, (args[i],), (1.0,))
    if np.isnan(value):  # a point that rounds to outside
        return
    if value != -INF:  # our formula does not underflow
        assert np.isclose(forward, backward, equal_nan=True)
        return
    np.testing.assert_array_equal(forward, backward)
    assert not np.isfinite(forward)


@pytest.mark.parametrize(("name", "shapes"), ALL)
@pytest.mark.parametrize("method", ["logpdf", "logcdf", "logsf"])
@pytest.mark.covering(every=100)
def test_of_a_continuous_distribution(name, shapes, method):
    for x, own in lost(name, method, shapes):
        args = tuple(map(float, (x, *own)))
        for i in range(len(args)):
            check(name, method, args, i)


@pytest.mark.parametrize(("name", "shapes"), ALL)
@pytest.mark.covering(every=10)
def test_of_a_density_that_is_zero_at_an_end_both_modes_agree(name, shapes):
    dist = getattr(scipy.stats, name)
    for x in map(float, dist.support(*shapes)):
        if abs(x) < INF and dist.pdf(x, *shapes) == 0.0:
            backward, forward = (
                grad(dist.pdf)(x, *shapes),
                jvp(lambda t: dist.pdf(t, *shapes), (x,), (1.0,)),
            )
            np.testing.assert_allclose(backward, forward[1], rtol=1e-6)
            inside = x + 1e-7 * (1 if x == dist.support(*shapes)[0] else -1)
            near = dist.pdf(inside, *shapes)
            if near < 0.01:  # else it jumps there
                assert backward != 0.0 or near < 1e-9


WHOLE = {"binom": (1,), "betabinom": (1,), "betanbinom": (1,), "boltzmann": (2,)}


@pytest.mark.parametrize(("name", "shapes"), COUNTS)
@pytest.mark.parametrize("method", ["logpmf", "logcdf", "logsf"])
@pytest.mark.covering(every=10)
def test_of_a_discrete_distribution(name, shapes, method):
    for x, own in lost(name, method, shapes):
        args = (x, *map(float, own))
        for i in set(range(1, len(args))) - set(WHOLE.get(name, ())):
            check(name, method, args, i)


def test_the_sign_is_that_of_the_step_that_makes_it_finite():
    known = {
        (lambda mu: scipy.stats.poisson.logsf(3, mu), 0.0): INF,
        (lambda p: scipy.stats.binom.logcdf(2, 4, p), 1.0): -INF,
        (lambda p: scipy.stats.nbinom.logsf(2, 4, p), 1.0): -INF,
        (lambda x: scipy.stats.gamma.logcdf(x, 2.0), 0.0): INF,
        (lambda x: scipy.stats.beta.logsf(x, 2.0, 3.0), 1.0): -INF,
        (lambda loc: scipy.stats.gamma(2.0, loc=loc).logcdf(1.0), 1.0): -INF,
    }
    for (f, x), slope in known.items():
        assert (grad(f)(x), jvp(f, (x,), (1.0,))[1]) == (slope, slope)
        assert not np.isfinite(grad(grad(f))(x))


def test_far_out_where_the_value_underflows_nothing_is_known():
    for f in (
        lambda x: scipy.stats.gamma.logsf(x, 2.0),
        lambda df: scipy.stats.chi2.logsf(1e5, df),
    ):
        assert np.isnan(grad(f)(1e5 if f(2.0) > -INF else 2.0))
        assert np.isnan(jvp(f, (1e5 if f(2.0) > -INF else 2.0,), (1.0,))[1])


def test_other_entries_keep_their_derivatives():
    counts, means = np.array([1, 1, 2]), np.array([0.0, 2.0, 0.0])

    def f(mu):
        return scipy.stats.poisson.logsf(counts, mu)

    slope = scipy.stats.poisson.pmf(1, 2.0) / scipy.stats.poisson.sf(1, 2.0)
    expected = np.diag([INF, slope, INF])
    np.testing.assert_allclose(jacfwd(f)(means), expected)
    np.testing.assert_allclose(jacrev(f)(means), expected)


def test_outside_of_the_support_it_is_a_constant():
    for f in (
        lambda s: scipy.stats.expon.logpdf(-1.0, scale=s),
        lambda s: scipy.stats.poisson.logpmf(1.5, s),
    ):
        assert f(2.0) == -INF
        assert grad(f)(2.0) == jvp(f, (2.0,), (1.0,))[1] == 0.0


FRAMEWORKS = [
    ("poisson", "logsf", (2, 0.0), 1),
    ("binom", "logcdf", (2, 4, 1.0), 2),
    ("gamma", "logsf", (1e5, 2.0), 0),
    ("beta", "logcdf", (0.0, 2.0, 3.0), 0),
    ("burr", "logcdf", (1e-300, 10.5, 4.3), 0),
]


@pytest.mark.parametrize(("name", "method", "args", "i"), FRAMEWORKS)
@pytest.mark.covering(every=5)
def test_frameworks_have_no_finite_derivative(name, method, args, i):
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")

    def f(t):
        return getattr(getattr(stats, name), method)(*args[:i], t, *args[i + 1 :])

    at = torch.tensor(args[i], dtype=torch.float64, requires_grad=True)
    found = [
        jax.grad(f)(args[i]),
        jax.jacfwd(f)(args[i]),
        torch.autograd.grad(f(at), at)[0],
        torch.func.jvp(f, (at.detach(),), (torch.ones_like(at),))[1],
    ]
    assert not np.isfinite([float(x) for x in found]).any()


SINGULAR = {
    "log_ndtr": (special.log_ndtr, -INF, INF),
    "xlogy": (lambda y: special.xlogy(1.0, y), 0.0, INF),
    "xlog1py": (lambda y: special.xlog1py(1.0, y), -1.0, INF),
    "rel_entr": (lambda x: special.rel_entr(x, 1.0), 0.0, -INF),
    "rel_entr in y": (lambda y: special.rel_entr(1.0, y), 0.0, np.nan),
    "kl_div": (lambda x: special.kl_div(x, 1.0), 0.0, -INF),
    "entr": (special.entr, 0.0, INF),
    "logit at 0": (special.logit, 0.0, INF),
    "logit at 1": (special.logit, 1.0, INF),
    "gammaln at 0": (special.gammaln, 0.0, -INF),
    "gammaln at -1": (special.gammaln, -1.0, np.nan),
    "betaln": (lambda a: special.betaln(a, 1.0), 0.0, -INF),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_special_functions_at_their_singular_points(name):
    f, x, expected = SINGULAR[name]
    found = [grad(f)(x), jvp(f, (x,), (1.0,))[1]]
    np.testing.assert_array_equal(found, expected)
