"""Matrices of B-splines' values: banded, of normal equations, and sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.linalg import solve_banded

from ._arrays import arrays, beside, is_numpy, wrapped
from ._basis import basis, knot_interval

__all__ = ["banded", "bands_of_normal", "scattered", "solved", "sparse_design"]


def banded(rows: list[Any], first: Any, k: int) -> Any:
    """The bands of a matrix whose row r has `rows[a][r]` in column `first[r] + a`.

    Entry (r, j) stands in `ab[k + r - j, j]`, as in SciPy, for |r - j| <= k.

    Args:
        rows: The k + 1 entries of each row, `(n,)` each.
        first: The column of the first, `(n,)`.
        k: The number of bands on each side.
    """
    xp = rc.array_namespace(rows[0])
    n = first.shape[0]
    table = xp.stack(rows)
    column = xp.arange(n, device=getattr(first, "device", None))
    bands = []
    for d in range(-k, k + 1):
        r = column + d
        inside = (r >= 0) & (r < n)
        r = xp.clip(r, 0, n - 1)
        a = column - first[r]
        inside = inside & (a >= 0) & (a <= k)
        entry = table[xp.clip(a, 0, k), r]
        bands.append(xp.where(inside, entry, xp.zeros_like(entry)))
    return xp.stack(bands)


def solved(ab: Any, b: Any, k: int) -> Any:
    """The solution of a banded system with `k` bands on each side."""
    xp = rc.array_namespace(ab, b)
    flat = xp.reshape(b, (b.shape[0], -1))
    if not is_numpy(ab, flat) and ab.dtype != flat.dtype:
        ab = xp.astype(ab, flat.dtype)
    return xp.reshape(solve_banded((k, k), ab, flat), b.shape)


def _scattered(terms: Any, index: Any, count: int) -> Any:
    if is_numpy(terms):
        total = np.zeros((count, *terms.shape[1:]), terms.dtype)
        np.add.at(total, index, terms)
        return total
    xp = rc.array_namespace(terms)
    shape = (count, *terms.shape[1:])
    total = xp.zeros(shape, dtype=terms.dtype, device=getattr(terms, "device", None))
    if hasattr(terms, "index_add"):
        return total.index_add(0, index, terms)
    return total.at[index].add(terms)


# Sums of the rows of `terms` that have one index, `(count, ...)`.
scattered: rc.Primitive = rc.primitive(_scattered, static_argnames="count")


@rc.frule.define(scattered)
def _scattered_frule(tangents: Any, terms: Any, index: Any, count: Any) -> Any:
    """Linear in the terms."""
    dterms = tangents[1]
    if isinstance(dterms, rc.AbstractZero):
        return scattered(terms, index, count), dterms
    return scattered(terms, index, count), scattered(dterms, index, count)


@rc.rrule.define(scattered)
def _scattered_rrule(terms: Any, index: Any, count: Any) -> Any:
    """Each term gets the cotangent of its sum."""

    def scattered_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        return none, dy[index], none, none

    return scattered(terms, index, count), scattered_pullback


def bands_of_normal(rows: list[Any], first: Any, count: int, k: int) -> Any:
    """The bands of Aᵀ A for a matrix A as in `banded`, of `count` columns."""
    xp = rc.array_namespace(rows[0])
    upper = []
    for d in range(k + 1):
        # Entry (j, j + d), in column j.
        terms = xp.stack([rows[a] * rows[a + d] for a in range(k + 1 - d)])
        places = xp.stack([first + a for a in range(k + 1 - d)])
        flat = xp.reshape(terms, (-1,)), xp.reshape(places, (-1,))
        upper.append(scattered(*flat, count))
    bands = []
    for d in range(k, 0, -1):
        none = xp.zeros_like(upper[d][:d])
        bands.append(concat([none, upper[d][: count - d]]))
    return xp.stack([*bands, *upper])


def transposed_product(rows: list[Any], first: Any, y: Any, count: int) -> Any:
    """Aᵀ y."""
    terms = [beside(w, len(y.shape)) * y for w in rows]
    total = [scattered(term, first + a, count) for a, term in enumerate(terms)]
    return sum(total[1:], total[0])


def product(rows: list[Any], first: Any, c: Any) -> Any:
    """A c."""
    terms = [beside(w, len(c.shape)) * c[first + a] for a, w in enumerate(rows)]
    return sum(terms[1:], terms[0])


def sparse_design(x: Any, t: Any, k: int, extrapolate: Any) -> Any:
    """The values of the splines at `x` as a sparse matrix."""
    x, t = arrays(x, t)
    xp = rc.array_namespace(x, t)
    count = t.shape[0] - k - 1
    if extrapolate == "periodic":
        x = wrapped(x, t[k], t[count])
    i = knot_interval(t, x, k, count)
    data = xp.reshape(xp.stack(basis(t, x, i, k), axis=1), (-1,))
    n = x.shape[0]
    if is_numpy(data):
        return scipy.sparse.csr_array((data, *_places(i, k)), shape=(n, count))
    from rules_scipy.sparse import Pattern, SparseArray

    columns, _ = _places(np.asarray(i), k)
    rows = np.repeat(np.arange(n), k + 1)
    return SparseArray(data, Pattern(rows, columns, (n, count)))


def _places(i: Any, k: int) -> tuple[Any, Any]:
    columns = (i[:, None] - k + np.arange(k + 1)).ravel().astype(np.int32)
    starts = np.arange(0, (len(i) + 1) * (k + 1), k + 1, dtype=np.int32)
    return columns, starts


rc.non_differentiable(_places)
