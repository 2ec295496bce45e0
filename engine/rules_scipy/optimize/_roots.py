"""SciPy's root finders, differentiated by the equation that the root satisfies."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._callbacks import unwatched
from rules_scipy._functions import Function, Run, if_converged, like
from rules_scipy._parameters import is_complex
from rules_scipy._solvers import but, result_of

from ._arguments import DECLARED, functions_of, tuple_of
from ._equations import equation_root, if_simple, value_of

__all__ = [
    "bisect", "brenth", "brentq", "fixed_point", "fsolve", "newton",
    "ridder", "root", "root_scalar", "toms748",
]  # fmt: skip

# systems of equations


def root(
    fun: Function,
    x0: Any,
    args: Any = (),
    method: str = "hybr",
    jac: Any = None,
    tol: float | None = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.root`; `x` and `fun` of its result have derivatives."""
    args, functions = tuple_of(args), functions_of(fun, jac)
    settings = {"method": method, "tol": tol, "callback": callback, "options": options}
    run = Run(_run_root, 2, **settings)
    form = "shaped" if method.lower() in _SHAPED else "flat"
    x, success, counts, others = equation_root(functions, args, (x0,), run, form)
    label = f"root(method={method!r})"
    x = unwatched(if_converged(x, success, label), run.settings, label)
    own = {"success": success == 1, "status": counts[0], "nfev": counts[1]}
    return result_of(
        {**(others or own), "x": x, "fun": value_of(functions[0](x, *args), x)}
    )


# These keep the shape of the start; others return vectors.
_SHAPED = frozenset((
    "anderson", "broyden1", "broyden2", "df-sane", "diagbroyden", "excitingmixing",
    "krylov", "linearmixing",
))  # fmt: skip


def _run_root(settings: Any, functions: Any, x0: Any) -> Any:
    fun, jac = functions
    found = _sp.root(fun, x0, jac=jac, **settings)
    counts = (int(found.get("status", 0)), int(found.get("nfev", -1)))
    others = but(found, "x", "fun")
    success = found.success
    if success and settings["method"] == "lm":
        success = _is_root(fun, x0, found)
    return found.x, int(success), counts, others


# Of the unknowns: a longer step of Newton's leads from where the equations do not hold.
_LONG = 1e-3


def _is_root(fun: Function, x0: Any, found: Any) -> bool:
    """Whether the equations hold where `lm`, which minimises their squares, ended.

    Where they do not, the Jacobian is singular, and the step to a root is long.
    """
    x, r = np.ravel(found.x), np.ravel(found.fun)
    if not np.any(r):
        return True
    steps = np.sqrt(np.finfo(float).eps) * np.where(x == 0.0, 1.0, np.abs(x))
    moved = [np.ravel(fun(np.reshape(x + h, np.shape(x0)))) for h in np.diag(steps)]
    jacobian = np.stack(moved, axis=-1) - r[:, None]
    if not np.all(np.isfinite(jacobian)):
        return False
    step = np.linalg.lstsq(jacobian / steps, r)[0]
    size = max(np.linalg.norm(x), np.linalg.norm(np.ravel(x0)))
    return bool(np.linalg.norm(step) <= _LONG * size + steps.max())


