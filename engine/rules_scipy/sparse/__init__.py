"""Sparse matrices with derivatives by their stored numbers, at constant places.

`SparseArray` is a matrix of any framework's numbers; `linalg` contains the functions of
`scipy.sparse.linalg`. Programs for NumPy use SciPy's own classes.
"""

from . import (
    _arithmetic as _arithmetic,
    _facts as _facts,
    _methods as _methods,
    linalg as linalg,
)
from ._array import SparseArray as SparseArray, as_sparse as as_sparse
from ._pattern import Pattern as Pattern

__all__ = ["Pattern", "SparseArray", "as_sparse", "linalg"]
