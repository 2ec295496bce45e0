"""SciPy's minimisers, differentiated by the conditions that a minimum satisfies."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import scipy.optimize as _sp

from rules_scipy._callbacks import unwatched
from rules_scipy._functions import Function, Run, if_converged
from rules_scipy._solvers import but, result_of, without_formula

from ._arguments import DECLARED, functions_of, tuple_of
from ._constraints import constraints_of, functions_in, joined, rebuilt
from ._optima import best_value, gradient, optimum, with_formula
from ._searches import pairs_of, search, vector

__all__ = ["minimize"]

# These return the gradient as `jac`.
_WITH_GRADIENT = frozenset((
    "bfgs", "cg", "dogleg", "l-bfgs-b", "newton-cg", "slsqp", "tnc", "trust-exact",
    "trust-krylov", "trust-ncg",
))  # fmt: skip


# These ignore bounds, with a warning.
_WITHOUT_BOUNDS = frozenset((
    "bfgs", "cg", "dogleg", "newton-cg", "trust-exact", "trust-krylov", "trust-ncg",
))  # fmt: skip


def minimize(
    fun: Function, x0: Any, args: Any = (), method: Any = None, jac: Any = None,
    hess: Any = None, hessp: Any = None, bounds: Any = None, constraints: Any = (),
    tol: float | None = None, callback: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.minimize`; the result's `x`, `fun` and `jac` have derivatives."""
    args, name = tuple_of(args), _name(method, bounds, constraints)
    objective, slopes = functions_of(fun, jac)
    x0 = vector(x0, args, fun, bounds, constraints)
    rows = constraints_of(constraints, x0)
    own, lower, upper = joined(rows, *pairs_of(bounds, x0))
    run = Run(
        _run_minimize, 3, method=method, tol=tol, callback=callback, options=options,
        kinds=(_kind(jac), _kind(hess), _bounds_kind(bounds)),
        rows=[(c.size, c.given) for c in rows],
    )  # fmt: skip
    calls = (
        objective,
        slopes,
        if_callable(hess),
        if_callable(hessp),
        *functions_in(rows),
    )
    n, start = x0.shape[0], (x0, lower, upper)
    y, success, counts, others = search(calls, args, start, run, 2 * n + 1, {3: x0})
    if name in _WITHOUT_BOUNDS:
        lower, upper = pairs_of(None, x0)
    functions, label = (objective, own), f"minimize(method={name!r})"
    found = y[:n], y[n], success
    x, value = local_minimum(found, functions, args, lower, upper, label, run)
    counted = {"success": success == 1, "status": counts[0], "nfev": counts[1],
               "nit": counts[2]}  # fmt: skip
    fields = {**(without_formula(others, x, FIELD) or counted), "x": x, "fun": value}
    if name in _WITH_GRADIENT and (not others or "jac" in others):
        fields["jac"] = with_formula(y[n + 1 :], gradient, (objective,), (x, args))
    return result_of(fields)


FIELD = (
    "derivative of a minimiser of scipy.optimize in a field of its result other than "
    "x, fun and jac; compute it from x"
)


def local_minimum(
    found: Any, functions: Any, args: Any, lower: Any, upper: Any, name: str, run: Run
) -> tuple[Any, Any]:
    """The minimum and the value there.

    Args:
        found: Both, as a search found them, and whether it converged.
        functions: The objective and the constraints.
        args: Their arguments after the first.
        lower: The lower limits of both.
        upper: The upper limits.
        name: The solver and its method.
        run: The call of SciPy.
    """
    x, value, success = found
    problem = functions, args, lower, upper
    x = if_converged(optimum(x, *problem, x.shape[0], name), success, name)
    value = if_converged(best_value(value, x, *problem, name), success, name)
    return unwatched(x, run.settings, name), unwatched(value, run.settings, name)


def _name(method: Any, bounds: Any, constraints: Any) -> str:
    if method is None:
        constrained = isinstance(constraints, dict) or not _is_empty(constraints)
        return "slsqp" if constrained else "bfgs" if bounds is None else "l-bfgs-b"
    return method.lower() if isinstance(method, str) else "custom"


def _is_empty(constraints: Any) -> bool:
    return isinstance(constraints, list | tuple) and not constraints


def if_callable(f: Any) -> Any:
    return f if callable(f) else None


def _kind(jac: Any) -> Any:
    """The function that SciPy takes in place of the user's."""
    return None if callable(jac) or jac is True else jac


def _bounds_kind(bounds: Any) -> Any:
    """None without bounds; else whether they must hold on the way."""
    return None if bounds is None else getattr(bounds, "keep_feasible", False)


def _run_minimize(
    settings: Any, functions: Any, x0: Any, lower: Any, upper: Any
) -> Any:
    fun, jac, hess, hessp, *rest = functions
    given = {k: v for k, v in settings.items() if k not in ("kinds", "rows")}
    of_jac, of_hess, feasible = settings["kinds"]
    n, bounds = len(x0), None
    if feasible is not None:
        bounds = _sp.Bounds(lower[:n], upper[:n], feasible)
    found = _sp.minimize(
        # SciPy writes to strategies such as BFGS().
        fun, x0, jac=jac or of_jac, hess=hess or deepcopy(of_hess), hessp=hessp,
        bounds=bounds,
        constraints=_rebuilt(settings["rows"], rest, lower[n:], upper[n:]), **given,
    )  # fmt: skip
    slopes = np.full(n, np.nan)
    jac = found.get("jac")  # a list, one for each constraint, of trust-constr
    if isinstance(jac, np.ndarray) and jac.shape == (n,):
        slopes = jac
    counts = tuple(int(found.get(k, -1)) for k in ("status", "nfev", "nit"))
    others = but(found, "x", "fun")
    y = np.concatenate([found.x, [np.asarray(found.fun).item()], slopes])
    return y, int(found.success), counts, others


def _rebuilt(rows: Any, functions: Any, lower: Any, upper: Any) -> Any:
    """SciPy's constraints."""
    found, start = [], 0
    for i, (size, given) in enumerate(rows):
        part = slice(start, start + size)
        calls = functions[2 * i], functions[2 * i + 1]
        found.append(rebuilt(given, *calls, lower[part], upper[part]))
        start += size
    return found or ()


DECLARED.cover(_sp.minimize, minimize)
