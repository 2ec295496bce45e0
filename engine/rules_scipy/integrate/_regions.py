"""Whether something moves a jump of a function in a box: along lines through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._functions import Run

from ._jumps import jump_at_end, jumps, rows_of
from ._moves import mark
from ._panels import panels_of
from ._searches import small_for

__all__ = ["faces_run", "points_like", "region_run"]

# Lines through a box of several dimensions that are looked along together, and how many
# places there are on them; and on the line of a box of one dimension.
_LINES, _PLACES, _PLACES_ALONE = 6, 24, 64
_GOLDEN = 0.6180339887498949


def points_like(lower: Any) -> Any:
    """An array like the places with which functions are called: a row for each line."""
    n = lower.shape[0]
    xp = rc.array_namespace(lower)
    return xp.zeros((1 if n == 1 else _LINES, n), dtype=lower.dtype)


def region_run(epsrel: float = 0.0) -> Run:
    """Looks along lines through a box with the limits that it is called with.

    Args:
        epsrel: The tolerance of the integral.
    """
    return Run(_through_box, 0, epsrel=epsrel)


def faces_run() -> Run:
    """Looks for jumps at the limits of a box."""
    return Run(_at_faces, 0)


def _through_box(settings: Any, functions: Any, a: Any, b: Any, *leaves: Any) -> Any:
    call, flags = functions[0], np.zeros(1 + len(leaves))
    low, high = np.minimum(a, b), np.maximum(a, b)
    count = _PLACES_ALONE if len(low) == 1 else _PLACES
    nodes = [float(u) for u in (np.arange(count) + 0.5) / count]
    if np.all(np.isfinite([low, high])):
        nodes = [0.0, *nodes, 1.0]
    small = small_for(settings["epsrel"], call, (_middle(low, high), *leaves))
    for place in _bundles(len(low)):

        def value(u: float, given: Any = leaves, place: Any = place) -> Any:
            return np.ravel(np.asarray(call(_inside(place(u), low, high), *given)))

        for jump in jumps(rows_of(value), panels_of(nodes), small):
            mark(flags, jump, leaves, value)
    return flags, 1, (), {}


def _middle(low: Any, high: Any) -> Any:
    """Places inside, by golden ratios: no two of them are in a line with an axis."""
    n = len(low)
    rows = np.arange(1 if n == 1 else _LINES)[:, None]
    u = (0.5 + _GOLDEN * (1 + np.arange(n)) * (1 + rows)) % 1.0
    return _inside(u, low, high)


def _at_faces(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    call, flags = functions[0], np.zeros(2)
    middle = _middle(np.minimum(a, b), np.maximum(a, b))
    small = small_for(0.0, call, (middle,))
    for k in range(len(a)):

        def value(x: float, k: int = k) -> Any:
            places = middle.copy()
            places[:, k] = x
            return np.array(call(places)).reshape(-1)

        for i, (end, other) in enumerate(((a[k], b[k]), (b[k], a[k]))):
            if np.isfinite(end):
                jump = jump_at_end(rows_of(value), end, other, small)
                flags[i] = flags[i] or jump is not None
    return flags, 1, (), {}


def _bundles(n: int) -> Iterator[Callable[[float], Any]]:
    """Points of some lines through a cube, by a number between 0 and 1."""
    if n == 1:
        yield lambda u: np.asarray([[u]])
        return
    line, axes = np.arange(_LINES)[:, None], np.arange(n)
    turned = (line >> axes) % 2 == 1
    yield lambda u: np.where(turned, 1.0 - u, u)
    for axis in range(n):
        # No two lines pass through the same numbers.
        at = (0.5 + _GOLDEN * (1 + axes) * (1 + line + _LINES * axis)) % 1.0

        def place(u: float, at: Any = at, own: Any = axes == axis) -> Any:
            return np.where(own, u, at)

        yield place


def _inside(u: Any, low: Any, high: Any) -> Any:
    """A point of the box, for numbers between 0 and 1."""
    below, above = np.isinf(low), np.isinf(high)
    start = np.where(below, np.where(above, 0.0, high), low)
    width = np.where(below | above, 1.0, high - start)
    up, down = u / (1.0 - u), -(1.0 - u) / u
    far = np.where(below & above, up + down, np.where(above, up, down))
    return np.clip(start + width * np.where(below | above, far, u), low, high)
