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
