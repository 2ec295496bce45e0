"""`SparseArray`: the numbers of a sparse matrix beside a constant pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

import rules_core as rc
from rules_core.extend import is_sparse
from rules_scipy._axes import concat

from ._pattern import Pattern, places_of
from ._products import conjugate, gathered, product, summed, together

__all__ = ["SparseArray", "as_sparse", "in_rows", "inexact"]


@final
class SparseArray:
    """A sparse matrix: numbers, of any framework, at constant places.

    A container of one array, `data`: its tangent has the numbers' tangent at the same
    places.

    Attributes:
        data: The stored numbers, `(nnz,)`.
        pattern: Where they stand.

    >>> import jax
    >>> import scipy.sparse
    >>> from rules_scipy.sparse import SparseArray
    >>> A = SparseArray.from_scipy(scipy.sparse.eye_array(2, format="csr"))
    >>> x = jax.numpy.asarray([3.0, 4.0])
    >>> jax.grad(lambda data: (A.with_data(data) @ x).sum())(A.data).tolist()
    [3.0, 4.0]
    """

    __slots__ = ("data", "pattern")
    __array_priority__ = 100.0
    __array_ufunc__ = None  # so that `ndarray @ A` asks this class

    def __init__(self, data: Any, pattern: Pattern) -> None:
        self.data, self.pattern = data, pattern

    @classmethod
    def from_scipy(cls, x: Any) -> SparseArray:
        """The matrix of SciPy, with its numbers in the order of its `data`.

        A vector of SciPy is a matrix of one row.
        """
        if x.format in ("dok", "lil"):
            x = x.tocoo()
        if x.format in ("csr", "csc", "coo"):
            return cls(x.data[: x.nnz], places_of(x))
        index, pattern = _listed(x)
        return cls(gathered(x.data.reshape(-1), index), pattern)

    @classmethod
    def from_dense(cls, x: Any) -> SparseArray:
        """Every entry of a dense matrix, zeros too."""
        m, n = x.shape
        rows, columns = np.divmod(np.arange(m * n), max(n, 1))
        xp = rc.array_namespace(x)
        return cls(xp.reshape(x, (-1,)), Pattern(rows, columns, (m, n)))

    def to_scipy(self) -> Any:
        """SciPy's `csr_array`; of NumPy's numbers only."""
        return self.pattern.csr(self.data)

    def with_data(self, data: Any) -> SparseArray:
        """Other numbers at the same places."""
        return SparseArray(data, self.pattern)

    def __tangent_structure__(self) -> rc.Structure:
        def build(values: Sequence[Any]) -> SparseArray:
            return SparseArray(values[0], self.pattern)

        return rc.Structure(SparseArray, "field", ["data"], [self.data], build)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape `(m, n)`."""
        return self.pattern.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return self.data.dtype

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return self.pattern.nnz

    @property
    def T(self) -> SparseArray:
        """The transpose."""
        return SparseArray(self.data, self.pattern.transposed)

    @property
    def H(self) -> SparseArray:
        """The conjugate transpose."""
        return SparseArray(conjugate(self.data), self.pattern.transposed)

    def conj(self) -> SparseArray:
        """The complex conjugate."""
        return self.with_data(conjugate(self.data))

    def toarray(self) -> Any:
        """The dense matrix."""
        m, n = self.shape
        flat = summed(self.data, self.pattern.flat, m * n)
        return rc.array_namespace(flat).reshape(flat, (m, n))

    def sum(self, axis: int | None = None) -> Any:
        """The sum of all entries, of each column (0), or of each row (1)."""
        if axis is None:
            return rc.array_namespace(self.data).sum(self.data)
        m, n = self.shape
        if axis % 2:
            return summed(self.data, self.pattern.rows, m)
        return summed(self.data, self.pattern.columns, n)

    def diagonal(self) -> Any:
        """The entries `A[i, i]`."""
        rows = self.pattern.rows
        index = np.where(rows == self.pattern.columns, rows, -1)
        return summed(self.data, index, min(self.shape))

    def merged(self) -> SparseArray:
        """One number for each place; those that stand in one place are added up."""
        pattern, place = self.pattern.merged
        return SparseArray(summed(self.data, place, pattern.nnz), pattern)

    def __neg__(self) -> SparseArray:
        return self.with_data(-self.data)

    def __add__(self, other: Any) -> SparseArray:
        if not isinstance(other, SparseArray):
            other = as_sparse(other)
        _check_shapes("+", self, other)
        one, two = self.pattern, other.pattern
        both = Pattern(
            np.concatenate([one.rows, two.rows]),
            np.concatenate([one.columns, two.columns]),
            self.shape,
        )
        pair = together(self.data, other.data)
        data = concat(list(pair))
        return SparseArray(data, both).merged()

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> SparseArray:
        """With a number, or entry by entry with a sparse or a dense matrix."""
        if isinstance(other, SparseArray) or is_sparse(other):
            return _times_sparse(self, as_sparse(other))
        if getattr(other, "ndim", 0) == 0:
            return self.with_data(self.data * other)
        data, other = together(self.data, other)
        xp = rc.array_namespace(other)
        flat = xp.reshape(xp.broadcast_to(other, self.shape), (-1,))
        return self.with_data(data * gathered(flat, self.pattern.flat))

    __rmul__ = __mul__
    multiply = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * (1.0 / other)

    def __matmul__(self, other: Any) -> Any:
        """With a dense vector or matrix, or with a sparse matrix."""
        if isinstance(other, SparseArray) or is_sparse(other):
            return _times_matrix(self, as_sparse(other))
        data, x = together(self.data, other)
        if x.ndim not in (1, 2) or x.shape[0] != self.shape[1]:
            message = f"A @ x: A has the shape {self.shape}, x the shape {x.shape}."
            raise ValueError(message)
        return product(data, x, self.pattern)

    def __rmatmul__(self, other: Any) -> Any:
        if is_sparse(other):
            return as_sparse(other) @ self
        _, x = together(self.data, other)
        return self.T @ x if x.ndim == 1 else (self.T @ x.T).T

    def __repr__(self) -> str:
        return f"SparseArray({self.data!r}, {self.pattern!r})"


