"""`implicit`: solvers by their residual, in each AD system, to second order."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import EngineConfig, grad, hessian, jvp
from rules_core._declare.solvers import solve_gmres
from rules_core.testing import check_rule, isolated_rules
from rules_torch import LostDerivativeError, OutsideTensorError

THETA = np.array([1.0, 2.0, 0.5])
START = np.ones(3)


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def coupled(x, theta, start):
    xp = rc.array_namespace(x)
    return x**3 + theta * x - 1.0 + 0.1 * xp.flip(x)


def solve_coupled(theta, start):
    return scipy.optimize.root(coupled, start, (theta, start), tol=1e-13).x


def sylvester_residual(X, A, B, Q):
    return A @ X + X @ B - Q


def fit(data, grid):
    """Least squares: the residual is the gradient of the sum of squares."""
    start = np.ones(2)
    found = scipy.optimize.least_squares(
        lambda p: p[0] * np.exp(-p[1] * grid) - data, start
    )
    return scipy.optimize.root(fit_residual, found.x, (data, grid), tol=1e-14).x


def fit_residual(p, data, grid):
    xp = rc.array_namespace(p)
    wave = xp.exp(-p[1] * grid)
    misfit = p[0] * wave - data
    return xp.stack([xp.sum(misfit * wave), -xp.sum(misfit * p[0] * grid * wave)])


def kepler(mean, e):
    return scipy.optimize.brentq(lambda E: E - e * np.sin(E) - mean, 0, 7, xtol=1e-15)


def kepler_residual(E, mean, e):
    return E - e * rc.array_namespace(E).sin(E) - mean


def iterate(theta):
    """Array-API code, which frameworks run themselves."""
    xp, x = rc.array_namespace(theta), 0 * theta
    for _ in range(80):
        x = 0.5 * xp.cos(theta * x)
    return x


def iterate_residual(x, theta):
    return 0.5 * rc.array_namespace(x).cos(theta * x) - x


A, B, Q = np.random.default_rng(2).normal(size=(3, 2, 2))


def by_schur(a, b, q):
    """SciPy's, which has a rule of its own in the pack."""
    return scipy.linalg.solve_sylvester(a, b, q)


GRID = np.linspace(0, 1, 5)
DATA = 2.0 * np.exp(-1.5 * GRID) + 0.1 * np.sin(9 * GRID)
SOLVERS = {
    "root": (
        lambda **kw: rc.implicit(solve_coupled, coupled, host=True, out="start", **kw),
        (THETA, START),
    ),
    "sylvester": (
        lambda **kw: rc.implicit(
            by_schur, sylvester_residual, host=True, out="q", **kw
        ),
        (A + 3 * np.eye(2), B, Q),
    ),
    "least squares": (
        lambda **kw: rc.implicit(fit, fit_residual, host=True, out=(2,), **kw),
        (DATA, GRID),
    ),
    "number": (
        lambda **kw: rc.implicit(kepler, kepler_residual, host=True, out="mean", **kw),
        (np.asarray(0.7), np.asarray(0.3)),
    ),
    "fixed point": (
        lambda **kw: rc.implicit(iterate, iterate_residual, **kw),
        (THETA,),
    ),
}
CASES = [(name, solve) for name in SOLVERS for solve in ("dense", "gmres")]


def test_rule():
    make, args = SOLVERS["number"]
    check_rule(make(), *args, level="quick", hosts=(), config=EngineConfig())


@pytest.mark.full
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("solve", ["dense", "gmres"])
def test_every_rule(name, solve):
    make, args = SOLVERS[name]
    check_rule(make(solve=solve), *args, hosts=(), config=EngineConfig())


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "solve"), CASES)
def test_everywhere(name, solve):
    make, args = SOLVERS[name]
    check_rule(make(solve=solve), *args)


def exact(theta):
    """First and second derivative of the sum of `x` where `x**3 + theta x = 1`."""
    x = np.array([np.roots([1, 0, t, -1]) for t in theta])
    x = np.real(x[np.abs(x.imag) < 1e-9])
    slope = -x / (3 * x**2 + theta)
    second = -(2 * slope + 6 * x * slope**2) / (3 * x**2 + theta)
    return slope, np.diag(second)


def alone(x, theta):
    return x**3 + theta * x - 1.0


def solve_alone(theta):
    return scipy.optimize.root(alone, 0 * theta + 0.5, (theta,), tol=1e-13).x


def total(f):
    return lambda theta: f(theta).sum()


