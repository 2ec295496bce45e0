"""SciPy's fits by least squares: minima of half the sum of squares."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._callbacks import unwatched
from rules_scipy._functions import Function, Run, if_converged, like, stacked
from rules_scipy._solvers import but, result_of, without_formula
from rules_scipy.linalg._gauge import is_singular, nan_if
from rules_scipy.linalg._systems import solution

from ._arguments import DECLARED, tuple_of
from ._losses import cost_of
from ._optima import (
    best_value,
    called,
    directions,
    gradient,
    optimum,
    with_formula,
)
from ._searches import ends_of, limits_of, search, vector

__all__ = ["curve_fit", "least_squares", "leastsq"]

_DEFAULT = object()  # what the installed SciPy has

_FIELD = (
    "derivative of a fit of scipy.optimize in a field of its result other than x, "
    "cost, fun, grad and jac; compute it from x"
)


def residuals_of(r: Any, x: Any) -> Any:
    """The result of a function, as a vector."""
    if not rc.is_array(r) or not getattr(r, "shape", ()):
        r = stacked(rc.array_namespace(x), r if isinstance(r, list | tuple) else [r])
    return r.reshape((-1,))


def least_squares(
    fun: Function, x0: Any, jac: Any = "2-point", bounds: Any = (-np.inf, np.inf),
    method: str = "trf", ftol: Any = 1e-08, xtol: Any = 1e-08, gtol: Any = 1e-08,
    x_scale: Any = _DEFAULT, loss: Any = "linear", f_scale: float = 1.0,
    diff_step: Any = None, tr_solver: Any = None, tr_options: Any = None,
    jac_sparsity: Any = None, max_nfev: Any = None, verbose: Any = 0, args: Any = (),
    kwargs: Any = None, callback: Any = None, workers: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.least_squares`.

    `x`, `cost`, `fun`, `grad` and `jac` of the result have derivatives; `jac` only for
    the linear loss.
    """
    args, named = tuple_of(args), kwargs or {}

    def residuals(x: Any, *args: Any) -> Any:
        return residuals_of(fun(x, *args, **named), x)

    cost = cost_of(residuals, loss, f_scale, "least_squares")
    x0 = vector(x0, args, fun, named, bounds)
    lower, upper = ends_of(bounds, x0)
    given = {
        "method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol, "x_scale": x_scale,
        "loss": loss, "f_scale": f_scale, "diff_step": diff_step,
        "tr_solver": tr_solver, "tr_options": tr_options or {},
        "jac_sparsity": jac_sparsity, "max_nfev": max_nfev, "verbose": verbose,
        # of newer versions
        "callback": _DEFAULT if callback is None else callback,
        "workers": _DEFAULT if workers is None else workers,
    }  # fmt: skip
    jacobian = (lambda x, *args: jac(x, *args, **named)) if callable(jac) else None
    n = x0.shape[0]
    m = residuals(x0, *args).shape[0]
    run = Run(
        _run_least_squares, 3 + n, given=_set(given), m=m,
        jac=None if callable(jac) else jac,
        feasible=_is_feasible(bounds),
    )  # fmt: skip
    start = x0, lower, upper
    y, success, counts, rest = search(
        (residuals, jacobian), args, start, run, 2 * n + 1 + m + m * n
    )
    name = f"least_squares(method={method!r})"
    problem = (cost, None), args, lower, upper
    x = if_converged(optimum(y[:n], *problem, n, name), success, name)
    x = unwatched(x, run.settings, name)
    value = if_converged(best_value(y[n], x, *problem, name), success, name)
    grad = with_formula(y[n + 1 : 2 * n + 1], gradient, (cost,), (x, args))
    r = with_formula(y[2 * n + 1 : 2 * n + 1 + m], called, (residuals,), (x, args))
    counted = {"success": success == 1, "status": counts[0], "nfev": counts[1],
               "njev": counts[2], "active_mask": counts[3:]}  # fmt: skip
    fields = {**(without_formula(rest, x, _FIELD) or counted), "x": x, "cost": value,
              "fun": r, "grad": grad}  # fmt: skip
    if loss == "linear" and jac_sparsity is None and _is_dense(rest):
        J = y[2 * n + 1 + m :].reshape((m, n))
        fields["jac"] = with_formula(J, _jacobian, (residuals,), (x, args))
    return result_of(fields)


def _set(given: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in given.items() if v is not _DEFAULT}


def _is_feasible(bounds: Any) -> Any:
    return getattr(bounds, "keep_feasible", None)


def _is_dense(rest: Any) -> bool:
    return not rest or isinstance(rest["jac"], np.ndarray)


