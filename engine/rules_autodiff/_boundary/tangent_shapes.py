"""The shape of an frule's tangent must match its result.

A mismatch is an error; only axes of length one may differ.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.values import is_number
from rules_autodiff._refusals import asked_of, check_whole
from rules_core import (
    AbstractThunk,
    AbstractZero,
    NotImplementedTangent,
    ProjectionError,
    refuse_no_tangent,
    structure,
)
from rules_core.extend import entries_of, same_without_ones

__all__ = ["check_tangent"]

_CURE = "A tangent is neither summed nor broadcast; return one like the result."


def check_tangent(y: Any, dy: Any, found: Any, below: Any) -> None:
    """Raise an error for a tangent that does not match its result.

    Raises:
        NoTangentError: It, or an entry of it, is `NoTangent()` for a value with a
            tangent.
        ProjectionError: It has another shape, where axes of length one may differ, or
            holds integers.
    """
    refuse_no_tangent(found.rule, y, dy, "the tangent of the result")
    _check(y, dy, found, below)


def _check(y: Any, dy: Any, found: Any, below: Any) -> None:
    while isinstance(dy, AbstractThunk):
        dy = below.call(dy.__unthunk__)
    if is_number(y) or isinstance(y, np.ndarray):
        if isinstance(dy, np.ndarray) or is_number(dy):
            _check_shape(np.shape(y), np.shape(dy), found)
            check_whole(y, dy, f"the result ({found.rule.label})")
        return
    if dy is None or isinstance(dy, (AbstractZero, NotImplementedTangent)):
        return
    level = structure(y)
    if level is not None:
        try:
            given = entries_of(level, dy, "the result")
        except ProjectionError:
            return  # projecting raises it
        for name, value in zip(level.names, level.values, strict=True):
            _check(value, given.get(name), found, below)


def _check_shape(shape: Any, given: Any, found: Any) -> None:
    if given != shape and not same_without_ones(given, shape):
        path = f"the result, {asked_of(found)},"
        raise ProjectionError(path, f"have shape {shape}", f"shape {given}", _CURE)