ORDERS = {
    "engine": lambda f: (grad(f)(THETA), hessian(f)(THETA)),
    "jax": lambda f: (jax.jit(jax.grad(f))(THETA), jax.jit(jax.hessian(f))(THETA)),
    "torch": lambda f: (
        torch.func.grad(f)(torch.tensor(THETA)),
        torch.func.hessian(f)(torch.tensor(THETA)),
    ),
}


@pytest.mark.parametrize("solve", ["dense", "gmres"])
@pytest.mark.parametrize("orders", ORDERS.values(), ids=ORDERS)
@pytest.mark.covering(every=3)
def test_two_orders(orders, solve):
    f = rc.implicit(solve_alone, alone, host=True, out="theta", solve=solve)
    for found, want in zip(orders(total(f)), exact(THETA), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-9)


def test_backward_compile_and_vmap():
    f = rc.implicit(solve_alone, alone, host=True, out="theta")
    slope, _ = exact(THETA)
    compiled = torch.compile(total(f), backend="aot_eager", fullgraph=True)
    theta = torch.tensor(THETA, requires_grad=True)
    compiled(theta).backward()
    np.testing.assert_allclose(theta.grad, slope)
    rows = jax.jit(jax.vmap(jax.grad(total(f))))(THETA[:, None])
    np.testing.assert_allclose(rows[:, 0], slope)
    rows = torch.func.vmap(torch.func.grad(total(f)))(torch.tensor(THETA)[:, None])
    np.testing.assert_allclose(rows[:, 0], slope)


def test_a_solver_of_ones_own():
    """Any function of the operator and the right-hand side."""
    seen = []

    def jacobi(operator, b):
        seen.append(1)
        return b / operator(b * 0 + 1)  # the matrix is diagonal

    f = rc.implicit(solve_alone, alone, host=True, out="theta", solve=jacobi)
    np.testing.assert_allclose(jax.jit(jax.grad(total(f)))(THETA), exact(THETA)[0])
    assert seen


def test_gmres_that_does_not_converge_is_nan():
    diagonal = np.linspace(1.0, 1e4, 80)  # of more entries than it has steps
    assert np.isnan(solve_gmres(lambda w: diagonal * w, np.ones(80))).all()


def test_gmres_ends_where_it_is_exact():
    """Also of a zero right-hand side, and of fewer eigenvalues than entries."""
    diagonal = np.tile([1.0, 5.0], 40)
    b = np.arange(80.0)
    found = solve_gmres(lambda w: diagonal * w, b)
    np.testing.assert_allclose(found, b / diagonal, atol=1e-12)
    assert not solve_gmres(lambda w: diagonal * w, 0 * b).any()


def solve_and_more(theta):
    return solve_alone(theta), 2.0 * theta, np.asarray(7)


def with_auxiliary():
    def shapes(theta):
        return theta, theta, rc.ShapeDtype((), np.int64)

    return rc.implicit(solve_and_more, alone, host=True, out=shapes, auxiliary=True)


@pytest.mark.parametrize("orders", ORDERS.values(), ids=ORDERS)
def test_auxiliary_results(orders):
    f = with_auxiliary()
    for found, want in zip(orders(lambda t: f(t)[0].sum()), exact(THETA), strict=True):
        np.testing.assert_allclose(found, want, atol=1e-9)


