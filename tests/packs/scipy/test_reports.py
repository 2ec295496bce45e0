"""Reports of solvers have SciPy's fields, in order, and classes inside a derivative."""

import numpy as np
import pytest
from scipy import integrate, optimize

from rules_autodiff import grad, vjp

TARGET = np.array([1.0, 2.0])
ROWS = np.array([[1.0, 2.0], [0.5, 1.5], [1.0, 1.0]])


def misfit(s):
    return lambda p: np.sum((s * p - 1.0) ** 2)


def line(s):
    return lambda p: s * p - 1.0


def minimized(method):
    return lambda s: optimize.minimize(misfit(s), np.zeros(2), method=method)


def solved(**given):
    return lambda s: integrate.solve_ivp(
        lambda t, y: -s * y, (0.0, 1.0), [1.0], **given
    )


SOLVERS = {
    "lsq_linear": lambda s: optimize.lsq_linear(s * ROWS, np.arange(3.0)),
    "least_squares": lambda s: optimize.least_squares(
        lambda p: s * p - TARGET, np.zeros(2)
    ),
    **{name: minimized(name) for name in ("BFGS", "Nelder-Mead", "SLSQP", "L-BFGS-B")},
    "minimize_scalar": lambda s: optimize.minimize_scalar(lambda p: (s * p - 1.0) ** 2),
    "bounded": lambda s: optimize.minimize_scalar(
        lambda p: (s * p - 1.0) ** 2, bounds=(0.0, 3.0), method="bounded"
    ),
    "root": lambda s: optimize.root(lambda p: s * p - TARGET, np.zeros(2)),
    "lm": lambda s: optimize.root(lambda p: s * p - TARGET, np.zeros(2), method="lm"),
    "root_scalar": lambda s: optimize.root_scalar(line(s), bracket=(0.0, 3.0)),
    "brentq": lambda s: optimize.brentq(line(s), 0.0, 3.0, full_output=True)[1],
    "linprog": lambda s: optimize.linprog(s * TARGET, [[-1.0, -1.0]], [-1.0]),
    "milp": lambda s: optimize.milp(s * TARGET),
    "shgo": lambda s: optimize.shgo(misfit(s), [(0.0, 3.0)]),
    "steps": solved(),
    "times": solved(t_eval=[0.0, 1.0]),
    "events": solved(events=lambda t, y: y[0] - 0.5),
}


def told(report):
    """Names of the fields, and texts and classes of their values."""
    return [
        (name, x if type(x) is str else type(x).__name__) for name, x in report.items()
    ]


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("solver", SOLVERS)
def test_reports_are_scipys(solver):
    solve = SOLVERS[solver]

    def f(s):
        return 2.0 * s, told(solve(s))

    found = grad(f, has_aux=True)(1.5)[1]
    # The value of a program is one of NumPy's numbers in rules.
    plain = told(solve(1.5))
    assert found == [
        (name, "float64" if solver in ("linprog", "milp") and name == "fun" else what)
        for name, what in plain
    ]


def test_a_report_that_a_program_makes():
    """Its class is a dict whose `__init__` takes other things than contents."""

    def f(root):
        made = optimize.RootResults(root, 3, 4, 0, "brentq")
        return made.root * made.iterations, told(made)

    value, pullback, found = vjp(f, 1.5, has_aux=True)
    assert (value, pullback(1.0)) == (4.5, (3.0,))
    assert found == told(optimize.RootResults(1.5, 3, 4, 0, "brentq"))
