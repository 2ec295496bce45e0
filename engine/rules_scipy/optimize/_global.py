"""SciPy's global minimisers, differentiated as the local minima that they find."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._functions import Function, Run, like
from rules_scipy._solvers import but, result_of, without_formula

from ._arguments import DECLARED, functions_of, tuple_of
from ._minimizers import FIELD, local_minimum
from ._searches import pairs_of, search, vector

__all__ = [
    "basinhopping", "brute", "differential_evolution", "direct", "dual_annealing",
    "shgo",
]  # fmt: skip


def _refuse(name: str, given: dict[str, Any], *options: str) -> None:
    for option in options:
        value = given.get(option)
        if value is not None and value is not False and value != ():
            message = (
                f"{name}({option}=…) has no rule: leave it out, or minimize once more "
                "from the result with minimize, and differentiate that."
            )
            raise rc.UnsupportedError(message)


def _given(name: str, first: int, options: Any, own: dict[str, Any]) -> dict[str, Any]:
    """The options by their names."""
    given = {**dict(zip(_NAMES[name][first:], options, strict=False)), **own}
    if given.get("rng", 0) is None:
        del given["rng"]  # a default, which SciPy reads as another generator if given
    return given


def _minimum(
    name: str, functions: Any, args: Any, x0: Any, limits: Any, run: Run
) -> tuple[Any, Any, Any]:
    """The minimum, the value there and what SciPy returns besides."""
    n, start = x0.shape[0], (x0, *limits)
    y, success, counts, rest = search(functions, args, start, run, n + 1)
    found = y[:n], y[n], success
    lower, upper = limits
    x, value = local_minimum(found, (functions[0], None), args, lower, upper, name, run)
    own = {"success": success == 1, "nfev": counts[0], "nit": counts[1]}
    return x, value, without_formula(rest, x, FIELD) or own


def _in_bounds(
    name: str, func: Function, bounds: Any, args: Any, given: dict[str, Any]
) -> Any:
    args = tuple_of(args)
    n = len(bounds.lb) if isinstance(bounds, _sp.Bounds) else len(bounds)
    x0 = like(np.zeros(n), args, func, bounds)
    run = Run(_run_in_bounds, 2, name=name, given=given)
    x, value, fields = _minimum(
        name, (func,), args, x0, pairs_of(bounds, x0), run
    )  # fmt: skip
    return result_of({**fields, "x": x, "fun": value})


def _run_in_bounds(settings: Any, functions: Any, x0: Any, *limits: Any) -> Any:
    solver, bounds = getattr(_sp, settings["name"]), list(zip(*limits, strict=True))
    return _of_result(solver(functions[0], bounds, **settings["given"]), len(x0))


def _of_result(found: Any, n: int) -> Any:
    others = but(found, "x", "fun")
    counts = int(found.get("nfev", -1)), int(found.get("nit", -1))
    if found.x is None:
        return np.full(n + 1, np.nan), 0, counts, others
    y = np.concatenate([found.x, [np.asarray(found.fun).item()]])
    return y, int(bool(found.success)), counts, others


_NAMES = {
    name: list(inspect.signature(getattr(_sp, name)).parameters)
    for name in ("differential_evolution", "dual_annealing", "shgo", "basinhopping")
}


def differential_evolution(
    func: Function, bounds: Any, args: Any = (), *options: Any, **own: Any
) -> Any:
    """`scipy.optimize.differential_evolution`; `x` and `fun` have derivatives."""
    name = "differential_evolution"
    given = _given(name, 3, options, own)
    _refuse(name, given, "constraints", "integrality", "vectorized")
    return _in_bounds(name, func, bounds, args, given)


def dual_annealing(
    func: Function, bounds: Any, args: Any = (), *options: Any, **own: Any
) -> Any:
    """`scipy.optimize.dual_annealing`; `x` and `fun` have derivatives."""
    name = "dual_annealing"
    given = _given(name, 3, options, own)
    return _in_bounds(name, func, bounds, args, given)


def shgo(func: Function, bounds: Any, args: Any = (), *options: Any, **own: Any) -> Any:
    """`scipy.optimize.shgo`; `x` and `fun` have derivatives."""
    given = _given("shgo", 3, options, own)
    _refuse("shgo", given, "constraints")
    return _in_bounds("shgo", func, bounds, args, given)


def direct(func: Function, bounds: Any, *, args: Any = (), **options: Any) -> Any:
    """`scipy.optimize.direct`; `x` and `fun` have derivatives."""
    return _in_bounds("direct", func, bounds, args, options)


def basinhopping(
    func: Function, x0: Any, niter: int = 100, T: float = 1.0, stepsize: float = 0.5,
    minimizer_kwargs: Any = None, *options: Any, **own: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.basinhopping`; `x` and `fun` have derivatives."""
    name, inner = "basinhopping", dict(minimizer_kwargs or {})
    _refuse(name, inner, "constraints", "hess", "hessp")
    args = tuple_of(inner.pop("args", ()))
    bounds, jac = inner.pop("bounds", None), inner.pop("jac", None)
    objective, slopes = functions_of(func, jac)
    x0 = vector(x0, args, func, bounds)
    given = _given(name, 6, options, own)
    given = {"niter": niter, "T": T, "stepsize": stepsize, **given}
    run = Run(
        _run_basinhopping, 2, given=given, inner=inner, bounded=bounds is not None,
        jac=None if callable(jac) or jac is True else jac,
    )  # fmt: skip
    x, value, fields = _minimum(
        name, (objective, slopes), args, x0, pairs_of(bounds, x0), run
    )
    return result_of({**fields, "x": x, "fun": value})


def _run_basinhopping(settings: Any, functions: Any, x0: Any, *limits: Any) -> Any:
    fun, slopes = functions
    inner = {**settings["inner"], "jac": slopes or settings["jac"]}
    if settings["bounded"]:
        inner["bounds"] = list(zip(*limits, strict=True))
    given = settings["given"]
    return _of_result(
        _sp.basinhopping(fun, x0, minimizer_kwargs=inner, **given), len(x0)
    )


def brute(
    func: Function, ranges: Any, args: Any = (), Ns: int = 20, full_output: Any = 0,
    finish: Any = _sp.fmin, disp: Any = False, workers: Any = 1,
) -> Any:  # fmt: skip
    """`scipy.optimize.brute`; the point and the value have derivatives."""
    if finish is None:
        message = (
            "brute(finish=None) has no rule: its result is a point of the grid, and no "
            "minimum. Leave finish out."
        )
        raise rc.UnsupportedError(message)
    args = tuple_of(args)
    x0 = like(np.zeros(len(ranges)), args, func)
    run = Run(
        _run_brute, 2, ranges=rc.ignore_derivatives(ranges), Ns=Ns, finish=finish,
        disp=disp, workers=workers,
    )  # fmt: skip
    limits = pairs_of(None, x0)
    x, value, rest = _minimum("brute", (func,), args, x0, limits, run)
    x = x if len(ranges) > 1 else x[0]
    return (x, value, rest.get("grid"), rest.get("values")) if full_output else x


def _run_brute(settings: Any, functions: Any, x0: Any, *_: Any) -> Any:
    x, value, grid, values = _sp.brute(functions[0], full_output=1, **settings)
    y = np.concatenate([np.atleast_1d(x), [np.asarray(value).item()]])
    return y, 1, (-1, -1), {"grid": grid, "values": values}


for _own in (basinhopping, brute, differential_evolution, direct, dual_annealing, shgo):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