def _listed(x: Any) -> tuple[Any, Pattern]:
    """Which numbers of blocks or diagonals stand inside of the matrix, and where.

    SciPy's own conversions drop diagonals' zeros; numbered entries are not zero.
    """
    numbered = x.copy()
    numbered.data = np.arange(x.data.size).reshape(x.data.shape) + 1.0
    found = numbered.tocoo()
    return found.data.astype(np.int64) - 1, places_of(found)


def as_sparse(x: Any) -> SparseArray:
    """A matrix of SciPy or JAX, a sparse tensor, or a dense matrix, as `SparseArray`.

    Args:
        x: A `SparseArray`, a SciPy matrix, a `BCOO` of JAX, or a tensor of PyTorch in
            COO or CSR layout; its places must be known, not traced. A dense matrix
            is stored with all its entries.
    """
    if isinstance(x, SparseArray):
        return x
    if is_sparse(x):
        _check_two(x)
        return SparseArray.from_scipy(x)
    if type(x).__name__ == "BCOO":
        return _from_bcoo(x)
    if hasattr(x, "layout") and "sparse" in str(x.layout):
        return _from_torch(x)
    if hasattr(x, "matvec"):
        message = (
            "A LinearOperator is a function, whose numbers are not known: derivatives "
            "of solutions need the matrix itself, sparse or dense."
        )
        raise rc.UnsupportedError(message)
    if getattr(x, "ndim", 0) == 2:
        return SparseArray.from_dense(x)
    message = f"A sparse matrix must have two dimensions, but got {type(x).__name__}."
    raise TypeError(message)


