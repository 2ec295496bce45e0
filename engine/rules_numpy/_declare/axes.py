"""Axes of reductions, and the adjoint of a gather."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rules_core as rc

from .derivative import NoValue, derivative

__all__ = [
    "along",
    "count_of",
    "expand",
    "flag",
    "given",
    "kept",
    "normal_axes",
    "scatter_add",
    "spread",
    "tail",
    "untail",
]


def given(x: Any) -> bool:
    """Whether an option has a value: not None and not NumPy's `<no value>`."""
    return x is not None and x is not NoValue


def flag(keepdims: Any) -> bool:
    """`keepdims` as a bool; NumPy's `<no value>` is False."""
    return keepdims is not NoValue and bool(keepdims)


def normal_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction as a tuple of non-negative numbers."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, tuple):
        return tuple(int(i) % ndim for i in axis)
    return (int(axis) % ndim,) if ndim else ()


def kept(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The shape of a reduction with `keepdims=True`."""
    axes = normal_axes(axis, len(shape))
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def expand(dy: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """The cotangent of a reduction of `a`, with the reduced axes of length one."""
    if axis is None or flag(keepdims):
        return np.reshape(dy, kept(a.shape, axis)) if np.shape(dy) else dy
    return np.reshape(dy, kept(a.shape, axis))


def spread(dy: Any, shape: tuple[int, ...]) -> Any:
    """`dy` broadcast to a shape."""
    return np.broadcast_to(dy, shape)


def count_of(a: Any, axis: Any) -> int:
    """The number of entries of `a` per reduced entry."""
    return math.prod(a.shape[i] for i in normal_axes(axis, a.ndim))


def tail(a: Any, axis: Any) -> Any:
    """`a` with the reduced axes moved to the end and made one."""
    axes = normal_axes(axis, a.ndim)
    rest = tuple(i for i in range(a.ndim) if i not in axes)
    moved = np.transpose(a, (*rest, *axes))
    return np.reshape(moved, (*(a.shape[i] for i in rest), count_of(a, axis)))


def untail(b: Any, a: Any, axis: Any) -> Any:
    """The inverse of `tail`."""
    axes = normal_axes(axis, a.ndim)
    order = (*(i for i in range(a.ndim) if i not in axes), *axes)
    moved = np.reshape(b, tuple(a.shape[i] for i in order))
    return np.transpose(moved, tuple(order.index(i) for i in range(a.ndim)))


def along(start: Any, stop: Any, axis: int, ndim: int, step: int | None = None) -> Any:
    """The index `[:, …, start:stop:step, …, :]`."""
    index = [slice(None)] * ndim
    index[axis] = slice(start, stop, step)
    return tuple(index)


@rc.primitive(host=True)
def scatter_add(values: Any, index: Any, shape: tuple[int, ...]) -> Any:
    """Array of a shape whose flat entry i is the sum of the values with index i.

    The adjoint of `take(x, index)`; a negative index drops its value.
    """
    flat, places = np.ravel(values), np.ravel(index)
    if places.size and places.min() < 0:
        keep = places >= 0
        flat, places = flat[keep], places[keep]
    total = np.zeros(math.prod(shape), flat.dtype)
    np.add.at(total, places, flat)
    return np.reshape(total, shape)


@rc.shape_rule.define(scatter_add)
def scatter_add_shape(values: Any, index: Any, shape: Any) -> Any:
    """The requested shape."""
    return rc.ShapeDtype(tuple(shape), values.dtype)


@rc.batch_rule.define(scatter_add)
def scatter_add_batch(
    axis_size: int, in_batched: Any, values: Any, index: Any, shape: Any
) -> Any:
    """One by one: every batch has its own sum."""
    by_value, by_index, _ = in_batched
    return np.stack(
        [
            scatter_add.fun(
                values[i] if by_value else values,
                index[i] if by_index else index,
                shape,
            )
            for i in range(axis_size)
        ]
    ), True


@derivative(scatter_add)
def scatter_add_derivative(y: Any, values: Any, index: Any, shape: Any) -> Any:
    """Linear in the values; the adjoint picks them out again."""

    def scatter_add_pushforward(dvalues: Any) -> Any:
        return scatter_add(dvalues, index, shape)

    def scatter_add_pullback(dy: Any) -> Any:
        places = np.asarray(index)
        entries = np.take(np.ravel(dy), np.maximum(places, 0))
        return np.where(places >= 0, entries, np.zeros_like(entries))

    return scatter_add_pushforward, scatter_add_pullback
