"""`scipy.integrate.odeint`, with the derivatives of its solutions."""

from __future__ import annotations

import math
import warnings
from typing import Any

import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._functions import Function, Run, if_converged, solve
from rules_scipy._solvers import without_formula

from ._initial_values import as_state, as_time
from ._ode_numbers import Method
from ._quadrature import DECLARED
from ._trajectories import Problem, in_dtype, trajectory

__all__ = ["odeint"]

# Of odeint, where the call has none.
_TOLERANCE = 1.49012e-8


def odeint(
    func: Function, y0: Any, t: Any, args: Any = (), Dfun: Any = None,
    col_deriv: Any = 0, full_output: Any = 0, ml: Any = None, mu: Any = None,
    rtol: Any = None, atol: Any = None, tcrit: Any = None, h0: float = 0.0,
    hmax: float = 0.0, hmin: float = 0.0, ixpr: Any = 0, mxstep: int = 0,
    mxhnil: int = 0, mxordn: int = 12, mxords: int = 5, printmessg: Any = 0,
    tfirst: bool = False,
) -> Any:  # fmt: skip
    """`scipy.integrate.odeint`; the states have derivatives."""
    args = args if isinstance(args, tuple) else (args,)

    def swapped(t: Any, y: Any, *args: Any) -> Any:
        return func(y, t, *args)

    def jacobian(t: Any, y: Any, *args: Any) -> Any:
        return Dfun(t, y, *args) if tfirst else Dfun(y, t, *args)

    fun = func if tfirst else swapped
    start = vector(as_state(y0, fun, args, t))
    times = as_time(t, start)
    run = Run(
        _run_odeint, 0, full_output=full_output,
        options=rc.ignore_derivatives({
            "col_deriv": col_deriv, "ml": ml, "mu": mu, "rtol": rtol, "atol": atol,
            "tcrit": tcrit, "h0": h0, "hmax": hmax, "hmin": hmin, "ixpr": ixpr,
            "mxstep": mxstep, "mxhnil": mxhnil, "mxordn": mxordn, "mxords": mxords,
            "printmessg": printmessg,
        }),
    )  # fmt: skip
    functions = fun, None if Dfun is None else jacobian
    rows, success, _, others = odeint_states(functions, args, start, times, run)
    shared = {"max_step": hmax or math.inf, "min_step": hmin}
    precise, small = (_TOLERANCE if x is None else x for x in (rtol, atol))
    method = Method("LSODA", precise, small, rc.ignore_derivatives(shared))
    problem = Problem(method, "odeint", start.shape[0])
    rows = trajectory(fun, args, start, times[0], times, rows, problem)
    rows = if_converged(rows, success, "odeint")
    if not full_output:
        return rows
    return rows, without_formula(others.get("info", {}), rows, _FIELD)


_FIELD = (
    "derivative of scipy.integrate.odeint in an entry of what full_output adds: steps "
    "and times of the solver depend on what it does; compute them from the states"
)


@rc.primitive
def odeint_states(functions: Any, args: Any, y0: Any, times: Any, run: Run) -> Any:
    """SciPy's result, without derivative."""
    xp = rc.array_namespace(y0)
    rows = xp.zeros((times.shape[0], y0.shape[0]), dtype=y0.dtype)
    examples = [(times[0], y0)] * len(functions)
    found, *rest = solve(run, functions, args, (y0, times), examples, rows)
    return in_dtype(found, y0), *rest


rc.non_differentiable(odeint_states)


def _run_odeint(settings: Any, functions: Any, y0: Any, times: Any) -> Any:
    fun, jac = functions
    options, shown = settings["options"], settings["full_output"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y, info = _sp.odeint(
            fun, y0, times, Dfun=jac, full_output=1, tfirst=True, **options
        )
    for warning in caught:
        if not shown or not issubclass(warning.category, _sp.ODEintWarning):
            warnings.warn(warning.message, warning.category, stacklevel=2)
    success = info["message"] == "Integration successful."
    return y, int(success), (), {"info": info}


DECLARED.cover(_sp.odeint, odeint)
