"""Where a function jumps or has a kink: no root, event or minimum for the rules."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_scipy import optimize
from rules_scipy.optimize._equations import if_simple

BRACKETING = ["bisect", "brenth", "brentq", "ridder", "toms748"]


def forwards(f):
    return lambda p: jvp(f, (p,), (1.0,))[1]


MODES = pytest.mark.parametrize("mode", [grad, forwards], ids=["reverse", "forward"])


def by_method(f, method):
    return scipy.optimize.root_scalar(f, bracket=(0.0, 3.0), method=method).root


ROOTS = {name: getattr(scipy.optimize, name) for name in BRACKETING}

JUMPING = {
    "alike on both sides": lambda p: lambda x: x - 5.0 if x < p else x,
    "whole numbers": lambda p: lambda x: np.floor(x / p) - 0.5 + 0.1 * x,
    "by where": lambda p: lambda x: np.where(x < p, -1.0 - x, 2.0 + x * x),
    "by a sign": lambda p: lambda x: np.sign(x - p) * (1.0 + x),
}


@MODES
@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("jumping", JUMPING)
@pytest.mark.parametrize("name", [*BRACKETING, "root_scalar"])
def test_no_root_at_a_jump(name, jumping, mode):
    def place(p):
        f = JUMPING[jumping](p)
        if name == "root_scalar":
            return by_method(f, "brentq")
        return ROOTS[name](f, 0.0, 3.0)

    with pytest.raises(rc.UnsupportedError, match="jumps across zero|double root"):
        mode(place)(1.0)


@MODES
@pytest.mark.parametrize("name", ["brentq", "bisect"])
@pytest.mark.parametrize("xtol", [2e-12, 1e-3])
def test_roots_of_steep_functions(name, xtol, mode):
    """Loose tolerances and steep functions are no jumps."""

    def place(p):
        return ROOTS[name](lambda x: np.tanh(1e4 * (x - p)), 0.0, 3.0, xtol=xtol)

    try:
        slope = mode(place)(1.1)
    except rc.UnsupportedError:
        assert xtol == 1e-3  # then the solver stops where the function is flat
    else:
        np.testing.assert_allclose(slope, 1.0, rtol=1e-3)


def jumping_in(xp):
    return lambda p: optimize.brentq(lambda x: xp.where(x < p, x - 5.0, x), 0.0, 3.0)


def test_in_frameworks():
    f = jumping_in(jnp)
    with jax.enable_x64(True):
        with pytest.raises(rc.UnsupportedError, match="jumps across zero"):
            jax.grad(f)(1.0)
        assert np.isnan(jax.jit(jax.grad(f))(1.0))
        assert np.isnan(jax.jit(jax.jacfwd(f))(1.0))
    with pytest.raises(rc.UnsupportedError, match="jumps across zero"):
        torch.func.grad(jumping_in(torch))(torch.tensor(1.0))


@MODES
@pytest.mark.parametrize("shift", [1e-3, 0.5])
def test_an_equation_of_another_value_is_no_double_root(mode, shift):
    """As of a function that reads what has changed since the solver called it."""

    def place(p):
        return if_simple(p, (lambda x: x**3 - 1.0 - shift,), (), "brentq", 1e-9)

    with pytest.raises(rc.UnsupportedError, match="when the solver called it: pass"):
        mode(place)(1.0)


EVENTS = {
    "of the state": lambda p: lambda t, y: (1.0 if y[0] > p else -1.0) + 0.01 * t,
    "of the time": lambda p: lambda t, y: (1.0 if t > p else -1.0) + 0.01 * y[0],
}


@MODES
@pytest.mark.parametrize("event", EVENTS)
def test_no_event_at_a_jump(event, mode):
    def time(p):
        found = scipy.integrate.solve_ivp(
            lambda t, y: [1.0], (0.0, 2.0), [0.0], events=EVENTS[event](p)
        )
        return found.t_events[0][0]

    with pytest.raises(rc.UnsupportedError, match="jumps across zero"):
        mode(time)(1.0)


def slope_of(x, c):
    sign = np.sign(x[0] - x[1] - c)
    return np.array([sign + 2 * x[0], -sign + 2 * x[1]])


KINKS = {
    "one unknown": lambda c: scipy.optimize.minimize_scalar(
        lambda x: abs(x - c) + x**2, bracket=(-1.0, 0.0, 1.0)
    ).x,
    "two unknowns": lambda c: scipy.optimize.minimize(
        lambda x: abs(x[0] - x[1] - c) + x[0] ** 2 + x[1] ** 2, np.zeros(2),
        method="L-BFGS-B", jac=lambda x: slope_of(x, c),
    ).x[0],
    "maximum": lambda c: scipy.optimize.minimize_scalar(
        lambda x: max(x - c, c - x) + x**2, bracket=(-1.0, 0.0, 1.0)
    ).x,
}  # fmt: skip


@MODES
@pytest.mark.parametrize("kink", KINKS)
def test_no_minimum_at_a_kink_that_is_hit(kink, mode):
    with pytest.raises(rc.UnsupportedError, match="no smooth optimum"):
        mode(KINKS[kink])(0.0)


@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-5])
def test_a_rounded_kink_is_none(width):
    def place(c):
        return scipy.optimize.minimize_scalar(
            lambda x: np.sqrt((x - c) ** 2 + width**2) + 0.5 * (x - 1.0) ** 2,
            bracket=(0.0, 0.5, 1.0), tol=1e-10,
        ).x  # fmt: skip

    x, c = place(0.5), 0.5
    bend = width**2 / ((x - c) ** 2 + width**2) ** 1.5
    np.testing.assert_allclose(grad(place)(c), bend / (1.0 + bend), rtol=1e-4)


REFUSED = {
    "more equations than unknowns": lambda c: scipy.optimize.root(
        lambda x: np.array([x[0] - c, 2 * x[0] - c]), [0.3], method="lm"
    ).x[0],
    "a complex root": lambda c: (
        scipy.optimize.newton(
            lambda x: x**3 - c, -0.5 + 0.9j, fprime=lambda x: 3 * x * x
        ).real
    ),
    "parameters that data do not determine": lambda c: scipy.optimize.curve_fit(
        lambda t, a, b: (a + b) * t, np.arange(4.0), c * np.arange(4.0) ** 2, [1, 1.5]
    )[1].sum(),
    "a root with slope zero": lambda c: scipy.optimize.brentq(
        lambda x: -1.0 if x < c else 1.0 + x, 0.0, 2.0
    ),
}


@MODES
@pytest.mark.filterwarnings("ignore:Covariance of the parameters")
@pytest.mark.parametrize("case", REFUSED)
def test_errors_are_in_words(case, mode):
    with pytest.raises(rc.UnsupportedError):
        mode(REFUSED[case])(0.7)


@pytest.mark.parametrize("method", ["krylov", "broyden1", "df-sane", "hybr"])
def test_starts_of_two_axes(method):
    def total(c):
        found = scipy.optimize.root(lambda x: x**2 - c, np.ones((2, 2)), method=method)
        return found.x.sum()

    np.testing.assert_allclose(grad(total)(1.3), 2 / np.sqrt(1.3), rtol=1e-5)


def test_the_report_of_newton_for_arrays():
    def total(c):
        found = scipy.optimize.newton(lambda x: x**3 - c, np.ones(2), full_output=True)
        assert found.converged.all()
        return found.root.sum()

    c = np.array([2.0, 3.0])
    np.testing.assert_allclose(grad(total)(c), c ** (-2 / 3) / 3)


NUMBERS = {
    "tcur": lambda c: scipy.integrate.odeint(
        lambda y, t: -c * y, [1.0], [0.0, c], full_output=1
    )[1]["tcur"][-1],
    "mip_dual_bound": lambda c: (
        scipy.optimize.milp(
            [-c, -2.0], integrality=[1, 0], bounds=scipy.optimize.Bounds(0.0, 1.5)
        ).mip_dual_bound
    ),
    "sol.t_max": lambda c: (
        scipy.integrate.solve_ivp(
            lambda t, y: -y, (0.0, 2 * c), [1.0], dense_output=True
        ).sol.t_max
    ),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_reports_have_no_derivative_in_silence(name):
    with pytest.raises(rc.DerivativeNotImplemented):
        grad(NUMBERS[name])(1.3)
