"""Derivatives of initial value problems in numbers: what SciPy solves, and how exactly.

Both modes solve a linear equation along the solution. Neither its scale nor that of its
parameters is known before, so that the tolerances of the call do not suit it: `atol` of
each component follows from how large that component becomes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.integrate as _sp

from rules_scipy._functions import Run
from rules_scipy._weights import uneven

__all__ = ["Method", "adjoint_run", "states_run"]

# Of the tolerances that a call asks for, in the equations of its derivatives: SciPy
# bounds errors of single steps, which add up.
_TIGHTER = 0.1
# Of the largest number of a component: below it errors are absolute.
_SMALL = 1e-3
# Nodes of Gauss in each step: four are of order 8, as the most exact method.
_NODES, _FEWER = 4, {"RK23": 3, "RK45": 3}


class Method(NamedTuple):
    """How the equations of the derivatives are solved.

    Attributes:
        name: Of a method of `solve_ivp`, or a class like them.
        rtol: That of the call.
        atol: That of the call: a number or an array.
        options: Of the call, as far as they suit other equations.
    """

    name: Any
    rtol: Any
    atol: Any
    options: dict[str, Any]

    def solve(self, f: Any, span: Any, y0: Any, atol: Any = None, **given: Any) -> Any:
        """`scipy.integrate.solve_ivp` with tighter tolerances."""
        rtol = np.maximum(_TIGHTER * np.asarray(self.rtol), 100 * np.finfo(float).eps)
        atol = _TIGHTER * np.asarray(self.atol) if atol is None else atol
        return _sp.solve_ivp(
            f, span, y0, method=self.name, rtol=rtol, atol=atol, **self.options, **given
        )

    def below(self, largest: Any) -> Any:
        """The absolute tolerance of linear equations, from their largest numbers."""
        rtol = _TIGHTER * float(np.min(self.rtol))
        return np.maximum(_SMALL * rtol * largest, np.finfo(float).tiny)


def states_run(method: Method, size: int) -> Run:
    """Solves an equation at given times, in any order.

    Args:
        method: How.
        size: Of the state; derivatives follow in a longer vector.
    """
    return Run(_states, 0, method=method, size=size)


def adjoint_run(method: Method) -> Run:
    """Solves the adjoint equation, and integrates it."""
    return Run(_adjoint, 0, method=method)


def _states(settings: Any, functions: Any, y0: Any, t0: Any, times: Any) -> Any:
    method, size, t0 = settings["method"], settings["size"], float(t0)
    rows = np.full((len(times), len(y0)), np.nan, y0.dtype)
    rows[times == t0] = y0
    later = np.isfinite(times) & (times != t0)
    at, place = np.unique(times[later], return_inverse=True)
    if not len(at):
        return rows, 1, (), {}
    sign = 1 if at[-1] > t0 else -1
    at = at[::sign]
    span = t0, at[-1]
    atol = _absolute(method, size, functions[0], span, y0)
    found = method.solve(functions[0], span, y0, atol, t_eval=at)
    if found.success:
        rows[later] = found.y.T[::sign][place]
    return rows, int(found.success), (), {}


def _absolute(method: Method, size: int, f: Any, span: Any, y0: Any) -> Any:
    """Absolute tolerances of a state and its derivatives.

    A first solution, whose steps do not depend on the derivatives, says how large they
    become.
    """
    own = np.broadcast_to(_TIGHTER * np.asarray(method.atol), size)
    if len(y0) == size:
        return own
    free = np.full(len(y0) - size, _FREE)
    found = method.solve(f, span, y0, np.concatenate([own, free]))
    largest = np.max(np.abs(found.y[size:]), axis=1)
    return np.concatenate([own, method.below(largest)])


# An absolute tolerance that no error exceeds.
_FREE = 1e100


# the adjoint equation


def _adjoint(
    settings: Any, functions: Any, y0: Any, t0: Any, times: Any, known: Any, dy: Any
) -> Any:
    """The cotangents of the start, and of all parameters.

    From the last time with a cotangent back to the one before: in each such segment the
    state is solved again forwards, from the value that is known, so that it stays right
    where the equation is stable in this direction alone.
    """
    back = functions[-1]
    method, t0, size = settings["method"], float(t0), len(y0)
    costate, total = np.zeros(size, dy.dtype), 0.0
    scale = float(np.max(np.abs(dy), initial=0.0))
    for start, end in _segments(t0, times, dy):
        costate = costate + dy[times == end].sum(axis=0)
        nearest = y0 if start == t0 else known[times == start][0]
        reached = known[times == end][0]
        ends = start, end, nearest, reached
        found = _segment(method, functions, ends, costate, scale)
        if found is None:
            return np.nan * back(t0, np.concatenate([y0, costate])), 0, (), {}
        costate, part = found
        total = total + part
    costate = costate + dy[times == t0].sum(axis=0)
    if np.ndim(total) == 0:
        total = 0.0 * back(t0, np.concatenate([y0, costate]))[size:]
    return np.concatenate([costate, total]), 1, (), {}


def _segments(t0: float, times: Any, dy: Any) -> list[tuple[float, float]]:
    """Between the start and times with a cotangent, the last first."""
    wanted = np.unique(times[np.any(dy != 0, axis=1) & np.isfinite(times)])
    ordered = wanted[::-1] if len(wanted) and wanted[0] < t0 else wanted
    return list(pairwise([t0, *ordered[ordered != t0]]))[::-1]


def _path(method: Method, fun: Any, span: Any, y: Any, reached: Any) -> Any:
    """The state again, from `y`; it may not pass over what the first solution has met.

    A pulse that is shorter than a step is met by chance. Where the end is another one
    than `reached`, steps are short.
    """
    path = method.solve(fun, span, y, dense_output=True)
    usual = _USUAL * (np.asarray(method.rtol) * np.abs(reached) + method.atol)
    if path.success and np.all(np.abs(path.y[:, -1] - reached) <= usual):
        return path
    if _is_usual(method, fun, span, y, path, reached):
        return path
    longest = min(
        abs(span[1] - span[0]) / _STEPS, method.options.get("max_step", np.inf)
    )
    careful = method._replace(options={**method.options, "max_step": longest})
    again = careful.solve(fun, span, y, dense_output=True)
    return min((path, again), key=lambda p: _distance(p, reached))


# Differences of two solutions, in tolerances; and steps that find short pulses.
_USUAL, _STEPS = 10.0, 2000


def _is_usual(
    method: Method, fun: Any, span: Any, y: Any, path: Any, reached: Any
) -> bool:
    """Whether the end differs by the error of the call's tolerances.

    By other steps such an error is as large. A pulse is rarely met by two.
    """
    half = method._replace(
        rtol=np.asarray(method.rtol) / _TIGHTER / 2,
        atol=np.asarray(method.atol) / _TIGHTER / 2,
    )
    other = half.solve(fun, span, y)
    if not (path.success and other.success):
        return False
    return _distance(path, other.y[:, -1]) >= 0.1 * _distance(path, reached)


def _distance(path: Any, reached: Any) -> float:
    return float(np.max(np.abs(path.y[:, -1] - reached))) if path.success else np.inf


def _segment(
    method: Method, functions: Any, ends: Any, costate: Any, scale: float
) -> Any:
    """The costate at the begin of a segment, and the integral over it.

    `ends` are its two times, and the states there.
    """
    (start, end, y, reached), (fun, both_rates, back) = ends, functions
    size, span = len(y), (start, end)
    path = _path(method, fun, span, y, reached)
    if not path.success:
        return None

    # Where the state is steep, so is the costate, perhaps in a peak between two steps:
    # a number that changes as the state does keeps the steps short there.
    units, smallest = _units(method, path.y)
    state = _at_one_time(path.sol)

    def rate(t: float, both: Any) -> Any:
        found = both_rates(t, np.concatenate([state(t), both[:size]]))
        slopes = -found[: size + 1]
        slopes[size] = units @ found[size:]
        return slopes

    first = np.append(costate, units @ path.y[:, -1])
    atol = np.append(np.full(size, method.below(scale)), smallest)
    found = method.solve(rate, (end, start), first, atol, dense_output=True)
    if not found.success:
        return None

    def density(times: Any) -> Any:
        both = np.concatenate([path.sol(times), found.sol(times)[:size]]).T
        return np.stack([back(*pair)[size:] for pair in zip(times, both, strict=True)])

    return found.y[:size, -1], _integral(density, method, found.t, span)


def _at_one_time(solution: Any) -> Callable[[float], Any]:
    """A solution as a function of one time, without what SciPy does for many."""
    ends, parts = solution.ts_sorted.tolist(), solution.interpolants
    parts = parts if solution.ascending else parts[::-1]
    last = len(parts) - 1

    def state(t: float) -> Any:
        return parts[min(max(bisect_right(ends, t) - 1, 0), last)](t)

    return state


def _units(method: Method, states: Any) -> tuple[Any, float]:
    """Weights that sum a state up to about one, and the tolerance of this sum."""
    largest = np.max(np.abs(states), axis=1)
    largest = np.where(largest > 0, largest, 1.0)
    smallest = np.min(_TIGHTER * np.asarray(method.atol) / largest)
    return uneven(np, len(largest)) / largest, float(smallest)


def _integral(
    f: Callable[[Any], Any], method: Method, steps: Any, span: tuple[float, float]
) -> Any:
    """The integral over the steps of a solution, in which the integrand is smooth.

    `f` gives a row for each of many times.
    """
    count = _FEWER.get(method.name, _NODES) if type(method.name) is str else _NODES
    nodes, weights = np.polynomial.legendre.leggauss(count)
    ends = np.unique(steps)
    half = 0.5 * np.diff(ends)[:, None]
    times = ends[:-1, None] + half * (1.0 + nodes)
    total = np.ravel(half * weights) @ f(np.ravel(times))
    return total if span[1] > span[0] else -total
