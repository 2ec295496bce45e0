"""Where an optimum has no derivative: an error in words, or NaN in traced code."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_scipy import optimize

A = 0.8
# SciPy's own at such solutions: trust-constr's singular Jacobian and flat steps.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*Jacobian matrix:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*delta_grad"),
]


def square(x, a):
    return ((x - a) ** 2).sum()


def from_a_limit(module, a):
    """The limit of the minimum is where it would be without the limit."""
    bounds = [(0.0, None)]
    return module.minimize(square, [1.0], args=(a - A,), bounds=bounds).x[0]


def not_isolated(module, a):
    """The second unknown does not matter."""
    return module.minimize(lambda x: (x[0] - a) ** 2, np.ones(2)).x[0]


def at_a_kink(module, a):
    xp = rc.array_namespace(a) if rc.is_array(a) else np

    def edged(x):
        return (0.5 * (x - a) ** 2 + xp.abs(x - 0.5)).sum()

    return module.minimize(edged, [0.7], method="Nelder-Mead", tol=1e-9).x[0]


def of_higher_order(module, a):
    return module.minimize(lambda x: (x**4 - (a - A) * x).sum(), [1.0]).x[0]


def too_early(module, a):
    options = {"maxiter": 1}
    program = module.minimize(
        lambda x: ((x - a) ** 4).sum() + (x * x).sum(), [9.0, 1.0], options=options
    )
    return program.x[0]


def held_twice(module, a):
    rows = [{"type": "eq", "fun": lambda x, k=k: k * (x.sum() - a)} for k in (1.0, 2.0)]
    start, method = np.ones(2), "trust-constr"
    return module.minimize(square, start, (0.0,), method, constraints=rows).x[0]


def of_many_solutions(module, a):
    """Every point of an edge is a solution of the linear program."""
    c = rc.array_namespace(a).stack([-a, -a]) if rc.is_array(a) else [-a, -a]
    return module.linprog(c, [[1.0, 1.0]], [1.0]).x[0]


CASES = {
    "limit": (from_a_limit, "does not hold it back"),
    "not isolated": (not_isolated, "not isolated"),
    "kink": (at_a_kink, "no smooth optimum"),
    "higher order": (of_higher_order, "no smooth optimum|not isolated"),
    "early": (too_early, "did not converge|no smooth optimum"),
    "twice": (held_twice, "not isolated"),
    "many": (of_many_solutions, "not isolated|does not hold"),
}
MODES = {
    "reverse": lambda f: grad(lambda a: f(scipy.optimize, a))(A),
    "forward": lambda f: jvp(lambda a: f(scipy.optimize, a), (A,), (1.0,)),
}


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", MODES)
def test_programs_get_an_error(case, mode):
    program, words = CASES[case]
    with pytest.raises(rc.UnsupportedError, match=words):
        MODES[mode](program)


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("case", CASES)
def test_torch_gets_an_error(case):
    program, words = CASES[case]
    a = torch.tensor(A, dtype=torch.float64, requires_grad=True)
    with pytest.raises(rc.UnsupportedError, match=words):
        program(optimize, a).backward()


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("case", CASES)
def test_traced_code_gets_nan(case):
    program, _ = CASES[case]
    with jax.enable_x64(True):
        slope = jax.jit(jax.grad(lambda a: program(optimize, a)))(jnp.asarray(A))
    assert np.isnan(slope)


def test_a_value_has_a_derivative_where_the_solution_has_none():
    def value(a):
        return optimize.minimize(lambda x: (x[0] - a) ** 2 + a * a, np.ones(2)).fun

    a = torch.tensor(A, dtype=torch.float64, requires_grad=True)
    value(a).backward()
    np.testing.assert_allclose(a.grad, 2 * A, rtol=1e-6)


# A minimum at a kink between straight lines is exact, but no gradient is zero there.

DATA = np.array([0.3, 1.1, 2.0])


def tilted(xp, x, a):
    return (xp.abs(x - a) + 0.2 * a * x).sum()


def median(xp, x, a):
    return xp.abs(x - a * a * xp.asarray(DATA)).sum()


def quantile(xp, x, a):
    distance = x - a * xp.asarray(DATA)
    return xp.maximum(0.3 * distance, -0.7 * distance).sum()


KINKS = {"tilted": tilted, "median": median, "quantile": quantile}
SEARCHES = {
    "minimize_scalar": lambda m, f: m.minimize_scalar(f).fun,
    "bounded": lambda m, f: m.minimize_scalar(f, bounds=(-3.0, 3.0)).fun,
    "brent": lambda m, f: m.brent(f, full_output=True)[1],
    "golden": lambda m, f: m.golden(f, full_output=True)[1],
    "fminbound": lambda m, f: m.fminbound(f, -3.0, 3.0, full_output=True)[1],
    "Nelder-Mead": lambda m, f: m.minimize(f, [0.1], method="Nelder-Mead").fun,
    "fmin": lambda m, f: m.fmin(f, [0.1], full_output=True, disp=0)[1],
    "dual_annealing": lambda m, f: (
        m.dual_annealing(f, [(-3, 3)], maxiter=9, seed=1).fun
    ),
}
DERIVATIVES = {
    **MODES,
    "jax": lambda f: jax.jit(jax.grad(lambda a: f(optimize, a)))(jnp.asarray(A)),
    "torch": lambda f: torch.func.grad(lambda a: f(optimize, a))(
        torch.tensor(A, dtype=torch.float64)
    ),
}


@pytest.mark.covering(every=15)
@pytest.mark.parametrize("host", DERIVATIVES)
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("kink", KINKS)
def test_a_value_at_a_kink_has_none(kink, search, host):
    xp = {"jax": jnp, "torch": torch}.get(host, np)

    def program(module, a):
        return SEARCHES[search](module, lambda x: KINKS[kink](xp, x, a))

    with jax.enable_x64(True):
        if host == "jax":
            assert np.isnan(DERIVATIVES[host](program))
            return
        with pytest.raises(rc.UnsupportedError, match="no smooth optimum"):
            DERIVATIVES[host](program)


@pytest.mark.parametrize("kink", KINKS)
def test_smooth_sides_of_a_kink_do_not_matter(kink):
    """The minimum is far from the kinks, where the objective is smooth."""

    def value(a):
        def f(x):
            return KINKS[kink](np, x, a) + 4.0 * (x - 9.0 * a) ** 2

        return scipy.optimize.minimize_scalar(f).fun

    step = 1e-4
    expected = (value(A + step) - value(A - step)) / (2 * step)
    np.testing.assert_allclose(grad(value)(A), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, a: m.curve_fit(lambda x, p: p * x * a, [1.0, 2.0], [1.0, 2.0],
                                  nan_policy="omit"), "nan_policy"),
        (lambda m, a: m.least_squares(square, [1.0], args=(a,), loss=np.log),
         "function as loss"),
        (lambda m, a: m.brute(square, ((0, 1),), (a,), finish=None), "finish=None"),
        (lambda m, a: m.linprog([a], integrality=[1]), "integrality"),
        (lambda m, a: m.differential_evolution(square, [(0, 1)], (a,),
                                               vectorized=True), "vectorized"),
    ],
)  # fmt: skip
def test_options_without_a_rule_are_errors(call, words):
    with pytest.raises(rc.UnsupportedError, match=words):
        grad(lambda a: call(scipy.optimize, a)[0])(A)


def test_other_fields_have_no_derivative():
    def simplex(a):
        found = scipy.optimize.minimize(square, [0.0], (a,), method="Nelder-Mead")
        return found.final_simplex[0][0, 0]

    with pytest.raises(rc.DerivativeNotImplemented, match="compute it from x"):
        grad(simplex)(A)


@pytest.mark.parametrize("field", ["fjac", "qtf"])
def test_other_parts_of_a_fit_have_no_derivative(field):
    def part(a):
        found = scipy.optimize.curve_fit(
            lambda x, p, q: p * x + q * a, DATA, DATA**2, full_output=True
        )
        return np.sum(found[2][field])

    with pytest.raises(rc.DerivativeNotImplemented, match="compute it from popt"):
        grad(part)(A)


def test_a_covariance_that_is_infinite_has_no_derivative():
    def spread(a):
        with pytest.warns(scipy.optimize.OptimizeWarning):
            found = scipy.optimize.curve_fit(lambda x, p: p * x * a, [1.0], [A])
        return found[1].sum(), found[0].sum()

    with pytest.raises(rc.DerivativeNotImplemented, match="absolute_sigma=True"):
        grad(lambda a: spread(a)[0])(A)
    np.testing.assert_allclose(grad(lambda a: spread(a)[1])(A), -1.0 / A)


def test_a_moving_limit_in_an_object_is_an_error():
    def f(a):
        return scipy.optimize.minimize(
            square, [0.0], (3.0,), bounds=scipy.optimize.Bounds([0.0], [a])
        ).x[0]

    with pytest.raises(UnsupportedProgram, match="must have a rule"):
        grad(f)(A)
