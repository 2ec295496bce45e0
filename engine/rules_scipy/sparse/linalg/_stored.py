"""Functions whose result is a matrix that is sparse by name: `inv` and `expm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg as _sp
from scipy.sparse import issparse

import rules_core as rc
from rules_scipy import linalg as _dense
from rules_scipy.linalg._matrices import identity
from rules_scipy.sparse._array import SparseArray, as_sparse
from rules_scipy.sparse._moves import like

from ._direct import spsolve

__all__ = ["expm", "inv", "scipys_expm", "scipys_inv", "scipys_spsolve"]


def inv(A: Any) -> SparseArray:
    """The inverse; every entry is stored.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
    """
    a = as_sparse(A)
    unit = identity(
        1.0 * rc.array_namespace(a.data).reshape(a.data, (-1, 1)), a.shape[0]
    )
    return SparseArray.from_dense(spsolve(a, unit))


def expm(A: Any) -> SparseArray:
    """The exponential; every entry is stored.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
    """
    return SparseArray.from_dense(_dense.expm(as_sparse(A).toarray()))


# In programs for NumPy: with the entries that SciPy stores


def _template(f: Any, *args: Any) -> Any:
    """SciPy's result."""
    return f(*args)


rc.non_differentiable(_template)


def _as_stored(template: Any, dense: Any) -> Any:
    rows, columns = _places(template)
    return like(template, dense[rows, columns])


def _places(template: Any) -> Any:
    found = template.tocoo()
    return found.row, found.col


rc.non_differentiable(_places)


def scipys_inv(A: Any) -> Any:
    """`scipy.sparse.linalg.inv`."""
    return _as_stored(_template(_sp.inv, A), inv(A).toarray())


def scipys_expm(A: Any) -> Any:
    """`scipy.sparse.linalg.expm`; a dense matrix has a dense one."""
    if not issparse(A):
        return _dense.expm(A)
    return _as_stored(_template(_sp.expm, A), expm(A).toarray())


def scipys_spsolve(A: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.spsolve`, with a sparse right-hand side too."""
    if not issparse(b):
        return spsolve(A, b, *args, **kwargs)
    dense = b.toarray()
    if min(dense.shape[-1], dense.ndim) == 1:
        return spsolve(A, np.reshape(dense, (-1,)))
    return _as_stored(_template(_sp.spsolve, A, b), spsolve(A, dense))
