"""`np.gradient`: differences over steps and coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import derivative

__all__: list[str] = []


@derivative(np.gradient, argnums=None)
def gradient_derivative(
    y: Any, f: Any, *spacings: Any, axis: Any = None, edge_order: Any = 1
) -> Any:
    """Linear in f; depends on steps and on coordinates too."""
    axes = _axes_of(axis, f.ndim)
    steps = _steps_of(spacings, len(axes))

    def gradient_pushforward(df: Any) -> Any:
        return np.gradient(df, *spacings, axis=axis, edge_order=edge_order)

    def gradient_pullback(dy: Any) -> Any:
        parts = dy if isinstance(y, tuple) else (dy,)
        total: Any = rc.ZeroTangent()
        for d, i, step in zip(parts, axes, steps, strict=True):
            unit: Any = np.eye(f.shape[i], dtype=f.dtype)
            matrix: Any = np.gradient(unit, step, axis=0, edge_order=edge_order)
            moved = np.matmul(np.moveaxis(d, i, -1), np.conjugate(matrix))
            total = total + np.moveaxis(moved, -1, i)
        return total

    call = f, y, axes, edge_order
    count = len(spacings)
    pairs = [_spacing_maps(call, i, h, count) for i, h in enumerate(spacings)]
    return (gradient_pushforward, gradient_pullback), *pairs


def _spacing_maps(call: Any, place: int, h: Any, count: int) -> Any:
    """y = g / h for a step h; a single step is for all axes."""
    f, y, axes, edge_order = call
    parts = y if isinstance(y, tuple) else (y,)
    if np.ndim(h):
        maps = _coordinate_maps(f, h, axes[place], edge_order)
        return maps if len(parts) == 1 else _of_one(maps, place, parts)
    own = [j for j in range(len(parts)) if count == 1 or j == place]

    def spacing_pushforward(dh: Any) -> Any:
        moved = [
            -part / h * dh if j in own else np.zeros_like(part)
            for j, part in enumerate(parts)
        ]
        return tuple(moved) if isinstance(y, tuple) else moved[0]

    def spacing_pullback(dy: Any) -> Any:
        seeds = dy if isinstance(y, tuple) else (dy,)
        terms = [np.sum(np.conjugate(-parts[j] / h) * seeds[j]) for j in own]
        return sum(terms[1:], terms[0])

    return spacing_pushforward, spacing_pullback


def _of_one(maps: Any, place: int, parts: Any) -> Any:
    """The maps of one result among several."""

    def one_pushforward(dx: Any) -> Any:
        moved = [np.zeros_like(part) for part in parts]
        moved[place] = maps[0](dx)
        return tuple(moved)

    def one_pullback(dy: Any) -> Any:
        return maps[1](dy[place])

    return one_pushforward, one_pullback


def _coordinate_maps(f: Any, x: Any, axis: int, edge_order: int) -> Any:
    """Each difference depends on the widths to the left and right of its point."""
    left, right = _widths_beside(x.size)
    by_left, by_right = _by_widths(np.moveaxis(f, axis, -1), x, edge_order)

    def coordinate_pushforward(dx: Any) -> Any:
        dh = np.diff(dx)
        moved = by_left * np.take(dh, left) + by_right * np.take(dh, right)
        return np.moveaxis(moved, -1, axis)

    def coordinate_pullback(dy: Any) -> Any:
        seed = np.moveaxis(dy, axis, -1)
        dh = _gathered(by_left, seed, left) + _gathered(by_right, seed, right)
        return np.concatenate([-dh[:1], -np.diff(dh), dh[-1:]])

    def _gathered(partial: Any, seed: Any, places: Any) -> Any:
        terms = np.conjugate(partial) * seed
        total = np.sum(np.reshape(terms, (-1, x.size)), axis=0)
        return scatter_add(total, places, (x.size - 1,))

    return coordinate_pushforward, coordinate_pullback


def _widths_beside(n: int) -> tuple[Any, Any]:
    """Indices of the widths on either side of each point; at an end, the next two."""
    last = n - 2
    left = np.clip(np.arange(n) - 1, 0, max(last - 1, 0))
    return left, np.minimum(left + 1, last)


def _by_widths(f: Any, x: Any, edge_order: int) -> tuple[Any, Any]:
    """∂y / ∂h of the widths to the left and to the right of each point.

    With slopes s = Δf / h inside y = (h₂ s₁ + h₁ s₂) / (h₁ + h₂), and at an end y = s₁,
    or y = s₁ + (s₁ - s₂) h₁ / (h₁ + h₂).
    """
    h = np.diff(x)
    left, right = _widths_beside(x.size)
    slopes = np.diff(f) / h
    h1, h2 = np.take(h, left), np.take(h, right)
    s1, s2 = np.take(slopes, left, -1), np.take(slopes, right, -1)
    total = h1 + h2
    y = (h2 * s1 + h1 * s2) / total
    by_left, by_right = (s2 - h2 * s1 / h1 - y) / total, (s1 - h1 * s2 / h2 - y) / total
    first = _by_widths_at_an_end(h1[0], h2[0], s1[..., :1], s2[..., :1], edge_order)
    last = _by_widths_at_an_end(h2[-1], h1[-1], s2[..., -1:], s1[..., -1:], edge_order)
    return (
        np.concatenate([first[0], by_left[..., 1:-1], last[1]], axis=-1),
        np.concatenate([first[1], by_right[..., 1:-1], last[0]], axis=-1),
    )


def _by_widths_at_an_end(h1: Any, h2: Any, s1: Any, s2: Any, order: int) -> Any:
    """In the width next to the end, and in the one after it."""
    if order == 1:
        return -s1 / h1, np.zeros_like(s2)
    total, bend = h1 + h2, s1 - s2
    near = -s1 / h1 * (1.0 + h1 / total) + bend * h2 / total**2
    return near, s2 / h2 * h1 / total - bend * h1 / total**2


def _axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return axis if isinstance(axis, tuple) else (axis,)


def _steps_of(spacings: Any, count: int) -> Any:
    if not spacings:
        return [1.0] * count
    return list(spacings) * count if len(spacings) == 1 else list(spacings)
