"""Functions that are arguments of a solver: how SciPy calls them in each framework.

A solver of this pack is a generic primitive. On NumPy arrays SciPy calls the user's
function as it is. On arrays of a framework the function is taken apart into the arrays
that it captures and a function of NumPy arrays (`rules_core.extend.numpy_function`);
SciPy runs in one host call, whose operands are these arrays. Its derivative is a
theorem about the result, which calls back into the AD system that is running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, final

import numpy as np

import rules_core as rc
from rules_core.extend import find_adapter, nan_unless, numpy_function

from ._callbacks import watch

__all__ = [
    "Function",
    "Run",
    "arrays_in",
    "if_converged",
    "is_traced",
    "known",
    "like",
    "solve",
    "stacked",
]

Function = Callable[..., Any]


def solve(
    run: Function,
    functions: Sequence[Function | None],
    args: tuple[Any, ...],
    start: tuple[Any, ...],
    example: Any,
    result: Any = None,
) -> Any:
    """The result of `run(functions, *start)`, with functions and arrays of NumPy.

    Args:
        run: Calls SciPy. It returns `(y, success, counts, others)`: an array, whether
            it is a solution, numbers, and a dict of what SciPy returns besides, which
            exists in NumPy alone.
        functions: The user's; each is called as `f(x, *args)`.
        args: Their arguments after the first.
        start: Arrays or numbers.
        example: An array of the shape and dtype of `x`; a list for functions that are
            called as `f(*xs, *args)`, with such arrays `xs` for each function.
        result: One of those of `y`, if `y` is not like `x`.
    """
    host = find_adapter((functions, args, start), {})
    if host is None:
        own = [f and _bound(_in_numpy(f, run), args) for f in functions]
        y, *rest = _watched(run)(own, *start)
        return np.array(y) if np.ndim(y) else y, *rest
    examples = example if isinstance(example, list) else [(example,)] * len(functions)
    pairs = [
        (None, ()) if f is None else numpy_function(_bound(f, args), *xs, host=host)
        for f, xs in zip(functions, examples, strict=True)
    ]
    calls, arrays = zip(*pairs, strict=True)
    result = example if result is None else result
    found = _solve_on_host(run, calls, arrays, tuple(start), result)
    return *found, {}


def _in_numpy(f: Function, run: Any) -> Function:
    """`f` as SciPy calls it, where no array of a framework is seen: it gives none."""
    call = numpy_function(f)[0](())

    def checked(*xs: Any) -> Any:
        try:
            y = call(*xs)
        except (RuntimeError, TypeError) as error:  # of an array that has no numbers
            if isinstance(error, rc.RulesCoreError) or not any(_names_outside(f)):
                raise
            _refuse_outside(f, run)
        if isinstance(y, float | np.generic | np.ndarray):
            return y
        if any(map(_is_differentiated, arrays_in(y))):
            _refuse_outside(f, run)
        return y

    return checked


def _watched(run: Any) -> Any:
    """`run`, where a function that stores iterates is refused in a derivative."""
    return run.with_settings(watch) if isinstance(run, Run) else run


def _is_differentiated(x: Any) -> bool:
    """Whether an array of a framework is traced, or requires a gradient."""
    if find_adapter((x,), {}) is None:
        return False
    try:
        np.asarray(x)
    except Exception:  # each framework raises its own
        return True
    return False


def _refuse_outside(f: Function, run: Any) -> NoReturn:
    name = getattr(f, "__qualname__", type(f).__qualname__)
    solver = getattr(run, "settings", {}).get("name") or run.f.__name__
    solver = str(solver).strip("_").removeprefix("run_").removeprefix("by_")
    read = ", ".join(_names_outside(f))
    message = (
        f"{solver}: the function {name} reads an array that is differentiated, or "
        f"traced, from outside{read and f' (as {read})'}, where the solver does not "
        "find it. Pass it in args, or capture it in a closure."
    )
    raise rc.UnsupportedError(message)


def _names_outside(f: Function) -> Iterator[str]:
    """The globals, and attributes of global classes, that are such arrays."""
    code = getattr(getattr(f, "__func__", f), "__code__", None)
    scope = getattr(getattr(f, "__func__", f), "__globals__", {})
    for name in () if code is None else code.co_names:
        value = scope.get(name)
        if isinstance(value, type):
            held = {f"{name}.{key}": x for key, x in vars(value).items()}
        else:
            held = {name: value}
        yield from [path for path, x in held.items() if _is_differentiated(x)]


def _bound(f: Function, args: tuple[Any, ...]) -> Function:
    def bound(*x: Any) -> Any:
        return f(*x, *args)

    bound.__qualname__ = getattr(f, "__qualname__", repr(f))
    return bound


def _on_host(run: Any, calls: Any, arrays: Any, start: Any, result: Any) -> Any:
    pairs = zip(calls, arrays, strict=True)
    functions = [call and call(own) for call, own in pairs]
    # SciPy's steps and tolerances are those of double precision.
    doubles = [np.asarray(x, np.float64) for x in start]
    y, success, counts, _ = run(functions, *doubles)
    dtype = result.dtype
    numbers = np.asarray(counts, run.dtype or dtype)
    return np.asarray(y, dtype), np.asarray(success, np.int32), numbers


def _promised(run: Any, calls: Any, arrays: Any, start: Any, result: Any) -> Any:
    dtype = np.dtype(str(result.dtype).rpartition(".")[2])
    return (
        rc.ShapeDtype(tuple(result.shape), dtype),
        rc.ShapeDtype((), np.int32),
        rc.ShapeDtype((run.counts,), np.dtype(run.dtype or dtype)),
    )


_solve_on_host: rc.Primitive = rc.primitive(
    _on_host, host=True, out=_promised, static_argnames=("run", "calls")
)


@final
class Run:
    """A call of SciPy with its settings, which are constants in every framework.

    Args:
        f: `f(settings, functions, *start)`, as `solve` calls it.
        counts: How many numbers besides the result there are.
        dtype: Of these numbers; None is that of the result.
        **settings: Options of SciPy.
    """

    def __init__(
        self, f: Function, counts: int, dtype: Any = np.int32, **settings: Any
    ) -> None:
        self.f, self.counts, self.dtype, self.settings = f, counts, dtype, settings

    def __tangent_structure__(self) -> None:
        """A constant."""

    def with_settings(self, change: Callable[[str, Any], Any]) -> Run:
        """The call with other settings, made of names and values."""
        given = {k: change(k, x) for k, x in self.settings.items()}
        return Run(self.f, self.counts, self.dtype, **given)

    def __call__(self, functions: Sequence[Any], *start: Any) -> Any:
        return self.f(self.settings, functions, *start)


# arrays of any framework


def arrays_in(value: Any) -> Iterator[Any]:
    """Arrays of a framework in containers, and those that functions capture."""
    yield from _arrays_in(value, set())


def _arrays_in(value: Any, seen: set[int]) -> Iterator[Any]:
    if rc.is_array(value):
        yield value
        return
    level = None if id(value) in seen else rc.structure(value)
    if level is None:
        return
    seen.add(id(value))
    for child in level.values:
        yield from _arrays_in(child, seen)


def like(x: Any, *others: Any) -> Any:
    """`x` as a floating array of the framework, and in the precision, of the others."""
    arrays = [a for a in arrays_in((x, *others)) if not isinstance(a, np.ndarray)]
    if not arrays:
        return np.asarray(x, dtype=float)
    xp = rc.array_namespace(*arrays)
    found = stacked(xp, x)
    floats = [a for a in arrays if xp.isdtype(a.dtype, "real floating")]
    if not floats:
        return found * 1.0
    return xp.astype(found, xp.result_type(*floats))


def stacked(xp: Any, x: Any) -> Any:
    """A list of arrays or numbers as an array."""
    if isinstance(x, list | tuple):
        return xp.stack([stacked(xp, entry) for entry in x])
    # PyTorch warns of a tensor that is made of a tensor.
    is_numpys = isinstance(x, np.ndarray | np.generic)
    return x if rc.is_array(x) and not is_numpys else xp.asarray(x)


# results


@rc.primitive
def if_converged(y: Any, success: Any, solver: str) -> Any:
    """`y`, whose derivative is an error, or NaN in traced code, without success."""
    return y


@rc.frule.define(if_converged)
def if_converged_frule(tangents: Any, y: Any, success: Any, solver: str) -> Any:
    return y, known(tangents[1], success, _FAILED, solver)


@rc.rrule.define(if_converged)
def if_converged_rrule(y: Any, success: Any, solver: str) -> Any:
    def if_converged_pullback(dy: Any) -> Any:
        dy = known(dy, success, _FAILED, solver)
        return rc.NoTangent(), dy, rc.NoTangent(), rc.NoTangent()

    return y, if_converged_pullback


_FAILED = (
    "did not converge, so that its result has no derivative. Look at the fields "
    "success and message, begin nearer to the solution, or allow more iterations"
)


def is_traced(x: Any) -> bool:
    """Whether an array has no numbers yet."""
    try:
        bool((x == 0).any() if getattr(x, "shape", ()) else x)
    except (TypeError, RuntimeError):  # of a tracer
        return True
    return False


def known(dy: Any, success: Any, reason: str, solver: str) -> Any:
    """A derivative where there is one: else an error, or NaN in traced code."""
    if isinstance(dy, rc.AbstractZero):
        return dy
    if is_traced(success):
        return nan_unless(success > 0, dy)
    if not success:
        message = f"{solver} {reason}."
        raise rc.UnsupportedError(message)
    return dy
