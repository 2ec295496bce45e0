"""Limits that are met with a multiplier of zero: an error for each solver."""

import warnings

import numpy as np
import pytest
import scipy.optimize as so

import rules_core as rc
from rules_autodiff import grad, jvp

MET = 0.7
M = np.array([[1.0, 0.2], [0.3, 1.0], [0.5, 0.4]])
T = np.linspace(0.0, 1.0, 6)
START, INSIDE = np.array([1.5, 0.9]), np.array([0.1, 0.05])
BOUNDS, PAIR = [(MET, 5.0), (-4.0, 4.0)], ([MET, -5.0], [5.0, 5.0])
SIZE = MET**2 + 0.3 * MET


def valley(x, a):
    rest = x[1] - 0.3 * x[0]
    return (x[0] - a) ** 2 + 2 * rest**2 + 0.1 * rest**4


def misfits(x, a):
    rest = x[1] - 0.3 * x[0]
    return np.stack([x[0] - a, 1.4 * rest, 0.3 * rest**2])


def line(t, p, q):
    return p * t + q * t * t


def bounded(method):
    return lambda a: so.minimize(
        lambda x: valley(x, a), START, method=method, bounds=BOUNDS
    )


def constrained(method, constraint):
    return lambda a: so.minimize(
        lambda x: valley(x, a), INSIDE, method=method, constraints=constraint
    )


CONSTRAINTS = {
    "dict": {"type": "ineq", "fun": lambda x: SIZE - x[0] ** 2 - x[1]},
    "nonlinear": so.NonlinearConstraint(lambda x: x[0] ** 2 + x[1], -np.inf, SIZE),
    "linear": so.LinearConstraint(np.ones((1, 2)), -np.inf, 1.3 * MET),
}
INNER = ["SLSQP", "trust-constr", "COBYLA", "COBYQA"]
SOLVERS = {
    **{m: bounded(m) for m in ["L-BFGS-B", "TNC", "Nelder-Mead", "Powell", *INNER]},
    **{f"{m} {c}": constrained(m, CONSTRAINTS[c]) for m in INNER for c in CONSTRAINTS},
    **{
        f"least_squares {m}": lambda a, m=m: so.least_squares(
            lambda x: misfits(x, a), START, method=m, bounds=PAIR
        )
        for m in ("trf", "dogbox")
    },
    **{
        f"lsq_linear {m}": lambda a, m=m: so.lsq_linear(
            M, M @ np.array([a, 0.3]), bounds=PAIR, method=m
        )
        for m in ("trf", "bvls")
    },
    "differential_evolution": lambda a: so.differential_evolution(
        lambda x: valley(x, a), [(MET, 3.0), (-2.0, 2.0)], rng=1
    ),
    "shgo": lambda a: so.shgo(lambda x: valley(x, a), [(MET, 3.0), (-2.0, 2.0)]),
    "linprog": lambda a: so.linprog(
        [-1.0, -1.0], A_ub=M[:2], b_ub=M[:2].sum(1), bounds=[(0, a - MET + 1), (0, 9)]
    ),
    "minimize_scalar": lambda a: so.minimize_scalar(
        lambda x: (x - a) ** 2, bounds=(MET, 3), method="bounded"
    ),
}
OTHERS = {
    "nnls": lambda a: so.nnls(M, M @ np.array([a - MET, 0.3]))[0][0],
    "curve_fit": lambda a: so.curve_fit(
        line, T, a * T + 0.3 * T * T, p0=START, bounds=PAIR
    )[0][0],
    "fmin_l_bfgs_b": lambda a: so.fmin_l_bfgs_b(
        lambda x: valley(x, a), START, approx_grad=True, bounds=BOUNDS
    )[0][0],
}


def first(solver):
    return lambda a: np.ravel(solver(a).x)[0]


PROGRAMS = {name: first(solver) for name, solver in SOLVERS.items()} | OTHERS


def waits(name):
    """Of methods and kinds of constraints each is met every day, not each pair."""
    method, _, kind = name.partition(" ")
    pair = method in INNER and kind in CONSTRAINTS
    return pair and INNER.index(method) % 3 != [*CONSTRAINTS].index(kind)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.full] * waits(n)) for n in PROGRAMS],
)
def test_a_limit_that_does_not_hold_the_optimum_back_is_an_error(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for derivative in (grad, lambda f: lambda a: jvp(f, (a,), (1.0,))):
            with pytest.raises(rc.UnsupportedError, match="strict complementarity"):
                derivative(PROGRAMS[name])(MET)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "linprog"])
@pytest.mark.covering(every=6)
def test_beside_it_there_is_a_derivative(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a in (MET - 0.3, MET + 0.3):
            slopes = [grad(PROGRAMS[name])(a), jvp(PROGRAMS[name], (a,), (1.0,))[1]]
            f, h = PROGRAMS[name], 1e-2
            differences = (f(a + h) - f(a - h)) / (2 * h)
            np.testing.assert_allclose(slopes, differences, atol=2e-2)
