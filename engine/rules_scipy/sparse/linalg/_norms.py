"""Norms of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.sparse._array import as_sparse, in_rows

__all__ = ["norm"]


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """The norm of a matrix: Frobenius', or an extreme sum of columns or rows.

    Args:
        x: The matrix: whatever `as_sparse` accepts.
        ord: None or "fro"; 1, -1 for columns; infinity for rows. For 2 use `svds`.
        axis: None: norms of rows or columns have no rule.
    """
    if axis not in (None, (0, 1)) or ord not in (None, "fro", 1, -1, np.inf, -np.inf):
        message = (
            f"norm: ord={ord!r}, axis={axis!r} has no rule. For ord=2 use svds, for "
            "rows and columns A.multiply(A).sum(axis)."
        )
        raise rc.UnsupportedError(message)
    if ord is None:
        return rc.array_namespace(x.data).linalg.vector_norm(in_rows(x).merged().data)
    a = as_sparse(x).merged()
    xp = rc.array_namespace(a.data)
    if ord == "fro":
        return xp.linalg.vector_norm(a.data)
    sums = a.with_data(xp.abs(a.data)).sum(0 if abs(ord) == 1 else 1)
    return xp.max(sums) if ord > 0 else xp.min(sums)
