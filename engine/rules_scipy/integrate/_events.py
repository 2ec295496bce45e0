r"""Times at which a function of a solution is zero, by the implicit function theorem.

$$ g(t, y(t), \theta) = 0 \quad\Rightarrow\quad
\left(\frac{\partial g}{\partial t} + \frac{\partial g}{\partial y} f\right) dt
= -\left.dg\right|_t . $$
"""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    RuleConfig,
    frule_via_ad,
    rrule_via_ad,
)
from rules_scipy._functions import Function, known
from rules_scipy._solvers import value_forwards

from ._trajectories import Problem, rate, trajectory

__all__ = ["crossing", "kind_of"]


def kind_of(event: Any) -> tuple[Any, Any]:
    """`terminal` and `direction` of an event, as SciPy reads them."""
    return getattr(event, "terminal", None), getattr(event, "direction", 0)


rc.non_differentiable(kind_of)


@rc.primitive
def crossing(
    event: Function, fun: Function, args: Any, y0: Any, t0: Any, times: Any,
    states: Any, problem: Problem,
) -> Any:  # fmt: skip
    """The times of an event, which are known, with their derivative."""
    return times


def _gaps(
    event: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any, states: Any,
    problem: Any,
) -> Any:  # fmt: skip
    """The event's function at given times of the solution."""
    states = rc.ignore_derivatives(states)
    rows = trajectory(fun, args, y0, t0, times, states, problem)
    count = rows.shape[0]
    found = [event(times[i], rows[i], *args) for i in range(count)]
    return rc.array_namespace(rows).stack([_number(g, t0) for g in found])


def _number(g: Any, t: Any) -> Any:
    return g.reshape(()) if rc.is_array(g) else g + 0.0 * t


def _slopes(
    config: Any, event: Any, fun: Any, args: Any, times: Any, rows: Any, problem: Any
) -> Any:
    """How fast the event's function grows along the solution."""
    none, zero = rc.NoTangent(), rc.ZeroTangent()

    def gap(t: Any, y: Any) -> Any:
        return _number(event(t, y, *args), t)

    found = []
    for i in range(rows.shape[0]):
        t, y = times[i], rows[i]
        moved = value_forwards(config, rate, fun, args, t, y)
        given = none, t * 0.0 + 1.0, moved
        _, slope = frule_via_ad(config, given, gap, t, y)
        slope = t * 0.0 if isinstance(slope, rc.AbstractZero) else slope
        found.append(_if_steady(config, gap, t, y, moved, slope, problem))
    xp, zero = rc.array_namespace(rows), times[0] * 0.0
    return xp.stack([slope + zero for slope in found])


def _if_steady(
    config: Any, gap: Any, t: Any, y: Any, moved: Any, slope: Any, problem: Any
) -> Any:
    """The slope, if the event's function does not jump there: as differences see it."""
    xp = rc.array_namespace(t)
    far = float(xp.finfo(t.dtype).eps) ** (1 / 3) * abs(t)
    ends = [value_forwards(config, gap, t + h, y + h * moved) for h in (far, -far)]
    rise = ends[0] - ends[1]
    steady = abs(rise - 2 * far * slope) <= abs(far * slope)
    return known(slope, steady, _JUMP, problem.name)


_JUMP = (
    "found an event whose function jumps across zero: the derivative of its code does "
    "not know what moves the jump. Give it a function without a jump"
)
_GRAZING = (
    "found an event whose function does not cross zero there: its slope along the "
    "solution is zero, so that its time has no derivative"
)


def _if_crossed(slopes: Any, problem: Any) -> Any:
    xp = rc.array_namespace(slopes)
    return known(slopes, xp.all(slopes != 0), _GRAZING, problem.name)


@rc.frule.define(crossing, config=RuleConfig[HasForwardsMode])
def crossing_frule(
    config: Any, tangents: Any, event: Any, fun: Any, args: Any, y0: Any, t0: Any,
    times: Any, states: Any, problem: Any,
) -> Any:  # fmt: skip
    """The implicit function theorem."""
    none, zero = rc.NoTangent(), rc.ZeroTangent()
    at = crossing(event, fun, args, y0, t0, times, states, problem)
    given = none, *tangents[1:6], zero, zero, none
    _, moved = frule_via_ad(
        config, given, _gaps, event, fun, args, y0, t0, at, states, problem
    )
    if isinstance(moved, rc.AbstractZero):
        return at, zero
    rows = trajectory(fun, args, y0, t0, at, states, problem)
    slopes = _slopes(config, event, fun, args, at, rows, problem)
    return at, -moved / _if_crossed(slopes, problem)


@rc.rrule.define(crossing, config=RuleConfig[HasForwardsMode, HasReverseMode])
def crossing_rrule(
    config: Any, event: Any, fun: Any, args: Any, y0: Any, t0: Any, times: Any,
    states: Any, problem: Any,
) -> Any:  # fmt: skip
    """The implicit function theorem."""
    at = crossing(event, fun, args, y0, t0, times, states, problem)

    def crossing_pullback(d: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        if isinstance(d, rc.AbstractZero):
            return none, *[zero] * 7, none
        rows = trajectory(fun, args, y0, t0, at, states, problem)
        slopes = _slopes(config, event, fun, args, at, rows, problem)

        def gaps(event: Any, fun: Any, args: Any, y0: Any, t0: Any) -> Any:
            return _gaps(event, fun, args, y0, t0, at, states, problem)

        _, pull = rrule_via_ad(config, gaps, event, fun, args, y0, t0)
        _, *found = pull(-d / _if_crossed(slopes, problem))
        return none, *found, zero, zero, none

    return at, crossing_pullback
