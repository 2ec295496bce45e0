"""Cumulative sums and products, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.axes import along, given, scatter_add
from rules_numpy._declare.derivative import NoValue, derivative

__all__ = ["exclusive_products"]


def exclusive_products(a: Any) -> Any:
    """Along the last axis, the product of all entries but one."""
    one = np.ones_like(a[..., :1])
    left = np.cumprod(np.concatenate([one, a[..., :-1]], axis=-1), axis=-1)
    back = np.cumprod(np.concatenate([one, a[..., :0:-1]], axis=-1), axis=-1)
    return left * back[..., ::-1]


def _reversed_cumsum(dy: Any, axis: int) -> Any:
    return np.flip(np.cumsum(np.flip(dy, axis), axis=axis), axis)


def _flat(a: Any, axis: Any) -> tuple[Any, int]:
    return (np.ravel(a), 0) if axis is None or not np.ndim(a) else (a, axis)


@derivative(np.cumsum, linear=True)
def cumsum_derivative(
    y: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None
) -> Any:
    """d yᵢ = Σ over j ≤ i of daⱼ; backwards a cumulative sum from the end."""

    def cumsum_pushforward(da: Any) -> Any:
        return np.cumsum(da, axis, dtype)

    def cumsum_pullback(dy: Any) -> Any:
        return np.reshape(_reversed_cumsum(dy, 0 if axis is None else axis), a.shape)

    return cumsum_pushforward, cumsum_pullback


@derivative(np.cumprod)
def cumprod_derivative(
    y: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None
) -> Any:
    """d yᵢ = aᵢ d yᵢ₋₁ + daᵢ yᵢ₋₁; backwards this recursion from the end."""
    flat, along_axis = _flat(a, axis)
    return _products(y, flat, along_axis, a)


def _products(y: Any, flat: Any, axis: int, a: Any) -> Any:
    x, p = np.moveaxis(flat, axis, 0), np.moveaxis(y, axis, 0)
    before = np.concatenate([np.ones_like(p[:1]), p[:-1]])

    def cumprod_pushforward(da: Any) -> Any:
        terms = np.moveaxis(np.reshape(da, flat.shape), axis, 0) * before
        return np.moveaxis(_recursion(terms, x), 0, axis)

    def cumprod_pullback(dy: Any) -> Any:
        d = np.flip(np.moveaxis(dy, axis, 0), 0)
        factors = np.conjugate(
            np.concatenate([np.ones_like(x[:1]), np.flip(x, 0)[:-1]])
        )
        sums = np.flip(_recursion(d, factors), 0)
        return np.reshape(np.moveaxis(np.conjugate(before) * sums, 0, axis), a.shape)

    return cumprod_pushforward, cumprod_pullback


def _recursion(terms: Any, factors: Any) -> Any:
    """s₀ = t₀, sᵢ = fᵢ sᵢ₋₁ + tᵢ: along the first axis, without a division."""
    if len(terms) == 0:
        return terms
    sums = [terms[0]]
    for i in range(1, len(terms)):
        sums.append(factors[i] * sums[-1] + terms[i])
    return np.stack(sums)


@derivative(getattr(np, "cumulative_sum", None) or [])
def cumulative_sum_derivative(
    y: Any,
    x: Any,
    *,
    axis: Any = None,
    dtype: Any = None,
    include_initial: Any = False,
) -> Any:
    """As `cumsum`; an initial zero is constant."""
    own = 0 if axis is None else axis

    def cumulative_sum_pushforward(dx: Any) -> Any:
        return np.cumulative_sum(
            dx, axis=axis, dtype=dtype, include_initial=include_initial
        )

    def cumulative_sum_pullback(dy: Any) -> Any:
        if include_initial:
            dy = dy[along(1, None, own, dy.ndim)]
        return np.reshape(_reversed_cumsum(dy, own), x.shape)

    return cumulative_sum_pushforward, cumulative_sum_pullback


@derivative(getattr(np, "cumulative_prod", None) or [])
def cumulative_prod_derivative(
    y: Any,
    x: Any,
    *,
    axis: Any = None,
    dtype: Any = None,
    include_initial: Any = False,
) -> Any:
    """As `cumprod`; an initial one is constant."""
    own = 0 if axis is None else axis
    flat, _ = _flat(x, axis)
    if not include_initial:
        return _products(y, flat, own, x)
    inner = _products(y[along(1, None, own, y.ndim)], flat, own, x)

    def cumulative_prod_pushforward(dx: Any) -> Any:
        dy = inner[0](dx)
        return np.concatenate(
            [np.zeros_like(y[along(0, 1, own, y.ndim)]), dy], axis=own
        )

    def cumulative_prod_pullback(dy: Any) -> Any:
        return inner[1](dy[along(1, None, own, y.ndim)])

    return cumulative_prod_pushforward, cumulative_prod_pullback


@derivative(np.diff, argnums=(0, 3, 4), linear=True)
def diff_derivative(
    y: Any,
    a: Any,
    n: Any = 1,
    axis: Any = -1,
    prepend: Any = NoValue,
    append: Any = NoValue,
) -> Any:
    """Differences of the array with the prepended and appended values."""
    if n == 0:  # NumPy then returns the array alone
        return (np.positive, np.positive), None, None
    parts = [_part(x, a, axis) for x in (prepend, a, append)]
    ends = np.cumsum([p.shape[axis] for p in parts])
    spans = zip((0, *ends[:-1]), ends, strict=True)
    ranges = [along(int(s), int(e), axis, a.ndim) for s, e in spans]

    def pair(k: int, x: Any) -> Any:
        def diff_pushforward(dx: Any) -> Any:
            moved = [np.zeros(p.shape) for p in parts]
            moved[k] = _part(dx, a, axis)
            return np.diff(np.concatenate(moved, axis=axis), n, axis)

        def diff_pullback(dy: Any) -> Any:
            for _ in range(n):
                dy = _difference_adjoint(dy, axis)
            dx = dy[ranges[k]]
            return np.sum(dx) if x.ndim == 0 else dx

        return diff_pushforward, diff_pullback

    first = pair(1, a)
    return (
        first,
        pair(0, prepend) if given(prepend) else None,
        pair(2, append) if given(append) else None,
    )


def _part(x: Any, a: Any, axis: int) -> Any:
    shape = list(a.shape)
    if not given(x):
        shape[axis] = 0
        return np.zeros(shape)
    if np.ndim(x) == 0:
        shape[axis] = 1
        return np.broadcast_to(x, tuple(shape))
    return x


def _difference_adjoint(dy: Any, axis: int) -> Any:
    zero = np.zeros_like(dy[along(0, 1, axis, dy.ndim)])
    if dy.shape[axis] == 0:
        shape = list(dy.shape)
        shape[axis] = 1
        return np.zeros(shape, dy.dtype)
    padded = np.concatenate([zero, dy, zero], axis=axis)
    return -np.diff(padded, axis=axis)


@derivative(np.ediff1d, argnums=(0, 1, 2))
def ediff1d_derivative(
    y: Any, ary: Any, to_end: Any = None, to_begin: Any = None
) -> Any:
    """Differences of the flat array with given first and last values."""
    head = 0 if to_begin is None else to_begin.size
    core = max(ary.size - 1, 0)

    def core_pullback(dy: Any) -> Any:
        inner = dy[head : head + core]
        if not core:  # one entry or none has no differences
            return np.zeros(ary.shape, dy.dtype)
        return np.reshape(_difference_adjoint(inner, 0), ary.shape)

    def end_pair(x: Any, start: int) -> Any:
        if x is None:
            return None
        places = np.arange(start, start + x.size)

        def end_pushforward(dx: Any) -> Any:
            return scatter_add(dx, places, y.shape)

        def end_pullback(dy: Any) -> Any:
            return np.reshape(np.take(dy, places), x.shape)

        return end_pushforward, end_pullback

    def core_pushforward(dx: Any) -> Any:
        places = np.arange(head, head + core)
        return scatter_add(np.diff(np.ravel(dx)), places, y.shape)

    return (
        (core_pushforward, core_pullback),
        end_pair(to_end, head + core),
        end_pair(to_begin, 0),
    )
