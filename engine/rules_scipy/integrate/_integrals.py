r"""Integrals: one primitive, whose rule is Leibniz's.

$$ d\int_a^b f\,dx = \int_a^b df\,dx + f(b)\,db - f(a)\,da . $$

In reverse mode the integrand is the cotangent of everything that the function takes and
captures, as one vector.
"""

from __future__ import annotations

import math
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.integrate as _sp

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_scipy._functions import Function, Run, like, solve
from rules_scipy._parameters import joined, leaves, shapes_of, split, spread, tangent_of
from rules_scipy._solvers import value_backwards, value_forwards

from ._moving_jumps import if_at_rest, integrand_run, moved_by, unless_moved

__all__ = ["integral", "scalar_run", "vector_run"]


@rc.primitive
def integral(
    fun: Function, args: tuple[Any, ...], a: Any, b: Any, run: Run, size: int | None
) -> Any:
    """`(∫ fun(x, *args) dx, success, (error,), others)`.

    Args:
        fun: Returns a number, or a vector.
        args: Its arguments after the first.
        a: The lower limit.
        b: The upper limit.
        run: `scalar_run` or `vector_run`.
        size: The length of the vector; None for a number.
    """
    lower = like(a, a, b, args, fun)
    upper, result = like(b, lower, args, fun), None
    if size is not None:
        xp = rc.array_namespace(lower)
        result = xp.zeros((size,), dtype=lower.dtype)
    return solve(run, (fun,), args, (lower, upper), lower, result)


def scalar_run(**settings: Any) -> Run:
    """Integrates a number by `scipy.integrate.quad`."""
    return Run(_by_quad, 1, None, **settings)


