"""Distributions in JAX and PyTorch: the engine's derivatives, under transforms."""

import numpy as np
import pytest

from rules_autodiff import vjp
from rules_scipy import stats

from . import distribution_cases as cases

# Others differ in their formulas alone.
EVERY_DAY = ("genpareto(0.1,)",)


def chosen(rows):
    for name, shapes in rows:
        case = f"{name}{shapes}"
        marks = [] if case in EVERY_DAY else [pytest.mark.full]
        yield pytest.param(name, shapes, marks=marks, id=case)


distributions = pytest.mark.parametrize(("name", "shapes"), [*chosen(cases.ALL)])


def loss_of(name):
    """All methods at a point, as one number."""
    own = getattr(stats, name)
    quantiles = () if name in cases.POINTS else cases.QUANTILES

    def loss(x, *parameters):
        parts = [getattr(own, m)(x, *parameters) for m in cases.AT_POINTS]
        q = 0.3 + 0.05 * parameters[-1] + 0 * x
        parts += [getattr(own, m)(q, *parameters) for m in quantiles]
        return sum(i * part.sum() for i, part in enumerate(parts, 1))

    return loss


def expected(name, shapes):
    """Arguments, and the engine's gradient."""
    args = [cases.arguments(name, shapes, "pdf")[0], *shapes, cases.LOC, cases.SCALE]
    return args, vjp(loss_of(name), *args)[1](1.0)


@distributions
def test_jax(name, shapes):
    jax = pytest.importorskip("jax")
    args, gradient = expected(name, shapes)
    traced, every = [jax.numpy.asarray(x) for x in args], tuple(range(len(args)))
    found = jax.jit(jax.grad(loss_of(name), every))(*traced)
    for own, other in zip(found, gradient, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-8)


@distributions
def test_torch(name, shapes):
    torch = pytest.importorskip("torch")
    args, gradient = expected(name, shapes)
    own = [torch.tensor(np.asarray(x), requires_grad=True) for x in args]
    loss_of(name)(*own).backward()
    for x, other in zip(own, gradient, strict=True):
        np.testing.assert_allclose(x.grad, other, rtol=1e-8, atol=1e-8)


def test_transforms_of_jax():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def loss(theta, x):
        return -jnp.sum(stats.gamma(theta[0], scale=theta[1]).logpdf(x))

    x, theta = jnp.asarray([0.4, 1.2, 2.5]), jnp.asarray([2.0, 0.7])
    hessian = jax.jit(jax.hessian(loss))(theta, x)
    a, s, n = 2.0, 0.7, 3
    polygamma = 0.6449340668482264
    by_hand = [[n * polygamma, n / s], [n / s, -n * a / s**2 + 2 * x.sum() / s**3]]
    np.testing.assert_allclose(hessian, by_hand, rtol=1e-9)
    rows = jax.vmap(jax.grad(lambda q, a: stats.betaprime.ppf(q, a, 2.0), 1))(
        jnp.asarray([0.2, 0.6]), jnp.asarray([1.0, 3.0])
    )
    one = jax.grad(lambda a: stats.betaprime.ppf(0.6, a, 2.0))(3.0)
    np.testing.assert_allclose(rows[1], one, rtol=1e-12)


@pytest.mark.full
def test_single_precision_in_jax_and_torch():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    for array in (jax.numpy.asarray, torch.as_tensor):
        x = array(np.array([0.2, 0.7], np.float32))
        for method in ("logpdf", "sf", "ppf"):
            for dist in (stats.nakagami(2.0), stats.crystalball(2.0, x + 3)):
                assert "float32" in str(getattr(dist, method)(x).dtype)
    assert stats.poisson.logpmf(array(np.array([1, 2])), 2.0).shape == (2,)


@pytest.mark.full
def test_torch_functions_and_samples():
    torch = pytest.importorskip("torch")
    mu = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    sample = stats.logistic(mu, 2.0).rvs(4, random_state=1, reparameterised=True)
    assert torch.autograd.grad(sample.sum(), mu)[0] == 4.0
    assert not stats.logistic(mu, 2.0).rvs(4, random_state=1).requires_grad

    def loss(a):
        return stats.t.logcdf(torch.tensor(-3.0, dtype=torch.float64), a, scale=a)

    second = torch.func.grad(torch.func.grad(loss))(mu.detach())
    h = 1e-3
    bend = (loss(mu + h) - 2 * loss(mu) + loss(mu - h)).item() / h**2
    assert np.isclose(second.item(), bend, rtol=1e-4)
