"""Lists of numbers, and NumPy's arrays, in place of arrays of a framework."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc

__all__ = ["constant_like", "dtype_of", "entries_like", "shape_of"]


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of an array, or of a list as an array."""
    if not isinstance(x, list | tuple):
        return tuple(getattr(x, "shape", ()))
    return (len(x), *(shape_of(x[0]) if len(x) else ()))


def dtype_of(x: Any) -> Any:
    """The dtype of an array, or of a list as an array."""
    if isinstance(x, list | tuple):
        return np.result_type(*map(dtype_of, x))
    return np.dtype(x.dtype) if hasattr(x, "dtype") else np.asarray(x).dtype


def entries_like(x: Any, dx: Any) -> Any:
    """The cotangent of a list as a list."""
    if not isinstance(x, list | tuple):
        return dx
    return type(x)([entries_like(entry, dx[i]) for i, entry in enumerate(x)])


def constant_like(x: Any, like: Any) -> Any:
    """A NumPy array as one of another library."""
    from array_api_compat import device

    return rc.array_namespace(like).asarray(x, device=device(like))