def _jacobian(functions: Any, x: Any, args: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.stack(directions(lambda x: functions[0](x, *args), x), axis=1)


def _run_least_squares(
    settings: Any, functions: Any, x0: Any, lower: Any, upper: Any
) -> Any:
    fun, jac = functions
    bounds, feasible = (lower, upper), settings["feasible"]
    if feasible is not None:
        bounds = _sp.Bounds(lower, upper, feasible)
    found = _sp.least_squares(
        fun, x0, jac=jac or settings["jac"], bounds=bounds, **settings["given"]
    )
    J = np.full(settings["m"] * len(x0), np.nan)
    if isinstance(found.jac, np.ndarray):
        J = found.jac.reshape(-1)
    y = np.concatenate([found.x, [found.cost], found.grad, found.fun, J])
    counts = (found.status, found.nfev, found.njev or 0, *map(int, found.active_mask))
    others = but(found, "x", "cost", "fun", "grad")
    return y, int(found.success), counts, others


def leastsq(
    func: Function, x0: Any, args: Any = (), Dfun: Any = None,
    full_output: Any = False, col_deriv: Any = False, ftol: float = 1.49012e-08,
    xtol: float = 1.49012e-08, gtol: float = 0.0, maxfev: int = 0,
    epsfcn: Any = None, factor: float = 100, diag: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.leastsq`; `x` and `cov_x` have derivatives."""
    args = tuple_of(args)

    def residuals(x: Any, *args: Any) -> Any:
        return residuals_of(func(x, *args), x)

    x0 = vector(x0, args, func)
    run = Run(
        _run_leastsq, 2, warn=not full_output,
        given={"col_deriv": col_deriv, "ftol": ftol, "xtol": xtol, "gtol": gtol,
               "maxfev": maxfev, "epsfcn": epsfcn, "factor": factor, "diag": diag},
    )  # fmt: skip
    n = x0.shape[0]
    functions = residuals, Dfun
    y, success, counts, rest = search(functions, args, (x0,), run, n + n * n)
    lower, upper = limits_of(None, None, x0)
    cost = cost_of(residuals, "linear", 1.0, "leastsq")
    x = optimum(y[:n], (cost, None), args, lower, upper, n, "leastsq")
    x = if_converged(x, success, "leastsq")
    if not full_output:
        return x, counts[0]
    cov = with_formula(y[n:].reshape((n, n)), _inverse, (residuals,), (x, args))
    if rest.get("singular"):
        cov = None
    info = {"nfev": counts[1], **without_formula(rest.get("info", {}), x, _FIELD)}
    info["fvec"] = residuals(x, *args)
    return x, cov, info, rest.get("message", ""), counts[0]


_FEWEST_FAILURES = 5  # of MINPACK's codes


def _run_leastsq(settings: Any, functions: Any, x0: Any) -> Any:
    fun, jac = functions
    x, cov, info, text, status = _sp.leastsq(
        fun, x0, Dfun=jac, full_output=True, **settings["given"]
    )
    if settings["warn"] and status >= _FEWEST_FAILURES:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    n = len(x0)
    numbers = np.full(n * n, np.nan) if cov is None else cov.reshape(-1)
    others = {"info": info, "message": text, "singular": cov is None}
    y = np.concatenate([x, numbers])
    return y, int(1 <= status < _FEWEST_FAILURES), (status, info["nfev"]), others


def _inverse(functions: Any, x: Any, args: Any) -> Any:
    """The inverse of `JᵀJ`."""
    J = _jacobian(functions, x, args)
    M = J.T @ J
    M = nan_if(_is_undetermined(J), M, _UNDETERMINED)
    return rc.array_namespace(J).linalg.inv(M)


def _is_undetermined(J: Any) -> Any:
    """Whether columns depend on one another, whatever their sizes."""
    xp = rc.array_namespace(J)
    sizes = xp.sqrt(xp.sum(J * J, axis=0))
    unit = J / xp.where(sizes == 0, sizes + 1.0, sizes)
    return is_singular(unit.T @ unit)


rc.non_differentiable(_is_undetermined)


_UNDETERMINED = (
    "The data do not determine all parameters of the fit, so that its covariance, and "
    "the parameters, have no derivative. Fix a parameter, or add data."
)


# curves


def curve_fit(
    f: Function, xdata: Any, ydata: Any, p0: Any = None, sigma: Any = None,
    absolute_sigma: bool = False, check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf), method: Any = None, jac: Any = None, *,
    full_output: bool = False, nan_policy: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.curve_fit`; `popt` and `pcov` have derivatives."""
    _refuse(nan_policy, jac, kwargs)
    n = _count(f) if p0 is None else int(np.prod(getattr(p0, "shape", np.shape(p0))))
    others = ydata, xdata, sigma, f, bounds
    x0 = vector(np.ones(n) if p0 is None else p0, others)
    xdata, ydata = _data(xdata, x0), like(ydata, x0)
    weights = None if sigma is None else like(sigma, x0)
    lower, upper = ends_of(bounds, x0)

    def model(p: Any, x: Any, *_: Any) -> Any:
        return f(x, *[p[i] for i in range(n)])

    def slopes(p: Any, x: Any, *_: Any) -> Any:
        return jac(x, *[p[i] for i in range(n)])

    def residuals(p: Any, x: Any, y: Any, sigma: Any) -> Any:
        return _weighted((model(p, x) - y).reshape((-1,)), sigma)

    has_x = rc.is_array(xdata)
    start = (x0, ydata, lower, upper, *([xdata] if has_x else []),
             *([] if weights is None else [weights]))  # fmt: skip
    run = Run(
        _run_curve_fit, 2, has_x=has_x, has_start=p0 is not None,
        jac=None if callable(jac) else jac,
        given={"absolute_sigma": absolute_sigma, "check_finite": check_finite,
               "method": method, "nan_policy": nan_policy, **kwargs},
    )  # fmt: skip
    args = xdata, ydata, weights
    functions = model, slopes if callable(jac) else None
    y, success, counts, rest = search(functions, args, start, run, n + n * n)
    loss, scale = kwargs.get("loss", "linear"), kwargs.get("f_scale", 1.0)
    cost = cost_of(residuals, loss, scale, "curve_fit")
    popt = optimum(y[:n], (cost, None), args, lower, upper, n, "curve_fit")
    popt = if_converged(popt, success, "curve_fit")
    pcov = y[n:].reshape((n, n))
    formula = _inverse if absolute_sigma else _covariance
    r = residuals(popt, *args)
    if loss != "linear":
        pcov = without_formula(pcov, popt, _ROBUST)
    elif r.shape[0] <= n and not absolute_sigma:
        pcov = without_formula(pcov, popt, _INFINITE)
    else:
        pcov = with_formula(pcov, formula, (residuals,), (popt, args))
    if not full_output:
        return popt, pcov
    own = without_formula(rest.get("info", {}), popt, _CURVE_FIELD)
    info = {**own, "nfev": counts[1], "fvec": r}
    return popt, pcov, info, rest.get("text", ""), counts[0]


_CURVE_FIELD = (
    "derivative of scipy.optimize.curve_fit in a field of its report other than fvec; "
    "compute it from popt"
)
_INFINITE = (
    "derivative of scipy.optimize.curve_fit in pcov without more data than parameters, "
    "where it is infinite; pass absolute_sigma=True, or add data"
)
_ROBUST = (
    "derivative of scipy.optimize.curve_fit in pcov with a loss other than linear; "
    "differentiate popt alone"
)


def _refuse(nan_policy: Any, jac: Any, kwargs: Any) -> None:
    if nan_policy == "omit":
        message = (
            "curve_fit(nan_policy='omit') has no rule: leave out the points with NaN "
            "before, or give them a large sigma."
        )
        raise rc.UnsupportedError(message)


def _count(f: Any) -> int:
    """How many parameters a model has."""
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = inspect.signature(f).parameters.values()
    n = sum(p.kind in kinds for p in given) - 1
    if n < 1:
        message = "Unable to determine number of fit parameters."
        raise ValueError(message)
    return n


rc.non_differentiable(_count)


def _data(xdata: Any, x0: Any) -> Any:
    """Arrays and lists as arrays; another object is the model's own affair."""
    if isinstance(xdata, list | tuple) or rc.is_array(xdata):
        return like(xdata, x0)
    return xdata


def _weighted(r: Any, sigma: Any) -> Any:
    """Misfits over their errors, or by the root of their covariance."""
    if sigma is None:
        return r
    if len(sigma.shape) < 2 or r.shape[0] == 1:
        return r / sigma.reshape((-1,))
    xp = rc.array_namespace(r)
    return solution(xp.linalg.cholesky(sigma), r)


def _covariance(functions: Any, p: Any, args: Any) -> Any:
    """The inverse of `JᵀJ`, scaled by the misfit."""
    r = functions[0](p, *args)
    freedom = r.shape[0] - p.shape[0]
    return _inverse(functions, p, args) * ((r * r).sum() / freedom)


def _run_curve_fit(
    settings: Any, functions: Any, p0: Any, ydata: Any, lower: Any, upper: Any,
    *rest: Any,
) -> Any:  # fmt: skip
    model, slopes = functions
    more, n = list(rest), len(p0)
    x = more.pop(0) if settings["has_x"] else 0.0
    sigma = more.pop(0) if more else None

    def f(x: Any, *p: Any) -> Any:
        return np.asarray(model(np.asarray(p)))

    kind = inspect.Parameter.POSITIONAL_ONLY
    named = [inspect.Parameter(f"p{i}", kind) for i in range(n + 1)]
    vars(f)["__signature__"] = inspect.Signature(named)
    jac = settings["jac"] if slopes is None else lambda x, *p: slopes(np.asarray(p))
    with warnings.catch_warnings(record=True) as seen:
        popt, pcov, info, text, status = _sp.curve_fit(
            f, x, ydata, p0 if settings["has_start"] else None, sigma,
            bounds=(lower, upper), jac=jac, full_output=True, **settings["given"],
        )  # fmt: skip
    for w in seen:
        warnings.warn(w.message, stacklevel=2)
    others = {"info": info, "text": text}
    return np.concatenate([popt, pcov.reshape(-1)]), 1, (status, info["nfev"]), others


for _own in (least_squares, leastsq, curve_fit):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
