"""SciPy's minimisers of a function of one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

from rules_scipy._functions import Function, Run, like
from rules_scipy._solvers import but, result_of, without_formula

from ._arguments import DECLARED, tuple_of
from ._minimizers import FIELD, local_minimum
from ._searches import limits_of, search

__all__ = ["brent", "fminbound", "golden", "minimize_scalar"]


def _minimum(
    fun: Function, args: Any, numbers: Any, limits: Any, run: Run, name: str
) -> Any:
    """`(x, value, success, counts, others)`.

    Args:
        fun: The objective.
        args: Its arguments after the first.
        numbers: Ends of brackets or bounds, which SciPy takes.
        limits: The lower and upper limit, or None for none.
        run: Calls SciPy.
        name: The solver.
    """

    def objective(x: Any, *args: Any) -> Any:
        return fun(x[0], *args)

    zero = like([0.0], args, fun, numbers)
    start = zero, *[like(x, zero) for x in numbers]
    y, success, counts, others = search((objective,), args, start, run, 2)
    lower, upper = limits_of(limits[0], limits[1], zero)
    found = y[:1], y[1], success
    x, value = local_minimum(found, (objective, None), args, lower, upper, name, run)
    return x[0], value, success, counts, others


def minimize_scalar(
    fun: Function, bracket: Any = None, bounds: Any = None, args: Any = (),
    method: Any = None, tol: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.minimize_scalar`; `x` and `fun` have derivatives."""
    chosen = method or ("brent" if bounds is None else "bounded")
    name = f"minimize_scalar(method={chosen!r})"
    numbers = [*(bracket or ()), *(() if bounds is None else bounds)]
    limits = (None, None) if bounds is None else ([bounds[0]], [bounds[1]])
    run = Run(
        _run_minimize_scalar, 2, method=method, tol=tol, options=options,
        sizes=(0 if bracket is None else len(bracket), bounds is not None),
    )  # fmt: skip
    found = _minimum(fun, tuple_of(args), numbers, limits, run, name)
    x, value, success, counts, others = found
    own = {"success": success == 1, "nfev": counts[0], "nit": counts[1]}
    fields = without_formula(others, x, FIELD) or own
    return result_of({**fields, "x": x, "fun": value})


def _called(f: Any) -> Any:
    """A function of a number, of one of a vector."""

    def called(x: Any) -> Any:
        return np.asarray(f(np.asarray([x], dtype=float))).item()

    return called


def _run_minimize_scalar(settings: Any, functions: Any, _: Any, *numbers: Any) -> Any:
    given = {k: v for k, v in settings.items() if k != "sizes"}
    count, bounded = settings["sizes"]
    numbers = tuple(map(float, numbers))
    bracket, bounds = numbers[:count] or None, numbers[count:] if bounded else None
    found = _sp.minimize_scalar(_called(functions[0]), bracket, bounds, **given)
    others = but(found, "x", "fun")
    counts = (found.get("nfev", -1), found.get("nit", -1))
    y = np.asarray([found.x, found.fun], dtype=float)
    return y, int(found.success), counts, others


def fminbound(
    func: Function, x1: Any, x2: Any, args: Any = (), xtol: float = 1e-5,
    maxfun: int = 500, full_output: Any = 0, disp: Any = 1,
) -> Any:  # fmt: skip
    """`scipy.optimize.fminbound`."""
    run = Run(_run_fminbound, 2, xtol=xtol, maxfun=maxfun, disp=disp)
    found = _minimum(func, tuple_of(args), [x1, x2], ([x1], [x2]), run, "fminbound")
    x, value, _, counts, _ = found
    return (x, value, counts[0], counts[1]) if full_output else x


def _run_fminbound(settings: Any, functions: Any, _: Any, x1: Any, x2: Any) -> Any:
    f, ends = _called(functions[0]), (float(x1), float(x2))
    x, value, flag, count = _sp.fminbound(f, *ends, full_output=1, **settings)
    return np.asarray([x, value], dtype=float), int(flag == 0), (flag, count), {}


def brent(
    func: Function, args: Any = (), brack: Any = None, tol: float = 1.48e-08,
    full_output: Any = 0, maxiter: int = 500,
) -> Any:  # fmt: skip
    """`scipy.optimize.brent`."""
    run = Run(_run_brent, 2, tol=tol, maxiter=maxiter)
    found = _minimum(func, tuple_of(args), brack or (), (None, None), run, "brent")
    x, value, _, counts, _ = found
    return (x, value, counts[0], counts[1]) if full_output else x


def _run_brent(settings: Any, functions: Any, _: Any, *bracket: Any) -> Any:
    f, brack = _called(functions[0]), tuple(map(float, bracket)) or None
    x, value, steps, count = _sp.brent(f, (), brack, full_output=1, **settings)
    success = int(steps < settings["maxiter"])
    return np.asarray([x, value], dtype=float), success, (steps, count), {}


_TOLERANCE = float(np.finfo(float).eps) ** 0.5


def golden(
    func: Function, args: Any = (), brack: Any = None, tol: float = _TOLERANCE,
    full_output: Any = 0, maxiter: int = 5000,
) -> Any:  # fmt: skip
    """`scipy.optimize.golden`."""
    run = Run(_run_golden, 1, tol=tol, maxiter=maxiter)
    found = _minimum(func, tuple_of(args), brack or (), (None, None), run, "golden")
    x, value, _, counts, _ = found
    return (x, value, counts[0]) if full_output else x


def _run_golden(settings: Any, functions: Any, _: Any, *bracket: Any) -> Any:
    f, brack = _called(functions[0]), tuple(map(float, bracket)) or None
    x, value, count = _sp.golden(f, (), brack, full_output=1, **settings)
    success = int(count < settings["maxiter"])
    return np.asarray([x, value], dtype=float), success, (count,), {}


for _own in (minimize_scalar, fminbound, brent, golden):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
