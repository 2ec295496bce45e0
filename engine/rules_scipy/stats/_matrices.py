"""Symmetric positive definite matrices of any array library."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_scipy.linalg._systems import solution
from rules_scipy.special._arrays import log

__all__ = ["Root", "diagonal", "root_of", "square_matrix"]


class Root:
    """The Cholesky factor of a matrix, of which the lower triangle is read.

    Args:
        xp: The array library.
        lower: The factor.
    """

    def __init__(self, xp: Any, lower: Any) -> None:
        self.xp, self.lower = xp, lower

    @property
    def log_det(self) -> Any:
        """The logarithm of the matrix's determinant."""
        return 2 * self.xp.sum(log(self.xp.linalg.diagonal(self.lower)), axis=-1)

    def whiten(self, columns: Any) -> Any:
        """The factor's inverse times columns, shape (…, d, n)."""
        return solution(self.lower, columns)

    def distances(self, rows: Any) -> Any:
        """Squared lengths of whitened rows, shape (n, d) to (n,)."""
        return self.xp.sum(self.whiten(rows.T) ** 2, axis=0)


def root_of(matrix: Any) -> Root:
    """The factor of a symmetric matrix, by its lower triangle, which SciPy reads."""
    xp = rc.array_namespace(matrix)
    upper = xp.matrix_transpose(xp.tril(matrix, k=-1))
    return Root(xp, xp.linalg.cholesky(xp.tril(matrix) + upper))


def diagonal(xp: Any, entries: Any) -> Any:
    """A diagonal matrix."""
    return entries[:, None] * xp.eye(entries.shape[0], dtype=entries.dtype)


def square_matrix(xp: Any, x: Any, size: int) -> Any:
    """A number, a diagonal or a matrix as a matrix of this size."""
    if x.ndim == 0:
        return x * xp.eye(size, dtype=x.dtype)
    return diagonal(xp, x) if x.ndim == 1 else x
