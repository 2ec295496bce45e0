r"""Jumps that move: where a function along a path has one, and what moves it.

The derivative of a solution of $\dot y = f(t, y, \theta)$ whose right-hand side jumps
by $[f]$ at $\tau$ contains $[f]\,\dot\tau$; so does that of an integral. Code that
tests `t < tau` does not contain it: differentiating the code leaves it out. So jumps
are looked for where a derivative is asked for, with the numbers of the call; one at a
fixed place does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Jump", "is_moved", "jumps"]

# Jumps are looked for until there are so many.
_MANY = 50
# How far a jump is moved, against what moves it; and a second time, not as far.
_FAR, _NEAR = 1e-8, 1e-9


class Jump(NamedTuple):
    """A place between two neighbouring floating numbers.

    Attributes:
        before: The one.
        after: The other.
        size: By how much each component jumps.
        small: What counts as none.
    """

    before: float
    after: float
    size: Any
    small: Any


def jumps(
    f: Callable[[float], Any], nodes: Sequence[float], small: float
) -> list[Jump]:
    """Where a function jumps between nodes.

    Args:
        f: Returns a vector. It is called at the nodes, between them, and often close to
            a jump.
        nodes: In order; more of them find shorter pulses.
        small: Of the largest number of a component, the part that counts as none.
    """
    values = [f(x) for x in nodes]
    finite = [np.abs(y) for y in values if np.all(np.isfinite(y))]
    if not finite:
        return []
    scale = np.max(finite, axis=0)
    none = small * np.where(scale > 0, scale, 1.0)
    found: list[Jump] = []
    places = zip(pairwise(nodes), pairwise(values), strict=True)
    for (low, high), (at_low, at_high) in places:
        jump = _between(f, (low, high), (at_low, at_high), none)
        if jump is not None:
            found.append(jump)
        if len(found) == _MANY:
            break
    return found


def _between(f: Any, ends: Any, values: Any, none: Any) -> Jump | None:
    """The jump between two nodes: of two parts the one that bends more, and so on."""
    (low, high), (at_low, at_high) = ends, values
    middle = _inside(low, high)
    at_middle = f(middle)
    if not _bend(at_low, at_middle, at_high, none) > 1.0:
        return None
    while low < middle < high:
        first, last = _inside(low, middle), _inside(middle, high)
        at_first, at_last = f(first), f(last)
        bends = (
            _bend(at_low, at_first, at_middle, none),
            _bend(at_middle, at_last, at_high, none),
        )
        if not max(bends) > 1.0:
            return None
        if bends[0] >= bends[1]:
            high, middle, at_high, at_middle = middle, first, at_middle, at_first
        else:
            low, middle, at_low, at_middle = middle, last, at_middle, at_last
    return Jump(low, high, np.abs(at_high - at_low), none)


# Not a half: a function that is odd at a jump would pass for a line.
_PART = 0.47


def _inside(low: Any, high: Any) -> Any:
    return low + _PART * (high - low)


def _bend(low: Any, middle: Any, high: Any, none: Any) -> float:
    """How far a value inside is from the line between the ends."""
    return float((np.abs(middle - _inside(low, high)) / none).max())


def is_moved(jump: Jump, f: Callable[[float, float], Any]) -> bool:
    """Whether a jump is elsewhere if something else moves.

    Args:
        jump: The jump.
        f: A function of the place, and of how far something else is moved.
    """
    large = jump.size > jump.small
    for x in (jump.before, jump.after):
        still = f(x, 0.0)
        for sign in (1.0, -1.0):
            far = np.abs(f(x, sign * _FAR) - still)
            near = np.abs(f(x, sign * _NEAR) - still)
            # What is smooth moves in proportion.
            if np.any(large & (near > 0.5 * jump.size) & (near > 0.5 * far)):
                return True
    return False
