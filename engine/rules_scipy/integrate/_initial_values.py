"""SciPy's `solve_ivp`, with the derivatives of its solutions."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.integrate as _sp
from scipy.integrate._ivp.ivp import OdeResult

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._functions import (
    Function,
    Run,
    arrays_in,
    if_converged,
    solve,
    stacked,
)
from rules_scipy._solvers import without_formula

from ._events import crossing, kind_of
from ._ode_numbers import Method
from ._quadrature import DECLARED
from ._trajectories import Problem, carried, in_dtype, rate, solved, trajectory

__all__ = ["Unknown", "as_state", "as_time", "solve_ivp"]

# A right-hand side, its arguments, the state and the time of the start.
Case = tuple[Any, Any, Any, Any]

# Options of solve_ivp that suit the equations of the derivatives too.
_SHARED = ("max_step", "min_step")
_SENSITIVITIES = (None, "forward", "adjoint")


def solve_ivp(
    fun: Function, t_span: Any, y0: Any, method: Any = "RK45", t_eval: Any = None,
    dense_output: bool = False, events: Any = None, vectorized: bool = False,
    args: Any = None, *, sensitivity: str | None = None, **options: Any,
) -> Any:  # fmt: skip
    """`scipy.integrate.solve_ivp`; its result has derivatives.

    Args:
        fun: As in SciPy, like all arguments but the last.
        t_span: Both ends have derivatives.
        y0: Has derivatives.
        method: All of SciPy's.
        t_eval: Without it times are constants, but for the first and the last.
        dense_output: The interpolant has derivatives in its time and in all others.
        events: Their times and states have derivatives.
        vectorized: As in SciPy.
        args: Have derivatives, as what `fun` captures.
        sensitivity: How reverse mode is computed: `"adjoint"`, as is the default, or
            `"forward"`, by one variational equation for each number that may move.
        **options: As in SciPy; without derivative.
    """
    args = () if args is None else tuple(args)
    start = as_state(y0, fun, args, t_span, t_eval)
    if len(start.shape) != 1:
        message = "`y0` must be 1-dimensional."
        raise ValueError(message)
    t0, t1 = as_time(t_span[0], start), as_time(t_span[1], start)
    at = None if t_eval is None else as_time(t_eval, start)
    events, jac = _listed(events), options.get("jac")
    rest = {k: x for k, x in options.items() if k != "jac" or not callable(x)}
    run = Run(
        _run_solve_ivp, 5 + len(events), method=method, vectorized=vectorized,
        kinds=[kind_of(event) for event in events], dense_output=dense_output,
        options=rc.ignore_derivatives(rest), whole=not isinstance(start, np.ndarray),
    )  # fmt: skip
    functions = (fun, jac if callable(jac) else None, *events)
    given = (start, t0, t1) if at is None else (start, t0, t1, at)
    table, success, counts, others = solution(functions, args, given, run)
    problem = _problem("solve_ivp", method, rest, start, sensitivity)
    solver = f"solve_ivp(method={method!r})"
    case, parts = (fun, args, start, t0), _parts(table, counts, len(events))
    t_events, y_events = _crossings(case, events, parts[1:], problem, success)
    times, rows = parts[0]
    if at is None:
        stops = [t for t, _ in parts[1:]]
        last = _last(times, stops, t_events) if events and int(counts[0]) == 1 else t1
        times = carried(times, _with_ends(times, t0, last))
    else:
        times = carried(times, at[: times.shape[0]])
    rows = if_converged(trajectory(*case, times, rows, problem), success, solver)
    numbers = dict(zip(_COUNTS, counts, strict=False)) | {"success": success == 1}
    sol = Interpolant(case, problem, others.get("sol")) if dense_output else None
    own = {
        "t": times, "y": rows.T, "sol": sol, "t_events": t_events, "y_events": y_events,
    }  # fmt: skip
    return OdeResult({**own, **(others or numbers), "sol": sol})


_COUNTS = ("status", "nfev", "njev", "nlu")


@rc.primitive
def solution(functions: Any, args: Any, given: Any, run: Run) -> Any:
    """SciPy's result, without derivative; the table's rows are `t` and the state."""
    start = given[0]
    # Of how many steps and events there are only SciPy knows.
    known_size = len(given) > 3 and not run.settings["kinds"]
    table: Any = Unknown(start, _STEPS)
    if known_size:
        xp = rc.array_namespace(start)
        size = given[3].shape[0], start.shape[0] + 1
        table = xp.zeros(size, dtype=start.dtype)
    examples = [(given[1], start)] * len(functions)
    found, *rest = solve(run, functions, args, given, examples, table)
    return in_dtype(found, start), *rest


rc.non_differentiable(solution)


_STEPS = (
    "solve_ivp chooses its steps, and finds events, while it runs, so that traced code "
    "does not know how many there are. Give t_eval, and no events."
)


@final
class Unknown:
    """A table whose length only SciPy knows, and an error for code that asks for it."""

    def __init__(self, like: Any, message: str) -> None:
        self.dtype = np.dtype(str(like.dtype).rpartition(".")[2])
        self.message = message

    def __tangent_structure__(self) -> None:
        """Constant."""

    @property
    def shape(self) -> Any:
        """An error, because only traced code reads it."""
        raise rc.UnsupportedError(self.message)


def _run_solve_ivp(
    settings: Any, functions: Any, y0: Any, t0: Any, t1: Any, at: Any = None
) -> Any:
    fun, jac, *events = functions
    options = settings["options"] | ({} if jac is None else {"jac": jac})
    named = [
        _named(event, kind)
        for event, kind in zip(events, settings["kinds"], strict=True)
    ]
    found = _sp.solve_ivp(
        fun, (t0, t1), y0, settings["method"], at, settings["dense_output"],
        named or None, settings["vectorized"], **options,
    )  # fmt: skip
    parts = [(np.asarray(found.t), np.reshape(found.y, (len(y0), -1)).T)]
    if named:
        parts += zip(found.t_events, found.y_events, strict=True)
    sizes = [len(t) for t, _ in parts]
    if settings["whole"] and not named and at is not None:
        missing = at[len(found.t) :]
        parts.append((missing, np.full((len(missing), len(y0)), np.nan)))
    table = np.concatenate([_table(t, y, len(y0)) for t, y in parts])
    counts = (found.status, found.nfev, found.njev, found.nlu, *sizes)
    own = ("t", "y", "t_events", "y_events", "sol")
    others = {k: x for k, x in found.items() if k not in own}
    others["sol"] = _Constant(found.sol)
    return table, int(found.success), counts, others


def _named(event: Function, kind: tuple[Any, Any]) -> Any:
    def named(t: Any, y: Any) -> Any:
        return event(t, y)

    vars(named)["terminal"], vars(named)["direction"] = kind
    return named


def _table(t: Any, y: Any, size: int) -> Any:
    return np.concatenate([t[:, None], np.reshape(y, (len(t), size))], axis=1)


def _parts(table: Any, counts: Any, events: int) -> list[tuple[Any, Any]]:
    """Times and states: of the solution, and of each event."""
    sizes = [int(n) for n in counts[4:]] if events else [table.shape[0]]
    parts, first = [], 0
    for size in sizes:
        t, y = table[first : first + size, 0], table[first : first + size, 1:]
        parts.append((t.real if _is_complex(t) else t, y))
        first += size
    return parts


def _is_complex(x: Any) -> bool:
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def _crossings(
    case: Case, events: Any, parts: Any, problem: Problem, success: Any
) -> tuple[Any, Any]:
    """`t_events` and `y_events`."""
    if not events:
        return None, None
    found = [
        _crossing(case, event, times, rows, problem, success)
        if times.shape[0]
        else (times, rows)
        for event, (times, rows) in zip(events, parts, strict=True)
    ]
    return [times for times, _ in found], [rows for _, rows in found]


def _crossing(
    case: Case, event: Any, times: Any, rows: Any, problem: Problem, success: Any
) -> tuple[Any, Any]:
    at = crossing(event, *case, times, rows, problem)
    at = if_converged(at, success, problem.name)
    return at, trajectory(*case, at, rows, problem)


def _last(times: Any, stops: Any, t_events: Any) -> Any:
    """The time of the event that ended the solution."""
    for stop, found in zip(stops, t_events, strict=True):
        if stop.shape[0] and bool(stop[-1] == times[-1]):
            return found[-1]
    return times[-1]


def _with_ends(times: Any, first: Any, last: Any) -> Any:
    """Constant times, but for both ends."""
    xp = rc.array_namespace(times, first, last)
    ends = [xp.reshape(x, (1,)) for x in (first, last)]
    return concat([ends[0], times[1:-1], ends[1]])


@final
class _Constant:
    """A value that AD systems do not look into."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __tangent_structure__(self) -> None:
        """A constant."""


