"""Roots and minima of each element: closed forms, and what has no derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize.elementwise
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy.optimize import elementwise

C = np.array([[2.0, 3.0], [4.0, 5.0]])
W = np.array([[1.0, -2.0], [0.5, 3.0]])
SCIPY = scipy.optimize.elementwise


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def roots(c, end=9.0):
    return elementwise.find_root(lambda x, c: x * x - c, (0.0, end), args=(c,)).x


def minima(c):
    """Of (x² - c)²: √c, in brackets of one row."""
    ends = [-0.5, 0.0], 1.0, 9.0
    return elementwise.find_minimum(lambda x, c: (x * x - c) ** 2, ends, args=c).x


@pytest.mark.parametrize("find", [roots, minima])
def test_values_and_first_derivatives(find):
    def total(c, xp=np):
        return (xp.asarray(W) * find(c)).sum()

    want = 0.5 * W / np.sqrt(C)
    np.testing.assert_allclose(find(C), np.sqrt(C), rtol=1e-7)
    np.testing.assert_allclose(grad(total)(C), want, rtol=1e-6)
    np.testing.assert_allclose(jvp(find, (C,), (W,))[1], want, rtol=1e-6)
    found = torch.func.grad(lambda c: total(c, torch))(torch.tensor(C))
    np.testing.assert_allclose(found, want, rtol=1e-6)


@pytest.mark.parametrize("find", [roots, pytest.param(minima, marks=pytest.mark.full)])
def test_in_compiled_code(find):
    c = np.array([2.0, 3.0])
    slopes = jax.jit(jax.jacfwd(find))(c)
    np.testing.assert_allclose(slopes, np.diag(0.5 / np.sqrt(c)), rtol=1e-6, atol=1e-12)
    second = jax.jit(jax.hessian(lambda c: find(c).sum()))(c)
    np.testing.assert_allclose(second, np.diag(-0.25 * c**-1.5), rtol=1e-5, atol=1e-9)


def test_batches_and_single_precision():
    with jax.enable_x64(False):
        found = jax.jit(jax.vmap(jax.grad(roots)))(jnp.asarray([1.0, 4.0]))
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, [0.5, 0.25], rtol=1e-5)


def captured(c):
    """A number that the function captures, by SciPy's own function."""
    ends = 0.0, 9.0 * np.ones((2, 2))
    return SCIPY.find_root(lambda x: x * x - c, ends).x.sum()


def test_captures_twice():
    np.testing.assert_allclose(grad(captured)(2.0), 2.0 / np.sqrt(2.0))
    np.testing.assert_allclose(grad(grad(captured))(2.0), -(2.0**-1.5))


@pytest.mark.parametrize("name", ["find_root", "find_minimum"])
@pytest.mark.parametrize("shape", [(), (2, 3), (0, 2)])
def test_the_result_is_that_of_scipy(name, shape):
    c = np.linspace(2.0, 3.0, int(np.prod(shape))).reshape(shape)
    f, ends = {
        "find_root": (lambda x, c: x**3 - c, (0.0, 9.0)),
        "find_minimum": (lambda x, c: (x - c) ** 2, (0.0, 1.0, 9.0)),
    }[name]
    own, other = (getattr(m, name)(f, ends, args=(c,)) for m in (elementwise, SCIPY))
    assert set(own) == set(other) - {"_order_keys"}
    for field in ("x", "f_x", "success", "status", "nfev", "nit", "bracket"):
        np.testing.assert_allclose(own[field], other[field], atol=1e-12)
        assert np.shape(own[field]) == np.shape(other[field])


def test_the_value_at_the_root_and_at_the_minimum():
    def least(c):
        ends = -5.0, 0.5 * np.ones(2), 5.0
        return SCIPY.find_minimum(lambda x: (x - c) ** 2 + c**3, ends).f_x.sum()

    assert grad(least)(1.5) == pytest.approx(2 * 3 * 1.5**2, rel=1e-6)
    assert grad(lambda c: elementwise.find_root(
        lambda x: x - c, (0.0, 9.0)).f_x.sum())(2.0) == pytest.approx(0.0)  # fmt: skip


WITHOUT = {
    "did not converge": lambda c: SCIPY.find_root(
        lambda x: x * x + c, (0.0, [1.0, 2.0])
    ),
    "a double root": lambda c: SCIPY.find_root(
        lambda x: (x - c) ** 3, (0.0, [9.0, 5.0])
    ),
    "one that did not converge": lambda c: SCIPY.find_root(
        lambda x: x - c, (0.0, [1.0, 5.0])
    ),
    "a jump": lambda c: SCIPY.find_root(
        lambda x: np.where(x < c, -1.0 - x, 1.0), (0.0, [9.0, 5.0])
    ),
    "a kink": lambda c: SCIPY.find_minimum(lambda x: np.abs(x - c), (0.0, 1.5, 9.0)),
}


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("mode", [grad, lambda f: lambda c: jvp(f, (c,), (1.0,))])
def test_no_derivative(name, mode):
    with pytest.raises(rc.UnsupportedError, match=r"elementwise\.find_"):
        mode(lambda c: WITHOUT[name](c).x.sum())(2.0)


def test_a_function_that_mixes_elements_has_no_derivative():
    def first(c):
        f = lambda x: x - c * np.cumsum(x) / 9.0 - 1.0
        return elementwise.find_root(f, (0.0, [9.0, 9.0])).x @ np.array([1.0, 3.0])

    with pytest.raises(rc.UnsupportedError, match="elementwise"):
        grad(first)(0.5)


def test_brackets_and_callbacks_have_no_rule():
    def f(c):
        return SCIPY.find_root(lambda x: x - c, (0.0, 9.0)).bracket[0].sum()

    with pytest.raises(rc.DerivativeNotImplemented, match="in its bracket"):
        grad(f)(2.0)
    with pytest.raises(rc.UnsupportedError, match="callback=…"):
        elementwise.find_root(lambda x: x - 1.0, (0.0, 9.0), callback=print)
