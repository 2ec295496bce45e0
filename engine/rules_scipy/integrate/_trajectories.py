r"""Solutions of $\dot y = f(t, y, \theta)$: one primitive, whose rule is the theorem.

The derivative $s$ of a solution along a direction satisfies the variational equation

$$ \dot s = \frac{\partial f}{\partial y} s
+ \frac{\partial f}{\partial \theta}\dot\theta,
\qquad s(t_0) = \dot y_0 - f(t_0, y_0)\,\dot t_0, $$

and moves by $f\,\dot t$ with the time. In reverse mode the costate satisfies
$\dot\lambda = -(\partial f / \partial y)^* \lambda$, backwards, with a jump by the
cotangent of `y` at each time; the cotangent of $\theta$ is
$\int (\partial f / \partial \theta)^* \lambda\, dt$.

The state and its derivative solve an equation again, and the derivative of the pullback
follows from it, since second derivatives are symmetric: so all orders are these two.
"""

from __future__ import annotations

import math
from typing import Any, final

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
from rules_scipy._functions import Function, known, solve, stacked
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

from ._moving_jumps import if_at_rest, moved_by, unless_moved
from ._ode_numbers import Method, adjoint_run, states_run
from ._searches import path_run

__all__ = ["Problem", "carried", "in_dtype", "rate", "solved", "trajectory"]


@final
class Problem:
    """How derivatives of an initial value problem are computed.

    Args:
        method: How their equations are solved.
        name: The function of SciPy, for errors.
        size: Of the state; derivatives follow in longer vectors.
        forward: Whether reverse mode too solves the variational equation.
    """

    def __init__(
        self, method: Method, name: str, size: int, *, forward: bool = False
    ) -> None:
        self.method, self.name, self.size = method, name, size
        self.forward = forward

    def __tangent_structure__(self) -> None:
        """A constant."""


def rate(fun: Function, args: Any, t: Any, y: Any) -> Any:
    """The derivative of a state in time, as an array like the state."""
    found = fun(t, y, *args)
    if isinstance(y, np.ndarray):
        return _in_numpy(found, y)
    if isinstance(found, list | tuple):
        found = stacked(rc.array_namespace(y), found)
    return found.reshape(y.shape) if rc.is_array(found) else found + 0.0 * y


def _in_numpy(found: Any, y: Any) -> Any:
    """A rate as an array, by what straight-line code is written for."""
    if isinstance(found, list | tuple):
        found = np.array(found)
    return found.reshape(y.shape) if isinstance(found, np.ndarray) else found + 0.0 * y


def in_dtype(found: Any, example: Any) -> Any:
    """SciPy's result, which is double, in the precision of the program."""
    return rc.array_namespace(example).astype(found, example.dtype, copy=False)


@rc.primitive
def trajectory(
    fun: Function, args: Any, y0: Any, t0: Any, times: Any, states: Any, problem: Any
) -> Any:
    """The states at `times`, as rows: their values are known, not their derivative.

    Args:
        fun: `fun(t, y, *args)`.
        args: Its arguments after the state.
        y0: The state at the start.
        t0: The time of the start.
        times: One for each row, all on one side of the start.
        states: The values.
        problem: How derivatives are computed.
    """
    return states


@rc.primitive
def carried(known: Any, moving: Any) -> Any:
    """The known values, with the derivatives of those that move."""
    return known


@rc.frule.define(carried)
def carried_frule(tangents: Any, known: Any, moving: Any) -> Any:
    return carried(known, moving), tangents[2]


@rc.rrule.define(carried)
def carried_rrule(known: Any, moving: Any) -> Any:
    y = carried(known, moving)
    return y, lambda d: (rc.NoTangent(), rc.ZeroTangent(), d)


@rc.primitive
def plain_states(
    fun: Function, y0: Any, t0: Any, times: Any, problem: Any, size: int
) -> Any:
    """`(states, success)` by a solution of their own, without derivative.

    The first `size` entries of the state are not derivatives of others.
    """
    xp = rc.array_namespace(y0)
    rows = xp.zeros((times.shape[0], y0.shape[0]), dtype=y0.dtype)
    run = states_run(problem.method, size)
    found, success, *_ = solve(run, (fun,), (), (y0, t0, times), [(t0, y0)], rows)
    return in_dtype(found, y0), success


