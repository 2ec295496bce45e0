"""SciPy's integrals of functions, differentiated by Leibniz's rule."""

from __future__ import annotations

from typing import Any

import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._functions import Function, if_converged
from rules_scipy._solvers import Declared, is_zero, without_formula

from ._integrals import integral, scalar_run

__all__ = ["DECLARED", "dblquad", "quad", "refuse", "tplquad"]

DECLARED = Declared()


_JUMPS = (
    "derivative of scipy.integrate.quad in points=, where the function may jump: split "
    "the integral there, whose limits have derivatives"
)


@rc.primitive
def _at_fixed(y: Any, points: Any) -> Any:
    """An integral, whose derivative is an error where the points move."""
    return y


@rc.frule.define(_at_fixed)
def at_fixed_frule(tangents: Any, y: Any, points: Any) -> Any:
    """The tangent of the integral."""
    moves, y = not is_zero(tangents[2]), _at_fixed(y, points)
    return y, rc.not_implemented(_JUMPS) if moves else tangents[1]


@rc.rrule.define(_at_fixed)
def at_fixed_rrule(y: Any, points: Any) -> Any:
    """As forwards."""
    y = _at_fixed(y, points)  # what a rule returns is differentiated at higher orders
    return y, lambda dy: (rc.NoTangent(), dy, rc.not_implemented(_JUMPS))


def quad(
    func: Function, a: Any, b: Any, args: Any = (), full_output: Any = 0,
    epsabs: float = 1.49e-08, epsrel: float = 1.49e-08, limit: int = 50,
    points: Any = None, weight: Any = None, wvar: Any = None, wopts: Any = None,
    maxp1: int = 50, limlst: int = 50, complex_func: bool = False,
) -> Any:  # fmt: skip
    """`scipy.integrate.quad`; its error estimate has derivative zero."""
    y, *rest = _quad(
        func, a, b, args, full_output, epsabs, epsrel, limit, points, weight, wvar,
        wopts, maxp1, limlst, complex_func,
    )  # fmt: skip
    return (y if points is None else _at_fixed(y, points)), *rest


def _quad(
    func: Function, a: Any, b: Any, args: Any = (), full_output: Any = 0,
    epsabs: float = 1.49e-08, epsrel: float = 1.49e-08, limit: int = 50,
    points: Any = None, weight: Any = None, wvar: Any = None, wopts: Any = None,
    maxp1: int = 50, limlst: int = 50, complex_func: bool = False,
) -> Any:  # fmt: skip
    """`quad` at fixed points."""
    refuse("quad", weight=weight, wvar=wvar, wopts=wopts, complex_func=complex_func)
    args = args if isinstance(args, tuple) else (args,)
    run = scalar_run(
        epsabs=epsabs, epsrel=epsrel, limit=limit,
        points=rc.ignore_derivatives(points),
        full_output=full_output, limlst=limlst, maxp1=maxp1,
    )  # fmt: skip
    y, success, error, others = integral(func, args, a, b, run, None)
    y = if_converged(y, success, "quad")
    rest = [without_formula(part, y, _FIELD) for part in others.get("rest", ())]
    return y, error[0], *rest


_FIELD = (
    "derivative of scipy.integrate.quad in a field of what full_output returns; "
    "compute it from the integral"
)


def refuse(solver: str, **options: Any) -> None:
    """Raise an error for options without a rule."""
    for name, value in options.items():
        if value:
            message = (
                f"{solver}({name}=…) has no rule: differentiate it without this "
                "option, with the weight as a factor of the function."
            )
            raise rc.UnsupportedError(message)


def dblquad(
    func: Function, a: Any, b: Any, gfun: Any, hfun: Any, args: Any = (),
    epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> Any:  # fmt: skip
    """`scipy.integrate.dblquad`: `func(y, x, *args)`, its limits too.

    The error is that of the outer integral.
    """
    args = args if isinstance(args, tuple) else (args,)
    options: dict[str, Any] = {"epsabs": epsabs, "epsrel": epsrel}

    def inner(x: Any, *args: Any) -> Any:
        low, high = _limit(gfun, x), _limit(hfun, x)
        return quad(func, low, high, (x, *args), **options)[0]

    return quad(inner, a, b, args, **options)


def tplquad(
    func: Function, a: Any, b: Any, gfun: Any, hfun: Any, qfun: Any, rfun: Any,
    args: Any = (), epsabs: float = 1.49e-8, epsrel: float = 1.49e-8,
) -> Any:  # fmt: skip
    """`scipy.integrate.tplquad`: `func(z, y, x, *args)`, its limits too.

    The error is that of the outermost integral.
    """
    args = args if isinstance(args, tuple) else (args,)
    options: dict[str, Any] = {"epsabs": epsabs, "epsrel": epsrel}

    def innermost(y: Any, x: Any, *args: Any) -> Any:
        low, high = _limit(qfun, x, y), _limit(rfun, x, y)
        return quad(func, low, high, (y, x, *args), **options)[0]

    return dblquad(innermost, a, b, gfun, hfun, args, **options)


def _limit(end: Any, *x: Any) -> Any:
    return end(*x) if callable(end) else end


DECLARED.cover(_sp.quad, _quad, points=_JUMPS)
for _own in (dblquad, tplquad):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
