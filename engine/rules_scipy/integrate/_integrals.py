r"""Integrals: one primitive, whose rule is Leibniz's.

$$ d\int_a^b f\,dx = \int_a^b df\,dx + f(b)\,db - f(a)\,da . $$

In reverse mode the integrand is the cotangent of everything that the function takes and
captures, as one vector.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_scipy._axes import concat
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
from rules_scipy._weights import uneven
from rules_scipy.special._declare import strong

from ._moving_jumps import (
    along_limit,
    at_limit,
    if_at_rest,
    jumps_at_limits,
    moved_by,
    unless_moved,
)
from ._regions import points_like
from ._runs import face_run, of_derivative, places_of, seen_in, vector_run
from ._searches import integrand_run, limits_run

__all__ = ["integral"]


@rc.primitive
def integral(
    fun: Function, args: tuple[Any, ...], a: Any, b: Any, run: Run, size: int | None
) -> Any:
    """`(∫ fun(x, *args) dx, success, (error,), others)`.

    Args:
        fun: Returns a number, or a vector. Over a box it is called with places, a row
            each, and with weights, and returns the weighted sum of its values.
        args: Its arguments after the first.
        a: The lower limit; of a box a vector.
        b: The upper limit.
        run: `scalar_run`, `vector_run` or another. In runs of derivatives (`seen_in`)
            what `fun` returns begins with numbers that are integrated for their
            intervals alone.
        size: The length of the vector; None for a number.
    """
    lower = like(a, a, b, args, fun)
    upper, result = like(b, lower, args, fun), lower
    if size is not None:
        xp = rc.array_namespace(lower)
        result = xp.zeros((size,), dtype=lower.dtype)
    examples = [places_of(run, lower)]
    return solve(run, (fun,), args, (lower, upper), examples, result)


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
        at_end = _at_faces if _is_box(a) else _at_end
        where = (a, b), run, size
        flags = rc.thunk(lambda: _at_limits(fun, args, (a, b), run))

        def at(i: int, x: Any, dy: Any) -> Any:
            d = at_end(config, fun, args, x, dy, *where)
            if isinstance(d, rc.AbstractZero):
                return d
            return at_limit(d, rc.unthunk(flags)[i], _name(run))

        da, db = rc.thunk(lambda: at(0, a, -dy)), rc.thunk(lambda: at(1, b, dy))
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
    before = seen_in(run)
    seed = unit if not before else _after(before, unit)

    read = reader_of((fun, args), unit)
    is_complex = any(is_complex for _, is_complex in shapes)

    def cotangents(*x: Any) -> Any:
        y, pullback = rrule_via_ad(config, fun, *x, *args)
        dfun, *rest = pullback(seed)
        found = joined(read((dfun, tuple(rest[len(x) :]))), shapes, unit)
        return _joined(y, _reals(found) if is_complex else found)

    flags, name = _moving(fun, args, limits, run), _name(run)
    run = of_derivative(vector_run(run), before + (size or 1))
    size = sum(math.prod(shape) for shape, _ in shapes) * (2 if is_complex else 1)
    a, b = limits
    total = integral(cotangents, (), a, b, run, size)[0]
    total = _complexes(total) if is_complex else total
    parts = unless_moved(split(total * factor, shapes), flags, name)
    return tangent_of(fun, args, parts)


def _is_box(x: Any) -> bool:
    """Whether a limit is one of a box."""
    return len(getattr(x, "shape", ())) == 1


def _reals(x: Any) -> Any:
    """A vector's real parts, and its imaginary parts: integrals are of real numbers."""
    return concat([x.real, x.imag])


def _complexes(x: Any) -> Any:
    half = x.shape[0] // 2
    return x[:half] + 1j * x[half:]


def _moving(fun: Any, args: Any, limits: Any, run: Any) -> Any:
    """What moves a jump of the integrand, or of a derivative's, where kinks jump."""
    return _looked_for(moved_by, fun, args, limits, integrand_run(run))


