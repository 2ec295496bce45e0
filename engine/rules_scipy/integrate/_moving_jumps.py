"""Whether what a function takes and captures moves its jumps: then no rule holds."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import rules_core as rc
from rules_core.extend import find_adapter, nan_unless, numpy_function, unflatten
from rules_scipy._functions import Function, Run, is_traced, solve, stacked
from rules_scipy._parameters import (
    is_still,
    leaves,
    parts_of,
    shapes_of,
    split,
    spread,
    tangent_of,
)

__all__ = [
    "along_limit", "at_limit", "if_at_rest", "if_unmoved", "jumps_at_limits",
    "moved_by", "unless_moved",
]  # fmt: skip

_REASON = (
    "{} has no derivative in what moves a jump of its function: the jump's part is not "
    "in the derivative of the code. {}; or make the function smooth."
)
_OF_INTEGRALS = (
    "Make the place of the jump a limit: split the integral there, with the function "
    "of one side in each part"
)
_OF_SOLUTIONS = (
    "Stop at the jump, by an event with terminal=True or by the end of the span, and "
    "go on from there, with the function of one side in each part"
)


_AT_LIMIT = (
    "{} has no derivative in a limit at which its function jumps: inside of the limit "
    "it is another one. Integrate the function of one side of the jump."
)

_SOLUTIONS = ("odeint", "solve_bvp", "solve_ivp")


def _unknown(solver: str) -> rc.NotImplementedTangent:
    cure = _OF_SOLUTIONS if solver in _SOLUTIONS else _OF_INTEGRALS
    return rc.not_implemented(_REASON.format(solver, cure))


@rc.primitive
def moved_by(
    call: Function, fun: Function, args: Any, start: Any, example: Any, run: Run
) -> Any:
    """Which parts move a jump: the state, and each leaf of `fun` and `args`; 1 or 0.

    Args:
        call: `call(fun, args, *xs)` is the function of the path.
        fun: The user's function.
        args: Its further arguments.
        start: What `run` takes before the leaves.
        example: Arrays like `xs`.
        run: `path_run` or `integrand_run`.
    """
    layout, parts = parts_of((fun, args))
    places = [i for i, x in enumerate(parts) if not is_still(x, example[0])]

    moving = [parts[i] for i in places]
    in_numpy = find_adapter((fun, args, *example), {}) is None
    still = _apart(fun) if in_numpy else fun

    def of_parts(*xs: Any) -> Any:
        place, given = xs[: len(example)], xs[len(example) :]
        if all(map(operator.is_, given, moving)):
            return call(still, args, *place)
        own = list(parts)
        for i, x in zip(places, given, strict=True):
            own[i] = x
        moved, moved_args = unflatten(layout, own)
        return call(_apart(moved) if in_numpy else moved, moved_args, *place)

    xp = rc.array_namespace(example[0])
    shape = xp.zeros((1 + len(places),), dtype=example[0].dtype)
    given = (*start, *moving)
    flags = solve(run, (of_parts,), (), given, [(*example, *moving)], shape)[0]
    found = [0.0 * flags[0]] * (1 + len(parts))
    for i, place in enumerate((0, *[1 + i for i in places])):
        found[place] = flags[i]
    return xp.stack(found)


rc.non_differentiable(moved_by)


def _apart(f: Function) -> Function:
    """A function of NumPy arrays, apart from derivatives that are being computed."""
    return numpy_function(f)[0](())


def if_at_rest(d: Any, flags: Any, tangents: Sequence[Any], solver: str) -> Any:
    """A derivative along a direction, if nothing along it moves a jump.

    Args:
        d: The derivative.
        flags: What moves a jump; none for one that was looked at before.
        tangents: The direction, with None for zero.
        solver: Its name, for errors.
    """
    if isinstance(d, rc.AbstractZero) or not len(flags):
        return d
    xp = rc.array_namespace(d)
    pairs = [(flag, dx) for flag, dx in zip(flags, tangents, strict=True)
             if dx is not None]  # fmt: skip
    moved = [flag * xp.any(stacked(xp, dx) != 0) for flag, dx in pairs]
    total = sum(moved)
    if is_traced(total):
        return nan_unless(total == 0, d)
    if total:
        _unknown(solver).throw("needed by forward mode")
    return d


def unless_moved(parts: Sequence[Any], flags: Any, solver: str) -> list[Any]:
    """The cotangents of leaves; those that move a jump have none.

    Args:
        parts: The cotangents.
        flags: What moves a jump; none for a function that was looked at before.
        solver: Its name, for errors.
    """
    if not len(flags):
        return list(parts)
    return [_unless(x, flags[1 + i], solver) for i, x in enumerate(parts)]


def _unless(d: Any, flag: Any, solver: str) -> Any:
    if is_traced(flag):
        return nan_unless(flag == 0, d)
    return _unknown(solver) if flag else d


# limits


@rc.primitive
def jumps_at_limits(
    call: Function, fun: Function, args: Any, start: Any, example: Any, run: Run
) -> Any:
    """Whether a function jumps at the lower and at the upper limit; 1 or 0.

    Args:
        call: As in `moved_by`, like all arguments to `example`.
        fun: The user's function.
        args: Its further arguments.
        start: The limits.
        example: Arrays like those that `call` takes.
        run: `limits_run` or another.
    """
    in_numpy = find_adapter((fun, args, *example), {}) is None
    own = _apart(fun) if in_numpy else fun

    def of_place(*x: Any) -> Any:
        return call(own, args, *x)

    xp = rc.array_namespace(example[0])
    flags = xp.zeros((2,), dtype=example[0].dtype)
    return solve(run, (of_place,), (), start, [example], flags)[0]


rc.non_differentiable(jumps_at_limits)


def at_limit(d: Any, flag: Any, solver: str) -> Any:
    """The cotangent of a limit, unless the function jumps there."""
    if isinstance(d, rc.AbstractZero):
        return d
    if is_traced(flag):
        return nan_unless(flag == 0, d)
    return rc.not_implemented(_AT_LIMIT.format(solver)) if flag else d


def along_limit(d: Any, flag: Any, solver: str) -> Any:
    """As `at_limit`, forwards."""
    found = at_limit(d, flag, solver)
    if isinstance(found, rc.NotImplementedTangent):
        found.throw("needed by forward mode")
    return found


# sums and integrals whose formula does not look for jumps


@rc.primitive
def if_unmoved(
    y: Any, call: Function, fun: Function, args: Any, start: Any, example: Any,
    run: Run, solver: str,
) -> Any:  # fmt: skip
    """A value, which has no derivative in what moves a jump of a function.

    Args:
        y: The value; its own derivative is that of the code.
        call: As in `moved_by`, like all arguments to `run`.
        fun: The user's function.
        args: Its further arguments.
        start: What `run` takes before the leaves.
        example: Arrays like those that `call` takes.
        run: That looks for jumps.
        solver: Its name, for errors.
    """
    return y


@rc.frule.define(if_unmoved)
def if_unmoved_frule(
    tangents: Any, y: Any, call: Any, fun: Any, args: Any, start: Any, example: Any,
    run: Any, solver: str,
) -> Any:  # fmt: skip
    """The tangent of the value, also where the code has none."""
    dy, _, dfun, dargs = tangents[1:5]
    own = if_unmoved(y, call, fun, args, start, example, run, solver)
    found = leaves((fun, args), (dfun, spread(dargs, args)))
    if all(dx is None for dx in found):
        return own, dy
    dy = y * 0.0 if isinstance(dy, rc.AbstractZero) else dy
    flags = moved_by(call, fun, args, start, example, run)
    return own, if_at_rest(dy, flags, [dy, *found], solver)


@rc.rrule.define(if_unmoved)
def if_unmoved_rrule(
    y: Any, call: Any, fun: Any, args: Any, start: Any, example: Any, run: Any,
    solver: str,
) -> Any:  # fmt: skip
    """No cotangent for what moves a jump, NaN in traced code."""

    def if_unmoved_pullback(dy: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        shapes = shapes_of((fun, args))
        if isinstance(dy, rc.AbstractZero) or not shapes:
            return none, dy, none, zero, zero, zero, zero, none, none
        flags = moved_by(call, fun, args, start, example, run)
        dy = if_at_rest(dy, flags[:1], [dy], solver)
        parts = unless_moved(_zeros(fun, args, shapes, flags), flags, solver)
        dfun, dargs = tangent_of(fun, args, parts)
        return none, dy, none, dfun, dargs, zero, zero, none, none

    own = if_unmoved(y, call, fun, args, start, example, run, solver)
    return own, if_unmoved_pullback


def _zeros(fun: Any, args: Any, shapes: Any, flags: Any) -> list[Any]:
    """A zero for each leaf: in traced code of the leaf, which NaN reaches twice too."""
    if is_traced(flags):
        return [x * 0.0 + 0.0 * flags[0] for x in parts_of((fun, args))[1]]
    xp, size = rc.array_namespace(flags), sum(math.prod(s) for s, _ in shapes)
    return split(xp.zeros((size,), dtype=flags.dtype), shapes)
