"""Runs of SciPy's minimisers and fits, which have no derivative of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize as _sp

import rules_core as rc
from rules_scipy._functions import Function, Run, like, solve

__all__ = ["ends_of", "limits_of", "pairs_of", "search", "vector"]


@rc.primitive
def search(
    functions: tuple[Function | None, ...], args: Any, start: Any, run: Run, size: int,
    second: Any = None,
) -> Any:  # fmt: skip
    """`(y, success, counts, others)`, as `run` returns them.

    Args:
        functions: Those that SciPy calls.
        args: Their arguments after the first.
        start: The start, a vector, and other arrays that SciPy takes.
        run: Calls SciPy; its `y` is the vector of the solution and of other numbers.
        size: The length of this vector.
        second: By the place of a function that is called as `f(x, z, *args)`, an array
            like `z`.
    """
    first = start[0]
    xp = rc.array_namespace(first)
    result = xp.zeros((size,), dtype=first.dtype)
    more = {i: (first, z) for i, z in (second or {}).items()}
    examples = [more.get(i, (first,)) for i in range(len(functions))]
    return solve(run, functions, args, start, examples, result)


rc.non_differentiable(search)


def vector(x: Any, *others: Any) -> Any:
    """A start as a vector of the framework of the other arguments."""
    x = like(x, *others)
    if len(x.shape) > 1:
        message = "'x0' must only have one dimension."
        raise ValueError(message)
    return x.reshape((-1,))


def limits_of(lower: Any, upper: Any, x: Any) -> tuple[Any, Any]:
    """Limits as vectors of the length of `x`, where None is none."""
    xp = rc.array_namespace(x)
    zero = xp.zeros_like(x)
    return _limit(lower, -np.inf, x) + zero, _limit(upper, np.inf, x) + zero


def _limit(limit: Any, none: float, x: Any) -> Any:
    if limit is None:
        return none
    if isinstance(limit, list | tuple):
        limit = [none if entry is None else entry for entry in limit]
    return like(limit, x)


def ends_of(bounds: Any, x: Any) -> tuple[Any, Any]:
    """The limits of unknowns, as fits take them."""
    if isinstance(bounds, _sp.Bounds):
        return limits_of(bounds.lb, bounds.ub, x)
    lower, upper = bounds
    return limits_of(lower, upper, x)


def pairs_of(bounds: Any, x: Any) -> tuple[Any, Any]:
    """The limits of unknowns, as `minimize` takes them."""
    if bounds is None:
        return limits_of(None, None, x)
    if isinstance(bounds, _sp.Bounds):
        return limits_of(bounds.lb, bounds.ub, x)
    if rc.is_array(bounds):
        return limits_of(bounds[:, 0], bounds[:, 1], x)
    lower, upper = zip(*bounds, strict=True)
    return limits_of(lower, upper, x)
