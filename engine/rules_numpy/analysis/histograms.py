"""Histograms: step functions of the entries, smooth in weights and edges."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import derivative

__all__ = ["bins_of", "edges_slope"]


def bins_of(a: Any, edges: Any) -> Any:
    """The bin of every entry, -1 outside; the last bin includes its upper edge."""
    last = edges.size - 2
    bins = np.minimum(np.searchsorted(edges, a, side="right") - 1, last)
    return np.where((a < edges[0]) | (a > edges[-1]), -1, bins)


def _ends(a: Any, count: int) -> Any:
    """S with d edges = S da for equal bins from the least entry to the largest."""
    low, high = (np.where(a == end, 1.0, 0.0) for end in (np.min(a), np.max(a)))
    t = np.expand_dims(np.arange(count + 1) / count, -1)
    return (1.0 - t) * np.ravel(low / np.sum(low)) + t * np.ravel(high / np.sum(high))


@derivative(np.histogram_bin_edges)
def histogram_bin_edges_derivative(
    y: Any, a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> Any:
    """Equal bins between the extremes; equal extremes share."""
    slope = edges_slope("histogram_bin_edges", a, bins, range)
    if slope is None:
        return None

    def edges_pushforward(da: Any) -> Any:
        return np.matmul(slope, np.ravel(da))

    def edges_pullback(dy: Any) -> Any:
        return np.reshape(np.matmul(dy, slope), a.shape)

    return edges_pushforward, edges_pullback


def edges_slope(f: str, a: Any, bins: Any, span: Any) -> Any:
    """The derivative of the edges in the entries; None for explicit edges."""
    if isinstance(bins, str):
        message = (
            f"the derivative of numpy.{f} must be taken with a number of bins, or with "
            f"edges, but got bins={bins!r}, a rule of thumb. Use a number."
        )
        raise rc.UnsupportedError(message)
    if np.ndim(bins) or span is not None or a.size == 0:
        return None
    if np.min(a) == np.max(a):
        message = (
            f"the derivative of numpy.{f} must be given entries that differ, but got "
            "equal ones, around which NumPy puts bins of its own. Give range=."
        )
        raise rc.UnsupportedError(message)
    return _ends(a, bins)


@derivative(np.histogram, argnums=(0, 1, 4), arrays=(0, 4))
def histogram_derivative(
    y: Any,
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """Counts are Σ w over each bin; densities are those over width and total."""
    values, edges = y
    slope = edges_slope("histogram", a, bins, range)
    by_edges, back_to_edges = _maps_of_edges(values, np.diff(edges), density)

    def entries_pushforward(da: Any) -> Any:
        return by_edges(np.matmul(slope, np.ravel(da)))

    def entries_pullback(dy: Any) -> Any:
        return np.reshape(np.matmul(back_to_edges(dy), slope), a.shape)

    return (
        None if slope is None else (entries_pushforward, entries_pullback),
        (by_edges, back_to_edges) if np.ndim(bins) else None,
        None if weights is None else _maps_of_weights(y, a, weights, density),
    )


def _maps_of_edges(values: Any, widths: Any, density: Any) -> Any:
    """Densities depend on the widths of the bins, counts do not."""

    def edges_pushforward(dedges: Any) -> Any:
        moved = -values * np.diff(dedges) / widths if density else np.zeros_like(values)
        return moved, dedges

    def edges_pullback(dy: Any) -> Any:
        if not density:
            return dy[1]
        per_width = np.real(-np.conjugate(values) * dy[0]) / widths
        zero = np.zeros(1)
        lost = np.concatenate([zero, per_width]) - np.concatenate([per_width, zero])
        return dy[1] + lost

    return edges_pushforward, edges_pullback


def _maps_of_weights(y: Any, a: Any, w: Any, density: Any) -> Any:
    """Counts are linear in the weights; densities are quotients of linear functions."""
    values, edges = y
    places, widths = bins_of(a, edges), np.diff(edges)
    total = np.sum(np.where(places >= 0, w, 0.0)) if density else 1.0

    def weights_pushforward(dw: Any) -> Any:
        counts = scatter_add(dw, places, values.shape)
        if density:
            counts = (counts / widths - values * np.sum(counts)) / total
        return counts, np.zeros_like(edges)

    def weights_pullback(dy: Any) -> Any:
        seed = dy[0]
        if density:
            seed = seed / widths - np.sum(np.conjugate(values) * seed)
            seed = seed / np.conjugate(total)
        return np.where(places >= 0, np.take(seed, np.maximum(places, 0)), 0.0)

    return weights_pushforward, weights_pullback
