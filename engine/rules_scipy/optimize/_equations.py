"""Roots of equations: one primitive, whose rule is the implicit function theorem.

Every solver of this module calls it with SciPy's own function. It is differentiated in
what the equation takes and captures; the start, or the bracket, has derivative zero.
"""

from __future__ import annotations

from math import prod
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
from rules_scipy._parameters import unknown_with

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
    """The result of an equation, as an array of the shape of its unknowns."""
    if isinstance(r, list | tuple):
        r = stacked(rc.array_namespace(y), r)
    shape, found = getattr(y, "shape", ()), getattr(r, "shape", ())
    if prod(found) != prod(shape):
        message = (
            f"A function with {prod(found)} equations for {prod(shape)} unknowns has "
            "no root in general, but a point of least squares: find it by "
            "least_squares, which has derivatives."
        )
        raise rc.UnsupportedError(message)
    return r if found == shape else r.reshape(shape)


equation_root: rc.Primitive = rc.implicit(_root, _residual, auxiliary=True)


# Near a double root a solver stops where the slope is small, and not zero: it is that
# of rounding. One step of Newton's method then changes it as much as it is large.
_CHANGE = 0.1


# Where a function jumps across zero, no step of Newton's method is as short as this
# part of the root: its value there is no zero. Single precision has fewer digits.
_PART, _PART_SINGLE = 1e-6, 1e-3


@rc.primitive
def if_simple(y: Any, functions: Any, args: Any, solver: str, near: float) -> Any:
    """A root, whose derivative is an error, or NaN in traced code, if it is not simple.

    Args:
        y: The root; of an elementwise equation an array of roots.
        functions: The first is that of the equation.
        args: Its arguments after the first.
        solver: Its name, for errors.
        near: How far from the root the solver may stop.
    """
    return y


@rc.rrule.define(if_simple, config=RuleConfig[HasReverseMode])
def if_simple_rrule(
    config: Any, y: Any, functions: Any, args: Any, solver: str, near: float
) -> Any:
    def equation(x: Any) -> Any:
        return value_of(functions[0](x, *args), x)

    def slope(x: Any) -> tuple[Any, Any]:
        r, pullback = rrule_via_ad(config, equation, x)
        return r, pullback(r * 0.0 + 1.0)[1]

    def if_simple_pullback(dy: Any) -> Any:
        none, zero = rc.NoTangent(), rc.ZeroTangent()
        dy = _if_simple(dy, slope, y, solver, near)
        dfunctions, dargs = unknown_with(dy, functions, args)
        return none, dy, dfunctions, dargs, none, zero

    return y, if_simple_pullback


@rc.frule.define(if_simple, config=RuleConfig[HasForwardsMode])
def if_simple_frule(
    config: Any, tangents: Any, y: Any, functions: Any, args: Any, solver: str,
    near: float,
) -> Any:  # fmt: skip
    def equation(x: Any) -> Any:
        return value_of(functions[0](x, *args), x)

    def slope(x: Any) -> tuple[Any, Any]:
        return frule_via_ad(config, (rc.ZeroTangent(), x * 0.0 + 1.0), equation, x)

    return y, _if_simple(tangents[1], slope, y, solver, near)


_DOUBLE = (
    "found a double root, or a point that is not isolated, where the derivative is "
    "infinite or not determined. Solve an equation with a simple root"
)


_NO_ROOT = (
    "found a place where its equation does not hold when it is asked again. Either its "
    "function jumps across zero there, and the derivative of the code does not know "
    "what moves the jump: give it a function without a jump. Or the function has "
    "another value than when the solver called it: pass what it reads as arguments"
)


def _if_simple(dy: Any, slope: Any, y: Any, solver: str, near: float) -> Any:
    """The derivative of a root, if it is a simple one."""
    if isinstance(dy, rc.AbstractZero):
        return dy
    r, first = slope(y)
    if isinstance(first, rc.AbstractZero):
        return known(dy, False, _DOUBLE, solver)
    nonzero = first != 0
    step = r / (first + 1.0 * (first == 0))
    _, second = slope(y - step)
    steady = abs(second - first) <= _CHANGE * abs(first)
    dy = known(dy, _every(nonzero), _DOUBLE, solver)
    holds = abs(step) <= near + _part(y) * abs(y)
    dy = known(dy, _every(holds), _NO_ROOT, solver)
    return known(dy, _every(steady), _DOUBLE, solver)


def _every(x: Any) -> Any:
    """Whether all of several equations are such."""
    return x.all() if getattr(x, "shape", ()) else x


def _part(y: Any) -> float:
    is_single = rc.is_array(y) and rc.array_namespace(y).finfo(y.dtype).bits < 64
    return _PART_SINGLE if is_single else _PART