def _by_quad(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    fun = functions[0]

    def number(x: float) -> float:
        return float(np.asarray(fun(x)).reshape(()))

    shown = settings["full_output"]
    given = {k: v for k, v in settings.items() if k != _DERIVED} | {"full_output": 1}
    y, error, *rest = _sp.quad(number, float(a), float(b), **given)
    success = len(rest) < 2  # else there is a message
    if not (success or shown):
        warnings.warn(rest[1], _sp.IntegrationWarning, stacklevel=2)
    return np.float64(y), int(success), (error,), {"rest": rest if shown else ()}


# A setting of integrals of derivatives: the function was looked at before.
_DERIVED = "derived"


def _of_derivative(run: Run) -> Run:
    return Run(run.f, run.counts, run.dtype, **(run.settings | {_DERIVED: True}))


def vector_run(run: Run) -> Run:
    """Integrates vectors to the precision of another run."""
    if run.f is _by_vector:
        return run
    names = ("epsabs", "epsrel", "points")
    # It halves intervals where quad extrapolates, so it needs more of them.
    given = {k: run.settings[k] for k in names} | {"limit": 4 * run.settings["limit"]}
    return Run(_by_vector, 1, None, **given)


def _by_vector(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    names = ("epsabs", "epsrel", "points", "limit")
    given = {k: settings[k] for k in names if settings[k] is not None}
    # On the whole line quad_vec calls the function where squares overflow.
    middle = (0.0,) if math.isinf(a) and math.isinf(b) else ()
    ends = [float(a), *middle, float(b)]
    total, error, success = np.float64(0.0), 0.0, True
    for low, high in pairwise(ends):
        y, own, info = _sp.quad_vec(
            lambda x: np.asarray(functions[0](x)), low, high, full_output=True,
            norm="max", **given,
        )  # fmt: skip
        total, error, success = total + y, error + own, success and info.success
    return total if success else total * np.nan, int(success), (error,), {}


# rules


@rc.rrule.define(integral, config=RuleConfig[HasReverseMode])
def integral_rrule(
    config: Any, fun: Any, args: Any, a: Any, b: Any, run: Any, size: Any
) -> Any:
    """Leibniz's rule; the limits' part is computed where it is wanted."""
    results = integral(fun, args, a, b, run, size)

    def integral_pullback(d: Any) -> Any:
        none = rc.NoTangent()
        if isinstance(d, rc.AbstractZero) or isinstance(d[0], rc.AbstractZero):
            zero = rc.ZeroTangent()
            return none, zero, zero, zero, zero, none, none
        dy = d[0]
        dfun, dargs = _of_parameters(config, fun, args, (a, b), run, size, dy)
        da = rc.thunk(lambda: _at_end(config, fun, args, a, -dy))
        db = rc.thunk(lambda: _at_end(config, fun, args, b, dy))
        return none, dfun, dargs, da, db, none, none

    return results, integral_pullback


def _of_parameters(
    config: Any, fun: Any, args: Any, limits: Any, run: Any, size: Any, dy: Any
) -> Any:
    """The cotangents of `fun` and `args`: an integral of vectors."""
    shapes = shapes_of((fun, args))
    if not shapes:
        return rc.NoTangent(), (rc.NoTangent(),) * len(args)
    # Of a number the precision does not depend on its cotangent.
    unit, factor = (dy * 0.0 + 1.0, dy) if size is None else (dy, 1.0)

    def cotangents(x: Any) -> Any:
        _, pullback = rrule_via_ad(config, fun, x, *args)
        dfun, _, *dargs = pullback(unit)
        return joined(leaves((fun, args), (dfun, tuple(dargs))), shapes, unit)

    flags = _moving(fun, args, limits, run)
    run = _of_derivative(vector_run(run))
    size, (a, b) = sum(math.prod(shape) for shape, _ in shapes), limits
    total = integral(cotangents, (), a, b, run, size)[0]
    parts = unless_moved(split(total * factor, shapes), flags, "quad")
    return tangent_of(fun, args, parts)


def _moving(fun: Any, args: Any, limits: Any, run: Any) -> Any:
    """What moves a jump of the integrand."""
    if _DERIVED in run.settings:
        return ()
    lower = like(limits[0], limits[0], args, fun)
    upper = like(limits[1], lower, args, fun)
    run = integrand_run(run)
    return moved_by(_called, fun, args, (lower, upper), (lower,), run)


def _called(fun: Any, args: Any, x: Any) -> Any:
    return fun(x, *args)


def _at_end(config: Any, fun: Any, args: Any, x: Any, dy: Any) -> Any:
    """The cotangent of a limit, zero at infinity."""
    if isinstance(x, int):
        return rc.NoTangent()
    if isinstance(x, float):
        return (
            rc.ZeroTangent()
            if math.isinf(x)
            else _inner(dy, value_backwards(config, fun, x, *args))
        )
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    inside = xp.where(finite, x, xp.zeros_like(x))
    found = _inner(dy, value_backwards(config, fun, inside, *args))
    return xp.where(finite, found, xp.zeros_like(found))


def _inner(dy: Any, y: Any) -> Any:
    return (dy * y).sum() if getattr(dy, "shape", ()) else dy * y


@rc.frule.define(integral, config=RuleConfig[HasForwardsMode])
def integral_frule(
    config: Any, tangents: Any, fun: Any, args: Any, a: Any, b: Any, run: Any, size: Any
) -> Any:
    """Leibniz's rule along a direction."""
    _, dfun, dargs, da, db, _, _ = tangents
    results = integral(fun, args, a, b, run, size)
    zero = rc.ZeroTangent()
    found = leaves((fun, args), (dfun, spread(dargs, args)))

    def along(x: Any) -> Any:
        dfun, dargs = tangent_of(fun, args, found)
        given = dfun, zero, *spread(dargs, args)
        y, dy = frule_via_ad(config, given, fun, x, *args)
        return y * 0.0 if isinstance(dy, rc.AbstractZero) else dy

    dy = 0.0
    if found:
        dy = integral(along, (), a, b, _of_derivative(run), size)[0]
        flags = _moving(fun, args, (a, b), run)
        dy = if_at_rest(dy, flags, [None, *found], "quad")
    for x, dx, sign in ((a, da, -1.0), (b, db, 1.0)):
        if not isinstance(dx, rc.AbstractZero):
            dy = dy + sign * _along_end(config, fun, args, x, dx)
    return results, (dy, *[rc.ZeroTangent()] * (len(results) - 1))


def _along_end(config: Any, fun: Any, args: Any, x: Any, dx: Any) -> Any:
    if isinstance(x, float):
        return 0.0 if math.isinf(x) else value_forwards(config, fun, x, *args) * dx
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    inside = xp.where(finite, x, xp.zeros_like(x))
    found = value_forwards(config, fun, inside, *args) * dx
    return xp.where(finite, found, xp.zeros_like(found))
