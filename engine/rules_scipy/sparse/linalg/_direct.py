"""Solutions by a sparse LU factorisation."""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, final

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_core.extend import is_sparse
from rules_scipy.sparse._array import SparseArray, as_sparse, inexact
from rules_scipy.sparse._pattern import Pattern
from rules_scipy.sparse._products import conjugate, product, sampled, together

__all__ = ["Factored", "factor", "factorized", "splu", "spsolve", "spsolve_triangular"]

# A factor may be much larger than its matrix: the backward pass finds that of the
# forward pass, and no more are kept.
_KEPT = 2
_FACTORS: OrderedDict[Any, Any] = OrderedDict()
_LOCK = threading.Lock()


def factor(data: Any, pattern: Pattern) -> Any:
    """SciPy's factorisation of NumPy's numbers; None for a singular matrix."""
    key = hashlib.blake2b(np.asarray(data).tobytes()).digest(), str(data.dtype), pattern
    with _LOCK:
        if key in _FACTORS:
            _FACTORS.move_to_end(key)
            return _FACTORS[key]
    found = _made_factor(pattern.csr(data).tocsc(), pattern.is_symmetric)
    with _LOCK:
        _FACTORS[key] = found
        while len(_FACTORS) > _KEPT:
            _FACTORS.popitem(last=False)
    return found


def _made_factor(matrix: Any, is_symmetric: bool) -> Any:
    # Of a symmetric pattern this order of the columns has half of the fill.
    order = "MMD_AT_PLUS_A" if is_symmetric else "COLAMD"
    kind = matrix.dtype if matrix.dtype.char in "fdFD" else np.result_type(matrix, "d")
    try:
        return _sp.splu(matrix.astype(kind), permc_spec=order)
    except RuntimeError as error:
        if "singular" in str(error):
            return None
        raise


def _turned(adjoint: bool, pattern: Pattern, data: Any) -> tuple[Any, Pattern]:
    """The entries and the pattern of A or of its adjoint."""
    return (conjugate(data), pattern.transposed) if adjoint else (data, pattern)


def _solution_shape(data: Any, b: Any, _pattern: Any, _adjoint: Any) -> Any:
    kind = np.result_type(np.dtype(data.dtype), np.dtype(b.dtype), np.float32)
    return rc.ShapeDtype(tuple(b.shape), kind)


@rc.primitive(host=True, out=_solution_shape, static_argnames=("pattern", "adjoint"))
def solved(data: Any, b: Any, pattern: Pattern, adjoint: bool) -> Any:
    """The solution of `A x = b`, or of `Aᴴ x = b`; NaN for a singular matrix."""
    kind = np.result_type(data, b, np.float32)
    lu = factor(np.asarray(data).astype(kind), pattern)
    if lu is None:
        if not np.any(np.isnan(data)):
            message = "Matrix is exactly singular"
            warnings.warn(message, _sp.MatrixRankWarning, stacklevel=2)
        return np.full(b.shape, np.nan, kind)
    return lu.solve(np.asarray(b).astype(kind), "H" if adjoint else "N")


@rc.frule.define(solved)
def solved_frule(tangents: Any, data: Any, b: Any, pattern: Any, adjoint: Any) -> Any:
    """`dx = A⁻¹ (db - dA x)`, by the same factors."""
    _, ddata, db, _, _ = tangents
    x = solved(data, b, pattern, adjoint)
    step = db - product(*_read(adjoint, ddata, x, pattern))
    return x, solved(data, step, pattern, adjoint)


def _read(adjoint: bool, data: Any, x: Any, pattern: Pattern) -> Any:
    data, pattern = _turned(adjoint, pattern, data)
    return data, x, pattern


@rc.rrule.define(solved)
def solved_rrule(data: Any, b: Any, pattern: Any, adjoint: Any, *, needs: Any) -> Any:
    """`db = A⁻ᴴ dx`, and `-db xᴴ` at the stored places."""
    x = solved(data, b, pattern, adjoint)

    def solved_pullback(dx: Any) -> Any:
        none = rc.NoTangent()
        db = solved(data, dx, pattern, not adjoint)
        u, v = (x, conjugate(db)) if adjoint else (db, conjugate(x))
        ddata = -sampled(u, v, pattern) if needs[0] else none
        return none, ddata, db, none, none

    return x, solved_pullback