def _check_two(x: Any) -> None:
    if x.ndim != 2:
        message = (
            f"A sparse matrix must have two dimensions, but got the shape {x.shape}."
        )
        raise TypeError(message)


def in_rows(x: Any) -> SparseArray:
    """As `as_sparse`; a sparse vector as a matrix of one row."""
    return SparseArray.from_scipy(x) if is_sparse(x) else as_sparse(x)


def inexact(a: SparseArray) -> SparseArray:
    """A matrix of floating numbers: SciPy solves with these."""
    kinds = ("real floating", "complex floating")
    if rc.array_namespace(a.data).isdtype(a.data.dtype, kinds):
        return a
    return a.with_data(1.0 * a.data)


def _from_bcoo(x: Any) -> SparseArray:
    if x.n_batch or x.n_dense or x.ndim != 2:
        message = "A BCOO matrix must have two sparse dimensions, and no others."
        raise TypeError(message)
    rows, columns = np.asarray(x.indices).T
    inside = (rows < x.shape[0]) & (columns < x.shape[1])  # BCOO pads beyond them
    data = x.data if inside.all() else x.data[inside]
    return SparseArray(data, Pattern(rows[inside], columns[inside], x.shape))


def _from_torch(x: Any) -> SparseArray:
    if "csr" in str(x.layout):
        starts = x.crow_indices().cpu().numpy()
        rows = np.repeat(np.arange(x.shape[0]), np.diff(starts))
        columns = x.col_indices().cpu().numpy()
        return SparseArray(x.values(), Pattern(rows, columns, tuple(x.shape)))
    x = x.coalesce()
    rows, columns = x.indices().cpu().numpy()
    return SparseArray(x.values(), Pattern(rows, columns, tuple(x.shape)))


def _check_shapes(name: str, a: SparseArray, b: SparseArray) -> None:
    if a.shape != b.shape:
        message = f"A {name} B: the shapes are {a.shape} and {b.shape}."
        raise ValueError(message)


def _times_sparse(a: SparseArray, b: SparseArray) -> SparseArray:
    """Entry by entry, at the places that both store."""
    _check_shapes("*", a, b)
    a, b = a.merged(), b.merged()
    flat, one, two = np.intersect1d(
        a.pattern.flat, b.pattern.flat, assume_unique=True, return_indices=True
    )
    rows, columns = np.divmod(flat, max(a.shape[1], 1))
    left, right = together(a.data, b.data)
    data = gathered(left, one) * gathered(right, two)
    return SparseArray(data, Pattern(rows, columns, a.shape))


def _times_matrix(a: SparseArray, b: SparseArray) -> SparseArray:
    """The matrix product: one term for each pair of entries that meet."""
    if a.shape[1] != b.shape[0]:
        message = f"A @ B: the shapes are {a.shape} and {b.shape}."
        raise ValueError(message)
    one, two = _pairs(a.pattern.columns, b.pattern.rows, a.shape[1])
    rows, columns = a.pattern.rows[one], b.pattern.columns[two]
    pattern = Pattern(rows, columns, (a.shape[0], b.shape[1]))
    left, right = together(a.data, b.data)
    data = gathered(left, one) * gathered(right, two)
    return SparseArray(data, pattern).merged()


def _pairs(a: Any, b: Any, count: int) -> tuple[Any, Any]:
    """All pairs (i, j) with a[i] = b[j]."""
    order = np.argsort(b, kind="stable")
    counts = np.bincount(b, minlength=count)
    starts = np.cumsum(counts) - counts
    one = np.repeat(np.arange(len(a)), counts[a])
    ends = np.cumsum(counts[a])
    within = np.arange(len(one)) - np.repeat(ends - counts[a], counts[a])
    return one, order[starts[a][one] + within] if len(one) else one


rc.non_differentiable([_listed, _pairs, places_of])
