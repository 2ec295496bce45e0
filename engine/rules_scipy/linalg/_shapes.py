"""Shape rules: shapes and dtypes of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

__all__ = ["Shape", "batch_of", "complex_of", "dtype_of", "like", "real_of", "shaped"]

Shape = rc.ShapeDtype


def _leaves(xs: Any) -> list[Any]:
    return [leaf for x in xs for leaf in (_leaves(x) if isinstance(x, tuple) else [x])]


def dtype_of(*xs: Any) -> np.dtype[Any]:
    """The widest floating dtype; integers are computed in double."""
    found = [np.dtype(x.dtype) for x in _leaves(xs) if hasattr(x, "dtype")]
    floating = [d for d in found if d.kind in "fc"]
    return np.result_type(*floating) if floating else np.dtype(float)


def real_of(dtype: Any) -> np.dtype[Any]:
    """The dtype of real parts."""
    return np.zeros((), dtype).real.dtype


def complex_of(dtype: Any) -> np.dtype[Any]:
    """The complex dtype of this precision."""
    return np.result_type(dtype, np.complex64)


def shaped(shape: Any, *xs: Any) -> rc.ShapeDtype:
    """A result of this shape, of the widest dtype of some arguments."""
    return Shape(tuple(shape), dtype_of(*xs))


def batch_of(*xs: Any) -> tuple[int, ...]:
    """The shape of a stack: the arguments' first dimensions, broadcast."""
    found = [tuple(x.shape[:-2]) for x in _leaves(xs) if hasattr(x, "shape")]
    return np.broadcast_shapes(*found)


def like(position: int = 0, *, of: int | None = None) -> Callable[..., Any]:
    """The result has the shape of one argument and the dtype of the first `of`."""

    def like_shape(*args: Any, **_kw: Any) -> Any:
        own = args[position].shape[-2:]
        return shaped((*batch_of(*args[:of]), *own), *args[:of])

    return like_shape