def fsolve(
    func: Function,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: Any = 0,
    col_deriv: Any = 0,
    xtol: float = 1.49012e-08,
    maxfev: int = 0,
    band: Any = None,
    epsfcn: float | None = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    """`scipy.optimize.fsolve`."""
    args = tuple_of(args)
    run = Run(
        _run_fsolve, 2, col_deriv=col_deriv, xtol=xtol, maxfev=maxfev, band=band,
        epsfcn=epsfcn, factor=factor, diag=diag, warn=not full_output,
    )  # fmt: skip
    functions = func, fprime
    x, success, counts, others = equation_root(functions, args, (x0,), run, "flat")
    x = if_converged(x, success, "fsolve")
    if not full_output:
        return x
    info = {"nfev": counts[1], **others.get("info", {}), "fvec": func(x, *args)}
    return x, info, counts[0], others.get("message", "")


def _run_fsolve(settings: Any, functions: Any, x0: Any) -> Any:
    fun, jac = functions
    warn = settings["warn"]
    given = {k: v for k, v in settings.items() if k != "warn"}
    x, info, status, text = _sp.fsolve(fun, x0, fprime=jac, full_output=1, **given)
    if warn and status != 1:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    info = {k: v for k, v in info.items() if k != "fvec"}
    return x, status == 1, (status, info["nfev"]), {"info": info, "message": text}


def fixed_point(
    func: Function,
    x0: Any,
    args: Any = (),
    xtol: float = 1e-08,
    maxiter: int = 500,
    method: str = "del2",
) -> Any:
    """`scipy.optimize.fixed_point`: x with `func(x, *args) == x`."""
    run = Run(_run_fixed_point, 0, xtol=xtol, maxiter=maxiter, method=method)

    # The start has derivative zero, but where the point is not isolated: there the
    # equation is singular.
    def residual(x: Any, *args: Any) -> Any:
        return value_of(func(x, *args), x) - x

    def started(x: Any, *args: Any) -> Any:
        return value_of(func(x, *args), x) + 0.0 * like(x0, x)

    args = tuple(args) if isinstance(args, list) else tuple_of(args)
    shape: Any = getattr(x0, "shape", ())
    if shape or isinstance(x0, list | tuple):
        return equation_root((started,), args, (x0,), run, "fixed point")[0]
    x = equation_root((func,), args, (x0,), run, "fixed point")[0]
    return if_simple(x + 0.0 * x0, (residual,), args, "fixed_point", 10.0 * xtol)


def _run_fixed_point(settings: Any, functions: Any, x0: Any) -> Any:
    # SciPy raises an error where it does not converge.
    return _sp.fixed_point(functions[0], x0, **settings), 1, (), {}


# one equation


def _scalar(f: Any, start: Any, args: Any, solver: str, run: Run, report: Any) -> Any:
    """The root and, if asked for, SciPy's report with the root in it."""
    functions = f if isinstance(f, tuple) else (f,)
    _refuse_complex(start, solver)
    x, success, counts, others = equation_root(functions, args, start, run, "scalar")
    x = if_converged(x, success, solver)
    if not getattr(x, "shape", ()):
        x = if_simple(x, functions, args, solver, _near(run.settings))
    if not report:
        return x
    if "of array" in others:
        return ArrayRoots(x, *others["of array"])
    found = others.get("report")
    method = getattr(found, "method", solver)
    result = _sp.RootResults(x, counts[0], counts[1], _FLAGS[0], method)
    result["converged"] = success == 1
    result["flag"] = getattr(found, "flag", "see converged")
    return (x, result) if report == "both" else result


def _refuse_complex(start: Any, solver: str) -> None:
    if any(map(is_complex, start)):
        message = (
            f"{solver} has no rule for complex roots: solve two real equations, for "
            "the real and the imaginary part, by root."
        )
        raise rc.UnsupportedError(message)


def _near(settings: Any) -> float:
    """How far from a root a solver may stop, with some room."""
    given = [settings.get(name) for name in ("xtol", "tol")]
    given += [(settings.get("options") or {}).get("xtol")]
    return max([10.0 * x for x in given if x is not None], default=1e-7)


_FLAGS = (0,)


def _report_of(found: Any) -> Any:
    """A report in the form of `equation_root`."""
    counts = int(found.iterations), int(found.function_calls)
    shown = found if np.ndim(found.root) == 0 else None
    return found.root, int(np.all(found.converged)), counts, {"report": shown}


def _run_bracketing(solver: Any) -> Any:
    def run_bracketing(settings: Any, functions: Any, a: Any, b: Any) -> Any:
        found = solver(functions[0], float(a), float(b), full_output=True, **settings)
        return _report_of(found[1])

    run_bracketing.__name__ = solver.__name__  # for messages
    return run_bracketing


_XTOL, _RTOL = 2e-12, 4 * float(np.finfo(float).eps)


def _bracketing(solver: Any) -> Any:
    """A solver of SciPy that halves a bracket."""
    name, run_solver = solver.__name__, _run_bracketing(solver)

    def bracketing(
        f: Function, a: Any, b: Any, args: Any = (), xtol: float = _XTOL,
        rtol: float = _RTOL, maxiter: int = 100, full_output: bool = False,
        disp: bool = True,
    ) -> Any:  # fmt: skip
        run = Run(run_solver, 2, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)
        report = "both" if full_output else ""
        return _scalar(f, (a, b), tuple_of(args), name, run, report)

    bracketing.__name__ = bracketing.__qualname__ = name
    bracketing.__doc__ = f"`scipy.optimize.{name}`."
    return bracketing


bisect, brenth = _bracketing(_sp.bisect), _bracketing(_sp.brenth)
brentq, ridder = _bracketing(_sp.brentq), _bracketing(_sp.ridder)
_RUN_TOMS748 = _run_bracketing(_sp.toms748)


def toms748(
    f: Function, a: Any, b: Any, args: Any = (), k: int = 1, xtol: float = _XTOL,
    rtol: float = _RTOL, maxiter: int = 100, full_output: bool = False,
    disp: bool = True,
) -> Any:  # fmt: skip
    """`scipy.optimize.toms748`."""
    run = Run(_RUN_TOMS748, 2, k=k, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)
    report = "both" if full_output else ""
    return _scalar(f, (a, b), tuple_of(args), "toms748", run, report)


def newton(
    func: Function, x0: Any, fprime: Any = None, args: Any = (), tol: float = 1.48e-08,
    maxiter: int = 50, fprime2: Any = None, x1: Any = None, rtol: float = 0.0,
    full_output: bool = False, disp: bool = True,
) -> Any:  # fmt: skip
    """`scipy.optimize.newton`: one equation, or an array of independent ones."""
    run = Run(_run_newton, 2, tol=tol, maxiter=maxiter, rtol=rtol, disp=disp)
    functions = func, fprime, fprime2
    start = (x0,) if x1 is None else (x0, x1)
    report = "both" if full_output else ""
    args = tuple(args) if isinstance(args, list) else tuple_of(args)
    return _scalar(functions, start, args, "newton", run, report)


class ArrayRoots(NamedTuple):
    """What `newton` reports of an array.

    Attributes:
        root: The roots.
        converged: Whether each is one.
        zero_der: Whether the slope was zero.
    """

    root: Any
    converged: Any
    zero_der: Any


def _run_newton(settings: Any, functions: Any, x0: Any, x1: Any = None) -> Any:
    fun, slope, curvature = functions
    given = {"fprime": slope, "fprime2": curvature, **settings}
    if np.size(x0) > 1:
        found = _sp.newton(fun, x0, x1=x1, full_output=True, **given)
        shown = {"of array": (found.converged, found.zero_der)}
        return found[0], int(np.all(found.converged)), (-1, -1), shown
    x0, x1 = [float(x) if x is not None and np.ndim(x) == 0 else x for x in (x0, x1)]
    return _report_of(_sp.newton(fun, x0, x1=x1, full_output=True, **given)[1])


def root_scalar(
    f: Function, args: Any = (), method: Any = None, bracket: Any = None,
    fprime: Any = None, fprime2: Any = None, x0: Any = None, x1: Any = None,
    xtol: Any = None, rtol: Any = None, maxiter: Any = None, options: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.root_scalar`; `root` of its result has derivatives."""
    given = {"bracket": bracket, "x0": x0, "x1": x1}
    names = [name for name, x in given.items() if x is not None]
    start = tuple(given[name] for name in names)
    if bracket is not None:
        start = (*start[0], *start[1:])
    settings = {"method": method, "xtol": xtol, "rtol": rtol, "maxiter": maxiter,
                "options": options}  # fmt: skip
    run = Run(_run_root_scalar, 2, names=names, **settings)
    if fprime2 is True:
        message = (
            "root_scalar(fprime2=True) has no rule: give fprime and fprime2 as "
            "functions of their own."
        )
        raise rc.UnsupportedError(message)
    functions = (*functions_of(f, fprime), fprime2)
    return _scalar(
        functions, start, tuple_of(args), method or "root_scalar", run, "own"
    )


def _run_root_scalar(settings: Any, functions: Any, *start: Any) -> Any:
    fun, slope, curvature = functions
    given = {k: v for k, v in settings.items() if k != "names"}
    numbers = list(map(float, start))
    for name in settings["names"]:
        bracket = name == "bracket"
        given[name] = (numbers.pop(0), numbers.pop(0)) if bracket else numbers.pop(0)
    found = _sp.root_scalar(fun, fprime=slope, fprime2=curvature, **given)
    return _report_of(found)


for _own in (root, fsolve, fixed_point, bisect, brenth, brentq, ridder, toms748,
             newton, root_scalar):  # fmt: skip
    DECLARED.cover(getattr(_sp, _own.__name__), _own)

DECLARED.constant(_sp.show_options, _sp.linprog_verbose_callback)
