"""Sorting, partitions, medians and quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.axes import tail, untail
from rules_numpy._declare.derivative import derivative

__all__: list[str] = []


def permuted(order: Any, a: Any, axis: Any) -> Any:
    """The maps of y = a[order] along an axis (None: of the flat array)."""
    own = 0 if axis is None else axis
    back = np.argsort(order, axis=own)

    def sort_pushforward(da: Any) -> Any:
        flat = np.ravel(da) if axis is None else da
        return np.take_along_axis(flat, order, own)

    def sort_pullback(dy: Any) -> Any:
        return np.reshape(np.take_along_axis(dy, back, own), a.shape)

    return sort_pushforward, sort_pullback


@derivative(np.sort)
def sort_derivative(
    y: Any,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
) -> Any:
    """Tangents are permuted like the entries."""
    flat = np.ravel(a) if axis is None else a
    own = 0 if axis is None else axis
    return permuted(np.argsort(flat, axis=own, kind="stable"), a, axis)


@derivative(np.sort_complex)
def sort_complex_derivative(y: Any, a: Any) -> Any:
    """As `sort`; the result is complex."""
    push, pull = permuted(np.argsort(a, kind="stable"), a, -1)

    def sort_complex_pushforward(da: Any) -> Any:
        return push(da) + 0j

    return sort_complex_pushforward, pull


@derivative(np.partition)
def partition_derivative(
    y: Any,
    a: Any,
    kth: Any,
    axis: Any = -1,
    kind: Any = "introselect",
    order: Any = None,
) -> Any:
    """The permutation that sorts the argument, inverted for the result."""
    flat = np.ravel(a) if axis is None else a
    own = 0 if axis is None else axis
    rank = np.argsort(np.argsort(y, axis=own, kind="stable"), axis=own)
    sources = np.argsort(flat, axis=own, kind="stable")
    return permuted(np.take_along_axis(sources, rank, own), a, axis)


def _order_weights(columns: Any, value: Any, used: Any) -> Any:
    """Weights with Σ weight · a = value: equal entries share it."""
    hit = np.where((columns == value) & used, 1.0, 0.0)
    return hit / np.maximum(np.sum(hit, axis=-1, keepdims=True), 1.0)


# Hyndman and Fan, 1996: virtual index n q + α + q (1 - α - β) - 1 of each method.
_CONTINUOUS = {
    "linear": (1.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}
# Methods whose value is an entry, or the mean of two neighbours.
_STEPS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher",
    "nearest", "midpoint",
)  # fmt: skip


def _position(n: Any, q: Any, method: str) -> Any:
    """Lower index, upper index, share of the upper, and slope of the index in q."""
    alpha, beta = _CONTINUOUS[method]
    virtual = n * q + alpha + q * (1.0 - alpha - beta) - 1.0
    inside = (virtual > 0) & (virtual < n - 1)
    virtual = np.clip(virtual, 0.0, np.maximum(n - 1.0, 0.0))
    low = np.floor(virtual)
    high = np.minimum(low + 1.0, np.maximum(n - 1.0, 0.0))
    slope = np.where(inside, n + 1.0 - alpha - beta, 0.0)
    return low.astype(int), high.astype(int), virtual - low, slope


def _quantile_maps(
    y: Any, a: Any, q: Any, axis: Any, method: str, keepdims: Any, skip_nan: bool
) -> Any:
    """y = (1 - t) a₍ᵢ₎ + t a₍ᵢ₊₁₎ with i + t the position of q among the entries."""
    columns = tail(a, axis)
    if not columns.size:
        return None, None
    used = ~np.isnan(columns) if skip_nan else np.ones(columns.shape, bool)
    if method in _STEPS:
        return _step_maps(columns, used, (y, a, q, axis))
    ordered = np.sort(columns, axis=-1)
    n = np.sum(used, axis=-1, keepdims=True)
    levels = np.ravel(q)
    weights, slopes = [], []
    for level in levels:
        low, high, share, slope = _position(n, level, method)
        below = np.take_along_axis(ordered, low, -1)
        above = np.take_along_axis(ordered, high, -1)
        weight = (1.0 - share) * _order_weights(columns, below, used)
        weights.append(weight + share * _order_weights(columns, above, used))
        slopes.append((slope * (above - below))[..., 0])
    shape = (levels.size, *columns.shape[:-1])
    return _level_maps(np.stack(weights), np.stack(slopes), (y, a, q, axis, shape))


def _step_maps(columns: Any, used: Any, call: Any) -> Any:
    """y tells which entries it is made of, whatever rounding did to their number.

    A step in q.
    """
    y, _, q, _ = call
    shape = (np.size(q), *columns.shape[:-1])
    values = np.reshape(y, (*shape, 1))
    weights = np.stack([_step_weights(columns, one, used) for one in values])
    return _level_maps(weights, np.zeros(shape), (*call, shape))


def _step_weights(columns: Any, value: Any, used: Any) -> Any:
    """Those of an entry, or of the two neighbours that the value is between."""
    own = _order_weights(columns, value, used)
    low = np.where(used & (columns < value), columns, -np.inf)
    high = np.where(used & (columns > value), columns, np.inf)
    below = _order_weights(columns, np.max(low, axis=-1, keepdims=True), used)
    above = _order_weights(columns, np.min(high, axis=-1, keepdims=True), used)
    return np.where(np.any(own, axis=-1, keepdims=True), own, (below + above) / 2.0)


def _level_maps(weights: Any, slopes: Any, call: Any) -> Any:
    y, a, q, axis, shape = call

    def quantile_pushforward(da: Any) -> Any:
        return np.reshape(np.sum(weights * tail(da, axis), axis=-1), np.shape(y))

    def quantile_pullback(dy: Any) -> Any:
        seed = np.expand_dims(np.reshape(dy, shape), -1)
        return untail(np.sum(weights * seed, axis=0), a, axis)

    def level_pushforward(dq: Any) -> Any:
        flat = np.reshape(np.ravel(dq), (-1,) + (1,) * (len(shape) - 1))
        return np.reshape(slopes * flat, np.shape(y))

    def level_pullback(dy: Any) -> Any:
        terms = slopes * np.reshape(dy, shape)
        return np.reshape(np.sum(terms, axis=tuple(range(1, len(shape)))), np.shape(q))

    return (quantile_pushforward, quantile_pullback), (
        level_pushforward,
        level_pullback,
    )


@derivative([np.quantile, np.nanquantile], argnums=(0, 1))
def quantile_derivative(
    y: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Linear between neighbouring entries in order, or a step; equal entries share."""
    # With a NaN the plain functions give NaN, whose derivative is irrelevant.
    return _quantile_maps(y, a, q, axis, method, keepdims, skip_nan=True)


@derivative([np.percentile, np.nanpercentile], argnums=(0, 1))
def percentile_derivative(
    y: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """The quantile at q / 100."""
    of_a, of_q = quantile_derivative(
        y, a, q / 100.0, axis, None, False, method, keepdims, weights=weights
    )
    if of_a is None:
        return None, None

    def level_pushforward(dq: Any) -> Any:
        return of_q[0](dq / 100.0)

    def level_pullback(dy: Any) -> Any:
        return of_q[1](dy) / 100.0

    return of_a, (level_pushforward, level_pullback)


@derivative([np.median, np.nanmedian])
def median_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = False,
) -> Any:
    """The quantile at one half."""
    half = np.float64(0.5)
    return _quantile_maps(y, a, half, axis, "linear", keepdims, skip_nan=True)[0]
