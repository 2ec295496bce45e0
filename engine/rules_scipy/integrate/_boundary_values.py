"""`scipy.integrate.solve_bvp`, differentiated by the equations of its collocation.

A derivative of the solution is that of their root (`_collocation`), at a mesh that
moves with the given one.

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def middle(a):  # of y'' = a² y with y(0) = y(1) = 1, which is 1 / cosh(a / 2)
...     def fun(x, y):
...         return jnp.stack([y[1], a * a * y[0]])
...
...     def bc(start, end):
...         return jnp.stack([start[0] - 1.0, end[0] - 1.0])
...
...     mesh, guess = jnp.linspace(0.0, 1.0, 9), jnp.ones((2, 9))
...     return integrate.solve_bvp(fun, bc, mesh, guess, nodes=17).sol(0.5)[0]
>>> float(jax.grad(middle)(1.0).round(3))
-0.2...
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as _sp
from scipy.integrate._bvp import BVPResult

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._functions import (
    Function,
    Run,
    if_converged,
    solve,
)
from rules_scipy._solvers import without_formula
from rules_scipy.interpolate import CubicHermiteSpline

from ._collocation import array_of, collocated, parts_of_solution, rates
from ._initial_values import Unknown, as_state, as_time
from ._moving_jumps import if_unmoved
from ._quadrature import DECLARED
from ._searches import known_path_run
from ._trajectories import carried, in_dtype

__all__ = ["solve_bvp"]


def solve_bvp(
    fun: Function, bc: Function, x: Any, y: Any, p: Any = None, S: Any = None,
    fun_jac: Any = None, bc_jac: Any = None, tol: float = 1e-3, max_nodes: int = 1000,
    verbose: int = 0, bc_tol: Any = None, *, nodes: int | None = None,
) -> Any:  # fmt: skip
    """`scipy.integrate.solve_bvp`; `sol`, `p`, `x`, `y` and `yp` have derivatives.

    They are as exact as the solution: give a `tol` that suits both.

    Args:
        fun: As in SciPy, like all arguments but the last.
        bc: As in SciPy.
        x: Moves the mesh, and so both ends.
        y: The guess, without derivative.
        p: The guess of the parameters, without derivative.
        S: Has derivatives.
        fun_jac: Used in NumPy.
        bc_jac: Used in NumPy.
        tol: As in SciPy.
        max_nodes: As in SciPy.
        verbose: As in SciPy.
        bc_tol: As in SciPy.
        nodes: How many nodes the result has; the solver's mesh is refined to them.
            Traced code must know it.
    """
    start = as_state(y, fun, bc, x, p, S)
    _refuse_complex(start)
    mesh = as_time(x, start)
    guess = start[0, :0] if p is None else as_state(p, start)
    n, k = start.shape[0], guess.shape[0]
    own = not isinstance(start, np.ndarray)
    run = Run(
        _run_solve_bvp, 3, columns=own, nodes=nodes, has_parameters=p is not None,
        options={"tol": tol, "max_nodes": max_nodes, "verbose": verbose,
                 "bc_tol": bc_tol},
    )  # fmt: skip
    jacobians = (None, None) if own else (fun_jac, bc_jac)
    given = (
        (mesh, start, guess) if S is None else (mesh, start, guess, as_state(S, start))
    )
    table, success, counts, others = boundary_table(
        (fun, bc, *jacobians), given, run, nodes
    )
    m = (table.shape[0] - k) // (n + 1)
    at = carried(table[:m], _moved_mesh(table[:m], mesh))
    z, problem = table[m:], (n, m, k if p is not None else -1)
    z = collocated(z, fun, bc, at, S, problem)
    z = _if_smooth(z, fun, at, problem)
    solver = "solve_bvp" if nodes is None else f"solve_bvp(nodes={nodes})"
    z = if_converged(z, success, solver)
    rows, parameters = parts_of_solution(z, problem)
    slopes = rates(fun, at, rows, parameters, S, at[0], problem)
    fields = {"status": counts[0], "niter": counts[1], "success": success == 1}
    fields |= without_formula(others, z, _FIELD)
    sol = CubicHermiteSpline(at, rows, slopes, axis=1)
    shown = {"sol": sol, "p": None if p is None else parameters, "x": at, "y": rows}
    return BVPResult({**fields, **shown, "yp": slopes})


_FIELD = (
    "derivative of scipy.integrate.solve_bvp in a field of its result other than sol, "
    "p, x, y and yp; compute it from these"
)
_NODES = (
    "solve_bvp chooses its mesh while it runs, so that traced code does not know how "
    "many nodes there are. Give nodes, to which the mesh is refined."
)


def _refuse_complex(start: Any) -> None:
    if rc.array_namespace(start).isdtype(start.dtype, "complex floating"):
        message = (
            "solve_bvp has no rule for complex solutions: solve for the real and the "
            "imaginary part."
        )
        raise rc.UnsupportedError(message)


rc.non_differentiable(_refuse_complex)


# in numbers


@rc.primitive
def boundary_table(functions: Any, given: Any, run: Run, nodes: int | None) -> Any:
    """SciPy's mesh, solution and parameters as one vector, without derivative."""
    mesh, start, guess, *_ = given
    n, k = start.shape[0], guess.shape[0]
    xp, result = rc.array_namespace(start), Unknown(start, _NODES)
    if nodes is not None:
        result = xp.zeros((nodes * (n + 1) + k,), dtype=start.dtype)
    last = (guess,) if run.settings["has_parameters"] else ()
    column = start[:, 0]
    of_fun, of_bc = (mesh, start, *last), (column, column, *last)
    examples = [of_fun, of_bc, of_fun, of_bc]
    found, *rest = solve(run, functions, (), given, examples, result)
    return in_dtype(found, start), *rest


