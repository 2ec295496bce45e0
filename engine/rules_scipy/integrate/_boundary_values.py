r"""`scipy.integrate.solve_bvp`, differentiated by the equations of its collocation.

On each interval of the mesh the solution is a cubic with

$$ y_{i+1} - y_i = \tfrac{h}{6} (f_i + 4 f_{i+1/2} + f_{i+1}), $$

and with $bc(y_0, y_m, p) = 0$ there are as many equations as unknowns: a derivative of
the solution is that of the root, at a mesh that moves with the given one.

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
from rules_scipy._functions import (
    Function,
    Run,
    if_converged,
    solve,
    stacked,
)
from rules_scipy._solvers import without_formula
from rules_scipy.interpolate import CubicHermiteSpline

from ._initial_values import Unknown, as_state, as_time
from ._moving_jumps import if_unmoved, known_path_run
from ._quadrature import DECLARED
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
    rows, parameters = _parts(z, problem)
    slopes = _rates(fun, at, rows, parameters, S, at[0], problem)
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
    of_fun, of_bc = (mesh[:1], start[:, :1], *last), (column, column, *last)
    examples = [of_fun, of_bc, of_fun, of_bc]
    found, *rest = solve(run, functions, (), given, examples, result)
    return in_dtype(found, start), *rest


rc.non_differentiable(boundary_table)


def _run_solve_bvp(
    settings: Any, functions: Any, x: Any, y: Any, p: Any, S: Any = None
) -> Any:
    fun, bc, fun_jac, bc_jac = functions
    fun = _by_columns(fun) if settings["columns"] else fun
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


def _by_columns(fun: Any) -> Any:
    """A function that is called with one node at a time."""

    def called(x: Any, y: Any, *p: Any) -> Any:
        columns = [fun(x[i : i + 1], y[:, i : i + 1], *p) for i in range(len(x))]
        return np.concatenate([np.reshape(c, (len(y), 1)) for c in columns], axis=1)

    return called


def _refined(mesh: Any, nodes: int) -> Any:
    """A mesh of so many nodes: the longest intervals are halved."""
    own = list(mesh[:nodes])
    while len(own) < nodes:
        longest = int(np.argmax(np.diff(own)))
        own.insert(longest + 1, 0.5 * (own[longest] + own[longest + 1]))
    return np.asarray(own)


# the equations


def _parts(z: Any, problem: Any) -> tuple[Any, Any]:
    n, m, _ = problem
    return z[: n * m].reshape((n, m)), z[n * m :]


def _array(f: Any, y: Any) -> Any:
    xp = rc.array_namespace(y)
    f = stacked(xp, f) if isinstance(f, list | tuple) else f
    return f.reshape(y.shape)


def _rates(fun: Any, x: Any, y: Any, p: Any, S: Any, a: Any, problem: Any) -> Any:
    """The derivative of the solution, at nodes or between them."""
    f = _array(fun(x, y) if problem[2] < 0 else fun(x, y, p), y)
    if S is None:
        return f
    xp = rc.array_namespace(y)
    S = as_state(S, y)
    if x.shape[0] < problem[1]:
        return f + (S @ y) / (x - a)
    first = xp.linalg.pinv(xp.eye(y.shape[0], dtype=y.dtype) - S) @ f[:, :1]
    return xp.concat([first, f[:, 1:] + (S @ y[:, 1:]) / (x[1:] - a)], axis=1)


def _known(z: Any, fun: Any, bc: Any, x: Any, S: Any, problem: Any) -> Any:
    return z * 1.0


def _equations(
    z: Any, known: Any, fun: Any, bc: Any, x: Any, S: Any, problem: Any
) -> Any:
    (y, p), xp = _parts(z, problem), rc.array_namespace(z)
    f, h = _rates(fun, x, y, p, S, x[0], problem), x[1:] - x[:-1]
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (f[:, 1:] - f[:, :-1])
    between = _rates(fun, x[:-1] + 0.5 * h, middle, p, S, x[0], problem)
    rise = h / 6.0 * (f[:, :-1] + f[:, 1:] + 4.0 * between)
    r = y[:, 1:] - y[:, :-1] - rise
    ends = y[:, 0], y[:, -1]
    misfit = bc(*ends) if problem[2] < 0 else bc(*ends, p)
    misfit = stacked(xp, misfit) if isinstance(misfit, list | tuple) else misfit
    return xp.concat([r.reshape((-1,)), misfit.reshape((-1,))])


collocated: rc.Primitive = rc.implicit(_known, _equations)


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
    y, p = _parts(rc.ignore_derivatives(z), problem)
    xp, at = rc.array_namespace(z), rc.ignore_derivatives(at)
    constant = p[None, :] + 0.0 * at[:, None]
    states = xp.concat([y.T, constant], axis=1)
    given = (problem,), (at, states), (at[0], states[0, :]), known_path_run()
    return if_unmoved(z, _rate_of_state, fun, *given, "solve_bvp")


def _rate_of_state(fun: Any, args: Any, t: Any, state: Any) -> Any:
    """The derivative of a state, in which the parameters are constant."""
    (n, _, k), x = args[0], t.reshape((1,))
    y, p = state[:n].reshape((n, 1)), state[n:]
    f = _array(fun(x, y) if k < 0 else fun(x, y, p), y)
    return rc.array_namespace(state).concat([f.reshape((-1,)), 0.0 * p])


DECLARED.cover(_sp.solve_bvp, solve_bvp)
