"""Functions whose result is a matrix that is sparse by name: `inv` and `expm`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse.linalg as _sp
from scipy.sparse import issparse

import rules_core as rc
from rules_scipy import linalg as _dense
from rules_scipy.linalg._matrices import identity
from rules_scipy.sparse._array import SparseArray, as_sparse
from rules_scipy.sparse._moves import asked, like

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


def _as_stored(f: Any, args: tuple[Any, ...], dense: Any) -> Any:
    """The value of `f(*args)`, which is `dense`, with SciPy's entries.

    SciPy stores what is not zero here; an entry that is zero only for these numbers
    would lose its derivative.
    """
    template = asked(f, args, {})
    if _loses(f, args, template):
        message = (
            f"scipy.sparse.linalg.{f.__name__} drops numbers that are zero, and with "
            f"them their derivative. {_REMEDY[f]}"
        )
        raise rc.UnsupportedError(message)
    rows, columns = _places(template)
    return like(template, dense[rows, columns])


_REMEDY = {
    _sp.inv: "Use spsolve(A, B) with a dense B, as numpy.eye(n).",
    _sp.expm: "Use scipy.linalg.expm(A.toarray()), or expm_multiply(A, B).",
    _sp.spsolve: "Use spsolve(A, B.toarray()).",
}


def _places(template: Any) -> Any:
    found = template.tocoo()
    return found.row, found.col


def _loses(f: Any, args: tuple[Any, ...], template: Any) -> bool:
    """Whether an entry that SciPy does not store would differ from zero nearby.

    SciPy tells: it is called with other numbers of about the sizes at the same places,
    none of them zero. Entries that are only too small for the dtype are no loss.
    """
    if template.nnz == np.prod(template.shape):
        return False
    draw = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nearby = asked(f, tuple([_nearby(x, draw) for x in args]), {}).tocoo()
    sizes = np.abs(nearby.data)
    least = np.cbrt(np.finfo(sizes.dtype).tiny) * np.max(sizes, initial=0.0)
    flat = nearby.row.astype(np.int64) * nearby.shape[1] + nearby.col
    rows, columns = _places(template)
    stored = rows.astype(np.int64) * nearby.shape[1] + columns
    return bool(np.any(~np.isin(flat[sizes > least], stored)))


def _nearby(x: Any, draw: Any) -> Any:
    """A matrix at the same places, without zeros."""
    x = x.tocsc() if x.format in ("dok", "lil") else x
    sizes = np.abs(x.data)
    usual = np.mean(sizes[sizes > 0]) if np.any(sizes) else 1.0
    found = x.copy()
    numbers = np.where(sizes > 0, x.data, usual)
    found.data = numbers * draw.uniform(0.9, 1.1, x.data.shape)
    return found


rc.non_differentiable([_loses, _places])


def scipys_inv(A: Any) -> Any:
    """`scipy.sparse.linalg.inv`."""
    return _as_stored(_sp.inv, (A,), inv(A).toarray())


def scipys_expm(A: Any) -> Any:
    """`scipy.sparse.linalg.expm`; a dense matrix has a dense one."""
    if not issparse(A):
        return _dense.expm(A)
    return _as_stored(_sp.expm, (A,), expm(A).toarray())


def scipys_spsolve(A: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.sparse.linalg.spsolve`, with a sparse right-hand side too."""
    if not issparse(b):
        return spsolve(A, b, *args, **kwargs)
    dense = b.toarray()
    if min(dense.shape[-1], dense.ndim) == 1:
        return spsolve(A, np.reshape(dense, (-1,)))
    return _as_stored(_sp.spsolve, (A, b), spsolve(A, dense))