rc.non_differentiable(boundary_table)


def _run_solve_bvp(
    settings: Any, functions: Any, x: Any, y: Any, p: Any, S: Any = None
) -> Any:
    fun, bc, fun_jac, bc_jac = functions
    fun = _by_columns(fun, len(x)) if settings["columns"] else fun
    found = _sp.solve_bvp(
        fun, bc, x, y.copy(), p if settings["has_parameters"] else None, S,
        fun_jac, bc_jac, **settings["options"],
    )  # fmt: skip
    own = ("sol", "p", "x", "y", "yp")
    others = {name: value for name, value in found.items() if name not in own}
    counts = int(found.status), int(found.niter), len(found.x)
    mesh, rows, success = found.x, found.y, found.success
    if settings["nodes"] is not None:
        mesh = _refined(mesh, settings["nodes"])
        success = success and len(found.x) <= settings["nodes"]
        rows = found.sol(mesh)
    parameters = p if found.p is None else found.p
    y = np.concatenate([mesh, rows.reshape(-1), parameters])
    return y, int(success), counts, others


def _by_columns(fun: Any, count: int) -> Any:
    """A function that is called with so many nodes at a time."""

    def part(i: int, x: Any, y: Any, p: Any) -> Any:
        at = np.arange(i, i + count).clip(0, len(x) - 1)  # the last one again
        return np.reshape(fun(x[at], y[:, at], *p), (len(y), count))

    def called(x: Any, y: Any, *p: Any) -> Any:
        columns = [part(i, x, y, p) for i in range(0, len(x), count)]
        return np.concatenate(columns, axis=1)[:, : len(x)]

    return called


def _refined(mesh: Any, nodes: int) -> Any:
    """A mesh of so many nodes: the longest intervals are halved."""
    own = list(mesh[:nodes])
    while len(own) < nodes:
        longest = int(np.argmax(np.diff(own)))
        own.insert(longest + 1, 0.5 * (own[longest] + own[longest + 1]))
    return np.asarray(own)


# the mesh, and jumps


def _moved_mesh(at: Any, mesh: Any) -> Any:
    """The nodes of the solution as fixed parts of the intervals of the given mesh."""
    i, part = _places(rc.ignore_derivatives(at), rc.ignore_derivatives(mesh))
    xp = rc.array_namespace(mesh)
    low = xp.take(mesh, i, axis=0)
    return low + part * (xp.take(mesh, i + 1, axis=0) - low)


def _places(at: Any, mesh: Any) -> tuple[Any, Any]:
    xp = rc.array_namespace(mesh)
    i = xp.searchsorted(mesh[1:-1], at, side="right")
    low, high = xp.take(mesh, i, axis=0), xp.take(mesh, i + 1, axis=0)
    return i, (at - low) / (high - low)


rc.non_differentiable(_places)


def _if_smooth(z: Any, fun: Any, at: Any, problem: Any) -> Any:
    """The solution, which has no derivative in what moves a jump of `fun` along it."""
    y, p = parts_of_solution(rc.ignore_derivatives(z), problem)
    at = rc.ignore_derivatives(at)
    constant = p[:, None] + 0.0 * at[None, :]
    states = concat([y, constant])
    run = known_path_run(None if isinstance(z, np.ndarray) else problem[1])
    given = (problem,), (at, states.T), (at, states), run
    return if_unmoved(z, _rates_of_states, fun, *given, "solve_bvp")


def _rates_of_states(fun: Any, args: Any, x: Any, states: Any) -> Any:
    """The derivative of states, in which the parameters are constant."""
    (n, _, k) = args[0]
    y, p = states[:n, ...], states[n:, 0]
    f = array_of(fun(x, y) if k < 0 else fun(x, y, p), y)
    return concat([f, 0.0 * states[n:, ...]])


DECLARED.cover(_sp.solve_bvp, solve_bvp)
