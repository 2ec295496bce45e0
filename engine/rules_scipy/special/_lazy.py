"""Rules of functions whose partials differ much in cost, or are not all known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.special._declare import strong

__all__ = ["lazy_rule"]


def lazy_rule(f: rc.Primitive, *partials: Callable[..., Any]) -> None:
    """Define frule and rrule of a real elementwise function, computing what is wanted.

    Like `rc.scalar_rule`, but with one function `partial(y, *args)` for each argument,
    which is called only if that argument's derivative is wanted.

    Args:
        f: The handle of the function.
        *partials: One per argument; may return `rc.not_implemented(…)`.
    """

    @np.errstate(all="ignore")
    def lazy_frule(tangents: Any, *args: Any, needs: tuple[bool, ...]) -> Any:
        y = f(*args)
        dy: Any = rc.ZeroTangent()
        for partial, dx, needed in zip(partials, tangents[1:], needs, strict=True):
            if needed and not isinstance(dx, rc.AbstractZero):
                dy = dy + _times(partial(y, *args), dx)
        return y, dy if isinstance(dy, rc.AbstractTangent) else rc.ProjectTo(y)(dy)

    @np.errstate(all="ignore")
    def lazy_rrule(*args: Any, needs: tuple[bool, ...]) -> Any:
        y = f(*args)
        slopes = tuple(
            partial(y, *args) if needed else rc.ZeroTangent()
            for partial, needed in zip(partials, needs, strict=True)
        )
        return y, rc.Pullback(_pull, args, slopes)

    name = getattr(f.fun, "__name__", "function")
    for function, kind in ((lazy_frule, "frule"), (lazy_rrule, "rrule")):
        function.__name__ = function.__qualname__ = f"{name}_{kind}"
    rc.frule.define(f, symbolic_zeros=True)(lazy_frule)
    rc.rrule.define(f)(lazy_rrule)


def _times(partial: Any, dx: Any) -> Any:
    special = isinstance(partial, rc.AbstractTangent)
    return partial if special else strong(partial, dx)


def _pull(args: tuple[Any, ...], slopes: tuple[Any, ...], dy: Any) -> tuple[Any, ...]:
    pairs = zip(args, slopes, strict=True)
    return rc.NoTangent(), *(rc.ProjectTo(x)(_times(p, dy)) for x, p in pairs)
