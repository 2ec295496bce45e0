"""Boundary value problems: closed forms, in each AD system."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import integrate

Q = np.array([1.3, 1.1, 1.4])


def middle(q, solve, xp, tol=1e-4, **options):
    """y(1/2) of y'' = q₀² y with y(0) = 1 and y(q₁) = q₂, on a mesh that moves."""

    def fun(x, y):
        return xp.stack([y[1], q[0] * q[0] * y[0]])

    def bc(start, end):
        return xp.stack([start[0] - 1.0, end[0] - q[2]])

    mesh = xp.asarray(np.linspace(0.0, 1.0, 6)) * q[1]
    found = solve(fun, bc, mesh, np.ones((2, 6)), tol=tol, **options)
    return found.sol(xp.asarray(0.5))[0]


def middle_form(q):
    a, end, c = q
    rest = (c - np.cosh(a * end)) / np.sinh(a * end)
    return np.cosh(0.5 * a) + rest * np.sinh(0.5 * a)


def differences(f, x, h=1e-4):
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(len(x))])


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


SLOPE = differences(middle_form, Q)


def in_numpy(q):
    return middle(q, scipy.integrate.solve_bvp, np)


def test_in_the_engine():
    np.testing.assert_allclose(in_numpy(Q), middle_form(Q), rtol=1e-4)
    np.testing.assert_allclose(grad(in_numpy)(Q), SLOPE, rtol=1e-3)


@pytest.mark.full
def test_forwards():
    found = [jvp(in_numpy, (Q,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(found, SLOPE, rtol=1e-3)


def test_in_torch():
    found = torch.func.grad(lambda q: middle(q, integrate.solve_bvp, torch))(
        torch.tensor(Q)
    )
    np.testing.assert_allclose(found, SLOPE, rtol=1e-3)


@pytest.mark.full
def test_in_jax():
    def f(q):
        return middle(q, integrate.solve_bvp, jnp, tol=1e-2, nodes=12)

    np.testing.assert_allclose(jax.jit(jax.grad(f))(Q), SLOPE, rtol=1e-2)


def test_traced_code_must_know_how_many_nodes_there_are():
    with pytest.raises(rc.UnsupportedError, match="Give nodes"):
        jax.jit(lambda q: middle(q, integrate.solve_bvp, jnp))(Q)
    few = jax.jit(jax.grad(lambda q: middle(q, integrate.solve_bvp, jnp, nodes=7)))(Q)
    assert np.isnan(few).all()


def frequency(length):
    """The eigenvalue k of y'' = -k² y with y(0) = y(length) = 0 near 6: 2π / length."""

    def fun(x, y, p):
        return np.vstack([y[1], -(p[0] ** 2) * y[0]])

    def bc(start, end, p):
        return np.array([start[0], end[0], start[1] - p[0]])

    x = np.linspace(0.0, 1.0, 7) * length
    guess = np.array([np.sin(2 * np.pi * np.arange(7) / 6), np.ones(7)])
    return scipy.integrate.solve_bvp(fun, bc, x, guess, p=[6.0], tol=1e-4).p[0]


def test_an_eigenvalue():
    np.testing.assert_allclose(frequency(1.1), 2 * np.pi / 1.1, rtol=1e-5)
    np.testing.assert_allclose(grad(frequency)(1.1), -2 * np.pi / 1.21, rtol=1e-4)


def test_a_solution_that_is_not_reached_has_no_derivative():
    def solved(a):
        found = scipy.integrate.solve_bvp(
            lambda x, y: np.vstack([y[1], -a * np.exp(y[0])]),
            lambda start, end: np.array([start[0], end[0]]),
            np.linspace(0.0, 1.0, 5), np.zeros((2, 5)), max_nodes=6,
        )  # fmt: skip
        return found.y[0, 2]

    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(solved)(9.0)


def test_what_moves_a_jump_has_no_derivative():
    def solved(p):
        found = scipy.integrate.solve_bvp(
            lambda x, y: np.where(x < p, 1e-3, 0.0)[None, :] - y,
            lambda start, end: start - 1.0,
            np.array([0.0, 0.3, 1.0]), np.ones((1, 3)), tol=1e-2,
        )  # fmt: skip
        return found.y[0, -1]

    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        grad(solved)(0.3)


def test_fields_without_formula():
    def solved(a):
        return scipy.integrate.solve_bvp(
            lambda x, y: -a * y, lambda start, end: start - 1.0,
            np.linspace(0.0, 1.0, 5), np.ones((1, 5)),
        )  # fmt: skip

    assert grad(lambda a: solved(a).yp[0, 0])(2.0) == pytest.approx(-1.0)
    with pytest.raises(rc.DerivativeNotImplemented, match="a field of its result"):
        grad(lambda a: solved(a).rms_residuals[0])(2.0)


@pytest.mark.full
def test_an_eigenvalue_twice():
    np.testing.assert_allclose(
        grad(grad(frequency))(1.1), 4 * np.pi / 1.1**3, rtol=1e-3
    )
    found = jvp(grad(frequency), (1.1,), (1.0,))[1]
    np.testing.assert_allclose(found, 4 * np.pi / 1.1**3, rtol=1e-3)


def two_parameters(q, solve, xp, **options):
    """The parameters of y' = p₀ + p₁ x with y(0) = q₀, y(1) = q₁ and y(0) + p₁ = q₂."""

    def fun(x, y, p):
        return (p[0] + p[1] * x)[None, :] + 0.0 * y

    def bc(start, end, p):
        return xp.stack([start[0] - q[0], end[0] - q[1], start[0] + p[1] - q[2]])

    mesh = xp.asarray(np.linspace(0.0, 1.0, 4), dtype=q.dtype)
    guess = xp.ones((1, 4), dtype=q.dtype)
    return solve(fun, bc, mesh, guess, p=np.ones(2), **options).p