def _at_limits(fun: Any, args: Any, limits: Any, run: Any) -> Any:
    """Whether the integrand jumps at each limit."""
    return _looked_for(jumps_at_limits, fun, args, limits, limits_run(run))


def _looked_for(look: Any, fun: Any, args: Any, limits: Any, run: Any) -> Any:
    lower = like(limits[0], limits[0], args, fun)
    ends = lower, like(limits[1], lower, args, fun)
    if not _is_box(lower):
        return look(_called, fun, args, ends, (lower,), run)
    return look(_along_lines, fun, args, ends, (points_like(lower),), run)


def _name(run: Any) -> str:
    return str(run.settings.get("name", "quad"))


def _joined(y: Any, found: Any) -> Any:
    """A value of the function, and what is integrated, as one vector."""
    xp = rc.array_namespace(found)
    y = rc.ignore_derivatives(y)
    y = y if rc.is_array(y) else xp.asarray(y, dtype=found.dtype)
    return concat([xp.astype(y, found.dtype).reshape((-1,)), found.reshape((-1,))])


def _after(count: int, dy: Any) -> Any:
    """A cotangent of the last numbers of a vector, of which the first have none."""
    xp = rc.array_namespace(dy)
    dy = dy.reshape((-1,))
    return concat([xp.zeros((count,), dtype=dy.dtype), dy])


def _result(y: Any, run: Run, size: int | None) -> Any:
    """What is integrated of a vector that begins with the function's own numbers."""
    seen = seen_in(run)
    if not seen:
        return y
    return y[seen] if size is None else y[seen:]


def _called(fun: Any, args: Any, x: Any) -> Any:
    return fun(x, *args)


def _along_lines(fun: Any, args: Any, x: Any) -> Any:
    xp = rc.array_namespace(x)
    return fun(x, uneven(xp, x.shape[0], dtype=x.dtype), *args)


# Python's numbers raise errors where NumPy's are infinite.
_ONE = np.float64(1.0)


def _at_end(
    config: Any, fun: Any, args: Any, x: Any, dy: Any, ends: Any, run: Any, size: Any
) -> Any:
    """The cotangent of a limit; at infinity a zero that moves with the limit."""

    def value(x: Any) -> Any:
        with np.errstate(all="ignore"):  # perhaps singular, and not asked for
            return _result(value_backwards(config, fun, x, *args), run, size)

    if isinstance(x, int):
        return rc.NoTangent()
    if isinstance(x, float):
        return _inner(dy, 1.0 / x if math.isinf(x) else value(x * _ONE))
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    found = _inner(dy, value(xp.where(finite, x, xp.zeros_like(x))))
    beyond = _inner(dy, 1.0 / xp.where(finite, xp.ones_like(x), x))
    return xp.where(finite, found, beyond)


def _inner(dy: Any, y: Any) -> Any:
    return (dy * y).sum() if getattr(dy, "shape", ()) else dy * y


@rc.frule.define(integral, config=RuleConfig[HasForwardsMode], symbolic_zeros=True)
def integral_frule(
    config: Any, tangents: Any, fun: Any, args: Any, a: Any, b: Any, run: Any, size: Any
) -> Any:
    """Leibniz's rule along a direction."""
    _, dfun, dargs, da, db, _, _ = tangents
    results = integral(fun, args, a, b, run, size)
    zero = rc.ZeroTangent()
    found = leaves((fun, args), (dfun, spread(dargs, args)))

    build = builder_of(fun, args)

    def along(*x: Any) -> Any:
        dfun, dargs = build(found)
        given = dfun, *[zero] * len(x), *spread(dargs, args)
        y, dy = frule_via_ad(config, given, fun, *x, *args)
        dy = y * 0.0 if isinstance(dy, rc.AbstractZero) else dy
        return _joined(y, _array(_result(dy, run, size), lower))

    lower = like(a, a, b, args, fun)
    dy = 0.0 if size is None else rc.array_namespace(lower).zeros_like(results[0])
    if found:
        own = run if size is None else vector_run(run)
        own = of_derivative(own, seen_in(run) + (size or 1))
        dy = integral(along, (), a, b, own, size)[0]
        flags = _moving(fun, args, (a, b), run)
        dy = if_at_rest(dy, flags, [None, *found], _name(run))
    along_end = _along_faces if _is_box(a) else _along_end
    at_ends = rc.thunk(lambda: _at_limits(fun, args, (a, b), run))
    for i, (x, dx, sign) in enumerate(((a, da, -1.0), (b, db, 1.0))):
        if not isinstance(dx, rc.AbstractZero):
            moved = along_end(config, fun, args, x, dx, (a, b), run, size)
            dy = dy + sign * along_limit(moved, rc.unthunk(at_ends)[i], _name(run))
    return results, (dy, *[rc.ZeroTangent()] * (len(results) - 1))