@final
class Interpolant:
    """The solution as a function of time.

    In NumPy its values are those of SciPy's interpolant; elsewhere the equation is
    solved again.
    """

    __stands_for__ = _sp.OdeSolution

    def __init__(self, case: Case, problem: Problem, sol: Any) -> None:
        self.case, self.problem, self.sol = case, problem, sol

    def __call__(self, t: Any) -> Any:
        """The states at `t`, a number or an array."""
        fun, args, y0, t0 = self.case
        t = as_time(t, y0)
        times = t.reshape((-1,))
        if self.sol is None:
            y = solved(_bound(fun, args), y0, t0, times, self.problem).T
        else:
            rows = interpolated(self.sol, times)
            y = trajectory(*self.case, times, rows, self.problem).T
        return y if t.shape else y[:, 0]

    def __getattr__(self, name: str) -> Any:
        """What SciPy's interpolant has: steps, whose derivative is missing."""
        if name not in _OF_INTERPOLANTS or self.sol is None:
            raise AttributeError(name, name=name, obj=self)
        return without_formula(getattr(self.sol.value, name), self.case[2], _OF_A_STEP)


_OF_INTERPOLANTS = frozenset((
    "ascending", "interpolants", "n_segments", "t_max", "t_min", "ts", "ts_sorted",
))  # fmt: skip
_OF_A_STEP = (
    "derivative of a step of scipy.integrate.solve_ivp, as sol has it; take the ends "
    "of t_span, and times of t_eval or of events"
)


