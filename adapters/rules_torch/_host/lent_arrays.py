"""Calls of NumPy functions on the memory of tensors.

The memory is lent read-only, for it belongs to the caller. A function that writes into
its arguments is refused by NumPy at its first write, and called again on copies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

import rules_core as rc
from rules_torch._compat import frame_callback
from rules_torch._values.numpy_arrays import to_numpy

__all__ = ["REFUSALS", "call_lent", "is_refused_write", "needs_copies"]

# What is raised where memory that is lent read-only was to be written to.
REFUSALS = (TypeError, ValueError, BufferError)
_TEXTS = "read-only", "readonly", "not writable"
# Under this attribute a primitive is known to write into its arguments.
_WRITES = "_writes_torch"


def needs_copies(primitive: rc.Primitive) -> bool:
    """Whether a function, or one of its rules, may write into its arrays."""
    known = primitive.__dict__.get(_WRITES, False)
    return known or primitive.needs_copies or not primitive.pure


def is_refused_write(error: Exception) -> bool:
    """Whether NumPy, Cython, Numba or a buffer did not give memory to write to."""
    return any(text in str(error) for text in _TEXTS)


def call_lent(
    primitive: rc.Primitive, fn: Callable[[list[Any]], Any], tensors: Sequence[Tensor]
) -> Any:
    """`fn` of the tensors as arrays: for a primitive, or for one of its rules."""
    # Dynamo fails on read-only arrays.
    if not needs_copies(primitive) and frame_callback() is None:
        try:
            return fn([_lend(primitive, x) for x in tensors])
        except REFUSALS as error:
            if not is_refused_write(error):
                raise
        primitive.__dict__[_WRITES] = True
        primitive.shortcut = None
    return fn([to_numpy(x).copy() for x in tensors])


def _lend(primitive: rc.Primitive, x: Tensor) -> Any:
    array = to_numpy(x)
    if type(primitive.fun).__name__ != "ufunc":  # it writes where it is told to
        array.setflags(False)
    return array
