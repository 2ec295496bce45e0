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
from rules_scipy._parameters import (
    builder_of,
    joined,
    leaves,
    reader_of,
    shapes_of,
    split,
    spread,
    tangent_of,
)
from rules_scipy._solvers import value_backwards, value_forwards

from ._moving_jumps import if_at_rest, integrand_run, moved_by, unless_moved
from ._resolved import edges, integrated, remembered

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
        run: `scalar_run` or `vector_run`. In runs of derivatives (`_seen`) what `fun`
            returns begins with numbers that are integrated for their intervals alone.
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
    fun, shown = functions[0], settings["full_output"]
    given = {k: v for k, v in settings.items() if k != _SEEN} | {"full_output": 1}

    def number(x: float) -> float:
        return float(np.asarray(fun(x)).reshape(()))

    if _SEEN in settings:
        y, error, *rest = _derivative(settings, given, fun, float(a), float(b))
    else:
        y, error, *rest = _sp.quad(number, float(a), float(b), **given)
    success = len(rest) < 2  # else there is a message
    if not (success or shown):
        warnings.warn(rest[1], _sp.IntegrationWarning, stacklevel=2)
    return np.float64(y), int(success), (error,), {"rest": rest if shown else ()}


def _derivative(settings: Any, given: Any, fun: Any, a: float, b: float) -> Any:
    """The integral of the last number of a vector, and what `quad` adds to it."""
    if b < a:
        y, *rest = _derivative(settings, given, fun, b, a)
        return -y, *rest
    parts = remembered(lambda x: np.asarray(fun(x)))
    given, inner = _inside(given, a, b)

    def part(i: int) -> Any:
        return lambda x: float(parts(x)[i])

    for i in range(settings[_SEEN]):
        inner = edges(part(i), a, b, given, inner)
    return integrated(part(-1), a, b, given, inner)


def _inside(given: Any, a: float, b: float) -> tuple[Any, list[float]]:
    """Options without points, and the points between the limits."""
    given = dict(given)
    points = np.ravel(given.pop("points", None) or [])
    return given, sorted(float(x) for x in points if a < x < b)


# A setting of integrals of derivatives: how many numbers of the vector are those of the
# function, which was looked at before.
_SEEN = "seen"


def _seen(run: Run) -> int:
    return int(run.settings.get(_SEEN, 0))


def _of_derivative(run: Run, seen: int) -> Run:
    return Run(run.f, run.counts, run.dtype, **(run.settings | {_SEEN: seen}))


def vector_run(run: Run) -> Run:
    """Integrates vectors to the precision of another run."""
    if run.f is _by_vector:
        return run
    names = ("epsabs", "epsrel", "points", "maxp1", "limlst")
    # It halves intervals where quad extrapolates, so it needs more of them.
    given = {k: run.settings[k] for k in names} | {"limit": 4 * run.settings["limit"]}
    return Run(_by_vector, 1, None, **given)


