"""The numbers and float arrays inside a value: listed, replaced, multiplied."""

from typing import Any

import numpy as np

from rules_core import structure

from .values import INERT, is_float_array, is_number

__all__ = ["inner", "leaves", "mapped"]


def leaves(
    x: Any, seen: dict[int, Any] | None = None, *, once: bool = False
) -> list[Any]:
    """The numbers and float arrays inside a value, in order.

    An instance that occurs twice is one variable. A list, tuple or dict has a tangent
    for each occurrence; with `once` only the first occurrence counts.
    """
    seen = {} if seen is None else seen
    if is_number(x) or is_float_array(x):
        return [x]
    if id(x) in seen:
        return []
    level = None if type(x) in INERT or callable(x) else structure(x)
    if level is None:
        return []
    seen[id(x)] = x
    parts = [leaf for value in level.values for leaf in leaves(value, seen, once=once)]
    if not (once or level.mutable):
        del seen[id(x)]
    return parts


def mapped(x: Any, change: Any, memo: dict[int, Any]) -> Any:
    """A copy of a value with each number and float array changed, in order."""
    if is_number(x):
        return change(x)
    if id(x) in memo:
        return memo[id(x)][1]
    if isinstance(x, np.ndarray):
        result = change(x) if is_float_array(x) else x.copy()
        memo[id(x)] = x, result
        return result
    level = None if type(x) in INERT or callable(x) else structure(x)
    if level is None:
        return x
    if level.mutable:
        shell = level.shell()
        memo[id(x)] = x, shell
        return level.fill(shell, [mapped(v, change, memo) for v in level.values])
    result = level.rebuild([mapped(v, change, memo) for v in level.values])
    memo[id(x)] = x, result
    return result


def inner(a: Any, b: Any) -> float:
    """The real inner product `Re Σ conj(aᵢ) bᵢ`."""
    pairs = zip(leaves(a), leaves(b), strict=True)
    return float(sum(np.real(np.vdot(one, other)) for one, other in pairs))
