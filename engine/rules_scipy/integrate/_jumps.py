r"""Jumps that move: where a function along a path has one, and what moves it.

The derivative of a solution of $\dot y = f(t, y, \theta)$ whose right-hand side jumps
by $[f]$ at $\tau$ contains $[f]\,\dot\tau$; so does that of an integral. Code that
tests `t < tau` does not contain it: differentiating the code leaves it out. So jumps
are looked for where a derivative is asked for, with the numbers of the call; one at a
fixed place does no harm.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Jump", "is_moved", "jumps", "rows_of"]

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
    f: Callable[[Any], Any], nodes: Any, small: float, together: int = 64
) -> list[Jump]:
    """Where a function jumps between nodes.

    Args:
        f: Returns a vector for each place of an array, as rows. It is called at the
            nodes, between them, and often close to a jump.
        nodes: In order; more of them find shorter pulses.
        small: Of the largest number of a component, the part that counts as none.
        together: In how many intervals jumps are looked for at once.
    """
    ends = np.asarray(nodes)
    if len(ends) < 2:
        return []
    values = f(ends)
    finite = np.all(np.isfinite(values), axis=-1)
    if not np.any(finite):
        return []
    scale = np.max(np.abs(values[finite]), axis=0)
    none = small * np.where(scale > 0, scale, 1.0)
    low, high = ends[:-1], ends[1:]
    middle = _inside(low, high)
    lines = values[:-1], f(middle), values[1:]
    bent = np.flatnonzero(_bend(*lines, none) > 1.0)
    found: list[Jump] = []
    for i in range(0, len(bent), together):
        own = bent[i : i + together]
        places = [x[own] for x in (low, middle, high, *lines)]
        found += _between(f, places[:3], places[3:], none)
        if len(found) >= _MANY:
            break
    return found[:_MANY]


def _between(f: Any, places: Any, values: Any, none: Any) -> list[Jump]:
    """The jumps in intervals: of two parts the one that bends more, and so on.

    Args:
        f: The function.
        places: The lower ends, places inside, and the upper ends.
        values: Of the function there.
        none: What counts as no jump.
    """
    found: list[Jump] = []
    while len(places[0]):
        (low, middle, high), (at_low, at_middle, at_high) = places, values
        narrow = ~((low < middle) & (middle < high))
        sizes = np.abs(at_high - at_low)
        found += [Jump(low[i], high[i], sizes[i], none) for i in np.flatnonzero(narrow)]
        first, last = _inside(low, middle), _inside(middle, high)
        at_first, at_last = f(first), f(last)
        before = _bend(at_low, at_first, at_middle, none)
        after = _bend(at_middle, at_last, at_high, none)
        goes_on = ~narrow & (np.maximum(before, after) > 1.0)
        left = before >= after
        halves = (low, middle), (first, last), (middle, high)
        rows = (at_low, at_middle), (at_first, at_last), (at_middle, at_high)
        places = [np.where(left, *pair)[goes_on] for pair in halves]
        values = [np.where(left[:, None], *pair)[goes_on] for pair in rows]
    return sorted(found, key=lambda jump: jump.before)


# Far from a half: a function that is odd at a jump, as a sign with its 0, would pass
# for a line, up to what counts as none.
_PART = 0.38


def _inside(low: Any, high: Any) -> Any:
    return low + _PART * (high - low)


def _bend(low: Any, middle: Any, high: Any, none: Any) -> Any:
    """How far values inside are from the lines between the ends, which may be NaN."""
    return np.max(np.abs(middle - _inside(low, high)) / none, axis=-1)


def rows_of(f: Callable[[float], Any]) -> Callable[[Any], Any]:
    """A function of a number, whose results are vectors, of an array of numbers."""
    return lambda places: np.stack([f(float(x)) for x in places])


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
