"""Joining, stacking, splitting and repeating arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, moves, restore, tangent_array
from rules_numpy._declare.axes import along
from rules_numpy._declare.derivative import derivative, linear

__all__ = ["joined", "vstack_parts"]

Parts = TypeVar("Parts", bound=Callable[..., Any])


def joined(f: Any) -> Callable[[Parts], Parts]:
    """Declare a function that joins a sequence of arrays, linearly in each.

    Decorates `parts(dy, arrays, *options)`, which splits the cotangent of the result
    into those of the arrays.
    """
    functions = f if isinstance(f, list) else [f]

    def declare(parts: Parts) -> Parts:
        for function in functions:
            maps = _maps(function, parts)
            derivative(function, arrays=False, linear=True)(maps)
        return parts

    return declare


def _maps(f: Any, parts: Any) -> Any:
    @functools.wraps(parts)
    def maps(y: Any, arrays: Any, *options: Any, **kw: Any) -> Any:
        plain = [array_of(x, f) for x in arrays]

        def join_pushforward(tangents: Any) -> Any:
            moved = [
                _tangent(x, p, dx)
                for x, p, dx in zip(arrays, plain, tangents, strict=True)
            ]
            return f(moved, *options, **kw)

        def join_pullback(dy: Any) -> Any:
            pieces = parts(dy, plain, *options, **kw)
            return _gathered(arrays, pieces)

        return join_pushforward, join_pullback

    return maps


def _tangent(x: Any, plain: Any, dx: Any) -> Any:
    if isinstance(dx, rc.AbstractZero):
        return np.zeros(plain.shape, np.result_type(plain, np.float32))
    return tangent_array(x, dx)


def _gathered(arrays: Any, pieces: Any) -> Any:
    """One cotangent per array: one array if the arrays are entries of one array."""
    if isinstance(arrays, np.ndarray):
        return restore(arrays, np.stack(pieces))
    cotangents = [
        restore(x, dx) if moves(x) else rc.NoTangent()
        for x, dx in zip(arrays, pieces, strict=True)
    ]
    return rc.Tangent(type(arrays), *cotangents)


def _cut(dy: Any, arrays: Any, axis: int) -> Any:
    ends, start = [], 0
    for x in arrays:
        ends.append(along(start, start + x.shape[axis], axis, dy.ndim))
        start += x.shape[axis]
    return [dy[index] for index in ends]


@joined(np.concatenate)
def concatenate_parts(
    dy: Any,
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    """The cotangent of each array is its part."""
    if axis is None:
        pieces = _cut(dy, [np.ravel(x) for x in arrays], 0)
        return [np.reshape(d, x.shape) for d, x in zip(pieces, arrays, strict=True)]
    return _cut(dy, arrays, axis)


@joined(np.stack)
def stack_parts(
    dy: Any,
    arrays: Any,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    """The cotangent of each array is its slice."""
    moved = np.moveaxis(dy, axis, 0)
    return [moved[i] for i in range(len(arrays))]


def _reshaped(pieces: Any, arrays: Any) -> Any:
    return [np.reshape(d, x.shape) for d, x in zip(pieces, arrays, strict=True)]


@joined([np.vstack])
def vstack_parts(
    dy: Any, tup: Any, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """Parts along the first axis."""
    return _reshaped(_cut(dy, [np.atleast_2d(x) for x in tup], 0), tup)


@joined(np.hstack)
def hstack_parts(
    dy: Any, tup: Any, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """Parts along the second axis; the first for vectors."""
    wide = [np.atleast_1d(x) for x in tup]
    return _reshaped(_cut(dy, wide, 0 if wide[0].ndim == 1 else 1), tup)


@joined(np.dstack)
def dstack_parts(dy: Any, tup: Any) -> Any:
    """Parts along the third axis."""
    return _reshaped(_cut(dy, [np.atleast_3d(x) for x in tup], 2), tup)


@joined(np.column_stack)
def column_stack_parts(dy: Any, tup: Any) -> Any:
    """Columns, or blocks of columns."""
    columns = [x[:, None] if x.ndim < 2 else x for x in map(np.atleast_1d, tup)]
    return _reshaped(_cut(dy, columns, 1), tup)


@linear(np.append, argnums=(0, 1))
def append_adjoint(dy: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    """The first part to the array, the last part to the values."""
    return tuple(concatenate_parts(dy, [arr, values], axis))


@derivative([np.atleast_1d, np.atleast_2d, np.atleast_3d], argnums=None)
def atleast_derivative(y: Any, *arrays: Any) -> Any:
    """Axes of length one are added."""
    return _each(y, arrays, len(arrays) > 1, _reshape_to)


def _reshape_to(dx: Any, shape: Any) -> Any:
    return np.reshape(dx, shape)


def _each(y: Any, arrays: Any, several: bool, move: Any) -> Any:
    """One output per argument, `move(x, shape)`; the adjoint sums over new axes."""
    outputs = tuple(y) if several else (y,)

    def pair(i: int, x: Any) -> Any:
        def each_pushforward(dx: Any) -> Any:
            moved = move(dx, outputs[i].shape)
            if not several:
                return moved
            return [
                moved if j == i else np.zeros_like(o) for j, o in enumerate(outputs)
            ]

        def each_pullback(dy: Any) -> Any:
            own = dy[i] if several else dy
            return _summed(own, x.shape)

        return each_pushforward, each_pullback

    return tuple(pair(i, x) for i, x in enumerate(arrays))


def _summed(dy: Any, shape: tuple[int, ...]) -> Any:
    """Sum over the axes along which an array of a shape was broadcast."""
    if np.size(dy) == np.prod(shape, dtype=int):
        return np.reshape(dy, shape)
    lead = dy.ndim - len(shape)
    axes = tuple(i for i in range(dy.ndim) if i < lead or shape[i - lead] == 1)
    return np.reshape(np.sum(dy, axis=axes), shape)


@derivative(np.broadcast_arrays, argnums=None)
def broadcast_arrays_derivative(y: Any, *arrays: Any, subok: Any = False) -> Any:
    """Each array is broadcast to the common shape."""
    return _each(y, arrays, True, np.broadcast_to)


@derivative(np.meshgrid, argnums=None)
def meshgrid_derivative(
    y: Any, *xi: Any, copy: Any = True, sparse: Any = False, indexing: Any = "xy"
) -> Any:
    """Each vector is broadcast along its own axis of the grid."""

    def pair(i: int, x: Any) -> Any:
        axis = 1 - i if indexing == "xy" and len(xi) > 1 and i < 2 else i
        lengths = tuple(-1 if j == axis else 1 for j in range(len(xi)))
        others = tuple(j for j in range(len(xi)) if j != axis)

        def meshgrid_pushforward(dx: Any) -> Any:
            moved = np.broadcast_to(np.reshape(dx, lengths), y[i].shape)
            return [moved if j == i else np.zeros_like(o) for j, o in enumerate(y)]

        def meshgrid_pullback(dy: Any) -> Any:
            return np.reshape(np.sum(dy[i], axis=others), x.shape)

        return meshgrid_pushforward, meshgrid_pullback

    return tuple(pair(i, x) for i, x in enumerate(xi))


@derivative([np.split, np.array_split])
def split_derivative(y: Any, ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """The pieces' cotangents, joined."""

    def split_pushforward(dx: Any) -> Any:
        return _cut(dx, y, axis)

    def split_pullback(dy: Any) -> Any:
        return np.concatenate(_pieces(y, dy, ary), axis=axis)

    return split_pushforward, split_pullback