def _bound(fun: Any, args: Any) -> Any:
    return lambda t, y: rate(fun, args, t, y)


@rc.primitive
def interpolated(sol: Any, times: Any) -> Any:
    """Rows of SciPy's interpolant, without derivative."""
    return sol.value(times).T


rc.non_differentiable(interpolated)


def _problem(
    name: str, method: Any, options: Any, start: Any, sensitivity: Any
) -> Problem:
    if sensitivity not in _SENSITIVITIES:
        message = (
            f"sensitivity must be one of {_SENSITIVITIES}, but got {sensitivity!r}."
        )
        raise ValueError(message)
    options = rc.ignore_derivatives(options)
    shared = {k: options[k] for k in _SHARED if k in options}
    own = Method(method, options.get("rtol", 1e-3), options.get("atol", 1e-6), shared)
    return Problem(own, name, start.shape[0], forward=sensitivity == "forward")


def _listed(events: Any) -> tuple[Any, ...]:
    if events is None:
        return ()
    return (events,) if callable(events) else tuple(events)


def as_state(y0: Any, *others: Any) -> Any:
    """A start as a floating or complex array of the framework of the others."""
    arrays = [a for a in arrays_in((y0, *others)) if not isinstance(a, np.ndarray)]
    if not arrays:
        y0 = np.asarray(y0)
        return y0 if y0.dtype.kind in "fc" else y0.astype(float)
    xp = rc.array_namespace(*arrays)
    found = stacked(xp, y0)
    floats = [a for a in (*arrays, found) if not xp.isdtype(a.dtype, "integral")]
    return found * 1.0 if not floats else xp.astype(found, xp.result_type(*floats))


def as_time(t: Any, start: Any) -> Any:
    """A time, or times, as an array of the start's framework and precision."""
    if isinstance(start, np.ndarray):
        return np.asarray(t, dtype=float)
    xp = rc.array_namespace(start)
    dtype = start.real.dtype if _is_complex(start) else start.dtype
    return xp.astype(stacked(xp, t), dtype)


DECLARED.cover(_sp.solve_ivp, solve_ivp)
