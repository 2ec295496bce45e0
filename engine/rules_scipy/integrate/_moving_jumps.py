"""Whether what a function takes and captures moves its jumps: then no rule holds."""

from __future__ import annotations

import math
import operator
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline

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
from rules_scipy._weights import uneven

from ._jumps import is_moved, jumps, rows_of
from ._ode_numbers import Method

__all__ = [
    "ERRORS", "SMALL", "if_at_rest", "if_unmoved", "integrand_run", "known_path_run",
    "mark", "moved_by",
    "path_run", "unless_moved",
]  # fmt: skip

_REASON = (
    "{} has no derivative in what moves a jump of its function: the jump's part is not "
    "in the derivative of the code. {}; or make the function smooth."
)
_OF_INTEGRALS = "Make the place of the jump a limit: split the integral there"
_OF_SOLUTIONS = (
    "Stop at the jump, by an event with terminal=True or by the end of the span, and "
    "go on from there"
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


# in numbers

# Of the largest number of a component: jumps below it count as none,
SMALL = 1e-5
# and of the tolerance.
ERRORS = 10.0


def path_run(method: Method) -> Run:
    """Looks along a solution."""
    return Run(_along_path, 0, method=method)


def _along_path(
    settings: Any, functions: Any, y0: Any, t0: Any, times: Any, *leaves: Any
) -> Any:
    call, t0 = functions[0], float(t0)
    ends = times[np.isfinite(times)]
    end = float(ends[np.argmax(np.abs(ends - t0))]) if len(ends) else t0

    def rate(t: float, y: Any, given: Any = leaves) -> Any:
        return np.asarray(call(t, y, *given))

    flags = np.zeros(1 + len(leaves))
    if end == t0:
        return flags, 1, (), {}
    found = settings["method"].solve(rate, (t0, end), y0)
    nodes, states = found.t, found.y.T
    if end < t0:
        nodes, states = nodes[::-1], states[::-1]
    _mark_path(flags, rate, nodes, states, leaves)
    return flags, 1, (), {}


def known_path_run(columns: int | None) -> Run:
    """Looks along a path through states at given times.

    The function is one of many times, with a column of the states for each.

    Args:
        columns: How many there must be; None for as many as there are times.
    """
    return Run(_along_known, 0, columns=columns)


def _along_known(
    settings: Any, functions: Any, times: Any, states: Any, *leaves: Any
) -> Any:
    call, flags = functions[0], np.zeros(1 + len(leaves))
    count = settings["columns"]

    def rows(t: Any, y: Any, given: Any = leaves) -> Any:
        at = np.arange(count or len(t)).clip(0, len(t) - 1)
        return np.asarray(call(t[at], y[at].T, *given)).T[: len(t)]

    path = CubicHermiteSpline(times, states, rows(times, states))

    def rate(t: float, y: Any, given: Any = leaves) -> Any:
        return rows(np.asarray([t]), y[None, :], given)[0]

    found = jumps(lambda t: rows(t, path(t)), times, SMALL, len(times))
    _mark(flags, found, rate, path, states, leaves)
    return flags, 1, (), {}


def _mark_path(flags: Any, rate: Any, nodes: Any, states: Any, leaves: Any) -> None:
    """Note what moves the jumps of a rate along its path."""
    slopes = [rate(t, y) for t, y in zip(nodes, states, strict=True)]
    path = _along(CubicHermiteSpline(nodes, states, slopes))
    found = jumps(rows_of(lambda t: rate(t, path(t))), nodes, SMALL)
    _mark(flags, found, rate, path, states, leaves)


def _mark(
    flags: Any, found: Any, rate: Any, path: Any, states: Any, leaves: Any
) -> None:
    """Note what moves some jumps of a rate along a path."""
    sizes = np.max(np.abs(states), axis=0)
    aside = _aside(np.where(sizes > 0, sizes, 1.0))

    def moved(t: float, far: float) -> Any:
        return rate(t, path(t) + far * aside)

    for jump in found:
        flags[0] = flags[0] or is_moved(jump, moved)
        mark(flags, jump, leaves, lambda t, given: rate(t, path(t), given))


def _along(spline: Any) -> Any:
    """A cubic spline as a function of one time, without what SciPy does for many."""
    nodes, pieces = spline.x.tolist(), np.moveaxis(spline.c, 1, 0)
    last = len(nodes) - 2

    def path(t: float) -> Any:
        place = min(max(bisect_right(nodes, t) - 1, 0), last)
        far = t - nodes[place]
        cubed, squared, slope, state = pieces[place]
        return ((cubed * far + squared) * far + slope) * far + state

    return path


def integrand_run(run: Run) -> Run:
    """Looks between the places at which an integral calls its function.

    A run over another region has its own one, `jumps`.
    """
    own: Run | None = run.settings.get("jumps")
    if own is not None:
        return own
    return Run(_along_line, 0, run=run)


def _along_line(settings: Any, functions: Any, a: Any, b: Any, *leaves: Any) -> Any:
    call, run = functions[0], settings["run"]
    places: set[float] = set()

    def value(x: Any, given: Any = leaves) -> Any:
        return np.ravel(np.asarray(call(x, *given)))

    def seen(x: Any) -> Any:
        places.add(float(x))
        return call(x, *leaves)

    quiet = {"full_output": 1} if "full_output" in run.settings else {}
    run.f(run.settings | quiet, (seen,), a, b)
    flags = np.zeros(1 + len(leaves))
    # An integral in the function jumps where it takes other steps.
    small = max(SMALL, ERRORS * run.settings["epsrel"])
    for jump in jumps(rows_of(value), sorted(places), small):
        mark(flags, jump, leaves, value)
    return flags, 1, (), {}


def mark(flags: Any, jump: Any, leaves: Any, value: Any) -> None:
    """Note which leaves move a jump."""
    for i, leaf in enumerate(leaves):
        if not flags[1 + i]:
            aside = _aside(leaf)

            def moved(x: float, far: float, i: int = i, aside: Any = aside) -> Any:
                given = list(leaves)
                given[i] = given[i] + far * aside
                return value(x, given)

            flags[1 + i] = is_moved(jump, moved)


def _aside(x: Any) -> Any:
    """A direction like a number or an array: no two entries move alike."""
    if isinstance(x, float) and not isinstance(x, np.generic):
        return abs(x) or 1.0
    sizes = np.abs(x)
    largest = np.max(sizes, initial=0.0) or 1.0
    sizes = np.where(sizes > 0, sizes, largest)
    weights = uneven(np, sizes.size)
    return (sizes * weights.reshape(sizes.shape)).astype(sizes.dtype)
