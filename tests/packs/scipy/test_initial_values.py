"""Solutions of initial value problems: closed forms and differences, by each method."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import torch

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_scipy import integrate
from tests.covering import in_turn

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
TIMES = np.array([0.0, 0.5, 1.25])
W = 1.3
EXACT = {"rtol": 1e-6, "atol": 1e-8}


def swing(t, y, w):
    return [y[1], -w * w * y[0]]


def swung(w):
    """A sum of weighted states of an oscillator that begins at rest, at 1."""
    phase = w * TIMES
    return (np.cos(phase) - 0.5 * w * np.sin(phase)).sum()


def slope_of(f, w=W, step=1e-4):
    """First and second derivative of a closed form."""
    up, down = f(w + step), f(w - step)
    return (up - down) / (2 * step), (up - 2 * f(w) + down) / step**2


FIRST, SECOND = slope_of(swung)


COARSE = {"rtol": 1e-4, "atol": 1e-5}


def program(method, module=integrate, precision=COARSE, **options):
    def f(w):
        found = module.solve_ivp(
            swing, (0.0, 1.25), [1.0, 0.0], method, TIMES, args=(w,),
            **precision, **options,
        )  # fmt: skip
        return found.y[0].sum() + 0.5 * found.y[1].sum()

    return f


def in_engine(f, order):
    one = (1.0,)
    return {
        "r": lambda: grad(f)(W),
        "f": lambda: jvp(f, (W,), one)[1],
        "rr": lambda: grad(grad(f))(W),
        "fr": lambda: jvp(grad(f), (W,), one)[1],
    }[order]()


def by_order(r, f, fr, order):
    """A transform of its gradient, forward mode and Hessian."""
    return {"r": r, "f": f, "rr": lambda g: r(r(g)), "fr": fr}[order]


def in_jax(f, order):
    transform = by_order(jax.grad, jax.jacfwd, jax.hessian, order)
    with jax.enable_x64(True):
        return float(jax.jit(transform(f))(W))


def in_torch(f, order):
    func = torch.func
    transform = by_order(func.grad, func.jacfwd, func.hessian, order)
    return float(transform(f)(torch.tensor(W, dtype=torch.float64)))


SYSTEMS = {"engine": in_engine, "jax": in_jax, "torch": in_torch}


@pytest.mark.covering(every=7, start=1)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_first_order(system, method):
    module = scipy.integrate if system == "engine" else integrate
    f = program(method, module)
    for order in "rf":
        found = SYSTEMS[system](f, order)
        np.testing.assert_allclose(found, FIRST, rtol=1e-3)


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "system", "order"), in_turn(METHODS, [*SYSTEMS], ["rr", "fr"])
)
def test_second_order(system, method, order):
    found = SYSTEMS[system](program(method), order)
    np.testing.assert_allclose(found, SECOND, rtol=5e-3)


def test_reverse_mode_by_the_variational_equation():
    f = program("DOP853", sensitivity="forward")
    assert grad(f)(W) == pytest.approx(FIRST, rel=1e-3)
    with pytest.raises(ValueError, match="sensitivity must be one of"):
        program("RK45", sensitivity="back")(W)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("at", [None, TIMES], ids=["steps", "t_eval"])
def test_values_are_scipys(method, at):
    given = swing, (0.0, 1.25), [1.0, 0.0], method, at
    own = scipy.integrate.solve_ivp(*given, args=(W,))

    def f(w):
        found = scipy.integrate.solve_ivp(*given, args=(w,))
        return found.t, found.y, found.nfev

    kept = jvp(f, (W,), (1.0,))[0]
    np.testing.assert_array_equal(kept[0], own.t)
    np.testing.assert_array_equal(kept[1], own.y)
    assert kept[2] == own.nfev


# exp(-r (t1 - t0)) of what was there at the start


def left(r, t0, t1, y0, method="LSODA"):
    solve = scipy.integrate.solve_ivp
    return solve(lambda t, y: -r * y, (t0, t1), [y0], method, **EXACT).y[0, -1]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("place", range(4))
def test_start_end_and_parameters(place):
    x = (0.7, 0.25, 1.5, 2.0)
    y = 2.0 * np.exp(-0.7 * 1.25)
    expected = (-1.25 * y, 0.7 * y, -0.7 * y, y / 2)[place]
    assert grad(left, place)(*x) == pytest.approx(expected, rel=1e-5)
    step = tuple(float(i == place) for i in range(4))
    assert jvp(left, x, step)[1] == pytest.approx(expected, rel=1e-5)


@pytest.mark.full
def test_second_derivatives_in_a_time():
    def f(x):
        found = integrate.solve_ivp(
            lambda t, y: -x[0] * y, (0.0, 5.0), [1.0], "DOP853", x[1:], **EXACT
        )
        return found.y[0, 0]

    x = np.array([0.7, 1.25])
    y = np.exp(-x[0] * x[1])
    mixed = (x[0] * x[1] - 1) * y
    expected = [[x[1] ** 2 * y, mixed], [mixed, x[0] ** 2 * y]]
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.hessian(f)(jnp.asarray(x)), expected, rtol=1e-4)


@pytest.mark.full
def test_mixed_second_derivatives():
    """In the rate and both ends, as all orders of two derivatives find them."""
    x = 0.7, 0.25, 1.5
    y = np.exp(-0.7 * 1.25)
    expected = {(2, 2): 0.49 * y, (0, 2): (0.875 - 1) * y, (1, 2): -0.49 * y}

    def f(*x):
        return left(*x, 1.0, "DOP853")

    for (i, j), slope in expected.items():
        for one, other in ((i, j), (j, i)):
            step = tuple(float(k == other) for k in range(3))
            found = jvp(grad(f, one), x, step)[1]
            assert found == pytest.approx(slope, rel=1e-4)


def test_last_and_first_times_move():
    def times(t0, t1):
        found = scipy.integrate.solve_ivp(lambda t, y: -y, (t0, t1), [1.0])
        return found.t[0] * found.t[-1] + found.t[1:-1].sum()

    assert grad(times)(0.5, 2.0) == pytest.approx(2.0)
    assert grad(times, 1)(0.5, 2.0) == pytest.approx(0.5)


def test_large_and_small_parameters_have_accurate_derivatives():
    """d/dk of y0 exp(-k s t), with k of the size of 1e9 and s of 1e-9."""

    def f(k):
        found = scipy.integrate.solve_ivp(lambda t, y: -k * 1e-9 * y, (0, 1), [1.0])
        return found.y[0, -1]

    expected = -1e-9 * np.exp(-1.0)
    assert grad(f)(1e9) == pytest.approx(expected, rel=1e-3)
    assert jvp(f, (1e9,), (1.0,))[1] == pytest.approx(expected, rel=1e-3)


def test_backwards_in_time_and_complex():
    def f(w):
        found = scipy.integrate.solve_ivp(
            lambda t, y: 1j * w * y, (1.0, 0.0), [1.0 + 0.5j], "DOP853", **EXACT
        )
        return found.y[0, -1].real

    expected = ((1.0 + 0.5j) * -1j * np.exp(-1j * W)).real
    assert grad(f)(W) == pytest.approx(expected, rel=1e-5)
    assert jvp(f, (W,), (1.0,))[1] == pytest.approx(expected, rel=1e-5)


# a ball that is thrown up from a height of 1


def ground(t, y):
    return y[0]


vars(ground).update(terminal=True, direction=-1)
G = 9.81


def thrown(v, system=scipy.integrate):
    found = system.solve_ivp(
        lambda t, y: [y[1], 0.0 * y[1] - G], (0.0, 9.0), [1.0, v], "DOP853",
        events=[ground, lambda t, y: y[1]], **EXACT,
    )  # fmt: skip
    stop = found.t_events[0][0]
    top = found.y_events[1][0][0]
    return stop + found.t[-1] ** 2 + found.y[1, -1] + 2.0 * top


def thrown_exactly(v):
    stop = (v + np.sqrt(v * v + 2 * G)) / G
    return stop + stop**2 + (v - G * stop) + 2.0 * (1.0 + v * v / (2 * G))


@pytest.mark.parametrize("order", ["r", "f"])
def test_events(order):
    assert in_engine(thrown, order) == pytest.approx(slope_of(thrown_exactly)[0])


@pytest.mark.full
def test_events_at_second_order():
    second = slope_of(thrown_exactly)[1]
    assert in_engine(thrown, "rr") == pytest.approx(second, rel=1e-5)
    with pytest.raises(UnsupportedProgram):  # the page says so
        in_engine(thrown, "fr")


# Of how many steps and events there are code that is run need not be told beforehand.


def test_events_in_torch():
    found = in_torch(lambda v: thrown(v, integrate), "r")
    assert found == pytest.approx(slope_of(thrown_exactly)[0])


def own_steps(w):
    found = integrate.solve_ivp(swing, (0.0, 1.0), [1.0, 0.0], args=(w,), **COARSE)
    return found.y[0, -1]


def test_steps_of_its_own_in_torch():
    found = in_torch(own_steps, "r")
    assert found == pytest.approx(-np.sin(W), rel=1e-3)  # cos(w t) at t = 1


@pytest.mark.parametrize(
    "f", [own_steps, lambda v: thrown(v, integrate)], ids=["steps", "events"]
)
def test_steps_and_events_are_refused_by_name_in_jax(f):
    with pytest.raises(rc.UnsupportedError, match="solve_ivp chooses its steps"):
        in_jax(f, "r")


def test_dense_output():
    def f(w):
        solved = scipy.integrate.solve_ivp(
            swing, (0, 2), [1.0, 0.0], "DOP853", args=(w,), dense_output=True, **COARSE
        )
        return solved.sol(w)[0] + solved.sol(np.array([0.5, 1.0]))[1].sum()

    def exactly(w):
        return np.cos(w * w) - w * (np.sin(0.5 * w) + np.sin(w))

    expected = slope_of(exactly)[0]
    assert grad(f)(W) == pytest.approx(expected, rel=1e-3)
    assert jvp(f, (W,), (1.0,))[1] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("order", ["r", "f"])
def test_odeint(order):
    def f(w):
        y, info = scipy.integrate.odeint(
            swing, [1.0, 0.0], TIMES, (w,), tfirst=True, full_output=True,
            **COARSE,
        )  # fmt: skip
        return y[:, 0].sum() + 0.5 * y[:, 1].sum() + 0.0 * info["nst"][-1]

    assert in_engine(f, order) == pytest.approx(FIRST, rel=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("order", ["r", "f", "rr"])
@pytest.mark.parametrize("system", ["jax", "torch"])
def test_odeint_in_frameworks(system, order):
    def f(w):
        y = integrate.odeint(lambda y, t, w: swing(t, y, w), [1.0, 0.0], TIMES, (w,))
        return y[:, 0].sum() + 0.5 * y[:, 1].sum()

    expected = SECOND if order == "rr" else FIRST
    assert SYSTEMS[system](f, order) == pytest.approx(expected, rel=1e-4)


def robertson(t, y, k):
    flows = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
    return [flows[1] - flows[0], flows[0] - flows[1] - flows[2], flows[2]]


@pytest.mark.full
@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_stiff_equations(method):
    """The adjoint and the variational equation are two ways to one gradient."""
    k = np.array([0.04, 1e4, 3e7])

    def f(k, sensitivity=None):
        found = integrate.solve_ivp(
            robertson, (0, 40), [1.0, 0.0, 0.0], method, [0.4, 4.0, 40.0], args=(k,),
            rtol=1e-6, atol=[1e-8, 1e-12, 1e-8], sensitivity=sensitivity,
        )  # fmt: skip
        return (found.y * np.array([[1.0], [1e4], [1.0]])).sum(axis=1)[1]

    adjoint = grad(f)(k)
    along = [jvp(f, (k,), (unit,))[1] for unit in np.eye(3)]
    np.testing.assert_allclose(adjoint, along, rtol=1e-4)
    step = 1e-4 * k
    central = [(f(k + d) - f(k - d)) / d.sum() / 2 for d in np.diag(step)]
    np.testing.assert_allclose(adjoint, central, rtol=2e-2)


def lorenz(t, y, r):
    return [10.0 * (y[1] - y[0]), y[0] * (r - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]


def lorenz_at(end, rtol):
    def f(r):
        given = {"args": (r,), "rtol": rtol, "atol": 1e-2 * rtol}
        start = [1.0, 1.0, 1.0]
        found = scipy.integrate.solve_ivp(lorenz, (0, end), start, "DOP853", **given)
        return found.y[2, -1]

    return f


@pytest.mark.full
def test_a_chaotic_equation():
    f = lorenz_at(3.0, 1e-10)
    central = slope_of(f, 28.0, 1e-5)[0]
    assert grad(f)(28.0) == pytest.approx(central, rel=1e-4)
    assert jvp(f, (28.0,), (1.0,))[1] == pytest.approx(central, rel=1e-4)


@pytest.mark.nightly
def test_how_long_a_chaotic_equation_has_a_derivative():
    """The table of `docs/how-to/differential-equations.md`."""
    slopes = {
        (end, rtol): jvp(lorenz_at(end, rtol), (28.0,), (1.0,))[1]
        for end, rtol in ((10.0, 1e-6), (10.0, 1e-8), (20.0, 1e-6), (20.0, 1e-8))
    }
    assert slopes[10.0, 1e-6] == pytest.approx(slopes[10.0, 1e-8], rel=1e-5)
    assert slopes[20.0, 1e-6] == pytest.approx(slopes[20.0, 1e-8], rel=5e-2)
    assert abs(slopes[20.0, 1e-6] - slopes[20.0, 1e-8]) > 1.0
    far, farther = (lorenz_at(40.0, rtol)(28.0) for rtol in (1e-6, 1e-8))
    assert abs(far - farther) > 1.0


def test_programs_that_index_a_captured_array():
    """In both modes, with times and a Jacobian that move."""

    def f(p):
        found = integrate.solve_ivp(
            lambda t, y: -p[0] * y, (p[2], 5.0), [1.0], "Radau", p[1] * TIMES[1:],
            jac=lambda t, y: np.array([[-p[0]]]), **COARSE,
        )  # fmt: skip
        return (found.y[0] * found.t).sum()

    def exactly(p):
        times = p[1] * TIMES[1:]
        return (np.exp(-p[0] * (times - p[2])) * times).sum()

    p = np.array([1.0, 2.0, 0.5])
    slopes = [slope_of(lambda x, d=d: exactly(p + x * d), 0.0)[0] for d in np.eye(3)]
    np.testing.assert_allclose(grad(f)(p), slopes, rtol=1e-3)
    np.testing.assert_allclose(jvp(f, (p,), (p,))[1], slopes @ p, rtol=1e-3)


def test_a_start_that_is_a_number():
    def f(k):
        return scipy.integrate.odeint(lambda y, t: -k * y, k, [0.0, 1.0])[1, 0]

    assert grad(f)(1.0) == pytest.approx(0.0, abs=1e-6)


# errors


def test_no_solution_has_no_derivative():
    def f(a):
        found = scipy.integrate.solve_ivp(lambda t, y: a * y**2, (0, 2), [1.0])
        return found.y[0, -1]

    with (
        np.errstate(all="ignore"),
        pytest.raises(rc.UnsupportedError, match="did not converge"),
    ):
        grad(f)(1.0)


def test_traced_code_needs_times():
    def f(w):
        return integrate.solve_ivp(swing, (0, 1), [1.0, 0.0], args=(w,)).y[0, -1]

    with pytest.raises(rc.UnsupportedError, match="Give t_eval"):
        jax.grad(f)(W)


def test_an_event_that_touches_zero_is_an_error():
    def f(a):
        found = scipy.integrate.solve_ivp(
            lambda t, y: [a + 0.0 * y[0]], (0, 1), [0.0], events=lambda t, y: 0.0 * t
        )
        return found.t_events[0].sum()

    with pytest.raises(rc.UnsupportedError, match="does not cross"):
        grad(f)(1.0)


@pytest.mark.full
def test_batches_in_jax():
    with jax.enable_x64(True):
        found = jax.vmap(jax.grad(program("RK45", precision=EXACT)))(
            jnp.asarray([W, W])
        )
    np.testing.assert_allclose(found, FIRST, rtol=1e-5)


def test_no_solution_is_nan_in_traced_code():
    def f(a):
        found = integrate.solve_ivp(
            lambda t, y: a * y**2, (0, 2), [1.0], t_eval=[0.5, 2.0]
        )
        return found.y[0, -1]

    value, slope = jax.jit(jax.value_and_grad(f))(1.0)
    assert np.isnan(value)
    assert np.isnan(slope)


@pytest.mark.full
def test_precision_of_torch_is_kept():
    w = torch.tensor(W)
    assert program("RK45")(w).dtype == torch.float32
    assert torch.func.grad(program("RK45"))(w).dtype == torch.float32


# PyTorch's own, where its compiler resumes after a break of the graph.
@pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning"
)
@pytest.mark.full
def test_compiled_torch():
    f = torch.compile(program("DOP853", precision=EXACT), backend="eager")
    w = torch.tensor(W, dtype=torch.float64, requires_grad=True)
    f(w).backward()
    np.testing.assert_allclose(w.grad, FIRST, rtol=1e-5)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_where_the_state_is_steep_the_adjoint_is_too(method):
    """y' nearly jumps from 1/2 to 3/2 at v, so the slope in v is 1 - 3/2 / (1/2)."""

    def end(v):
        def rate(t, y):
            return [1.0 + 0.5 * np.tanh(1e3 * (y[0] - v))]

        given = {"rtol": 1e-8, "atol": 1e-10, "method": method}
        return scipy.integrate.solve_ivp(rate, (0.0, 1.0), [1.0], **given).y[0, -1]

    np.testing.assert_allclose(grad(end)(1.37), -2.0, rtol=1e-5)
    np.testing.assert_allclose(jvp(end, (1.37,), (1.0,))[1], -2.0, rtol=1e-5)
