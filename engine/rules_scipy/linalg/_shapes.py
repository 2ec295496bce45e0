"""Shape rules: shapes and dtypes of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

__all__ = ["Shape", "complex_of", "dtype_of", "like", "of_example", "real_of", "shaped"]

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


def like(position: int = 0, *, of: int | None = None) -> Callable[..., Any]:
    """The result has the shape of one argument and the dtype of the first `of`."""

    def like_shape(*args: Any, **_kw: Any) -> Any:
        return shaped(args[position].shape, *args[:of])

    return like_shape


def of_example(f: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """The shapes that `f` gives to example matrices of the same shapes.

    For functions with many forms of results, which depend on shapes and options alone.
    """

    def example_shape(*args: Any, **kw: Any) -> Any:
        first = [_example(x) for x in args[:count]]
        y = f(*first, *args[count:], **kw)
        return _described(y)

    return example_shape


def _example(x: Any) -> Any:
    """A matrix that every function accepts: half the identity."""
    if isinstance(x, tuple):
        return tuple(map(_example, x))
    if not hasattr(x, "shape"):
        return x
    dtype = dtype_of(x)
    shape = tuple(x.shape)
    if len(shape) < 2:
        return np.ones(shape, dtype)
    return np.broadcast_to(0.5 * np.eye(*shape[-2:], dtype=dtype), shape).astype(dtype)


def _described(y: Any) -> Any:
    if isinstance(y, tuple):
        return tuple(map(_described, y))
    y = np.asarray(y)
    return Shape(y.shape, y.dtype)
