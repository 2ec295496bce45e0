"""Jumps of integrands and of right-hand sides: those that move have no rule."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import torch

import rules_core as rc
from rules_autodiff import grad, hessian, jvp
from rules_scipy import integrate

TIGHT = {"rtol": 1e-8, "atol": 1e-10}


def at_end(rate, y0):
    return scipy.integrate.solve_ivp(rate, (0.0, 1.0), [y0], **TIGHT).y[0, -1]


def integral(f, *args):
    return scipy.integrate.quad(f, 0.0, 1.0, args=args)[0]


MOVING = {
    "an integrand, by where": lambda p: integral(lambda x: np.where(x < p, 1.0, 3.0)),
    "an integrand, by if": lambda p: integral(lambda x: 1.0 if x < p else 3.0),
    "an integrand's argument": lambda p: integral(lambda x, q: float(x > q), p),
    "one of two parameters": lambda p: integral(lambda x, a, q: a * (x > q), p, p),
    "an integral of integrals": lambda p: integral(
        lambda x: integral(lambda y: 1.0 if y < p else 2.0) * x
    ),
    "a dose at a time": lambda p: at_end(
        lambda t, y: [(1.0 if t < p else 0.0) - y[0]], 0.0
    ),
    "a level of the state": lambda p: at_end(
        lambda t, y: [-1.0 if y[0] < p else -2.0], 1.0
    ),
    "the start of a state with a level": lambda p: at_end(
        lambda t, y: [-1.0 if y[0] < 0.5 else -2.0], 3 * p
    ),
    "the scale of time": lambda p: at_end(
        lambda t, y: [1.0 if p * t < 0.2 else 0.0], 0.0
    ),
    "odeint": lambda p: scipy.integrate.odeint(
        lambda y, t: (1.0 if t < p else 0.0) - y, [0.0], [0.0, 0.5, 1.0]
    )[-1, 0],
}

AT_REST = {
    "an integrand's jump": (
        lambda p: integral(lambda x: p * x if x < 0.5 else 3.0 * p * x),
        1.25,
    ),
    "a kink that moves": (lambda p: integral(lambda x: abs(x - p)), 2 * 0.3 - 1),
    "a step that is smooth": (
        lambda p: integral(lambda x: np.tanh(50.0 * (x - p))),
        -np.tanh(35.0) - np.tanh(15.0),
    ),
    "a dose at a time": (
        lambda p: at_end(lambda t, y: [(p if t < 0.5 else 0.0)], 0.0),
        0.5,
    ),
    "a kink of the state": (lambda p: at_end(lambda t, y: [abs(y[0] - p)], p - 1.0), 1),
}


def forwards(f):
    return lambda p: jvp(f, (p,), (1.0,))[1]


@pytest.mark.parametrize("mode", [grad, forwards], ids=["reverse", "forward"])
@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("name", MOVING)
def test_what_moves_a_jump_has_no_derivative(name, mode):
    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        mode(MOVING[name])(0.3)


@pytest.mark.parametrize("mode", [grad, forwards], ids=["reverse", "forward"])
@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("name", AT_REST)
def test_other_jumps_and_kinks_do_no_harm(name, mode):
    f, slope = AT_REST[name]
    np.testing.assert_allclose(mode(f)(0.3), slope, rtol=1e-6)


def stepped(xp):
    """Functions of a height and a place; each jumps at the place."""

    def of_integral(height, place):
        def step(x):
            return xp.where(x < place, 1.0, 3.0) * x * height

        return integrate.quad(step, 0.0, 1.0)[0]

    def of_solution(height, place):
        def rate(t, y):
            return height * xp.where(t < place, 1.0, 0.0) - y

        start, times = xp.zeros(1), xp.asarray([0.9])
        found = integrate.solve_ivp(rate, (0.0, 0.9), start, t_eval=times, **TIGHT)
        return found.y[0, -1]

    return [of_integral, of_solution]


@pytest.mark.parametrize("f", stepped(jnp), ids=["quad", "solve_ivp"])
@pytest.mark.covering(every=2, start=0)
def test_in_jax(f):
    with jax.enable_x64(True):
        height = f(1.0, 0.3)  # they are linear in it
        np.testing.assert_allclose(jax.grad(f)(2.0, 0.3), height, rtol=1e-4)
        with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
            jax.grad(f, 1)(2.0, 0.3)
        with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
            jax.jvp(f, (2.0, 0.3), (0.0, 1.0))
        slopes = jax.jit(jax.grad(f, (0, 1)))(2.0, 0.3)
        np.testing.assert_allclose(slopes[0], height, rtol=1e-4)
        assert np.isnan(slopes[1])


@pytest.mark.full
@pytest.mark.parametrize("f", stepped(jnp), ids=["quad", "solve_ivp"])
def test_second_derivatives_in_jax(f):
    with jax.enable_x64(True):
        second = jax.hessian(f, (0, 1))(2.0, 0.3)
        np.testing.assert_allclose(second[0][0], 0.0, atol=1e-6)
        assert np.isnan(second[1][1])


@pytest.mark.parametrize("f", stepped(torch), ids=["quad", "solve_ivp"])
@pytest.mark.covering(every=2, start=0)
def test_in_torch(f, double):
    height, place = torch.tensor(2.0), torch.tensor(0.3)
    slope = torch.func.grad(f)(height, place)
    torch.testing.assert_close(slope, f(height / 2, place), rtol=1e-4, atol=0.0)
    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        torch.func.grad(f, 1)(height, place)
    with pytest.raises(rc.DerivativeNotImplemented, match="moves a jump"):
        torch.func.jvp(lambda p: f(height, p), (place,), (place,))


@pytest.fixture
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def pulse(t, centre, width):
    return np.exp(-(((t - centre) / width) ** 2)) / (width * np.sqrt(np.pi))


@pytest.mark.parametrize("width", [3e-3, pytest.param(1e-3, marks=pytest.mark.full)])
def test_a_pulse_that_the_solver_met_is_met_by_its_derivatives(width):
    """The adjoint equation's solution of the state passed over it."""

    def f(a):
        return scipy.integrate.odeint(
            lambda y, t: -y + a * pulse(t, 3.3, width), [1.0], [0, 10.0]
        )[-1, 0]

    assert np.isclose(f(1.2) - f(0.0), 1.2 * np.exp(-6.7), rtol=1e-3)
    assert np.isclose(grad(f)(1.2), np.exp(-6.7), rtol=2e-3)
    assert np.isclose(jvp(f, (1.2,), (1.0,))[1], np.exp(-6.7), rtol=2e-3)


