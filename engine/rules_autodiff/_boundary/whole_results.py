"""Integers among a function's results: constants, of which the derivative is zero.

A program returns `0` on one path and a float on another, or `sum` of no items. What is
neither a number nor a container has no derivative, and a Jacobian of it is an error.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_core import AbstractZero, NoTangent, structure

__all__ = [
    "check_result",
    "is_whole",
    "rebuilt_result",
    "result_leaves",
    "tangent_leaves",
    "with_zeros",
]

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
    """The tangent of a result: zeros if it is an integer, which has `NoTangent()`.

    >>> from rules_core import NoTangent
    >>> with_zeros(2, NoTangent()), with_zeros(3.0, 1.0)
    (0.0, 1.0)
    """
    if not (is_whole(y) and isinstance(dy, AbstractZero)):
        return dy
    return np.zeros(y.shape) if isinstance(y, np.ndarray) else 0.0


def tangent_leaves(y: Any, dy: Any, *, inside: bool = True) -> list[Any]:
    """The leaves of a result's tangent, one for each of `result_leaves`."""
    if is_leaf(y):
        return result_leaves(dy)
    if inside and is_whole(y):
        return [with_zeros(y, NoTangent())]
    level = parts_of(y)
    if level is None:
        return []
    own = structure(dy)
    inside = inside and isinstance(y, CONTAINERS)
    if own is None or len(own.values) != len(level.values):
        return result_leaves(dy, inside=inside)  # an object's tangent may omit zeros
    pairs = zip(level.values, own.values, strict=True)
    return [leaf for v, d in pairs for leaf in tangent_leaves(v, d, inside=inside)]


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
