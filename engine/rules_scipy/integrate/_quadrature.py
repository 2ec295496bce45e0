"""SciPy's integrals of functions, differentiated by Leibniz's rule.

>>> import jax
>>> from rules_scipy import integrate
>>> def volume(t):
...     ranges = [lambda x: (0.0, x), (0.0, t)]
...     return integrate.nquad(lambda y, x: x * y, ranges)[0]
>>> round(float(jax.grad(volume)(2.0)), 4)  # of t**4 / 8
4.0
"""

from __future__ import annotations

from typing import Any

import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._functions import Function, if_converged
from rules_scipy._solvers import Declared, is_zero, without_formula

from ._integrals import integral
from ._runs import scalar_run

__all__ = [
    "DECLARED", "JUMPS", "at_fixed", "dblquad", "nquad", "quad", "refuse", "tplquad",
    "tuple_of",
]  # fmt: skip

DECLARED = Declared()


JUMPS = (
    "derivative of scipy.integrate.{} in points=, where the function may jump: split "
    "the integral there, whose limits have derivatives"
)


@rc.primitive
def at_fixed(y: Any, points: Any, reason: str) -> Any:
    """An integral, whose derivative is an error where the points move."""
    return y


@rc.frule.define(at_fixed)
def at_fixed_frule(tangents: Any, y: Any, points: Any, reason: str) -> Any:
    """The tangent of the integral."""
    moves, y = not is_zero(tangents[2]), at_fixed(y, points, reason)
    return y, rc.not_implemented(reason) if moves else tangents[1]


@rc.rrule.define(at_fixed)
def at_fixed_rrule(y: Any, points: Any, reason: str) -> Any:
    """As forwards."""
    y = at_fixed(y, points, reason)  # what a rule returns is differentiated again

    def at_fixed_pullback(dy: Any) -> Any:
        unknown = rc.not_implemented(reason)
        return rc.NoTangent(), dy, unknown, rc.NoTangent()

    return y, at_fixed_pullback


def tuple_of(args: Any) -> tuple[Any, ...]:
    """The arguments of a function after the first, which may be one."""
    return args if isinstance(args, tuple) else (args,)


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
    return (y if points is None else at_fixed(y, points, JUMPS.format("quad"))), *rest


def _quad(
    func: Function, a: Any, b: Any, args: Any = (), full_output: Any = 0,
    epsabs: float = 1.49e-08, epsrel: float = 1.49e-08, limit: int = 50,
    points: Any = None, weight: Any = None, wvar: Any = None, wopts: Any = None,
    maxp1: int = 50, limlst: int = 50, complex_func: bool = False,
) -> Any:  # fmt: skip
    """`quad` at fixed points."""
    refuse("quad", weight=weight, wvar=wvar, wopts=wopts, complex_func=complex_func)
    args = tuple_of(args)
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
    args = tuple_of(args)
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
    args = tuple_of(args)
    options: dict[str, Any] = {"epsabs": epsabs, "epsrel": epsrel}

    def innermost(y: Any, x: Any, *args: Any) -> Any:
        low, high = _limit(qfun, x, y), _limit(rfun, x, y)
        return quad(func, low, high, (y, x, *args), **options)[0]

    return dblquad(innermost, a, b, gfun, hfun, args, **options)


def nquad(
    func: Function, ranges: Any, args: Any = None, opts: Any = None,
    full_output: Any = False,
) -> Any:  # fmt: skip
    """`scipy.integrate.nquad`: `func(x0, …, xn, *args)`, its limits too.

    The error is that of the outermost integral.
    """
    refuse("nquad", full_output=full_output)
    args = () if args is None else tuple_of(args)
    return _nested(func, list(ranges), _listed(opts, len(ranges)), args)


def _listed(opts: Any, count: int) -> list[Any]:
    """The options of `quad`, or functions that return them, for each variable."""
    given = {} if opts is None else opts
    single = isinstance(given, dict) or callable(given)
    return [given] * count if single else list(given)


def _nested(func: Function, limits: Any, options: Any, args: Any) -> Any:
    """The integral over the last variable of that over those before."""
    *inner, own = limits
    low, high = _limit(own, *args)
    given = _limit(options[-1], *args)
    if not inner:
        return quad(func, low, high, args, **given)

    def integrand(x: Any, *args: Any) -> Any:
        return _nested(func, inner, options[:-1], (x, *args))[0]

    return quad(integrand, low, high, args, **given)


def _limit(end: Any, *x: Any) -> Any:
    return end(*x) if callable(end) else end


DECLARED.cover(_sp.quad, _quad, points=JUMPS.format("quad"))
for _own in (dblquad, nquad, tplquad):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
