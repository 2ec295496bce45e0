"""SciPy's linear least squares with limits, by the conditions of their minima."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._functions import Run, if_converged, like
from rules_scipy._solvers import but, result_of, without_formula

from ._arguments import DECLARED
from ._optima import best_value, called, optimum, with_formula
from ._searches import ends_of, limits_of, search

__all__ = ["lsq_linear", "nnls"]

_DEFAULT = object()

_FIELD = (
    "derivative of scipy.optimize.lsq_linear in a field of its result other than x, "
    "cost and fun; compute it from x"
)


def _misfit(x: Any, A: Any, b: Any) -> Any:
    return A @ x - b


def _cost(x: Any, A: Any, b: Any) -> Any:
    r = _misfit(x, A, b)
    return 0.5 * (r * r).sum()


def _norm(_: Any, cost: Any, x: Any, A: Any, b: Any) -> Any:
    """The norm of the misfit; of rounding errors it is zero, and its derivative too."""
    xp = rc.array_namespace(x)
    size = xp.max(xp.abs(b)) + xp.max(xp.abs(A) @ xp.abs(x))
    exact = 2.0 * cost <= (_ROUNDING * xp.finfo(x.dtype).eps * size) ** 2
    zero = 0.0 * cost
    return xp.where(exact, zero, xp.sqrt(xp.where(exact, zero + 1.0, 2.0 * cost)))


_ROUNDING = 100.0


def _dense(A: Any, solver: str, *others: Any) -> Any:
    if hasattr(A, "toarray") or (hasattr(A, "matvec") and not rc.is_array(A)):
        message = (
            f"{solver} has rules for dense matrices only, but A is a "
            f"{type(A).__name__}. Pass A.toarray(), or minimize the sum of squares."
        )
        raise rc.UnsupportedError(message)
    return like(A, *others)


def _unknowns(A: Any) -> Any:
    return rc.array_namespace(A).zeros((A.shape[1],), dtype=A.dtype)


def lsq_linear(
    A: Any, b: Any, bounds: Any = (-np.inf, np.inf), method: str = "trf",
    tol: float = 1e-10, lsq_solver: Any = None, lsmr_tol: Any = None,
    max_iter: Any = None, verbose: Any = 0, *, lsmr_maxiter: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.lsq_linear`; `x`, `cost` and `fun` have derivatives."""
    A = _dense(A, "lsq_linear", b, bounds)
    A = A if len(A.shape) > 1 else A.reshape((1, -1))  # one equation
    b = vector(like(b, A))
    x0 = _unknowns(A)
    lower, upper = ends_of(bounds, x0)
    run = Run(
        _run_lsq_linear, 2 + x0.shape[0], method=method, tol=tol,
        lsq_solver=lsq_solver, lsmr_tol=lsmr_tol, max_iter=max_iter, verbose=verbose,
        lsmr_maxiter=lsmr_maxiter,
    )  # fmt: skip
    (m, n), start = A.shape, (x0, A, b, lower, upper)
    y, success, counts, rest = search((None,), (), start, run, n + 1 + m)
    name = f"lsq_linear(method={method!r})"
    problem = (_cost, None), (A, b), lower, upper
    x = if_converged(optimum(y[:n], *problem, n, name), success, name)
    value = if_converged(best_value(y[n], x, *problem, name), success, name)
    r = with_formula(y[n + 1 :], called, (_misfit,), (x, (A, b)))
    counted = {"success": success == 1, "status": counts[0], "nit": counts[1],
               "active_mask": counts[2:]}  # fmt: skip
    fields = without_formula(rest, x, _FIELD) or counted
    return result_of({**fields, "x": x, "cost": value, "fun": r})


def _run_lsq_linear(
    settings: Any, functions: Any, x0: Any, A: Any, b: Any, lower: Any, upper: Any
) -> Any:
    found = _sp.lsq_linear(A, b, bounds=(lower, upper), **settings)
    others = but(found, "x", "cost", "fun")
    counts = (int(found.status), int(found.nit), *map(int, found.active_mask))
    y = np.concatenate([found.x, [found.cost], found.fun])
    return y, int(found.success), counts, others


def nnls(A: Any, b: Any, *, maxiter: Any = None, atol: Any = _DEFAULT) -> Any:
    """`scipy.optimize.nnls`; the solution and the norm of the misfit."""
    A = _dense(A, "nnls", b)
    b = like(b, A)
    x0 = _unknowns(A)
    lower, upper = limits_of(np.zeros(A.shape[1]), None, x0)
    given = {"maxiter": maxiter} | ({} if atol is _DEFAULT else {"atol": atol})
    n, run = A.shape[1], Run(_run_nnls, 0, **given)
    y, _, _, _ = search((None,), (), (x0, A, b), run, n + 1)
    problem = (_cost, None), (A, b), lower, upper
    x = optimum(y[:n], *problem, n, "nnls")
    cost = best_value(0.5 * y[n] ** 2, x, *problem, "nnls")
    return x, with_formula(y[n], _norm, (), (cost, x, A, b))


def _run_nnls(settings: Any, functions: Any, x0: Any, A: Any, b: Any) -> Any:
    x, norm = _sp.nnls(A, b, **settings)  # raises an error if it does not converge
    return np.concatenate([x, [norm]]), 1, (), {}


for _own in (lsq_linear, nnls):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