@final
class Factored:
    """A factorised matrix: `splu(A)`. Only its solutions have derivatives.

    >>> import numpy as np
    >>> import scipy.sparse
    >>> from rules_scipy.sparse.linalg import splu
    >>> splu(2.0 * scipy.sparse.eye_array(2)).solve(np.ones(2))
    array([0.5, 0.5])
    """

    def __init__(self, matrix: SparseArray) -> None:
        # A copy: the matrix may be written to before a solution is asked for.
        self.matrix = matrix.with_data(1 * matrix.data)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the matrix."""
        return self.matrix.shape

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """The solution of `A x = b`, `Aᵀ x = b` ("T") or `Aᴴ x = b` ("H")."""
        a = self.matrix.conj() if trans == "T" else self.matrix
        data, b = together(a.data, rhs)
        return solved(data, b, a.pattern, trans != "N")

    def __call__(self, rhs: Any) -> Any:
        """The solution of `A x = b`."""
        return self.solve(rhs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        message = (
            f"A factorised matrix of rules_scipy has no {name!r}: the factors depend "
            "on SuperLU's order of the columns, and have no derivative. Use solve()."
        )
        raise AttributeError(message)


def _square(x: Any, name: str) -> SparseArray:
    a = inexact(as_sparse(x))
    if a.shape[0] != a.shape[1]:
        message = f"{name}: the matrix must be square, but has the shape {a.shape}."
        raise ValueError(message)
    return a


def spsolve(
    A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True
) -> Any:
    """The solution `x` of `A x = b`, as `scipy.sparse.linalg.spsolve`.

    A gradient costs one further solve with the same factors. Of a singular matrix the
    result is NaN, with a warning.

    Args:
        A: The matrix: whatever `as_sparse` accepts.
        b: The right-hand side, `(n,)` or `(n, k)`, dense.
        permc_spec: As in SciPy; the result does not depend on it.
        use_umfpack: As in SciPy; the result does not depend on it.

    >>> import jax
    >>> import numpy as np
    >>> import scipy.sparse
    >>> from rules_scipy.sparse import as_sparse
    >>> from rules_scipy.sparse.linalg import spsolve
    >>> A = as_sparse(2.0 * scipy.sparse.eye_array(2))
    >>> def total(data):
    ...     return spsolve(A.with_data(data), np.ones(2)).sum()
    >>> jax.jit(jax.grad(total))(A.data).tolist()
    [-0.25, -0.25]
    """
    a = _square(A, "spsolve")
    if isinstance(b, SparseArray) or _is_sparse(b):
        message = "spsolve: b must be dense to be differentiated; use b.toarray()."
        raise TypeError(message)
    data, b = together(a.data, b)
    if b.ndim == 2 and b.shape[1] == 1:
        return solved(data, b[:, 0], a.pattern, False)
    return solved(data, b, a.pattern, False)


def _is_sparse(x: Any) -> bool:
    return is_sparse(x) or "sparse" in str(getattr(x, "layout", ""))


def splu(A: Any, **_options: Any) -> Factored:
    """The factorised matrix: its `solve` has derivatives.

    Options of SuperLU are accepted; solutions do not depend on them.
    """
    return Factored(_square(A, "splu"))


@rc.primitive
def solved_by(lu: Any, rhs: Any, trans: str = "N") -> Any:
    """`lu.solve(rhs, trans)` for SciPy's factors of a constant matrix."""
    return lu.solve(rhs, trans)


@rc.frule.define(solved_by)
def solved_by_frule(tangents: Any, lu: Any, rhs: Any, trans: str = "N") -> Any:
    return solved_by(lu, rhs, trans), solved_by(lu, tangents[2], trans)


@rc.rrule.define(solved_by)
def solved_by_rrule(lu: Any, rhs: Any, trans: str = "N") -> Any:
    def solved_by_pullback(dx: Any) -> Any:
        none = rc.NoTangent()
        if trans == "T":
            db = conjugate(solved_by(lu, conjugate(dx), "N"))
        else:
            db = solved_by(lu, dx, "N" if trans == "H" else "H")
        return none, none, db, none

    return solved_by(lu, rhs, trans), solved_by_pullback


def factorized(A: Any) -> Callable[[Any], Any]:
    """The function `b ↦ A⁻¹ b`."""
    return Factored(_square(A, "factorized"))


def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """The solution of a triangular system, as `scipy.sparse.linalg`'s.

    Entries of the other triangle are not allowed, as in SciPy.
    """
    a = _square(A, "spsolve_triangular")
    rows, columns = a.pattern.rows, a.pattern.columns
    if np.any(rows < columns if lower else rows > columns):
        message = f"A is not triangular: lower={lower}, but it has other entries."
        raise ValueError(message)
    return spsolve(_with_unit_diagonal(a) if unit_diagonal else a, b)


def _with_unit_diagonal(a: SparseArray) -> Any:
    diagonal = a.pattern.rows == a.pattern.columns
    xp = rc.array_namespace(a.data)
    n = a.shape[0]
    keep = xp.asarray(~diagonal, device=getattr(a.data, "device", None))
    eye = Pattern(np.arange(n), np.arange(n), a.shape)
    ones = xp.ones((n,), dtype=a.data.dtype)
    return a.with_data(xp.where(keep, a.data, xp.zeros_like(a.data))) + SparseArray(
        ones, eye
    )
