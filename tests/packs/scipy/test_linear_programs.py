"""Linear programs: differences of SciPy's own solutions, which are exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import grad, jacfwd, jacrev
from rules_scipy import optimize

ROWS = np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 0.5]])
# Three costs, two limits, a factor of the first row, the right side of an equation.
P = np.array([-3.0, -5.0, -1.0, 4.0, 6.0, 1.0, 0.5])


def solved(module, p):
    """The solution, the value and the multipliers of the limits."""
    xp = rc.array_namespace(p)
    rows = xp.asarray(ROWS, dtype=p.dtype)
    found = module.linprog(
        p[:3], xp.stack([rows[0] * p[5], rows[1]]), p[3:5],
        xp.asarray([[0.0, 0.0, 1.0]], dtype=p.dtype), xp.stack([p[6]]),
        [(0.0, None), (0.0, None), (0.0, 5.0)],
    )  # fmt: skip
    multipliers = found.ineqlin.marginals
    return xp.stack([*found.x, found.fun, *multipliers])


def in_jax(transform):
    def derivative(f):
        with jax.enable_x64(True):
            return jax.jit(transform(f))(jnp.asarray(P))

    return derivative


HOSTS = {
    "engine reverse": (scipy.optimize, lambda f: jacrev(f)(P)),
    "engine forward": (scipy.optimize, lambda f: jacfwd(f)(P)),
    "jax reverse": (optimize, in_jax(jax.jacrev)),
    "jax forward": (optimize, in_jax(jax.jacfwd)),
    "torch": (optimize, lambda f: torch.func.jacrev(f)(torch.as_tensor(P))),
}


@pytest.mark.covering(every=5, start=0)
@pytest.mark.parametrize("host", HOSTS)
def test_solution_value_and_multipliers(host):
    module, derivative = HOSTS[host]
    step = 1e-6 * np.eye(7)
    known = [
        (solved(scipy.optimize, P + e) - solved(scipy.optimize, P - e)) / 2e-6
        for e in step
    ]
    found = derivative(lambda p: solved(module, p))
    np.testing.assert_allclose(found, np.stack(known, axis=1), atol=1e-6)


def test_programs_in_whole_numbers():
    def value(c):
        rows = scipy.optimize.LinearConstraint([[1.0, 1.0]], 1.5, 9.0)
        return scipy.optimize.milp(c, integrality=[1, 0], constraints=rows).fun

    np.testing.assert_allclose(grad(value)(np.array([1.3, 2.0])), [1.0, 0.5])


LIMITS = {
    "constraints": lambda b: {"constraints": ([[1.0, 1.0]], b, np.inf)},
    "bounds": lambda b: {"bounds": (b, np.inf)},
}
TRACED = {
    "jax.grad": lambda f: jax.grad(f)(1.5),
    "jax.jit": lambda f: jax.jit(f)(1.5),
    "torch.func": lambda f: torch.func.grad(f)(torch.tensor(1.5)),
    "torch": lambda f: f(torch.tensor(1.5, requires_grad=True)),
}


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("traced", TRACED)
def test_limits_of_programs_in_whole_numbers_are_constants(traced, limits):
    def value(b):
        costs = rc.array_namespace(b).asarray([1.0, 2.0])
        return optimize.milp(costs, integrality=[1, 0], **LIMITS[limits](b)).fun

    with pytest.raises(rc.UnsupportedError, match=f"^{limits} of milp must be const"):
        TRACED[traced](value)


def test_assignments_are_constant():
    cost = np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])

    def total(module, cost):
        rows, columns = module.linear_sum_assignment(cost)
        return cost[rows, columns].sum()

    known = np.eye(3)[[1, 0, 2]]
    found = grad(lambda c: total(scipy.optimize, c))(cost)
    np.testing.assert_array_equal(found, known)
    moving = torch.tensor(cost, requires_grad=True)
    total(optimize, moving).backward()
    np.testing.assert_array_equal(moving.grad, known)