def test_short_steps_find_a_pulse_that_the_solver_passes_over():
    def f(a, max_step):
        return scipy.integrate.solve_ivp(
            lambda t, y: -y + a * pulse(t, 3.3, 0.02), (0, 5), [1.0], max_step=max_step
        ).y[0, -1]

    assert np.isclose(f(1.2, np.inf), f(0.0, np.inf), rtol=1e-6)
    for slope in (grad(f)(1.2, 0.04), jvp(lambda a: f(a, 0.04), (1.2,), (1.0,))[1]):
        assert np.isclose(slope, np.exp(-1.7), rtol=1e-2)


# kinks: the derivative jumps there, and moves the jump


LOOSE = {"epsabs": 1e-2, "epsrel": 1e-2}
KINKS = {
    "abs": lambda a, t: abs(t - a),
    "maximum": lambda a, t: np.maximum(t - a, 0.0),
    "where": lambda a, t: np.where(t > a, t - a, 0.0),
    "branch": lambda a, t: (t - a) * 2.0 if t > a else 0.0 * t,
    "the root of a square": lambda a, t: np.sqrt((t - a) ** 2),
    "the norm of a vector": lambda a, t: np.linalg.norm(np.array([t - a])),
    "a small one": lambda a, t: np.exp(t * a) + 1e-4 * abs(t - a),
}


def of_kink(f):
    return lambda a: scipy.integrate.quad(lambda t: f(a, t), 0.0, 1.0, **LOOSE)[0]


@pytest.mark.full  # six seconds and more
@pytest.mark.parametrize("name", KINKS)
def test_a_kink_that_moves_has_no_second_derivative(name):
    """The first derivative is right; the second has a part of the jump in it."""
    f = of_kink(KINKS[name])
    for derivative in (hessian(f), grad(grad(f))):
        with pytest.raises(rc.DerivativeNotImplemented, match="what moves a jump"):
            derivative(0.3)


def test_a_kink_that_rests_has_one():
    assert hessian(of_kink(lambda a, t: abs(t - 0.5) * a**2))(0.3) == pytest.approx(0.5)


@pytest.mark.full  # 10 s
def test_a_kink_of_a_rate_that_moves():
    def f(a):
        rate = lambda t, y: np.array([abs(t - a)])
        return scipy.integrate.solve_ivp(rate, (0.0, 1.0), [0.0]).y[0, -1]

    with pytest.raises(rc.DerivativeNotImplemented, match="what moves a jump"):
        hessian(f)(0.3)


LIMITS = {
    "a jump": lambda a: integrate.quad(lambda t: jnp.where(t < a, 1.0, 2.0), 0.0, a)[0],
    "the slope of a kink": jax.grad(
        lambda a: integrate.quad(lambda t: jnp.maximum(t - a, 0.0), a, 1.0)[0]
    ),
    "a jump in a box": lambda a: (
        integrate.cubature(
            lambda x: jnp.where(x[:, 0] < a, 1.0, 2.0), jnp.zeros(1), a * jnp.ones(1)
        ).estimate
    ),
    "a jump of tanhsinh": lambda a: (
        integrate.tanhsinh(
            lambda t, a: jnp.where(t < a, 1.0, 2.0), 0.0, a, args=(a,)
        ).integral
    ),
    "a jump at the end of a solution": lambda a: (
        integrate.solve_ivp(
            lambda t, y: jnp.where(t < a, 1.0, 2.0) + 0.0 * y,
            (0.0, a), jnp.zeros(1), t_eval=jnp.stack([a]),
        ).y[0, -1]
    ),
}  # fmt: skip


@pytest.mark.covering(every=5, start=0)
@pytest.mark.parametrize("name", LIMITS)
def test_a_jump_at_a_limit_that_moves_in_jax(name):
    with jax.enable_x64(True):
        assert np.isnan(jax.jit(jax.grad(LIMITS[name]))(0.3))


@pytest.mark.full
def test_a_kink_that_moves_in_frameworks():
    def f(a):
        return integrate.quad(lambda t: abs(t - a), 0.0, 1.0, **LOOSE)[0]

    assert np.isnan(jax.jit(jax.hessian(f))(0.3))
    found = torch.func.hessian(f)(torch.tensor(0.3, dtype=torch.float64))
    assert torch.isnan(found)
