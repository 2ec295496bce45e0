"""Integers among a function's results: constants, of which the derivative is zero.

A program returns `0` on one path and a float on another, or `sum` of no items. What is
neither a number nor a container has no derivative, and a Jacobian of it is an error.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_core import AbstractZero, structure

__all__ = ["check_result", "is_whole", "rebuilt_result", "result_leaves", "with_zeros"]

CONTAINERS = (tuple, list, dict)


def is_whole(y: Any) -> bool:
    """Whether a result is an integer, or an array of integers."""
    if isinstance(y, np.ndarray):
        return y.dtype.kind in "iu"
    return isinstance(y, int | np.integer) and not isinstance(y, bool)


def is_leaf(y: Any) -> bool:
    return is_number(y) or is_float_array(y)


def parts_of(y: Any) -> Any:
    """The structure of a container, or None."""
    return None if type(y) in INERT else structure(y)


def result_leaves(y: Any, *, inside: bool = True) -> list[Any]:
    """The numbers and arrays of a result, in order.

    Args:
        y: The result.
        inside: Whether it stands in tuples, lists and dicts only, so that its integers
            count: an instance's are not moved, as everywhere.
    """
    if is_leaf(y) or (inside and is_whole(y)):
        return [y]
    level = parts_of(y)
    if level is None:
        return []
    inside = inside and isinstance(y, CONTAINERS)
    return [leaf for v in level.values for leaf in result_leaves(v, inside=inside)]


def rebuilt_result(y: Any, values: Iterator[Any], *, inside: bool = True) -> Any:
    """A result with these in place of its leaves, and None for what has none."""
    if is_leaf(y) or (inside and is_whole(y)):
        return next(values)
    level = parts_of(y)
    if level is None:
        return None
    inside = inside and isinstance(y, CONTAINERS)
    return level.rebuild(
        [rebuilt_result(v, values, inside=inside) for v in level.values]
    )


def with_zeros(y: Any, dy: Any) -> Any:
    """The tangent of a result, with zeros for the integers in it.

    >>> from rules_core import NoTangent
    >>> with_zeros([2, 3.0], [NoTangent(), 1.0])
    [0.0, 1.0]
    """
    if is_whole(y):
        if not isinstance(dy, AbstractZero):
            return dy
        return np.zeros(y.shape) if isinstance(y, np.ndarray) else 0.0
    if not (isinstance(y, CONTAINERS) and type(dy) is type(y)):
        return dy
    level, found = structure(y), structure(dy)
    if level is None or found is None:
        return dy
    parts = zip(level.values, found.values, strict=True)
    return level.rebuild([with_zeros(value, part) for value, part in parts])


def check_result(y: Any, name: str) -> None:
    """Raise an error for a result that has no derivative: None, a string, booleans."""
    if isinstance(y, CONTAINERS) or result_leaves(y):
        return
    array = isinstance(y, np.ndarray)
    kind = f"an array of {y.dtype}" if array else f"a value of {type(y).__name__}"
    message = (
        f"{name}: the function must return real numbers, arrays of them, or containers "
        f"of those, but returned {kind}, which has no derivative. Return a float; or "
        "return a pair, and pass has_aux=True for the second part."
    )
    raise TypeError(message)
