"""The gradient in a block of equal values, as values and vectors determine it.

A smooth L(A) has a Hermitian gradient Z in the block, and the cotangent of the values
shows its diagonal z, whatever the vectors are. The cotangent of the vectors has a
Hermitian part Y in the block, known whole. Of L = φ(V f(w) Vᴴ) with φ's gradient g it
is Z = f'(λ) g and Y = 2 f(λ) g, so Z = c Y; a function of the values beside it adds a
multiple of one. The vectors are in general position, where but for a set of measure
zero only the zero matrix has a zero diagonal. So if z = c y + d holds of the diagonals,
and there are more of them than c and d, it holds of the matrices.

Two equal values have a single diagonal entry to spare, for c alone: what has no trace
is a multiple of any other on the diagonal, and says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .products import adjoint

__all__ = ["told_by_vectors"]

# How far a fitted block may grow what rounding left of Y, and how near to a special
# position (Y with a diagonal like that of a multiple of one) its fit may be.
_GROWTH, _POSITION = 1e3, 1e-2


def told_by_vectors(dw: Any, x: Any, groups: Any) -> tuple[Any, Any]:
    """Z = c Y + d in every block, where the diagonals dw and y can tell.

    Args:
        dw: The diagonal of Z, `(…, n)`.
        x: Vᴴ dV; its Hermitian part is Y, `(…, n, n)`.
        groups: Pairs of equal values.

    Returns:
        Z off the diagonal, zero where nothing is told, and where something is, by row.
    """
    whole = (x + adjoint(x)) / 2.0
    y = np.real(np.diagonal(whole, axis1=-2, axis2=-1))
    fit = _fit(np.expand_dims(dw, -2), np.expand_dims(y, -2), groups)
    told = (fit.error <= _rounding(fit, x, groups)) & _posed(fit, whole, groups)
    told = _of_whole_groups(told, groups)
    c = np.expand_dims(np.where(told, fit.c, 0.0), -1)
    within = groups & ~np.eye(groups.shape[-1], dtype=bool)
    return np.where(within, c * whole, 0.0), told


@dataclass(frozen=True)
class _Fit:
    """z ≈ c y + d within the group of each row.

    Attributes:
        c: The factor, `(…, n)`.
        y, z: The diagonals in the group; less their mean, if d is fitted too.
        error: The largest difference.
    """

    c: Any
    y: Any
    z: Any
    error: Any


def _fit(z: Any, y: Any, groups: Any) -> _Fit:
    z, y = (_without_mean(part, groups) for part in (z, y))
    square = np.sum(y * y, axis=-1)
    c = np.sum(y * z, axis=-1) / np.where(square > 0.0, square, 1.0)
    error = np.max(np.abs(z - np.expand_dims(c, -1) * y), axis=-1)
    return _Fit(c, y, z, error)


def _without_mean(part: Any, groups: Any) -> Any:
    """The entries of the group of each row; of two, their mean is needed for c."""
    count = np.sum(groups, axis=-1, keepdims=True, dtype=part.dtype)
    entries = np.where(groups, part, 0.0)
    mean = np.sum(entries, axis=-1, keepdims=True) / count
    return np.where(groups & (count > 2), entries - mean, entries)


def _rounding(fit: _Fit, x: Any, groups: Any) -> Any:
    """The error that rounding explains; none where c would make too much of it."""
    eps = np.finfo(x.dtype).eps
    columns = np.expand_dims(np.max(np.abs(x), axis=-2), -2)
    grown = np.abs(fit.c) * np.max(np.where(groups, columns, 0.0), axis=-1)
    size = np.max(np.abs(fit.z), axis=-1)
    return np.where(grown <= _GROWTH * size, 100.0 * eps * (size + grown), -1.0)


def _posed(fit: _Fit, whole: Any, groups: Any) -> Any:
    """Whether the diagonal of Y can tell c, and a multiple of Y from another matrix."""
    count = np.sum(groups, axis=-1)
    off = np.where(groups & ~np.eye(groups.shape[-1], dtype=bool), whole, 0.0)
    rows = np.expand_dims(_largest(off), -2)
    size = np.maximum(_largest(np.where(groups, rows, 0.0)), _largest(fit.y))
    shown = np.where(count == 2, np.abs(np.sum(fit.y, axis=-1)), _largest(fit.y))
    return (count > 1) & (shown > _POSITION * size)


def _largest(y: Any) -> Any:
    return np.max(np.abs(y), axis=-1)


def _of_whole_groups(told: Any, groups: Any) -> Any:
    """Rows of a group in which every row is determined, with one group for all."""
    joined = np.matmul(groups, groups)
    same = np.all(joined == groups, axis=-1)
    return np.all(~groups | np.expand_dims(told & same, -2), axis=-1)
