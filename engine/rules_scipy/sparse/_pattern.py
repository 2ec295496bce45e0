"""Places of the stored entries of a sparse matrix, without its numbers."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse

import rules_core as rc

__all__ = ["Pattern", "places_of"]


@final
class Pattern:
    """Rows and columns of the stored entries, in their order; a constant of a program.

    Entries may stand in any order, and several times in one place: they add up.

    Attributes:
        rows: The row of each entry, `(nnz,)`.
        columns: The column of each entry, `(nnz,)`.
        shape: The shape `(m, n)` of the matrix.

    >>> pattern = Pattern([0, 1, 1], [0, 0, 1], (2, 2))
    >>> pattern.csr(np.array([1.0, 2.0, 3.0])).toarray()
    array([[1., 0.],
           [2., 3.]])
    """

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.rows = np.asarray(rows, np.int64)
        self.columns = np.asarray(columns, np.int64)
        m, n = (int(length) for length in shape)
        self.shape = (m, n)
        if self.rows.shape != self.columns.shape or self.rows.ndim != 1:
            message = (
                "Pattern: rows and columns must be vectors of one length, but have the "
                f"shapes {self.rows.shape} and {self.columns.shape}."
            )
            raise ValueError(message)
        if self.nnz and not (
            0 <= self.rows.min() <= self.rows.max() < m
            and 0 <= self.columns.min() <= self.columns.max() < n
        ):
            message = f"Pattern: an entry lies outside of the shape {self.shape}."
            raise ValueError(message)

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return len(self.rows)

    @cached_property
    def transposed(self) -> Pattern:
        """The pattern of the transpose, its entries in the same order."""
        found = Pattern(self.columns, self.rows, self.shape[::-1])
        found.__dict__["transposed"] = self
        return found

    @cached_property
    def flat(self) -> Any:
        """Each entry's position in the matrix read row by row."""
        return self.rows * self.shape[1] + self.columns

    @cached_property
    def merged(self) -> tuple[Pattern, Any]:
        """The pattern with one entry for each place, sorted; each entry's new place."""
        flat, place = np.unique(self.flat, return_inverse=True)
        rows, columns = np.divmod(flat, max(self.shape[1], 1))
        return Pattern(rows, columns, self.shape), place.reshape(-1)

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether the transpose has entries in the same places."""
        own, other = self.flat, self.transposed.flat
        return self.shape[0] == self.shape[1] and np.array_equal(
            np.unique(own), np.unique(other)
        )

    @cached_property
    def _compressed(self) -> tuple[Any, Any, Any]:
        order = np.argsort(self.rows, kind="stable")
        counts = np.bincount(self.rows, minlength=self.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        small = max(self.nnz, *self.shape) < np.iinfo(np.int32).max
        kind = np.int32 if small else np.int64
        in_order = bool(np.all(order[1:] >= order[:-1]))
        columns = self.columns[order].astype(kind)
        return columns, starts.astype(kind), None if in_order else order

    def csr(self, data: Any) -> Any:
        """SciPy's matrix with these entries."""
        columns, starts, order = self._compressed
        data = np.asarray(data) if order is None else np.asarray(data)[order]
        return scipy.sparse.csr_array((data, columns, starts), shape=self.shape)

    @cached_property
    def _key(self) -> Any:
        digest = hashlib.blake2b(self.rows.tobytes())
        digest.update(self.columns.tobytes())
        return (self.shape, digest.digest())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Pattern) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __tangent_structure__(self) -> None:
        """A pattern has no numbers with a derivative."""

    def __repr__(self) -> str:
        return f"Pattern({self.shape[0]}x{self.shape[1]}, {self.nnz} entries)"


def places_of(x: Any) -> Pattern:
    """The pattern of a SciPy matrix: an entry for each number in its `data`.

    Of a matrix in diagonals numbers outside of the matrix have no place: an error. A
    vector is a matrix of one row.
    """
    if x.ndim == 1:
        columns = x.coords[0] if x.format == "coo" else x.indices[: x.indptr[-1]]
        return Pattern(np.zeros(len(columns)), columns, (1, *x.shape))
    if x.ndim > 2:
        message = (
            f"a sparse array of {x.ndim} dimensions has no rule. Use reshape to two "
            "dimensions before it has numbers with a derivative."
        )
        raise rc.UnsupportedError(message)
    rows, columns = _coordinates(x)
    return Pattern(rows, columns, x.shape)


def _coordinates(x: Any) -> Any:
    if x.format == "coo":
        return x.coords
    if x.format in ("csr", "csc"):
        counts = np.diff(x.indptr)
        long = np.repeat(np.arange(len(counts)), counts)
        short = x.indices[: x.indptr[-1]]
        return (long, short) if x.format == "csr" else (short, long)
    message = f"a matrix of format {x.format!r} must be converted by tocsr or tocoo."
    raise TypeError(message)
