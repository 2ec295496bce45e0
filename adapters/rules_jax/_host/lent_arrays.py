"""Calls of NumPy functions on the memory of JAX arrays, which is read-only.

A function that writes into its arguments, or compiled code that asks for writable ones,
is refused at its first write, and called again on copies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import jax
import numpy as np

__all__ = ["call_lent"]

_WRITERS: WeakSet[Any] = WeakSet()  # known to need copies
_REFUSALS = "read-only", "readonly", "not writable"


def call_lent(owner: Any, function: Callable[[Any], Any], arrays: Any) -> Any:
    """`function(arrays)`, on copies where it writes into them.

    Args:
        owner: For whom to remember that copies are needed.
        function: Of a tree with arrays.
        arrays: The tree.
    """
    if owner not in _WRITERS:
        try:
            return function(arrays)
        except (TypeError, ValueError, BufferError) as error:
            if not any(text in str(error) for text in _REFUSALS):
                raise
        _WRITERS.add(owner)
    return function(jax.tree.map(_copied, arrays))


def _copied(x: Any) -> Any:
    return np.array(x) if isinstance(x, np.ndarray) else x
