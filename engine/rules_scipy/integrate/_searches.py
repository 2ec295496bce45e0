"""Searches for jumps with the numbers of a call, and for what moves them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from rules_scipy._functions import Run

from ._jumps import Jump, jump_at_end, jumps, rows_of
from ._lines import line_between
from ._moves import aside, is_moved, mark
from ._nested import calls_a_solver
from ._ode_numbers import Method
from ._panels import panels_between, panels_of

__all__ = [
    "integrand_run",
    "known_path_run",
    "limits_run",
    "path_run",
    "small_for",
]

# Of the largest number near a jump, the part that counts as none; and if the function
# is as exact as a solver in it: also of a tolerance, but no more than the last part.
_SMALL = 1e-7
_ROUGH, _ERRORS, _MOST = 1e-5, 10.0, 1e-2


def small_for(tolerance: float, f: Callable[..., Any], *calls: Any) -> float:
    """What counts as no jump of a function.

    Args:
        tolerance: Of the solver that calls it, and likely of those in it.
        f: The function.
        *calls: Arguments with which it is looked at.
    """
    if not any(calls_a_solver(f, *args) for args in calls):
        return _SMALL
    return max(_ROUGH, min(_ERRORS * tolerance, _MOST))


def path_run(method: Method) -> Run:
    """Looks along a solution."""
    return Run(_along_path, 0, method=method)


def _along_path(
    settings: Any, functions: Any, y0: Any, t0: Any, times: Any, *leaves: Any
) -> Any:
    call, t0 = functions[0], float(t0)
    ends = times[np.isfinite(times)]
    end = float(ends[np.argmax(np.abs(ends - t0))]) if len(ends) else t0

    def rate(t: float, y: Any, given: Any = leaves) -> Any:
        return np.asarray(call(t, y, *given))

    flags = np.zeros(1 + len(leaves))
    if end == t0:
        return flags, 1, (), {}
    found = settings["method"].solve(rate, (t0, end), y0)
    nodes, states = found.t, found.y.T
    if end < t0:
        nodes, states = nodes[::-1], states[::-1]
    _mark_path(flags, rate, nodes, states, leaves)
    return flags, 1, (), {}


def known_path_run(columns: int | None) -> Run:
    """Looks along a path through states at given times.

    The function is one of many times, with a column of the states for each.

    Args:
        columns: How many there must be; None for as many as there are times.
    """
    return Run(_along_known, 0, columns=columns)


def _along_known(
    settings: Any, functions: Any, times: Any, states: Any, *leaves: Any
) -> Any:
    call, flags = functions[0], np.zeros(1 + len(leaves))
    count = settings["columns"]

    def rows(t: Any, y: Any, given: Any = leaves) -> Any:
        at = np.arange(count or len(t)).clip(0, len(t) - 1)
        return np.asarray(call(t[at], y[at].T, *given)).T[: len(t)]

    slopes = rows(times, states)
    path = CubicHermiteSpline(times, states, slopes)

    def rate(t: float, y: Any, given: Any = leaves) -> Any:
        return rows(np.asarray([t]), y[None, :], given)[0]

    small = small_for(0.0, rows, (times, states))
    panels = panels_between(times)
    found = jumps(lambda t: rows(t, path(t)), panels, small, len(times))
    _mark(flags, found, rate, path, states, leaves)
    return flags, 1, (), {}


def _mark_path(flags: Any, rate: Any, nodes: Any, states: Any, leaves: Any) -> None:
    """Note what moves the jumps of a rate along its path."""
    slopes = [rate(t, y) for t, y in zip(nodes, states, strict=True)]
    path = _along(CubicHermiteSpline(nodes, states, slopes))
    known = dict(zip(nodes.tolist(), slopes, strict=True))

    def value(t: float) -> Any:
        return known[t] if t in known else rate(t, path(t))

    small = small_for(0.0, rate, (nodes[0], states[0]))
    found = jumps(rows_of(value), panels_between(nodes), small)
    _mark(flags, found, rate, path, states, leaves)


def _mark(
    flags: Any, found: Any, rate: Any, path: Any, states: Any, leaves: Any
) -> None:
    """Note what moves some jumps of a rate along a path."""
    sizes = np.max(np.abs(states), axis=0)
    direction = aside(np.where(sizes > 0, sizes, 1.0))

    def moved(t: float, far: float) -> Any:
        return rate(t, path(t) + far * direction)

    for jump in found:
        flags[0] = flags[0] or is_moved(jump, moved)
        mark(flags, jump, leaves, lambda t, given: rate(t, path(t), given))


def _along(spline: Any) -> Any:
    """A cubic spline as a function of one time, without what SciPy does for many."""
    nodes, pieces = spline.x.tolist(), np.moveaxis(spline.c, 1, 0)
    last = len(nodes) - 2

    def path(t: float) -> Any:
        place = min(max(bisect_right(nodes, t) - 1, 0), last)
        far = t - nodes[place]
        cubed, squared, slope, state = pieces[place]
        return ((cubed * far + squared) * far + slope) * far + state

    return path


def integrand_run(run: Run) -> Run:
    """Looks between the places at which an integral calls its function.

    A run over another region has its own one, `jumps`.
    """
    own: Run | None = run.settings.get("jumps")
    if own is not None:
        return own
    return Run(_along_line, 0, run=run)


def _along_line(settings: Any, functions: Any, a: Any, b: Any, *leaves: Any) -> Any:
    call, run = functions[0], settings["run"]
    line = line_between(float(a), float(b))
    known: dict[float, Any] = {}

    def value(u: Any, given: Any = leaves) -> Any:
        x, slope = line.place(u)
        return slope * np.ravel(np.asarray(call(x, *given)))

    def once(u: float) -> Any:
        return known[u] if u in known else value(u)

    def seen(x: Any) -> Any:
        y = call(x, *leaves)
        u = float(line.number(x))
        # A copy, for a program may use its array again.
        known[u] = line.place(u)[1] * np.array(y).reshape(-1)
        return y

    quiet = {"full_output": 1} if "full_output" in run.settings else {}
    run.f(run.settings | quiet, (seen,), a, b)
    flags, nodes = np.zeros(1 + len(leaves)), sorted(known)
    if not nodes:  # between equal limits
        return flags, 1, (), {}
    looked = [(nodes[len(nodes) // 2],), (nodes[0],)]
    small = small_for(run.settings["epsrel"], value, *looked)
    ends = [float(line.number(x)) for x in (a, b) if np.isfinite(x)]
    rows = rows_of(once)
    for jump in jumps(rows, _with_ends(rows, nodes, ends), small):
        mark(flags, jump, leaves, value)
    return flags, 1, (), {}


def _with_ends(f: Any, nodes: Sequence[float], ends: Sequence[float]) -> Any:
    """Panels of nodes, and of the ends at which a function is finite."""
    with np.errstate(all="ignore"):
        is_finite = np.isfinite(f(np.array([*ends, nodes[0]]))).all(axis=-1)
    finite = [x for x, good in zip(ends, is_finite, strict=False) if good]
    return panels_of([*finite, *nodes])


def _at_limits(f: Any, limits: Any, small: float) -> list[Jump | None]:
    low, high = limits
    ends = (low, high), (high, low)
    return [
        jump_at_end(f, *pair, small) if np.isfinite(pair[0]) else None for pair in ends
    ]


def limits_run(run: Run) -> Run:
    """Looks for jumps at the limits of an integral.

    A run over another region has its own one, `ends`.
    """
    own: Run | None = run.settings.get("ends")
    return Run(_at_ends, 0) if own is None else own


def _at_ends(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    call, limits = functions[0], (float(a), float(b))
    rows = rows_of(lambda x: np.array(call(x)).reshape(-1))
    finite = [x for x in limits if np.isfinite(x)]
    small = small_for(0.0, call, *[(x,) for x in finite[:1]])
    found = _at_limits(rows, limits, small)
    return np.array([float(jump is not None) for jump in found]), 1, (), {}
