"""Products with a sparse matrix given by its entries, and sums over its entries.

`product` and `sampled` are bilinear, `gathered` and `summed` linear; each is the
adjoint of another one, so that derivatives of every order are made of these four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat

from ._pattern import Pattern

__all__ = ["conjugate", "gathered", "product", "sampled", "summed", "together"]


def conjugate(x: Any) -> Any:
    """Complex conjugate; real numbers as they are."""
    xp = rc.array_namespace(x)
    return xp.conj(x) if xp.isdtype(x.dtype, "complex floating") else x


def together(*xs: Any) -> tuple[Any, ...]:
    """Arrays of one framework: NumPy's beside a framework's are converted."""
    xp = rc.array_namespace(*xs)
    return tuple([xp.asarray(x) if isinstance(x, _PLAIN) else x for x in xs])


_PLAIN = (np.ndarray, np.generic, list, tuple, float, int, complex)


def _is_numpy(*xs: Any) -> bool:
    return all(isinstance(x, np.ndarray | np.generic) for x in xs)


def _zeros(terms: Any, shape: tuple[int, ...]) -> Any:
    xp = rc.array_namespace(terms)
    return xp.zeros(shape, dtype=terms.dtype, device=getattr(terms, "device", None))


def _sum_rows(terms: Any, rows: Any, count: int) -> Any:
    """Sums of those `terms` that belong to one row, `(count, ...)`."""
    shape = (count, *terms.shape[1:])
    if hasattr(terms, "index_add"):
        xp = rc.array_namespace(terms)
        total = xp.zeros(shape, dtype=terms.dtype, device=terms.device)
        return total.index_add(0, xp.asarray(rows, device=terms.device), terms)
    xp = rc.array_namespace(terms)
    return xp.zeros(shape, dtype=terms.dtype).at[rows].add(terms)


def _rows(x: Any, rows: Any) -> Any:
    xp = rc.array_namespace(x)
    if hasattr(x, "index_select"):
        return x.index_select(0, xp.asarray(rows, device=x.device))
    return x[rows]


def _beside(data: Any, x: Any) -> Any:
    """The entries as a column, beside the rows of a matrix."""
    return data if x.ndim == 1 else data[:, None]


@rc.primitive(static_argnames="pattern")
def product(data: Any, x: Any, pattern: Pattern) -> Any:
    """`A @ x` for the matrix with these entries; `x` has shape `(n,)` or `(n, k)`."""
    if _is_numpy(data, x):
        return pattern.csr(data) @ x
    terms = _beside(data, x) * _rows(x, pattern.columns)
    return _sum_rows(terms, pattern.rows, pattern.shape[0])


@rc.frule.define(product)
def product_frule(tangents: Any, data: Any, x: Any, pattern: Any) -> Any:
    """By the product rule."""
    _, ddata, dx, _ = tangents
    return product(data, x, pattern), _bilinear(
        product, (data, x), (ddata, dx), pattern
    )


def _bilinear(f: Any, at: Any, along: Any, pattern: Any) -> Any:
    """f(da, b) + f(a, db); whole numbers have no tangent."""
    (a, b), (da, db) = at, along
    parts = [
        f(*pair, pattern)
        for pair in ((da, b), (a, db))
        if not any(isinstance(x, rc.AbstractZero) for x in pair)
    ]
    return sum(parts[1:], parts[0]) if parts else rc.ZeroTangent()


@rc.rrule.define(product)
def product_rrule(data: Any, x: Any, pattern: Any, *, needs: Any) -> Any:
    """A product with the adjoint, and products of rows at the stored places."""

    def product_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        ddata = sampled(dy, conjugate(x), pattern) if needs[0] else none
        back = pattern.transposed
        dx = product(conjugate(data), dy, back) if needs[1] else none
        return none, ddata, dx, none

    return product(data, x, pattern), product_pullback


@rc.primitive(static_argnames="pattern")
def sampled(u: Any, v: Any, pattern: Pattern) -> Any:
    """The entries of `u @ v.T` at the stored places, `(nnz,)`."""
    terms = _rows(u, pattern.rows) * _rows(v, pattern.columns)
    return terms if u.ndim == 1 else terms.sum(-1)


@rc.frule.define(sampled)
def sampled_frule(tangents: Any, u: Any, v: Any, pattern: Any) -> Any:
    """By the product rule."""
    _, du, dv, _ = tangents
    return sampled(u, v, pattern), _bilinear(sampled, (u, v), (du, dv), pattern)


@rc.rrule.define(sampled)
def sampled_rrule(u: Any, v: Any, pattern: Any, *, needs: Any) -> Any:
    """Products with the matrix of the cotangent's entries."""

    def sampled_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        du = product(dy, conjugate(v), pattern) if needs[0] else none
        dv = product(dy, conjugate(u), pattern.transposed) if needs[1] else none
        return none, du, dv, none

    return sampled(u, v, pattern), sampled_pullback


class Places:
    """Whole numbers that are constants of a program; negative ones stand for zero."""

    def __init__(self, index: Any) -> None:
        self.index = np.asarray(index, np.int64)
        self.gaps = bool(self.index.size and self.index.min() < 0)

    def __hash__(self) -> int:
        return hash(self.index.tobytes())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Places) and np.array_equal(self.index, other.index)

    def __tangent_structure__(self) -> None:
        """Places have no derivative."""


def gathered(x: Any, index: Any) -> Any:
    """The entries of a vector with these numbers, zero for a negative one."""
    return _gathered(x, Places(index), x.shape[0])


def summed(x: Any, index: Any, count: int) -> Any:
    """Sums of the entries of a vector that have one number, `(count,)`."""
    return _summed(x, Places(index), count)


@rc.primitive(static_argnames=("places", "count"))
def _gathered(x: Any, places: Places, count: int) -> Any:
    if not places.gaps:
        return _rows(x, places.index)
    return _rows(_padded(x), np.where(places.index < 0, count, places.index))


def _padded(x: Any) -> Any:
    return concat([x, _zeros(x, (1,))])


@rc.primitive(static_argnames=("places", "count"))
def _summed(x: Any, places: Places, count: int) -> Any:
    index = np.where(places.index < 0, count, places.index)
    if _is_numpy(x):
        total = np.zeros(count + 1, x.dtype)
        np.add.at(total, index, x)
        return total[:count]
    return _sum_rows(x, index, count + 1)[:count]


def _gathered_adjoint(dy: Any, _x: Any, places: Any, count: Any) -> Any:
    return _summed(dy, places, count)


def _summed_adjoint(dy: Any, x: Any, places: Any, count: Any) -> Any:
    return _gathered(dy, places, count)


rc.linear_rule(_gathered, _gathered_adjoint, 0)
rc.linear_rule(_summed, _summed_adjoint, 0)
rc.non_differentiable([Places, Pattern])
