"""Rules of functions with partials of very different cost, or with missing ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

from ._declare import signed, strong

__all__ = ["lazy_rule"]


def lazy_rule(f: rc.Primitive, *partials: Callable[..., Any]) -> None:
    """Define frule and rrule of a real elementwise function with lazy partials.

    Like `rc.scalar_rule`, but with one function `partial(*args)` per argument, called
    only if that argument's derivative is needed, and for the rrule in the pullback:
    only the arguments are saved.

    Args:
        f: The primitive.
        *partials: One per argument; may return `rc.not_implemented(…)`.
    """

    def lazy_frule(tangents: Any, *args: Any) -> Any:
        y = f(*args)
        dy: Any = rc.ZeroTangent()
        for partial, dx in zip(partials, tangents[1:], strict=True):
            if not isinstance(dx, rc.AbstractZero):
                dy = dy + _times(partial, args, dx)
        return y, dy if isinstance(dy, rc.AbstractTangent) else rc.ProjectTo(y)(dy)

    def lazy_rrule(*args: Any, needs: tuple[bool, ...]) -> Any:
        return f(*args), rc.Pullback(lazy_pullback, needs, *args)

    def lazy_pullback(needs: tuple[bool, ...], *args_and_dy: Any) -> tuple[Any, ...]:
        *args, dy = args_and_dy
        cotangents = (
            rc.ProjectTo(x)(_times(partial, args, dy)) if needed else rc.ZeroTangent()
            for x, partial, needed in zip(args, partials, needs, strict=True)
        )
        return rc.NoTangent(), *cotangents

    name = getattr(f.fun, "__name__", "function")
    for function in (lazy_frule, lazy_rrule, lazy_pullback):
        function.__name__ = function.__name__.replace("lazy", name)
        function.__qualname__ = function.__name__
    rc.frule.define(f, symbolic_zeros=True)(lazy_frule)
    rc.rrule.define(f)(lazy_rrule)


def _times(partial: Callable[..., Any], args: Any, dx: Any) -> Any:
    """The product of the partial with `dx`, or the partial if it is not implemented."""
    with np.errstate(all="ignore"):
        slope = partial(*map(signed, args))
        return slope if isinstance(slope, rc.AbstractTangent) else strong(slope, dx)
