"""Roots of equations: one primitive, whose rule is the implicit function theorem.

Every solver of this module calls it with SciPy's own function. It is differentiated in
what the equation takes and captures; the start, or the bracket, has derivative zero.
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
from rules_scipy._functions import Function, Run, known, like, solve, stacked

__all__ = ["equation_root", "if_simple", "value_of"]


def _root(
    functions: tuple[Function | None, ...], args: Any, start: Any, run: Run, form: str
) -> Any:
    """`(y, success, counts, others)`: as `run` returns them."""
    first = like(start[0], start, args, functions)
    if form == "flat":
        first = first.reshape((-1,))
    rest = [like(x, first) for x in start[1:]]
    return solve(run, functions, args, (first, *rest), first)


def _residual(
    y: Any, functions: Any, args: Any, start: Any, run: Any, form: str
) -> Any:
    r = value_of(functions[0](y, *args), y)
    return r - y if form == "fixed point" else r


def value_of(r: Any, y: Any) -> Any:
    """What an equation returns, as an array of the shape of its unknowns."""
    if isinstance(r, list | tuple):
        r = stacked(rc.array_namespace(y), r)
    shape = getattr(y, "shape", ())
    return r if getattr(r, "shape", ()) == shape else r.reshape(shape)


equation_root: rc.Primitive = rc.implicit(_root, _residual, auxiliary=True)


# Near a double root a solver stops where the slope is small, and not zero: it is that
# of rounding. One step of Newton's method then changes it as much as it is large.
_CHANGE = 0.1


@rc.primitive
def if_simple(y: Any, functions: Any, args: Any, solver: str) -> Any:
    """A root, whose derivative is an error, or NaN in traced code, if it is double."""
    return y


@rc.rrule.define(if_simple, config=RuleConfig[HasReverseMode])
def if_simple_rrule(config: Any, y: Any, functions: Any, args: Any, solver: str) -> Any:
    def equation(x: Any) -> Any:
        return value_of(functions[0](x, *args), x)

    def slope(x: Any) -> tuple[Any, Any]:
        r, pullback = rrule_via_ad(config, equation, x)
        return r, pullback(r * 0.0 + 1.0)[1]

    def if_simple_pullback(dy: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        return none, known(dy, _is_simple(slope, y), _DOUBLE, solver), zero, zero, none

    return y, if_simple_pullback


@rc.frule.define(if_simple, config=RuleConfig[HasForwardsMode])
def if_simple_frule(
    config: Any, tangents: Any, y: Any, functions: Any, args: Any, solver: str
) -> Any:
    def equation(x: Any) -> Any:
        return value_of(functions[0](x, *args), x)

    def slope(x: Any) -> tuple[Any, Any]:
        return frule_via_ad(config, (rc.ZeroTangent(), x * 0.0 + 1.0), equation, x)

    return y, known(tangents[1], _is_simple(slope, y), _DOUBLE, solver)


_DOUBLE = (
    "found a double root, or a point that is not isolated, where the derivative is "
    "infinite or not determined. Solve an equation with a simple root"
)


def _is_simple(slope: Any, y: Any) -> Any:
    r, first = slope(y)
    if isinstance(first, rc.AbstractZero):
        return False
    xp = rc.array_namespace(first) if rc.is_array(first) else None
    step = r / (first + 1.0 * (first == 0))
    _, second = slope(y - step)
    small = abs(second - first) <= _CHANGE * abs(first)
    return (first != 0) & small if xp is not None else first != 0 and small
