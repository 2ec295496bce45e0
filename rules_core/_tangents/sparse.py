"""SciPy's sparse matrices: points of the space of matrices with one pattern.

SciPy is used only if it is already imported.
"""

from __future__ import annotations

import sys
from typing import Any, final

__all__ = ["Pattern", "is_sparse", "is_sparse_class", "zero_sparse"]


def is_sparse(x: object) -> bool:
    """Whether `x` is a SciPy sparse array or matrix."""
    return is_sparse_class(type(x))


def is_sparse_class(cls: Any) -> bool:
    """Whether `cls` is a class of SciPy's sparse arrays or matrices."""
    module = sys.modules.get("scipy.sparse")
    # By class, not by SciPy's `issparse`: engines differentiate this code at higher
    # orders.
    if module is None or not isinstance(cls, type):
        return False
    return issubclass(cls, (module.sparray, module.spmatrix))


@final
class Pattern:
    """A sparse matrix without its numbers: format, shape, and the place of each number.

    The numbers keep the layout that they have in `data`: places may stand in any order,
    and several times. Formats of Python lists have the layout of `tocsr()`.
    """

    __slots__ = ("columns", "convert", "empty", "inside", "rows", "shape", "size")

    def __init__(self, x: Any) -> None:
        numpy = sys.modules["numpy"]
        listed = not _has_layout(x)
        self.convert = type(x) if listed else None
        x = x.tocsr() if listed else x
        self.empty, self.shape = _copy_of(x, numpy.zeros(0, x.dtype)), x.shape
        self.size = x.data.shape
        rows, columns = _places(numpy, x)
        inside = (rows >= 0) & (rows < x.shape[0]) & (columns < x.shape[-1])
        self.inside = None if inside.all() else inside.reshape(self.size)
        self.rows, self.columns = (numpy.where(inside, i, 0) for i in (rows, columns))

    def take(self, x: Any) -> Any:
        """The entries of a dense or sparse matrix, in the layout of `data`."""
        numpy = sys.modules["numpy"]
        if is_sparse(x):
            if self._is_own(x):
                return numpy.asarray(x.data)
            x = x.tocsr()
        where = (self.rows, self.columns) if len(self.shape) > 1 else self.columns
        entries = numpy.asarray(x[where]).reshape(self.size)
        return entries if self.inside is None else entries * self.inside

    def put(self, entries: Any) -> Any:
        """The sparse matrix with these entries, in the layout of `data`."""
        found = _copy_of(self.empty, entries)
        return found if self.convert is None else self.convert(found)

    def _is_own(self, x: Any) -> bool:
        """Whether a matrix has this layout."""
        if x.format != self.empty.format or not _has_layout(x):
            return False
        if x.data.shape != self.size:
            return False
        equal = sys.modules["numpy"].array_equal
        pairs = zip(_indices(x), _indices(self.empty), strict=True)
        return all(a is b or equal(a, b) for a, b in pairs)


def _has_layout(x: Any) -> bool:
    return x.format in ("csr", "csc", "coo", "dia", "bsr")


def _copy_of(x: Any, data: Any) -> Any:
    """A matrix at the same places; its indices are shared."""
    found = object.__new__(type(x))
    vars(found).update(vars(x))
    found.data = data
    return found


def _indices(x: Any) -> tuple[Any, ...]:
    if x.format == "coo":
        return tuple(x.coords)
    return (x.offsets,) if x.format == "dia" else (x.indptr, x.indices)


def _places(numpy: Any, x: Any) -> Any:
    """The row and the column of each number in `data`, read in its order."""
    if x.format == "coo":
        coords = x.coords
        return (coords[-2] if len(coords) > 1 else coords[-1] * 0), coords[-1]
    if x.format == "dia":
        columns = numpy.broadcast_to(numpy.arange(x.data.shape[1]), x.data.shape)
        return (columns - x.offsets[:, None]).reshape(-1), columns.reshape(-1)
    counts = numpy.diff(x.indptr)
    long = numpy.repeat(numpy.arange(len(counts)), counts)
    spare = numpy.full(len(x.indices) - len(long), -1)  # beyond what is in use
    long, short = numpy.concatenate([long, spare]), x.indices
    if x.format == "bsr":
        return _of_blocks(numpy, long, short, x.blocksize)
    if x.ndim == 1:
        return long, short
    # A place beyond what is in use is outside, also of a matrix by columns.
    if x.format == "csr":
        return long, short
    return numpy.where(long < 0, -1, short), long


def _of_blocks(numpy: Any, long: Any, short: Any, size: tuple[int, int]) -> Any:
    height, width = size
    inner = numpy.indices((height, width))
    rows = long[:, None, None] * height + inner[0]
    columns = short[:, None, None] * width + inner[1]
    return rows.reshape(-1), columns.reshape(-1)


def zero_sparse(x: Any) -> Any:
    """A sparse matrix of zeros with the layout of `x`."""
    pattern = Pattern(x)
    return pattern.put(sys.modules["numpy"].zeros(pattern.size, x.dtype))
