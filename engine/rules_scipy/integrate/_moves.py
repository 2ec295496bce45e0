"""Whether something moves a jump."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_scipy._weights import uneven

from ._jumps import Jump

__all__ = ["aside", "is_moved", "mark"]

# How far something is moved, against its size; and a second time, not as far.
_FAR, _NEAR = 1e-8, 1e-9
# By how many of its widths a steep place is moved, to be one that moves.
_WIDTHS = 10.0


def is_moved(jump: Jump, f: Callable[[float, float], Any]) -> bool:
    """Whether a jump is elsewhere if something else moves.

    Args:
        jump: The jump.
        f: A function of the place, and of how far something else is moved.
    """
    with np.errstate(all="ignore"):
        if any(_is_moved_at(x, jump, f) for x in (jump.before, jump.after)):
            return True
        return jump.is_steep and _is_steep_place_moved(jump, f)


def _is_moved_at(x: float, jump: Jump, f: Callable[[float, float], Any]) -> bool:
    large, still = jump.size > jump.small, f(x, 0.0)
    for sign in (1.0, -1.0):
        far = np.abs(f(x, sign * _FAR) - still)
        if not np.any(large & (far > jump.small)):
            continue
        near = np.abs(f(x, sign * _NEAR) - still)
        # What is smooth moves in proportion.
        if np.any(large & (near > jump.small) & (near > 0.5 * far)):
            return True
    return False


def _is_steep_place_moved(jump: Jump, f: Callable[[float, float], Any]) -> bool:
    """A change there that is much larger than beside it."""
    width = jump.after - jump.before
    inside = [jump.before + part * width for part in (0.0, 0.25, 0.5, 0.75, 1.0)]
    beside = jump.before - 2.0 * width, jump.after + 2.0 * width

    def change(x: float) -> Any:
        return np.abs(f(x, _NEAR) - f(x, 0.0))

    own = np.max([change(x) for x in inside], axis=0)
    usual = np.nanmax([change(x) for x in beside], axis=0)
    excess = np.minimum(0.5 * jump.size, _WIDTHS * _NEAR * jump.size)
    return bool(np.any((jump.size > 0) & (own - usual > excess)))


def mark(flags: Any, jump: Jump, leaves: Any, value: Any) -> None:
    """Note which leaves move a jump."""
    for i, leaf in enumerate(leaves):
        if not flags[1 + i]:
            direction = aside(leaf)

            def moved(x: float, far: float, i: int = i, by: Any = direction) -> Any:
                given = list(leaves)
                given[i] = given[i] + far * by
                return value(x, given)

            flags[1 + i] = is_moved(jump, moved)


def aside(x: Any) -> Any:
    """A direction like a number or an array: no two entries move alike."""
    if isinstance(x, float) and not isinstance(x, np.generic):
        return abs(x) or 1.0
    sizes = np.abs(x)
    largest = np.max(sizes, initial=0.0) or 1.0
    sizes = np.where(sizes > 0, sizes, largest)
    weights = uneven(np, sizes.size)
    return (sizes * weights.reshape(sizes.shape)).astype(sizes.dtype)