ASKED = {
    "engine": lambda f: grad(f)(THETA),
    "jax": lambda f: jax.grad(f)(THETA),
    "jit": lambda f: jax.jit(jax.grad(f))(THETA),
    "torch": lambda f: torch.func.grad(f)(torch.tensor(THETA)),
    "backward": lambda f: f(torch.tensor(THETA, requires_grad=True)).backward(),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_the_derivative_of_an_auxiliary_result(asked):
    f = with_auxiliary()
    with pytest.raises(rc.DerivativeNotImplemented, match="result 1 is auxiliary"):
        asked(lambda theta: f(theta)[0].sum() + f(theta)[1].sum())


def test_the_tangent_of_an_auxiliary_result_is_nan():
    f = with_auxiliary()
    assert np.isnan(jvp(lambda t: f(t)[1], (THETA,), (THETA,))[1]).all()
    assert np.isnan(jax.jvp(lambda t: f(t)[1], (THETA,), (THETA,))[1]).all()


def test_keywords_that_the_residual_takes():
    def solve(theta, *, power=2, steps=100):
        return theta ** (1 / power)

    def residual(y, theta, *, power=2):
        return y**power - theta

    f = rc.implicit(solve, residual, host=True, out="theta")
    assert jax.grad(lambda t: f(t, power=3, steps=5))(8.0) == pytest.approx(1 / 12)
    assert grad(lambda t: f(t, power=3))(8.0) == pytest.approx(1 / 12)


MISUSES = {
    "residual": ({"residual": 3}, "residual must be callable"),
    "solve": ({"residual": alone, "solve": "lu"}, "solve must be 'dense', 'gmres' or"),
}


@pytest.mark.parametrize(("given", "text"), MISUSES.values(), ids=MISUSES)
def test_misuse(given, text):
    with pytest.raises(
        rc.RuleDefinitionError, match=rf"implicit\(solve_alone\): .*{text}"
    ):
        rc.implicit(solve_alone, **given)


RESULTS = {
    "shape": (lambda t: t, lambda y, t: y.sum(), r"shape of the result, \(3,\)"),
    "complex": (lambda t: t * 1j, lambda y, t: y, "one array of real numbers"),
    "several": (lambda t: (t, t), lambda y, t: y, "but got a tuple"),
}


@pytest.mark.parametrize(("f", "residual", "text"), RESULTS.values(), ids=RESULTS)
def test_results_that_do_not_fit(f, residual, text):
    f = rc.implicit(f, residual)
    with pytest.raises(rc.UnsupportedError, match=text):
        jax.vjp(f, THETA)[1](jnp.ones(3))


def cubic(c):
    """The root of `y**3 + c y = a`, by a number for `c`."""
    return lambda a: scipy.optimize.brentq(
        lambda y: y**3 + float(c) * y - float(a), -5, 5
    )


def by_closure(c):
    return lambda y, a: y**3 + c * y - a


def by_default(c):
    return lambda y, a, c=c: y**3 + c * y - a


class Held:
    def __init__(self, c):
        self.c = c

    def residual(self, y, a):
        return y**3 + self.c * y - a


READS = {
    "closure": by_closure,
    "default": by_default,
    "object": lambda c: Held(c).residual,
    "partial": lambda c: partial(lambda c, y, a: y**3 + c * y - a, c),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("a", [1.0, jnp.asarray(1.0)], ids=["number", "array"])
def test_a_residual_that_reads_a_traced_value(read, a):
    def f(c):
        return c * rc.implicit(cubic(2.0), read(c), host=True, out="a")(a)

    with pytest.raises(jax.errors.UnexpectedTracerError, match="closes over a traced"):
        jax.grad(f)(2.0)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("wanted", [True, False, None], ids=["both", "W", "number"])
def test_a_residual_that_reads_a_tensor(read, wanted):
    W = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    f = rc.implicit(cubic(2.0), read(W), host=True, out="a")
    a = torch.tensor(1.0, dtype=torch.float64, requires_grad=bool(wanted))
    for _ in range(2):  # the second call would be by a shortcut
        with pytest.raises(OutsideTensorError, match="that its rules call"):
            f(1.0 if wanted is None else a)
    constant = rc.implicit(cubic(2.0), read(W.detach()), host=True, out="a")
    np.testing.assert_allclose(constant(a).item(), 0.4533976515)


def test_a_solver_that_reads_a_tensor():
    W = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)

    def weighted(operator, b):
        return W * b / operator(b * 0 + 1)

    f = rc.implicit(cubic(2.0), by_closure(2.0), solve=weighted, host=True, out="a")
    with pytest.raises(OutsideTensorError, match="'W'"):
        f(torch.tensor(1.0, dtype=torch.float64, requires_grad=True))


CUTS = {
    "math": lambda y, a: y + math.exp(y) - a,
    "float": lambda y, a: y + float(y) - a,
    "item": lambda y, a: y + y.item() - a,
    "detach": lambda y, a: y + y.detach() - a,
}


@pytest.mark.parametrize("residual", CUTS.values(), ids=CUTS)
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_a_residual_that_cuts_its_arguments(residual):
    f = rc.implicit(lambda a: a / 2, residual, host=True, out="a")
    a = torch.tensor(2.0, dtype=torch.float64)
    with pytest.raises(LostDerivativeError, match="the derivative would be wrong"):
        torch.func.grad(f)(a)
    with pytest.raises(LostDerivativeError, match="the derivative would be wrong"):
        torch.func.jvp(f, (a,), (a,))
    with pytest.raises(LostDerivativeError, match="the derivative would be wrong"):
        f(a.clone().requires_grad_()).backward()


def detached(x):
    return x.detach()


HIDDEN_CUTS = {
    "in it": lambda y, a: y + y.detach() - a,
    "in a helper": lambda y, a: y + detached(y) - a,
}


@pytest.mark.parametrize("residual", HIDDEN_CUTS.values(), ids=HIDDEN_CUTS)
@pytest.mark.parametrize("whole", [False, True], ids=["any", "fullgraph"])
def test_compiled_code_refuses_such_a_residual_too(residual, whole):
    torch.compiler.reset()
    f = rc.implicit(lambda a: a / 2, residual, host=True, out="a")
    fast = torch.compile(lambda a: f(a), backend="aot_eager", fullgraph=whole)
    a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    error = torch._dynamo.exc.Unsupported if whole else LostDerivativeError
    with pytest.raises(error, match="detach|would be wrong"):
        fast(a).backward()


def test_auxiliary_results_in_containers():
    f = rc.implicit(
        lambda a: (np.cbrt(a), (2 * np.cbrt(a), [np.cbrt(a)])),
        lambda y, a: y**3 - a,
        host=True,
        auxiliary=True,
        out=lambda a: (a, (a, [a])),
    )
    _, (dy, (first, [second])) = jax.jvp(f, (8.0,), (1.0,))
    assert dy == pytest.approx(1 / 12)
    assert np.isnan(first)
    assert np.isnan(second)
    zeros = rc.Tangent(tuple, 0.0, rc.Tangent(list, 0.0))
    _, pullback = rc.rrule(EngineConfig(), f, np.asarray(8.0))
    assert pullback(rc.Tangent(tuple, 1.0, zeros))[1] == pytest.approx(1 / 12)
    with pytest.raises(rc.DerivativeNotImplemented, match="result 1 is auxiliary"):
        jax.grad(lambda a: f(a)[1][1][0])(8.0)


FULL = np.array([[4.0, 1.0, 0.5], [0.2, 3.0, -1.0], [1.0, 0.3, 5.0]])
SCALES = [
    (np.float64, 1e200, 1e-12),
    (np.float64, 1.38e-23, 1e-12),
    (np.float64, 1e-200, 1e-12),
    (np.float32, 1e30, 1e-5),
    (np.float32, 1e-25, 1e-5),
    (np.float32, 1e-30, 1e-5),
]


@pytest.mark.parametrize(("dtype", "scale", "error"), SCALES)
def test_gmres_at_every_scale(dtype, scale, error):
    """Squares of the entries under- and overflow."""
    b = np.array([1.0, -2.0, 3.0])
    exact_w = np.linalg.solve(FULL, b)
    A, small = (scale * FULL).astype(dtype), (scale * b).astype(dtype)
    by_both = solve_gmres(lambda v: A @ v, small)
    by_b = solve_gmres(lambda v: FULL.astype(dtype) @ v, small)
    by_A = solve_gmres(lambda v: A @ v, b.astype(dtype))
    np.testing.assert_allclose(by_both, exact_w, rtol=error)
    np.testing.assert_allclose(by_b / dtype(scale), exact_w, rtol=error)
    np.testing.assert_allclose(by_A * dtype(scale), exact_w, rtol=error)


@pytest.mark.parametrize("b", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
def test_gmres_of_a_singular_operator_is_nan(b):
    """Also where the right-hand side is in its range, as one of forward mode is."""
    diagonal = np.array([1.0, 0.0, 2.0])
    assert np.isnan(solve_gmres(lambda w: diagonal * w, np.array(b))).all()
    assert np.isnan(solve_gmres(lambda w: 0 * w, np.array(b))).all()


@pytest.mark.full
def test_third_order_with_two_forward_modes():
    f = total(rc.implicit(solve_alone, alone, host=True, out="theta"))
    theta, ones = torch.tensor(THETA), torch.ones(3, dtype=torch.float64)

    def pushed(g):
        return lambda t: torch.func.jvp(g, (t,), (ones,))[1]

    found = pushed(pushed(torch.func.grad(f)))(theta)
    want = jax.jacfwd(jax.jacfwd(jax.grad(f)))(THETA).sum((1, 2))
    step = 1e-4
    sides = [np.diag(exact(THETA + s * step)[1]) for s in (1, -1)]
    np.testing.assert_allclose((sides[0] - sides[1]) / (2 * step), found, rtol=1e-5)
    np.testing.assert_allclose(want, found, rtol=1e-5)


@pytest.mark.parametrize("solve", ["dense", "gmres"])
def test_no_unknowns(solve):
    f = rc.implicit(lambda a: 1 * a, alone, host=True, out="a", solve=solve)
    y, pullback = rc.rrule(EngineConfig(), f, np.zeros(0))
    assert pullback(np.zeros(0))[1].shape == y.shape == (0,)


def test_a_residual_without_the_defaults_of_the_solver():
    f = rc.implicit(lambda a, n=3: 1 * a, lambda y, a: y - a, host=True, out="a")
    with pytest.raises(rc.UnsupportedError, match=r"residual\(y, a, n\)"):
        grad(lambda a: f(a))(2.0)