rc.non_differentiable(plain_states)


def solved(fun: Function, y0: Any, t0: Any, times: Any, problem: Any) -> Any:
    """A trajectory that is not known yet."""
    rows, success = plain_states(fun, y0, t0, times, problem, problem.size)
    rows = known(rows, success, _UNSOLVED, problem.name)
    return trajectory(fun, (), y0, t0, times, rows, problem)


_UNSOLVED = (
    "was solved, but not the equation of its derivative, whose steps became too small. "
    "Tighten rtol and atol, shorten the interval, or choose a method for stiff problems"
)


def _dot(a: Any, b: Any) -> Any:
    """The real inner product of arrays, along their last axis."""
    xp = rc.array_namespace(a, b)
    product = xp.conj(a) * b if _has_complex(xp, a, b) else a * b
    total = xp.sum(product, axis=-1)
    return total.real if xp.isdtype(total.dtype, "complex floating") else total


def _has_complex(xp: Any, *arrays: Any) -> bool:
    return any(xp.isdtype(x.dtype, "complex floating") for x in arrays)


def _rates(value: Any, config: Any, fun: Any, args: Any, times: Any, rows: Any) -> Any:
    """The rate at each of the states; `value` is of forward or of reverse mode."""
    found = [
        value(config, rate, fun, args, times[i], rows[i]) for i in range(rows.shape[0])
    ]
    return rc.array_namespace(rows).stack(found)


def _moving(fun: Any, args: Any, y0: Any, t0: Any, times: Any, problem: Any) -> Any:
    """What moves a jump of the rate, or of a derivative's: the state, each leaf."""
    run = path_run(problem.method)
    return moved_by(rate, fun, args, (y0, t0, times), (t0, y0), run)


# forwards


@rc.frule.define(trajectory, config=RuleConfig[HasForwardsMode])
def trajectory_frule(
    config: Any, tangents: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any,
    states: Any, problem: Any,
) -> Any:  # fmt: skip
    """The variational equation."""
    _, dfun, dargs, dy0, dt0, dtimes, _, _ = tangents
    rows = trajectory(fun, args, y0, t0, times, states, problem)
    found = leaves((fun, args), (dfun, spread(dargs, args)))
    drows = _variation(config, fun, args, found, y0, dy0, t0, dt0, times, problem)
    if not isinstance(drows, rc.AbstractZero):
        flags = _moving(fun, args, y0, t0, times, problem)
        drows = if_at_rest(drows, flags, [drows, *found], problem.name)
    if not isinstance(dtimes, rc.AbstractZero):
        moved = _rates(value_forwards, config, fun, args, times, rows)
        moved = moved * dtimes[:, None]
        drows = moved if isinstance(drows, rc.AbstractZero) else drows + moved
    return rows, drows


def _variation(
    config: Any, fun: Any, args: Any, dparts: Any, y0: Any, dy0: Any, t0: Any, dt0: Any,
    times: Any, problem: Any,
) -> Any:  # fmt: skip
    """The derivative of the states at fixed times, along a direction."""
    zeros = [isinstance(d, rc.AbstractZero) for d in (dy0, dt0)]
    if all(zeros) and all(x is None for x in dparts):
        return rc.ZeroTangent()
    size, zero = y0.shape[0], rc.ZeroTangent()
    start = y0 * 0.0 if zeros[0] else dy0 + y0 * 0.0
    if not zeros[1]:
        start = start - value_forwards(config, rate, fun, args, t0, y0) * dt0

    build = builder_of(fun, args)

    def along(t: Any, both: Any) -> Any:
        y, dy = both[:size], both[size:]
        dfun, dargs = build(dparts)
        given = zero, dfun, spread(dargs, args), zero, dy
        f, df = frule_via_ad(config, given, rate, fun, args, t, y)
        return _concat([f, _as(y, df)])

    both = solved(along, concat([y0, start]), t0, times, problem)
    return both[:, size:]


# backwards


