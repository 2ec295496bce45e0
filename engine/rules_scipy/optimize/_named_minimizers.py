"""SciPy's minimisers with names of their own, from `fmin` to `fmin_tnc`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.optimize as _sp

from rules_scipy._functions import Function, Run
from rules_scipy._solvers import without_formula

from ._arguments import DECLARED, functions_of, tuple_of
from ._minimizers import FIELD, local_minimum
from ._optima import gradient, with_formula
from ._searches import pairs_of, search, vector

__all__ = [
    "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b", "fmin_ncg", "fmin_powell",
    "fmin_tnc",
]  # fmt: skip

# What each returns with full_output; `flag` is zero on success.
_PARTS = {
    "fmin": ("x", "fun", "nit", "nfev", "flag"),
    "fmin_powell": ("x", "fun", "direc", "nit", "nfev", "flag"),
    "fmin_bfgs": ("x", "fun", "jac", "hess_inv", "nfev", "njev", "flag"),
    "fmin_cg": ("x", "fun", "nfev", "njev", "flag"),
    "fmin_ncg": ("x", "fun", "nfev", "njev", "nhev", "flag"),
    "fmin_l_bfgs_b": ("x", "fun", "report"),
    "fmin_tnc": ("x", "nfev", "flag"),
}
_COUNTS = frozenset(("nit", "nfev", "njev", "nhev", "flag"))
_ALWAYS_FULL = frozenset(("fmin_l_bfgs_b", "fmin_tnc"))
# The last code of `fmin_tnc` that is a success.
_CONVERGED = 2


def _minimum(
    name: str, fun: Function, jac: Any, second: Any, x0: Any, args: Any,
    given: dict[str, Any],
) -> Any:  # fmt: skip
    args, parts, full = tuple_of(args), _PARTS[name], given.get("full_output")
    approximate = given.get("approx_grad")
    both = jac is None and name in _ALWAYS_FULL and not approximate
    objective, slopes = functions_of(fun, True if both else jac)
    bounds = given.get("bounds")
    x0 = vector(x0, args, fun, bounds)
    lower, upper = pairs_of(bounds, x0)
    options = {k: v for k, v in given.items() if k not in ("full_output", "bounds")}
    counted = [part for part in parts if part in _COUNTS]
    run = Run(
        _run, len(counted), name=name, bounded=bounds is not None, options=options
    )
    n, functions = x0.shape[0], (objective, slopes, *second)
    start = x0, lower, upper
    y, success, counts, rest = search(functions, args, start, run, 2 * n + 1, {2: x0})
    found, numbers = (y[:n], y[n], success), dict(zip(counted, counts, strict=False))
    x, value = local_minimum(found, (objective, None), args, lower, upper, name, run)
    if not (full or given.get("retall") or name in _ALWAYS_FULL):
        return x
    others = without_formula(rest.get("parts", {}), x, FIELD)
    known = {**others, **(others or numbers), "x": x, "fun": value}
    if "jac" in parts:
        slope = y[n + 1 :]
        known["jac"] = with_formula(slope, gradient, (objective,), (x, args))
    shown = parts if full or name in _ALWAYS_FULL else ("x",)
    return tuple(known.get(part) for part in (*shown, *_path(given)))


def _path(given: dict[str, Any]) -> tuple[str, ...]:
    return ("path",) if given.get("retall") else ()


def _run(settings: Any, functions: Any, x0: Any, lower: Any, upper: Any) -> Any:
    fun, slopes, *second = functions
    name, options = settings["name"], dict(settings["options"])
    parts = (*_PARTS[name], *_path(options))
    if settings["bounded"]:
        options["bounds"] = list(zip(lower, upper, strict=True))
    if name not in _ALWAYS_FULL:
        options["full_output"] = 1
    if name not in ("fmin", "fmin_powell"):
        options["fprime"] = slopes
    if name == "fmin_ncg":
        options["fhess_p"], options["fhess"] = second
    found = dict(zip(parts, getattr(_sp, name)(fun, x0, **options), strict=True))
    flag = found.get("flag", found.get("report", {}).get("warnflag"))
    success = 0 <= flag <= (_CONVERGED if name == "fmin_tnc" else 0)
    x = np.atleast_1d(found.pop("x"))
    value = found.pop("fun", None)
    value = fun(x) if value is None else value
    slope = found.get("jac", np.full(len(x0), np.nan))
    y = np.concatenate([x, [np.asarray(value).item()], slope])
    counts = tuple(int(found[part]) for part in parts if part in _COUNTS)
    return y, int(success), counts, {"parts": found}


def _names(name: str, first: int) -> list[str]:
    return list(inspect.signature(getattr(_sp, name)).parameters)[first:]


def _without_slopes(name: str) -> Any:
    """A minimiser that takes no derivatives of its function."""
    names = _names(name, 3)

    def minimizer(
        func: Function, x0: Any, args: Any = (), *options: Any, **own: Any
    ) -> Any:
        given = {**dict(zip(names, options, strict=False)), **own}
        return _minimum(name, func, None, (), x0, args, given)

    return _named(minimizer, name)


def _with_slopes(name: str) -> Any:
    """A minimiser that takes a gradient."""
    names = _names(name, 4)

    def minimizer(
        f: Function, x0: Any, fprime: Any = None, args: Any = (), *options: Any,
        **own: Any,
    ) -> Any:  # fmt: skip
        given = {**dict(zip(names, options, strict=False)), **own}
        return _minimum(name, f, fprime, (), x0, args, given)

    return _named(minimizer, name)


def _named(minimizer: Any, name: str) -> Any:
    minimizer.__name__ = minimizer.__qualname__ = name
    minimizer.__doc__ = f"`scipy.optimize.{name}`."
    return minimizer


fmin, fmin_powell = _without_slopes("fmin"), _without_slopes("fmin_powell")
fmin_bfgs, fmin_cg = _with_slopes("fmin_bfgs"), _with_slopes("fmin_cg")
fmin_l_bfgs_b, fmin_tnc = _with_slopes("fmin_l_bfgs_b"), _with_slopes("fmin_tnc")
_NAMES_NCG = _names("fmin_ncg", 6)


def fmin_ncg(
    f: Function, x0: Any, fprime: Any, fhess_p: Any = None, fhess: Any = None,
    args: Any = (), *options: Any, **own: Any,
) -> Any:  # fmt: skip
    """`scipy.optimize.fmin_ncg`."""
    given = {**dict(zip(_NAMES_NCG, options, strict=False)), **own}
    return _minimum("fmin_ncg", f, fprime, (fhess_p, fhess), x0, args, given)


for _own in (fmin, fmin_powell, fmin_bfgs, fmin_cg, fmin_ncg, fmin_l_bfgs_b, fmin_tnc):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
