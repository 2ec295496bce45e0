r"""The equations of a boundary value problem's collocation, and the rule of their root.

On each interval of the mesh the solution is a cubic with

$$ y_{i+1} - y_i = \tfrac{h}{6} (f_i + 4 f_{i+1/2} + f_{i+1}), $$

and with $bc(y_0, y_m, p) = 0$ there are as many equations as unknowns. An equation of
an interval has two nodes and the parameters in it, so the matrix of the derivative is
almost block diagonal, and sparse LU factors solve with it.
"""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_scipy._axes import concat
from rules_scipy._functions import Function, stacked

from ._block_systems import solved_adjoint, solved_forwards
from ._initial_values import as_state

__all__ = ["array_of", "collocated", "parts_of_solution", "rates"]


def parts_of_solution(z: Any, problem: Any) -> tuple[Any, Any]:
    """The states at the nodes, `(n, m)`, and the parameters."""
    n, m, _ = problem
    return z[: n * m].reshape((n, m)), z[n * m :]


def array_of(f: Any, y: Any) -> Any:
    """What a function of the states returns, as an array like these."""
    xp = rc.array_namespace(y)
    f = stacked(xp, f) if isinstance(f, list | tuple) else f
    return f.reshape(y.shape)


def rates(fun: Any, x: Any, y: Any, p: Any, S: Any, a: Any, problem: Any) -> Any:
    """The derivative of the solution, at nodes or between them."""
    f = array_of(fun(x, y) if problem[2] < 0 else fun(x, y, p), y)
    if S is None:
        return f
    xp = rc.array_namespace(y)
    S = as_state(S, y)
    if x.shape[0] < problem[1]:
        return f + (S @ y) / (x - a)
    first = xp.linalg.pinv(xp.eye(y.shape[0], dtype=y.dtype) - S) @ f[:, :1]
    return concat([first, f[:, 1:] + (S @ y[:, 1:]) / (x[1:] - a)], axis=1)


def _equations(z: Any, fun: Any, bc: Any, x: Any, S: Any, problem: Any) -> Any:
    (y, p), xp = parts_of_solution(z, problem), rc.array_namespace(z)
    f, h = rates(fun, x, y, p, S, x[0], problem), x[1:] - x[:-1]
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
    between = rates(fun, x[:-1] + 0.5 * h, middle, p, S, x[0], problem)
    rise = h / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * between)
    r = y[:, 1:] - y[:, :-1] - rise
    ends = y[:, 0], y[:, -1]
    misfit = bc(*ends) if problem[2] < 0 else bc(*ends, p)
    misfit = stacked(xp, misfit) if isinstance(misfit, list | tuple) else misfit
    return concat([r.reshape((-1,)), misfit.reshape((-1,))])


# the rule


@rc.primitive
def collocated(
    z: Any, fun: Function, bc: Function, x: Any, S: Any, problem: tuple[int, int, int]
) -> Any:
    """A solution with its parameters, as one vector, with the derivative of the root.

    Args:
        z: The solution, a constant.
        fun: The user's function.
        bc: That of the boundary values.
        x: The mesh.
        S: The singular term.
        problem: How many equations, nodes and parameters there are; -1 for functions
            that take no parameters.
    """
    return z * 1.0


_NAME = "solve_bvp: its equations"


@rc.rrule.define(collocated, config=RuleConfig[HasReverseMode])
def collocated_rrule(
    config: Any, z: Any, fun: Any, bc: Any, x: Any, S: Any, problem: Any
) -> Any:
    """`-(∂r/∂θ)* w` with `(∂r/∂z)* w = dz`."""
    y = collocated(z, fun, bc, x, S, problem)

    def collocated_pullback(dz: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        if isinstance(dz, rc.AbstractZero):
            return none, zero, zero, zero, zero, zero, none
        given = fun, bc, x, S, problem
        config.check_uncut(_NAME, _equations, y, *given)
        _, pull = rrule_via_ad(config, _equations, y, *given)
        w = solved_adjoint(lambda w: pull(w)[1], -dz, _sizes(problem))
        _, _, dfun, dbc, dx, dS, _ = pull(w)
        return none, zero, dfun, dbc, dx, dS, none

    return y, collocated_pullback


@rc.frule.define(collocated, config=RuleConfig[HasForwardsMode])
def collocated_frule(
    config: Any, tangents: Any, z: Any, fun: Any, bc: Any, x: Any, S: Any, problem: Any
) -> Any:
    """`dz` with `∂r/∂z dz = -∂r/∂θ dθ`."""
    y = collocated(z, fun, bc, x, S, problem)
    none, zero = rc.NoTangent(), rc.ZeroTangent()
    given = fun, bc, x, S, problem
    config.check_uncut(_NAME, _equations, y, *given)

    def push(dy: Any, others: Any) -> Any:
        return frule_via_ad(config, (none, dy, *others, none), _equations, y, *given)[1]

    dr = push(zero, tangents[2:6])
    if isinstance(dr, rc.AbstractZero):
        return y, zero
    return y, solved_forwards(lambda dy: push(dy, (zero,) * 4), -dr, _sizes(problem))


def _sizes(problem: Any) -> tuple[int, int, int]:
    n, m, k = problem
    return n, m, max(k, 0)