@rc.rrule.define(trajectory, config=RuleConfig[HasReverseMode])
def trajectory_rrule(
    config: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, states: Any,
    problem: Any,
) -> Any:  # fmt: skip
    """The adjoint equation."""
    rows = trajectory(fun, args, y0, t0, times, states, problem)

    def trajectory_pullback(d: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        if isinstance(d, rc.AbstractZero):
            return none, zero, zero, zero, zero, zero, zero, none
        shapes = shapes_of((fun, args))
        _refuse_complex(shapes, y0, problem)
        find = _by_units if problem.forward else _by_adjoint
        total = find(config, fun, args, y0, t0, times, rows, d, problem)
        size = y0.shape[0]
        flags = _moving(fun, args, y0, t0, times, problem)
        total = if_at_rest(total, flags[:1], [d], problem.name)
        dy0 = total[:size]
        parts = unless_moved(split(total[size:], shapes), flags, problem.name)
        dfun, dargs = tangent_of(fun, args, parts)

        def first() -> Any:
            return -_dot(value_backwards(config, rate, fun, args, t0, y0), dy0)

        def each() -> Any:
            return _dot(_rates(value_backwards, config, fun, args, times, rows), d)

        dt0, dtimes = rc.thunk(first), rc.thunk(each)
        return none, dfun, dargs, dy0, dt0, dtimes, zero, none

    return rows, trajectory_pullback


def _refuse_complex(shapes: Any, y0: Any, problem: Any) -> None:
    has_complex = any(is_complex for _, is_complex in shapes)
    if has_complex and not _has_complex(rc.array_namespace(y0), y0):
        message = (
            f"{problem.name}: the state is real but a parameter is complex, for which "
            "there is no rule. Pass its real and its imaginary part, or a complex y0."
        )
        raise rc.UnsupportedError(message)


def _by_units(
    config: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, rows: Any, d: Any,
    problem: Any,
) -> Any:  # fmt: skip
    """One variational equation for each number that may move."""
    xp = rc.array_namespace(y0, d)
    count = y0.shape[0] + sum(math.prod(shape) for shape, _ in shapes_of((fun, args)))
    units = xp.eye(count, dtype=d.dtype)
    if _has_complex(xp, units):
        message = (
            f'{problem.name}(sensitivity="forward") has no reverse mode for complex '
            'states: leave it out, or choose "adjoint".'
        )
        raise rc.UnsupportedError(message)
    moves = [
        _directional(config, fun, args, y0, t0, times, units[i], problem)
        for i in range(count)
    ]
    return xp.stack([xp.sum(d * move) for move in moves])


def _by_adjoint(
    config: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, rows: Any, d: Any,
    problem: Any,
) -> Any:  # fmt: skip
    back = _backwards(config, fun, args, y0)
    rates = _both_rates(config, fun, args, y0.shape[0])
    total, success = adjoint(
        fun, args, y0, t0, times, rc.ignore_derivatives(rows), d, (rates, back),
        config, problem,
    )  # fmt: skip
    return known(total, success, _UNSOLVED, problem.name)


def _backwards(config: Any, fun: Any, args: Any, y0: Any) -> Function:
    """The cotangents of the state and all parameters, at a state and a costate."""
    size, shapes = y0.shape[0], shapes_of((fun, args))
    read = reader_of((fun, args), y0)

    def back(t: Any, both: Any) -> Any:
        y, costate = both[:size], both[size:]
        _, pullback = rrule_via_ad(config, rate, fun, args, t, y)
        _, dfun, dargs, _, dy = pullback(costate)
        parts = joined(read((dfun, spread(dargs, args))), shapes, costate)
        return _concat([_as(y, dy), parts])

    return back


def _as(y: Any, dy: Any) -> Any:
    return y * 0.0 if isinstance(dy, rc.AbstractZero) else dy


def _concat(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return concat(parts)


def _both_rates(config: Any, fun: Any, args: Any, size: int) -> Function:
    """The cotangent of the state alone, and the rate."""

    def rates(t: Any, both: Any) -> Any:
        y, costate = both[:size], both[size:]
        found, pullback = rrule_via_ad(config, rate, fun, args, t, y)
        return _concat([_as(y, pullback(costate)[4]), found])

    return rates


@rc.primitive
def adjoint(
    fun: Any, args: Any, y0: Any, t0: Any, times: Any, rows: Any, d: Any, back: Any,
    config: Any, problem: Any,
) -> Any:  # fmt: skip
    """`(vector, success)`: the cotangents of `y0` and of all parameters, in one."""
    count = y0.shape[0] + sum(math.prod(shape) for shape, _ in shapes_of((fun, args)))
    xp = rc.array_namespace(y0, d)
    vector = xp.zeros((count,), dtype=d.dtype)
    both = concat([y0, xp.zeros_like(y0)])

    def forth(t: Any, y: Any) -> Any:
        return rate(fun, args, t, y)

    run = adjoint_run(problem.method)
    given = (y0, t0, times, rows, d)
    examples = [(t0, y0), (t0, both), (t0, both)]
    found, success, *_ = solve(run, (forth, *back), (), given, examples, vector)
    return in_dtype(found, d), success


def _directional(
    config: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, direction: Any,
    problem: Any,
) -> Any:  # fmt: skip
    """The states' derivative along a vector for `y0` and all parameters."""
    size = y0.shape[0]
    dparts = split(direction[size:], shapes_of((fun, args)))
    return _variation(
        config, fun, args, dparts, y0, direction[:size], t0, rc.ZeroTangent(), times,
        problem,
    )  # fmt: skip


@rc.rrule.define(adjoint, config=RuleConfig[HasReverseMode])
def adjoint_rrule(
    config: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, rows: Any, d: Any,
    back: Any, own: Any, problem: Any,
) -> Any:  # fmt: skip
    """In `d` it is the tangent along the cotangent; elsewhere the gradient of that."""
    found = adjoint(fun, args, y0, t0, times, rows, d, back, own, problem)

    def adjoint_pullback(both: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        if isinstance(both, rc.AbstractZero) or isinstance(both[0], rc.AbstractZero):
            return none, *[zero] * 8, none, none

        def moved(fun: Any, args: Any, y0: Any, t0: Any, times: Any, v: Any) -> Any:
            return _directional(config, fun, args, y0, t0, times, v, problem)

        dd, pull = rrule_via_ad(config, moved, fun, args, y0, t0, times, both[0])
        _, dfun, dargs, dy0, dt0, dtimes, _ = pull(d)
        return none, dfun, dargs, dy0, dt0, dtimes, zero, dd, zero, none, none

    return found, adjoint_pullback


@rc.frule.define(adjoint, config=RuleConfig[HasReverseMode, HasForwardsMode])
def adjoint_frule(
    config: Any, tangents: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any,
    rows: Any, d: Any, back: Any, own: Any, problem: Any,
) -> Any:  # fmt: skip
    """Second derivatives are symmetric: the gradient of a directional derivative."""
    _, dfun, dargs, dy0, dt0, dtimes, _, dd, *_ = tangents
    found = adjoint(fun, args, y0, t0, times, rows, d, back, own, problem)
    dparts = leaves((fun, args), (dfun, spread(dargs, args)))
    shapes = shapes_of((fun, args))

    def moved(fun: Any, args: Any, y0: Any) -> Any:
        dy = _variation(config, fun, args, dparts, y0, dy0, t0, dt0, times, problem)
        if isinstance(dtimes, rc.AbstractZero):
            return dy
        own = trajectory(fun, args, y0, t0, times, rc.ignore_derivatives(rows), problem)
        moved = _rates(value_forwards, config, fun, args, times, own)
        moved = moved * dtimes[:, None]
        return moved if isinstance(dy, rc.AbstractZero) else dy + moved

    total = found[0] * 0.0
    still = all(isinstance(x, rc.AbstractZero) for x in (dy0, dt0, dtimes))
    if not (still and all(x is None for x in dparts)):
        _, pull = rrule_via_ad(config, moved, fun, args, y0)
        _, cfun, cargs, cy0 = pull(d)
        parts = leaves((fun, args), (cfun, spread(cargs, args)), d)
        cy0 = y0 * 0.0 if isinstance(cy0, rc.AbstractZero) else cy0
        total = total + concat([cy0, joined(parts, shapes, d)])
    if not isinstance(dd, rc.AbstractZero):
        own_total, success = adjoint(
            fun, args, y0, t0, times, rows, dd, back, own, problem
        )
        total = total + known(own_total, success, _UNSOLVED, problem.name)
    return found, (total, rc.ZeroTangent())
