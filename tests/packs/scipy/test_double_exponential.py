"""`tanhsinh`: what SciPy returns, its edges, and derivatives where there is none."""

import jax
import jax.numpy as jnp
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


LIMITS = {
    "numbers": (0.0, 1.0),
    "turned": (2.0, -1),
    "infinite": (-np.inf, np.inf),
    "half": (-np.inf, 1.0),
    "elements": ([0.0, 1.0, 2.0], [[1.0], [np.inf]]),
    "none": (np.zeros((2, 0)), 1.0),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_result_is_that_of_scipy(name):
    low, high = LIMITS[name]
    own, other = (
        m.tanhsinh(lambda x, c: c * np.exp(-x * x), low, high, args=1.5)
        for m in (integrate, scipy.integrate)
    )
    for field in ("integral", "success", "status", "error", "maxlevel", "nfev"):
        np.testing.assert_allclose(own[field], other[field], rtol=1e-12)
        assert np.shape(own[field]) == np.shape(other[field])


def test_an_array_is_several_arguments():
    """As SciPy reads them."""
    given = np.array([1.0, 2.0])
    own, other = (
        m.tanhsinh(lambda x, a, b: a * x**b, 0.0, 1.0, args=given).integral
        for m in (integrate, scipy.integrate)
    )
    assert own == pytest.approx(other, rel=1e-14) == pytest.approx(1.0 / 3.0)


@pytest.mark.parametrize("b", [1.0, np.inf])
@pytest.mark.parametrize("a", [-np.inf, 0.0])
def test_places_may_be_as_large_as_numbers(a, b):
    """The derivative of ∫ exp(-(x - c)²) in c is the difference of its ends."""

    def area(c):
        return scipy.integrate.tanhsinh(
            lambda x: np.exp(-((x - c) ** 2)), a, b
        ).integral

    want = np.exp(-((a - 0.3) ** 2)) - np.exp(-((b - 0.3) ** 2))
    np.testing.assert_allclose(grad(area)(0.3), want, atol=1e-12)
    np.testing.assert_allclose(jvp(area, (0.3,), (1.0,))[1], want, atol=1e-12)


def test_an_integral_that_is_zero_has_a_derivative():
    def area(c, **options):
        return integrate.tanhsinh(
            lambda x: np.sin(x + c), -1.0, 1.0, **options
        ).integral

    np.testing.assert_allclose(grad(area)(0.0, atol=1e-12), 2.0 * np.sin(1.0))
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(area)(0.0)


@pytest.mark.parametrize("mode", [grad, lambda f: lambda c: jvp(f, (c,), (1.0,))])
def test_without_convergence_there_is_no_derivative(mode):
    def area(c):
        return integrate.tanhsinh(lambda x: c / x, 0.0, 1.0, maxlevel=4).integral

    assert not integrate.tanhsinh(lambda x: 1.0 / x, 0.0, 1.0, maxlevel=4).success
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        mode(area)(1.0)


def test_in_compiled_code_it_is_not_a_number():
    def area(c):
        return integrate.tanhsinh(lambda x: c / x, 0.0, 1.0, maxlevel=3).integral

    assert np.isnan(jax.jit(jax.grad(area))(1.0))


@pytest.mark.parametrize("rtol", [2e-2, 1e-1])
def test_what_moves_a_jump_has_no_derivative(rtol):
    def area(c):
        def f(x):
            return np.where(x < c, 1.0, 0.5) / np.sqrt(x)

        return scipy.integrate.tanhsinh(f, 0.0, 1.0, rtol=rtol).integral

    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        grad(area)(0.3)


@pytest.mark.parametrize("options", [
    {"log": True}, {"preserve_shape": True}, {"callback": print},
])  # fmt: skip
def test_options_without_a_rule(options):
    (name,) = options
    with pytest.raises(rc.UnsupportedError, match=rf"tanhsinh\({name}=…\) has no rule"):
        grad(lambda c: scipy.integrate.tanhsinh(np.exp, 0.0, c, **options).integral)(
            1.0
        )


def test_complex_functions_are_an_error():
    def area(c):
        return scipy.integrate.tanhsinh(lambda x: np.exp(1j * c * x), 0.0, 1.0).integral

    for call in (lambda: grad(lambda c: area(c).real)(1.0), lambda: in_pack(1.0)):
        with pytest.raises(rc.UnsupportedError, match="no rule for complex functions"):
            call()


def in_pack(c):
    return integrate.tanhsinh(lambda x: np.exp(1j * c * x), 0.0, 1.0)


def test_in_single_precision():
    def area(c):
        return integrate.tanhsinh(lambda x: jnp.exp(-c * x), 0.0, jnp.inf).integral

    slope = jax.jit(jax.grad(area))(jnp.float32(2.0))
    assert slope.dtype == jnp.float32
    np.testing.assert_allclose(slope, -0.25, rtol=1e-5)


@pytest.mark.full
def test_batches():
    def area(xp):
        return lambda c: (
            integrate.tanhsinh(lambda x: xp.exp(-c * x), 0.0, np.inf).integral
        )

    c = np.array([1.0, 2.0, 4.0])
    found = jax.jit(jax.vmap(jax.grad(area(jnp))))(c)
    np.testing.assert_allclose(found, -1.0 / c**2)
    found = torch.func.vmap(torch.func.grad(area(torch)))(torch.tensor(c))
    np.testing.assert_allclose(found, -1.0 / c**2)


def test_a_number_that_python_cannot_compute_at_a_limit():
    """0.0 to a negative power is an error of Python's, and infinite in NumPy."""

    def area(p):
        return scipy.integrate.tanhsinh(lambda x: x**p, 0.0, 1.0).integral

    assert grad(area)(-0.5) == pytest.approx(-4.0)
    assert jvp(area, (-0.5,), (1.0,))[1] == pytest.approx(-4.0)


@pytest.mark.full
def test_second_derivatives():
    """Of ∫ x^p from 0 to 1: 2 / (1 + p)³."""

    def area(module, **options):
        return lambda p: module.tanhsinh(lambda x: x**p, 0.0, 1.0, **options).integral

    want = 2.0 / 0.7**3
    found = jax.jit(jax.hessian(area(integrate)))(-0.3)
    np.testing.assert_allclose(found, want, rtol=1e-6)
    rough = area(scipy.integrate, rtol=1e-3)
    np.testing.assert_allclose(jvp(grad(rough), (-0.3,), (1.0,))[1], want, rtol=1e-3)