# the limits of boxes


def _face(fun: Any, args: Any, ends: Any, end: Any, k: int, run: Any, size: Any) -> Any:
    """The integral over all but one variable of a box, at a place of this one."""

    def on_face(x: Any, weights: Any, *args: Any) -> Any:
        return fun(_inserted(x, end, k), weights, *args)

    a, b = (_left_out(x, k) for x in ends)
    if a.shape[0]:
        return integral(on_face, args, a, b, face_run(run), size)[0]
    xp = rc.array_namespace(end)
    one = xp.ones_like(end).reshape((1,))
    return _result(fun(end.reshape((1, 1)), one, *args), run, size)


def _left_out(x: Any, k: int) -> Any:
    return concat([x[:k], x[k + 1 :]])


def _inserted(x: Any, end: Any, k: int) -> Any:
    """Places in a box, of those on a face."""
    xp = rc.array_namespace(x, end)
    own = xp.zeros_like(x[:, :1]) + end
    return concat([x[:, :k], own, x[:, k:]], axis=1)


def _faces(
    value: Any, config: Any, fun: Any, args: Any, x: Any, ends: Any, run: Any, size: Any
) -> list[Any]:
    """The integrals over the faces at a limit, zero at infinity."""
    xp, found = rc.array_namespace(x), []
    for k in range(x.shape[0]):
        finite = xp.isfinite(x[k])
        end = xp.where(finite, x[k], xp.zeros_like(x[k]))
        face = value(config, _face, fun, args, ends, end, k, run, size)
        found.append(xp.where(finite, face, xp.zeros_like(face)))
    return found


def _at_faces(
    config: Any, fun: Any, args: Any, x: Any, dy: Any, ends: Any, run: Any, size: Any
) -> Any:
    faces = _faces(value_backwards, config, fun, args, x, ends, run, size)
    return rc.array_namespace(x).stack([_inner(dy, face) for face in faces])


def _along_faces(
    config: Any, fun: Any, args: Any, x: Any, dx: Any, ends: Any, run: Any, size: Any
) -> Any:
    faces = _faces(value_forwards, config, fun, args, x, ends, run, size)
    return sum(dx[k] * face for k, face in enumerate(faces))


def _array(x: Any, like: Any) -> Any:
    return x if rc.is_array(x) else rc.array_namespace(like).asarray(x)


def _along_end(
    config: Any, fun: Any, args: Any, x: Any, dx: Any, ends: Any, run: Any, size: Any
) -> Any:
    def value(x: Any) -> Any:
        with np.errstate(all="ignore"):
            return _result(value_forwards(config, fun, x, *args), run, size)

    if isinstance(x, float):
        return 0.0 * dx if math.isinf(x) else strong(value(x * _ONE), dx)
    xp = rc.array_namespace(x)
    finite = xp.isfinite(x)
    found = strong(value(xp.where(finite, x, xp.zeros_like(x))), dx)
    return xp.where(finite, found, 0.0 * dx)
