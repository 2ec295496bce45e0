"""Matrices stored by their diagonals: `ab[u + i - j, j] == a[i, j]`."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._lists import constant_like

from ._matrices import conjugate, real

__all__ = [
    "adjoint_band",
    "band_of",
    "band_times",
    "full_of_band",
    "hermitian_band_times",
]


def _moved(x: Any, steps: int) -> Any:
    """The rows of a matrix `steps` further down, zeros in their place."""
    if steps == 0:
        return x
    xp = rc.array_namespace(x)
    n = x.shape[0]
    size = min(abs(steps), n)
    zeros = xp.zeros_like(x[:size, ...])
    parts = [zeros, x[: n - size, ...]] if steps > 0 else [x[size:, ...], zeros]
    return concat(parts, 0)


def band_times(ab: Any, above: int, x: Any) -> Any:
    """The product with columns `x`, `above` diagonals being above the main one."""
    total = 0.0
    for row in range(ab.shape[0]):
        total = total + _moved(ab[row, :, None] * x, row - above)
    return total


def adjoint_band(ab: Any, above: int) -> Any:
    """The adjoint matrix by its diagonals."""
    xp = rc.array_namespace(ab)
    rows = [_moved(conjugate(ab[r, :]), r - above) for r in range(ab.shape[0])]
    return xp.stack(rows[::-1])


def hermitian_band_times(ab: Any, lower: Any, x: Any) -> Any:
    """The product with a Hermitian matrix of which one side is stored."""
    width = ab.shape[0] - 1
    total = 0.0
    for row in range(width + 1):
        steps = row if lower else row - width
        if steps == 0:
            total = total + real(ab[row, :, None]) * x
        else:
            entries = ab[row, :, None]
            total = total + _moved(entries * x, steps)
            total = total + conjugate(entries) * _moved(x, -steps)
    return total


def full_of_band(ab: Any, above: int) -> Any:
    """The whole matrix."""
    xp = rc.array_namespace(ab)
    rows, n = ab.shape
    i, j = np.indices((n, n))
    row = above + i - j
    stored = (row >= 0) & (row < rows)
    index = np.where(stored, row * n + j, 0)
    flat = xp.take(xp.reshape(ab, (-1,)), constant_like(index.ravel(), ab), axis=0)
    full = xp.reshape(flat, (n, n))
    return xp.where(constant_like(stored, ab), full, xp.zeros_like(full))


def band_of(a: Any, above: int, rows: int) -> Any:
    """The diagonals of a matrix; zeros where no entry is stored."""
    xp = rc.array_namespace(a)
    n = a.shape[-1]
    row, j = np.indices((rows, n))
    i = row - above + j
    stored = (i >= 0) & (i < n)
    index = np.where(stored, i * n + j, 0)
    flat = xp.take(xp.reshape(a, (-1,)), constant_like(index.ravel(), a), axis=0)
    band = xp.reshape(flat, (rows, n))
    return xp.where(constant_like(stored, a), band, xp.zeros_like(band))