def _by_vector(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    names = ("epsabs", "epsrel", "limit")
    given = {k: settings[k] for k in names if settings[k] is not None}
    parts, seen = remembered(lambda x: np.asarray(functions[0](x))), settings[_SEEN]
    low, high = sorted((float(a), float(b)))
    options, inner = _inside(settings, low, high)
    options = {k: v for k, v in options.items() if k != _SEEN} | {"full_output": 1}
    inner = edges(lambda x: float(parts(x)[0]), low, high, options, inner)
    # On the whole line quad_vec calls the function where squares overflow.
    middle = (0.0,) if math.isinf(a) and math.isinf(b) else ()
    total, error, success = np.float64(0.0), 0.0, True
    for start, stop in pairwise([low, *middle, high]):
        points = [
            x for x in inner if start < x < stop
        ]  # in order, as quad_vec reads them
        y, own, info = _sp.quad_vec(
            lambda x: parts(x)[seen:], start, stop, full_output=True, norm="max",
            **given | {"points": points or None, "limit": given["limit"] + len(points)},
        )  # fmt: skip
        total, error, success = total + y, error + own, success and info.success
    total = total if float(a) <= float(b) else -total
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
        where = run, size
        da = rc.thunk(lambda: _at_end(config, fun, args, a, -dy, *where))
        db = rc.thunk(lambda: _at_end(config, fun, args, b, dy, *where))
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
    before = _seen(run)
    seed = unit if not before else _after(before, unit)

    read = reader_of((fun, args))

    def cotangents(x: Any) -> Any:
        y, pullback = rrule_via_ad(config, fun, x, *args)
        dfun, _, *dargs = pullback(seed)
        return _joined(y, joined(read((dfun, tuple(dargs))), shapes, unit))

    flags = _moving(fun, args, limits, run)
    run = _of_derivative(vector_run(run), before + (size or 1))
    size, (a, b) = sum(math.prod(shape) for shape, _ in shapes), limits
    total = integral(cotangents, (), a, b, run, size)[0]
    parts = unless_moved(split(total * factor, shapes), flags, "quad")
    return tangent_of(fun, args, parts)


def _moving(fun: Any, args: Any, limits: Any, run: Any) -> Any:
    """What moves a jump of the integrand."""
    if _seen(run):
        return ()
    lower = like(limits[0], limits[0], args, fun)
    upper = like(limits[1], lower, args, fun)
    run = integrand_run(run)
    return moved_by(_called, fun, args, (lower, upper), (lower,), run)


def _joined(y: Any, found: Any) -> Any:
    """A value of the function, and what is integrated, as one vector."""
    xp = rc.array_namespace(found)
    y = rc.ignore_derivatives(y)
    y = y if rc.is_array(y) else xp.asarray(y, dtype=found.dtype)
    return xp.concat([xp.astype(y, found.dtype).reshape((-1,)), found.reshape((-1,))])


def _after(count: int, dy: Any) -> Any:
    """A cotangent of the last numbers of a vector, of which the first have none."""
    xp = rc.array_namespace(dy)
    dy = dy.reshape((-1,))
    return xp.concat([xp.zeros((count,), dtype=dy.dtype), dy])


def _result(y: Any, run: Run, size: int | None) -> Any:
    """What is integrated of a vector that begins with the function's own numbers."""
    seen = _seen(run)
    if not seen:
        return y
    return y[seen] if size is None else y[seen:]


def _called(fun: Any, args: Any, x: Any) -> Any:
    return fun(x, *args)


def _at_end(
    config: Any, fun: Any, args: Any, x: Any, dy: Any, run: Any, size: Any
) -> Any:
    """The cotangent of a limit, zero at infinity."""

    def value(x: Any) -> Any:
        return _result(value_backwards(config, fun, x, *args), run, size)

    if isinstance(x, int):
        return rc.NoTangent()
    if isinstance(x, float):
        return rc.ZeroTangent() if math.isinf(x) else _inner(dy, value(x))
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    inside = xp.where(finite, x, xp.zeros_like(x))
    found = _inner(dy, value(inside))
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

    build = builder_of(fun, args)

    def along(x: Any) -> Any:
        dfun, dargs = build(found)
        given = dfun, zero, *spread(dargs, args)
        y, dy = frule_via_ad(config, given, fun, x, *args)
        dy = y * 0.0 if isinstance(dy, rc.AbstractZero) else dy
        return _joined(y, _array(_result(dy, run, size), lower))

    dy, lower = 0.0, like(a, a, b, args, fun)
    if found:
        own = _of_derivative(run, _seen(run) + (size or 1))
        dy = integral(along, (), a, b, own, size)[0]
        flags = _moving(fun, args, (a, b), run)
        dy = if_at_rest(dy, flags, [None, *found], "quad")
    for x, dx, sign in ((a, da, -1.0), (b, db, 1.0)):
        if not isinstance(dx, rc.AbstractZero):
            dy = dy + sign * _along_end(config, fun, args, x, dx, run, size)
    return results, (dy, *[rc.ZeroTangent()] * (len(results) - 1))


def _array(x: Any, like: Any) -> Any:
    return x if rc.is_array(x) else rc.array_namespace(like).asarray(x)


def _along_end(
    config: Any, fun: Any, args: Any, x: Any, dx: Any, run: Any, size: Any
) -> Any:
    def value(x: Any) -> Any:
        return _result(value_forwards(config, fun, x, *args), run, size)

    if isinstance(x, float):
        return 0.0 if math.isinf(x) else value(x) * dx
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    found = value(xp.where(finite, x, xp.zeros_like(x))) * dx
    return xp.where(finite, found, xp.zeros_like(found))
