"""`ufunc.reduce`, `.accumulate`, `.outer` and `.reduceat` of every elementwise ufunc.

Sums, products and extremes are reductions with their own rules; any other ufunc is
applied entry by entry, and so are its partials.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import expand, flag, given
from rules_numpy._declare.derivative import NoValue, derivative
from rules_numpy._declare.maps import times_number
from rules_numpy.arrays.cumulative import cumprod_derivative, cumsum_derivative
from rules_numpy.arrays.indexing import put_zeros
from rules_numpy.arrays.reductions import (
    extreme_derivative,
    prod_derivative,
    sum_derivative,
)

from .ufunc_steps import ahead, back, folded, partials_of, steps_of

__all__: list[str] = []


@derivative(np.ufunc.reduce, argnums=(1, 6), arrays=(1,))
def reduce_derivative(
    y: Any,
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """The reduction with the ufunc's name."""
    if ufunc is np.add:
        return sum_derivative(y, array, axis, dtype, None, keepdims, initial, where)
    if ufunc is np.multiply:
        return prod_derivative(y, array, axis, dtype, None, keepdims, initial, where)
    if ufunc in (np.maximum, np.minimum):
        return extreme_derivative(y, array, axis, None, keepdims, initial, where)
    if ufunc in (np.logaddexp, np.logaddexp2):
        return _logsumexp(y, ufunc, array, axis, keepdims, initial, where)
    return folded(y, ufunc, array, axis, keepdims, initial, where)


def _logsumexp(
    y: Any, ufunc: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    power = np.exp if ufunc is np.logaddexp else np.exp2
    shares = power(a - expand(y, a, axis, keepdims))
    if where is not True and given(where):
        shares = np.where(where, shares, 0.0)
    total = np.sum(shares, axis=axis, keepdims=True)
    start = power(initial - y) if given(initial) else None
    if start is not None:
        total = total + expand(start, a, axis, keepdims)
    total = np.where(total > 0, total, 1.0)  # 1 but for the rounding of `y`
    shares = shares / total

    def logsumexp_pushforward(da: Any) -> Any:
        return np.sum(shares * da, axis=axis, keepdims=flag(keepdims))

    def logsumexp_pullback(dy: Any) -> Any:
        return shares * expand(dy, a, axis, keepdims)

    if start is None:
        return (logsumexp_pushforward, logsumexp_pullback), None
    first = times_number(start / np.reshape(total, np.shape(y)))
    return (logsumexp_pushforward, logsumexp_pullback), first


@derivative(np.ufunc.accumulate, argnums=1)
def accumulate_derivative(
    y: Any, ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Cumulative sum, product, maximum, minimum, logaddexp."""
    if ufunc is np.add:
        return cumsum_derivative(y, array, axis, dtype)
    if ufunc is np.multiply:
        return cumprod_derivative(y, array, axis, dtype)
    x, results = np.moveaxis(array, axis, 0), np.moveaxis(y, axis, 0)
    steps = steps_of(ufunc, "accumulate", results[:-1], x[1:], results[1:])

    def accumulate_pushforward(da: Any) -> Any:
        d = np.moveaxis(da, axis, 0)
        return np.moveaxis(np.stack(ahead(d[0], d[1:], steps)), 0, axis)

    def accumulate_pullback(dy: Any) -> Any:
        d = np.moveaxis(dy, axis, 0)
        first, rest = back(list(d), steps)
        return np.moveaxis(np.stack([first, *rest]), 0, axis)

    return accumulate_pushforward, accumulate_pullback


@derivative(np.ufunc.outer, argnums=(1, 2))
def outer_derivative(y: Any, ufunc: Any, a: Any, b: Any, **_kw: Any) -> Any:
    """The ufunc of every pair of entries."""
    partials = partials_of(ufunc, "outer")
    wide = np.reshape(a, a.shape + (1,) * b.ndim)
    of_a, of_b = partials(y, wide, b)

    def pair(p: Any, spread: Any, gather: Any) -> Any:
        if isinstance(p, rc.AbstractZero):
            return None

        def outer_pushforward(dx: Any) -> Any:
            return p * spread(dx)

        def outer_pullback(dy: Any) -> Any:
            return gather(np.conjugate(p) * dy)

        return outer_pushforward, outer_pullback

    def spread_a(da: Any) -> Any:
        return np.reshape(da, wide.shape)

    def gather_a(d: Any) -> Any:
        return np.sum(np.broadcast_to(d, y.shape), axis=tuple(range(a.ndim, y.ndim)))

    def spread_b(db: Any) -> Any:
        return np.broadcast_to(db, y.shape)

    def gather_b(d: Any) -> Any:
        return np.sum(np.broadcast_to(d, y.shape), axis=tuple(range(a.ndim)))

    return pair(of_a, spread_a, gather_a), pair(of_b, spread_b, gather_b)


@derivative(np.ufunc.reduceat, argnums=1)
def reduceat_derivative(
    y: Any,
    ufunc: Any,
    array: Any,
    indices: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The reductions of slices along an axis; sums by one matrix."""
    if ufunc is np.add:
        return _sums_of_stretches(array, indices, axis)
    x, results = np.moveaxis(array, axis, 0), np.moveaxis(y, axis, 0)
    stretches = _stretches(np.asarray(indices), len(x))
    pairs = [
        reduce_derivative(results[k], ufunc, x[part])[0]
        for k, part in enumerate(stretches)
    ]

    def reduceat_pushforward(da: Any) -> Any:
        d = np.moveaxis(da, axis, 0)
        rows = [p[0](d[part]) for p, part in zip(pairs, stretches, strict=True)]
        return np.moveaxis(np.stack(rows), 0, axis)

    def reduceat_pullback(dy: Any) -> Any:
        d = np.moveaxis(dy, axis, 0)
        parts = [
            put_zeros(p[1](d[k]), part, x.shape)
            for k, (p, part) in enumerate(zip(pairs, stretches, strict=True))
        ]
        return np.moveaxis(sum(parts[1:], parts[0]), 0, axis)

    return reduceat_pushforward, reduceat_pullback


def _stretches(indices: Any, length: int) -> list[slice]:
    """The slices from each index to the next; a single entry if that is not larger."""
    ends = [*indices[1:].tolist(), length]
    pairs = zip(indices.tolist(), ends, strict=True)
    return [slice(start, max(end, start + 1)) for start, end in pairs]


def _sums_of_stretches(array: Any, indices: Any, axis: int) -> Any:
    """By a matrix of zeros and ones."""
    matrix = np.add.reduceat(np.eye(array.shape[axis]), indices, axis=0)

    def sums_pushforward(da: Any) -> Any:
        moved = np.matmul(np.moveaxis(da, axis, -1), matrix.T)
        return np.moveaxis(moved, -1, axis)

    def sums_pullback(dy: Any) -> Any:
        return np.moveaxis(np.matmul(np.moveaxis(dy, axis, -1), matrix), -1, axis)

    return sums_pushforward, sums_pullback
