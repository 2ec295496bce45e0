"""Histograms of several variables: steps in entries, smooth in weights and edges."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import derivative

from .histograms import bins_of, edges_slope

__all__: list[str] = []


class _Cells:
    """The cells of a histogram, and the derivative of its values in edges and weights.

    Attributes:
        place: For every entry its cell in the flattened values, -1 outside.
        widths: Widths of the bins along every axis.
        total: The divisor of densities.
    """

    def __init__(
        self, columns: Any, values: Any, edges: Any, density: Any, weights: Any
    ) -> None:
        self.values, self.edges, self.density = values, edges, bool(density)
        self.widths = [np.diff(e) for e in edges]
        places = [bins_of(c, e) for c, e in zip(columns, edges, strict=True)]
        inside = reduce(np.logical_and, [p >= 0 for p in places])
        at = tuple(np.maximum(p, 0) for p in places)
        self.place = np.where(inside, np.ravel_multi_index(at, values.shape), -1)
        w = np.ones(inside.shape) if weights is None else weights
        self.total = np.sum(np.where(inside, w, 0.0)) if density else 1.0

    def _along(self, d: int, x: Any) -> Any:
        return np.reshape(x, [-1 if i == d else 1 for i in range(self.values.ndim)])

    def by_edges(self, dedges: Any) -> Any:
        """d values for active edges; only densities depend on them."""
        dvalues = np.zeros_like(self.values)
        if self.density:
            for d, (de, width) in enumerate(zip(dedges, self.widths, strict=True)):
                dvalues = dvalues - self.values * self._along(d, np.diff(de) / width)
        return dvalues

    def back_to_edges(self, dvalues: Any, d: int) -> Any:
        """The adjoint, for the edges along axis `d`."""
        if not self.density:
            return np.zeros_like(self.edges[d])
        others = tuple(i for i in range(self.values.ndim) if i != d)
        lost = np.sum(-self.values * dvalues, axis=others) / self.widths[d]
        zero = np.zeros(1)
        return np.concatenate([zero, lost]) - np.concatenate([lost, zero])

    def by_weights(self, dw: Any) -> Any:
        """d values for active weights."""
        flat = scatter_add(dw, self.place, (self.values.size,))
        counts = np.reshape(flat, self.values.shape)
        if not self.density:
            return counts
        volumes = reduce(np.multiply.outer, self.widths)
        return (counts / volumes - self.values * np.sum(counts)) / self.total

    def back_to_weights(self, dvalues: Any) -> Any:
        """The adjoint."""
        seed = dvalues
        if self.density:
            volumes = reduce(np.multiply.outer, self.widths)
            seed = (seed / volumes - np.sum(self.values * seed)) / self.total
        entries = np.take(np.ravel(seed), np.maximum(self.place, 0))
        return np.where(self.place >= 0, entries, 0.0)


def _slopes(f: str, columns: Any, bins: Any, span: Any) -> list[Any]:
    """The derivative of each axis's edges in its entries; None if there is none."""
    count = len(columns)
    each = list(bins) if _several(bins) else [bins] * count
    spans = [None] * count if span is None else list(span)
    return [
        edges_slope(f, column, b, s)
        for column, b, s in zip(columns, each, spans, strict=True)
    ]


def _several(bins: Any) -> bool:
    """Whether there are bins for each axis; lists of unequal lengths are not arrays."""
    return isinstance(bins, (list, tuple)) or np.ndim(bins) > 0


@derivative(np.histogramdd, argnums=(0, 4), arrays=(4,))
def histogramdd_derivative(
    y: Any,
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """Sums of weights over cells; densities are those over volume and total."""
    values, edges = y
    shape = np.shape(sample)
    by_rows = isinstance(sample, np.ndarray) and sample.ndim == 2

    def along(x: Any) -> Any:
        return np.transpose(x) if by_rows else np.atleast_2d(x)

    columns = along(np.asarray(sample))
    slopes = _slopes("histogramdd", columns, bins, range)
    cells = _Cells(columns, values, edges, density, weights)

    def sample_pushforward(dsample: Any) -> Any:
        dedges = [
            np.zeros_like(e) if slope is None else np.matmul(slope, dx)
            for e, slope, dx in zip(edges, slopes, along(dsample), strict=True)
        ]
        return cells.by_edges(dedges), rc.Tangent(type(edges), *dedges)

    def sample_pullback(dy: Any) -> Any:
        parts = [
            np.zeros_like(column)
            if slope is None
            else np.matmul(de + cells.back_to_edges(dy[0], d), slope)
            for d, (column, slope, de) in enumerate(
                zip(columns, slopes, dy[1], strict=True)
            )
        ]
        return np.reshape(np.stack(parts, axis=-1 if by_rows else 0), shape)

    def weights_pushforward(dw: Any) -> Any:
        return cells.by_weights(dw), rc.Tangent(type(edges), *map(np.zeros_like, edges))

    def weights_pullback(dy: Any) -> Any:
        return cells.back_to_weights(dy[0])

    return (
        (sample_pushforward, sample_pullback),
        None if weights is None else (weights_pushforward, weights_pullback),
    )


@derivative(np.histogram2d, argnums=(0, 1, 5), arrays=(0, 1, 5))
def histogram2d_derivative(
    y: Any,
    x: Any,
    y2: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """As `histogramdd` of two columns."""
    values, *edges = y
    same = _several(bins) and len(bins) not in (1, 2)
    slopes = _slopes("histogram2d", [x, y2], [bins, bins] if same else bins, range)
    cells = _Cells([x, y2], values, edges, density, weights)

    def column(d: int) -> Any:
        if slopes[d] is None:
            return None

        def column_pushforward(dx: Any) -> Any:
            dedges = [np.zeros_like(e) for e in edges]
            dedges[d] = np.matmul(slopes[d], dx)
            return cells.by_edges(dedges), *dedges

        def column_pullback(dy: Any) -> Any:
            moved = dy[1 + d] + cells.back_to_edges(dy[0], d)
            return np.matmul(moved, slopes[d])

        return column_pushforward, column_pullback

    def weights_pushforward(dw: Any) -> Any:
        return cells.by_weights(dw), *map(np.zeros_like, edges)

    def weights_pullback(dy: Any) -> Any:
        return cells.back_to_weights(dy[0])

    own = None if weights is None else (weights_pushforward, weights_pullback)
    return column(0), column(1), own
