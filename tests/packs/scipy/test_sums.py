"""`nsum`: closed forms of its derivatives, and sums that have none."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.integrate
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import integrate


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def zeta(s, m=scipy.integrate):
    return m.nsum(lambda k: k**-s, 1.0, np.inf).sum


def powers(low, high, **options):
    """A sum of q^|k|."""
    return lambda q: (
        scipy.integrate.nsum(lambda k: q ** np.abs(k), low, high, **options).sum
    )


def theta(c):
    return scipy.integrate.nsum(lambda k: np.exp(-c * k * k), -np.inf, np.inf).sum


def long_sum(s):
    return scipy.integrate.nsum(lambda k: k**-s, 1, 10**5 + 0.5).sum


def long_slope(s):
    k = np.arange(1.0, 10**5 + 1)
    return -(np.log(k) * k**-s).sum()


def slope_of_powers(places):
    return lambda q: sum(abs(k) * q ** (abs(k) - 1.0) for k in places)


CASES = {
    "zeta": (zeta, 2.0, lambda s: float(mpmath.zeta(s, derivative=1))),
    "slow": (zeta, 1.2, lambda s: float(mpmath.zeta(s, derivative=1))),
    "fast": (zeta, 9.0, lambda s: float(mpmath.zeta(s, derivative=1))),
    "long": (long_sum, 1.5, long_slope),
    "geometric": (powers(0, np.inf), 0.9, lambda q: (1.0 - q) ** -2),
    "short": (powers(2, 9), 0.5, slope_of_powers(range(2, 10))),
    "one": (powers(2, 2.5), 0.5, slope_of_powers([2])),
    "steps": (powers(0.0, 9.0, step=2), 0.5, slope_of_powers(range(0, 10, 2))),
    "rounded steps": (powers(0.0, 0.3, step=0.1), 0.5, slope_of_powers([0, 0.1, 0.2])),
    "from below": (powers(-np.inf, -1), 0.9, lambda q: (1.0 - q) ** -2),
    "theta": (theta, 0.3, lambda c: -2 * sum(k * k * np.exp(-c * k * k)
                                            for k in range(1, 30))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x, slope = CASES[name]
    value = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5
    np.testing.assert_allclose(slope(x), value, rtol=1e-4)  # terms are SciPy's
    np.testing.assert_allclose(grad(f)(x), slope(x), rtol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (1.0,))[1], slope(x), rtol=1e-9)


def test_in_frameworks():
    want = float(mpmath.zeta(2, derivative=1))

    def of_args(s):
        return integrate.nsum(lambda k, s: k**-s, 1.0, np.inf, args=(s,)).sum

    np.testing.assert_allclose(jax.jit(jax.grad(of_args))(2.0), want, rtol=1e-9)
    own = torch.func.grad(of_args)(torch.tensor(2.0, dtype=torch.float64))
    np.testing.assert_allclose(own, want, rtol=1e-9)
    with jax.enable_x64(False):
        found = jax.jit(jax.vmap(jax.grad(of_args)))(jnp.asarray([2.0, 3.0]))
    want = [float(mpmath.zeta(s, derivative=1)) for s in (2, 3)]
    np.testing.assert_allclose(found, want, rtol=1e-4)


@pytest.mark.full
def test_second_derivatives():
    want = float(mpmath.zeta(2, derivative=2))
    second = jax.jit(jax.hessian(lambda s: zeta(s, integrate)))(2.0)
    np.testing.assert_allclose(second, want, rtol=1e-8)
    np.testing.assert_allclose(jvp(grad(zeta), (2.0,), (1.0,))[1], want, rtol=1e-8)


def test_a_sum_without_convergence():
    def harmonic(c):
        return scipy.integrate.nsum(lambda k: c / k, 1.0, np.inf).sum

    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(harmonic)(1.0)


@pytest.mark.full
def test_a_sum_without_convergence_in_compiled_code():
    found = jax.jit(
        jax.grad(lambda c: integrate.nsum(lambda k: c / k, 1.0, np.inf).sum)
    )
    assert np.isnan(found(1.0))


def test_a_sum_that_diverges_with_its_parameter():
    def diverges(c):
        return scipy.integrate.nsum(lambda k: k**-2.0 * (1.0 + k * k) ** c, 1.0, np.inf)

    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(lambda c: diverges(c).sum)(0.6)


@pytest.mark.parametrize("module", [scipy.integrate, integrate])
def test_limits_have_no_derivative(module):
    for f in (
        lambda c: module.nsum(lambda k: k**-2.0, c, np.inf).sum,
        lambda c: module.nsum(lambda k: k**-2.0, 1.0, 5.0 * c).sum,
    ):
        with pytest.raises(rc.DerivativeNotImplemented, match="limits or its step"):
            grad(f)(1.0)


def test_forms_without_a_rule():
    def terms(k, *_):
        return k**-2.0

    with pytest.raises(rc.UnsupportedError, match="nsum of arrays"):
        integrate.nsum(terms, [1.0, 2.0], np.inf)
    with pytest.raises(rc.UnsupportedError, match="nsum of arrays"):
        integrate.nsum(terms, 1.0, np.inf, args=np.ones(2))
    with pytest.raises(rc.UnsupportedError, match="log=True"):
        integrate.nsum(terms, 1.0, np.inf, log=True)


def test_the_result_is_that_of_scipy():
    own, other = (
        m.nsum(lambda k: k**-2.0, 1, np.inf) for m in (integrate, scipy.integrate)
    )
    for name in ("sum", "error", "status", "success", "nfev"):
        assert own[name] == pytest.approx(other[name], rel=1e-14)
