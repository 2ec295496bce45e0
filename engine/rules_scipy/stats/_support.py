"""Where a distribution has its values, and what functions of a point are elsewhere."""

from __future__ import annotations

from typing import Any, NamedTuple

import rules_core as rc
from rules_scipy.special._arrays import where

__all__ = ["Support", "known_where", "support_of"]


class Support(NamedTuple):
    """The ends of a support, and a point inside."""

    a: Any
    b: Any
    inner: Any

    def outside(self, z: Any, *, open_ends: bool = False) -> tuple[Any, Any]:
        """Whether points are below, and whether above: infinite ones always are."""
        none, infinite = rc.ignore_derivatives(z), float("inf")
        if open_ends:
            return none <= self.a, none >= self.b
        low, high = none < self.a, none > self.b
        return low | (none == -infinite), high | (none == infinite)


def support_of(ends: tuple[Any, Any], shapes: Any, like: Any) -> Support:
    """The support of the standard form for these shapes."""
    xp = rc.array_namespace(like)
    zero = xp.zeros_like(rc.ignore_derivatives(like))
    a, b = [end(*shapes) if callable(end) else zero + end for end in ends]
    a_, b_ = rc.ignore_derivatives(a), rc.ignore_derivatives(b)
    from_a, from_b = xp.isfinite(a_), xp.isfinite(b_)
    left, right = where(from_a, a_, 0.0), where(from_b, b_, 0.0)
    one_end = where(from_a, left + 1, where(from_b, right - 1, 0 * (left + right)))
    return Support(a, b, where(from_a & from_b, (left + right) / 2, one_end))


def known_where(known: Any, y: Any) -> Any:
    """`y` where it is known, else NaN: its derivatives too, as of a product."""
    xp = rc.array_namespace(y)
    one = xp.ones_like(rc.ignore_derivatives(y))
    return y * where(rc.ignore_derivatives(known), one, float("nan"))