def _pieces(y: Any, dy: Any, ary: Any) -> Any:
    return [
        np.zeros(p.shape, ary.dtype) if isinstance(d, rc.AbstractZero) else d
        for p, d in zip(y, dy, strict=True)
    ]


def _split_along(f: Any, axis_of: Any) -> None:
    @derivative(f)
    def split_along_derivative(y: Any, ary: Any, indices_or_sections: Any) -> Any:
        return split_derivative(y, ary, indices_or_sections, axis_of(ary))


def _second(ary: Any) -> int:
    return 1 if ary.ndim > 1 else 0


def _first(ary: Any) -> int:
    return 0


def _third(ary: Any) -> int:
    return 2


_split_along(np.vsplit, _first)
_split_along(np.hsplit, _second)
_split_along(np.dsplit, _third)


@derivative(getattr(np, "unstack", None) or [])
def unstack_derivative(y: Any, x: Any, /, *, axis: Any = 0) -> Any:
    """The slices' cotangents, stacked."""

    def unstack_pushforward(dx: Any) -> Any:
        moved = np.moveaxis(dx, axis, 0)
        return tuple(moved[i] for i in range(len(y)))

    def unstack_pullback(dy: Any) -> Any:
        return np.stack(_pieces(y, dy, x), axis=axis)

    return unstack_pushforward, unstack_pullback
