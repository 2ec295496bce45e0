"""SciPy's sparse matrices: points of the space of matrices with one pattern.

SciPy is used only if it is already imported.
"""

from __future__ import annotations

import sys
from typing import Any, final

__all__ = ["Pattern", "is_sparse", "zero_sparse"]


def is_sparse(x: object) -> bool:
    """Whether `x` is a SciPy sparse array or matrix."""
    module = sys.modules.get("scipy.sparse")
    # By class, not by SciPy's `issparse`: engines differentiate this code at higher
    # orders.
    return module is not None and isinstance(x, (module.sparray, module.spmatrix))


@final
class Pattern:
    """The format, shape and stored places of a sparse matrix, without its numbers."""

    __slots__ = ("cls", "columns", "row_starts", "rows", "shape")

    def __init__(self, x: Any) -> None:
        numpy = sys.modules["numpy"]
        compressed = x.tocsr()
        self.cls, self.shape = type(x), x.shape
        self.columns, self.row_starts = compressed.indices, compressed.indptr
        self.rows = numpy.repeat(numpy.arange(x.shape[0]), numpy.diff(self.row_starts))

    def take(self, x: Any) -> Any:
        """The entries of a dense or sparse matrix at the stored places, `(nnz,)`."""
        entries = (x.tocsr() if is_sparse(x) else x)[self.rows, self.columns]
        return sys.modules["numpy"].asarray(entries).reshape(-1)

    def put(self, entries: Any) -> Any:
        """The sparse matrix with these entries, `(nnz,)`, at the stored places."""
        csr = sys.modules["scipy.sparse"].csr_array
        return self.cls(csr((entries, self.columns, self.row_starts), self.shape))


def zero_sparse(x: Any) -> Any:
    """A sparse matrix of zeros with the pattern of `x`."""
    pattern = Pattern(x)
    return pattern.put(sys.modules["numpy"].zeros(len(pattern.rows), x.dtype))