# p₁ = q₂ - q₀ and p₀ = q₁ - q₀ - p₁ / 2.
JACOBIAN = [[-0.5, 1.0, -0.5], [-1.0, 0.0, 1.0]]


def test_two_parameters():
    def in_numpy(q):
        return two_parameters(q, scipy.integrate.solve_bvp, np)

    rows = [grad(lambda q, i=i: in_numpy(q)[i])(Q) for i in (0, 1)]
    np.testing.assert_allclose(rows, JACOBIAN, atol=1e-10)
    columns = [jvp(in_numpy, (Q,), (e,))[1] for e in np.eye(3)]
    np.testing.assert_allclose(np.transpose(columns), JACOBIAN, atol=1e-10)


def test_two_parameters_in_torch():
    def f(q):
        return two_parameters(q, integrate.solve_bvp, torch)

    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        np.testing.assert_allclose(jacobian(f)(torch.tensor(Q)), JACOBIAN, atol=1e-10)


@pytest.mark.full
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_two_parameters_in_jax(dtype):
    def f(q):
        return two_parameters(q, integrate.solve_bvp, jnp, nodes=4)

    many = jnp.stack([jnp.asarray(Q, dtype), jnp.asarray(Q + 1.0, dtype)])
    for jacobian in (jax.jacrev, jax.jacfwd):
        found = jax.jit(jax.vmap(jacobian(f)))(many)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, [JACOBIAN, JACOBIAN], atol=1e-4)


def test_a_singular_term():
    """y'' + 2 y'/x = a² y with y'(0) = 0 and y(1) = 1: sinh(a x) / (x sinh(a))."""

    def start(a):
        found = scipy.integrate.solve_bvp(
            lambda x, y: np.vstack([y[1], a * a * y[0]]),
            lambda start, end: np.array([start[1], end[0] - 1.0]),
            np.linspace(0.0, 1.0, 11), np.ones((2, 11)), tol=1e-6,
            S=np.array([[0.0, 0.0], [0.0, -2.0]]),
        )  # fmt: skip
        return found.y[0, 0]

    a = 1.3
    slope = (1.0 - a / np.tanh(a)) / np.sinh(a)
    np.testing.assert_allclose(start(a), a / np.sinh(a), rtol=1e-5)
    np.testing.assert_allclose(grad(start)(a), slope, rtol=1e-4)
    np.testing.assert_allclose(jvp(start, (a,), (1.0,))[1], slope, rtol=1e-4)


def test_a_function_that_mixes_nodes_has_no_derivative():
    """SciPy finds a solution, with the matrix of a function that does not."""

    def end(a):
        found = scipy.integrate.solve_bvp(
            lambda x, y: -a * y + 1e-3 * np.mean(y), lambda start, end: start - 1.0,
            np.linspace(0.0, 1.0, 5), np.ones((1, 5)), tol=1e-2,
        )  # fmt: skip
        assert found.success
        return found.y[0, -1]

    for derivative in (grad(end), lambda a: jvp(end, (a,), (1.0,))):
        with pytest.raises(rc.UnsupportedError, match="depends on another node"):
            derivative(2.0)


def test_many_nodes():
    """The derivative's cost is like that of the value, so 3,000 are no trouble."""

    def end(a):
        found = scipy.integrate.solve_bvp(
            lambda x, y: -a * y, lambda start, end: start - 1.0,
            np.linspace(0.0, 1.0, 3000), np.ones((1, 3000)), max_nodes=5000,
        )  # fmt: skip
        return found.sol(1.0)[0]

    np.testing.assert_allclose(grad(end)(2.0), -np.exp(-2.0), rtol=1e-7)
