"""Linear systems: an equation each, solved by the same function at other orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_scipy._steps import At, declare

from ._bands import adjoint_band, band_times, hermitian_band_times
from ._matrices import (
    adjoint,
    conjugate,
    diagonal_matrix,
    diagonal_of,
    hermitian,
    symmetric,
    transposed,
    triangle,
)
from ._shapes import like, shaped

__all__ = [
    "cho_solve",
    "cho_solve_banded",
    "inv",
    "lu_solve",
    "solve",
    "solve_banded",
    "solve_triangular",
    "solveh_banded",
]

_HERMITIAN = ("pos", "positive definite", "her", "hermitian")
_SYMMETRIC = ("sym", "symmetric")


def matrix_read(a: Any, assume_a: Any, lower: Any) -> Any:
    """The matrix that SciPy reads in `a` by what it is told to assume."""
    if assume_a in _HERMITIAN:
        return hermitian(a, lower=lower)
    if assume_a in _SYMMETRIC:
        return symmetric(a, lower=lower)
    if assume_a in ("upper triangular", "lower triangular"):
        return triangle(a, lower=assume_a == "lower triangular")
    if assume_a == "diagonal":
        return diagonal_matrix(diagonal_of(a))
    if assume_a == "tridiagonal":
        xp = rc.array_namespace(a)
        return xp.tril(xp.triu(a, k=-1), k=1)
    return a


def _columns(x: Any, b: Any) -> Any:
    """One column for a vector: in a stack it would be taken for a matrix."""
    return x[..., None] if b.ndim == 1 else x


def _solved_by(solver: Any, r: Any, b: Any) -> Any:
    x = solver(_columns(r, b))
    return x[..., 0] if b.ndim == 1 else x


def _product(m: Any, x: Any, b: Any) -> Any:
    """`m @ x`, `x` being vectors or matrices as `b` is."""
    return (m @ x[..., None])[..., 0] if b.ndim == 1 else m @ x


def _solution_shape(a: Any, b: Any) -> Any:
    loop = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return shaped((*loop, *b.shape[-2:]), a, b)


# solve


def _solve_shape(a: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    return _solution_shape(a, b)


def _solve_residual(
    at: At, a: Any, b: Any, lower: Any, assume_a: Any, transposed: Any
) -> Any:
    m = matrix_read(a, assume_a, lower)
    m = rc.array_namespace(m).matrix_transpose(m) if transposed else m
    return _product(m, at.y, b) - b


def _solve_again(at: At, r: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
    a, b = at.args

    def solver(r: Any) -> Any:
        return solve(a, r, lower=lower, assume_a=assume_a, transposed=transposed)

    return _solved_by(solver, r, b)


_TURNED = {
    "upper triangular": "lower triangular",
    "lower triangular": "upper triangular",
}


def _solve_adjoint(at: At, w: Any, lower: Any, assume_a: Any, transposed: Any) -> Any:
    a, b = at.args
    if assume_a in _HERMITIAN or assume_a in _SYMMETRIC:
        own = assume_a in _HERMITIAN
        a = a if own != bool(transposed) else conjugate(a)
    elif transposed:
        a = conjugate(a)
    else:
        a, assume_a = adjoint(a), _TURNED.get(assume_a, assume_a)
    return _solved_by(lambda w: solve(a, w, lower=lower, assume_a=assume_a), w, b)


solve = declare(
    _sp.solve,
    _solve_residual,
    count=2,
    out=_solve_shape,
    solve=_solve_again,
    adjoint=_solve_adjoint,
)


def _inv_step(at: At, a: Any, assume_a: Any = None, lower: Any = False) -> Any:
    m = matrix_read(a, assume_a, lower)
    return rc.array_namespace(m).linalg.inv(m)


inv = declare(_sp.inv, _inv_step, out=like())


# triangles


def _triangular(a: Any, trans: Any, lower: Any, unit: Any) -> Any:
    m = triangle(a, lower=lower, unit=unit)
    if trans in (0, "N"):
        return m
    return transposed(m) if trans in (1, "T") else adjoint(m)


def _triangular_residual(
    at: At, a: Any, b: Any, trans: Any, lower: Any, unit_diagonal: Any
) -> Any:
    return _product(_triangular(a, trans, lower, unit_diagonal), at.y, b) - b


def _triangular_again(
    at: At, r: Any, trans: Any, lower: Any, unit_diagonal: Any
) -> Any:
    a, b = at.args
    return _solved_by(
        lambda r: solve_triangular(a, r, trans, lower, unit_diagonal), r, b
    )


def _triangular_adjoint(
    at: At, w: Any, trans: Any, lower: Any, unit_diagonal: Any
) -> Any:
    a, b = at.args
    a = conjugate(a) if trans in (1, "T") else a
    turned = 2 if trans in (0, "N") else 0
    return _solved_by(
        lambda w: solve_triangular(a, w, turned, lower, unit_diagonal), w, b
    )


solve_triangular = declare(
    _sp.solve_triangular,
    _triangular_residual,
    count=2,
    out=_solve_shape,
    solve=_triangular_again,
    adjoint=_triangular_adjoint,
)


# factors


def _pair_shape(pair: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    return _solution_shape(pair[0], b)


def _cholesky_residual(at: At, c_and_lower: Any, b: Any) -> Any:
    c, lower = c_and_lower
    m = triangle(c, lower=lower)
    m = m if lower else adjoint(m)
    return _product(m, _product(adjoint(m), at.y, b), b) - b


def _cholesky_again(at: At, r: Any) -> Any:
    pair, b = at.args
    return _solved_by(lambda r: cho_solve(pair, r), r, b)


cho_solve = declare(
    _sp.cho_solve,
    _cholesky_residual,
    count=2,
    out=_pair_shape,
    solve=_cholesky_again,
    adjoint=_cholesky_again,
)


@rc.primitive(host=True, vectorized=True)
def pivot_matrix(piv: Any) -> Any:
    """The matrix P of the row exchanges `piv`: A = Pᵀ L U."""
    piv = np.asarray(piv)
    n = piv.shape[-1]
    rows = np.broadcast_to(np.arange(n), piv.shape).copy()
    for i in range(n):
        j = piv[..., i : i + 1].astype(int)
        here, there = rows[..., i : i + 1].copy(), np.take_along_axis(rows, j, -1)
        np.put_along_axis(rows, j, here, -1)
        rows[..., i : i + 1] = there
    return (rows[..., :, None] == np.arange(n)).astype(float)


@rc.shape_rule.define(pivot_matrix)
def pivot_matrix_shape(piv: Any) -> Any:
    """Square."""
    return rc.ShapeDtype((*piv.shape, piv.shape[-1]), np.dtype(float))


rc.non_differentiable(pivot_matrix)


def pivots_like(piv: Any, lu: Any) -> Any:
    """P in the dtype of the factors."""
    xp = rc.array_namespace(lu)
    return xp.astype(pivot_matrix(piv), lu.dtype)


def _lu_residual(at: At, lu_and_piv: Any, b: Any, trans: Any) -> Any:
    lu, piv = lu_and_piv
    m = triangle(lu, lower=True, unit=True) @ triangle(lu, lower=False)
    m = transposed(pivots_like(piv, lu)) @ m
    if trans:
        m = transposed(m) if trans == 1 else adjoint(m)
    return _product(m, at.y, b) - b


def _lu_again(at: At, r: Any, trans: Any) -> Any:
    pair, b = at.args
    return _solved_by(lambda r: lu_solve(pair, r, trans), r, b)


def _lu_adjoint(at: At, w: Any, trans: Any) -> Any:
    (lu, piv), b = at.args
    lu = conjugate(lu) if trans == 1 else lu
    return _solved_by(lambda w: lu_solve((lu, piv), w, 0 if trans else 2), w, b)


lu_solve = declare(
    _sp.lu_solve,
    _lu_residual,
    count=2,
    out=_pair_shape,
    solve=_lu_again,
    adjoint=_lu_adjoint,
)


# bands


def _as_columns(b: Any) -> Any:
    return b[:, None] if b.ndim == 1 else b


def _flat(x: Any, b: Any) -> Any:
    return x[:, 0] if b.ndim == 1 else x


def _banded_shape(_l_and_u: Any, ab: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    return shaped(b.shape, ab, b)


def _banded_residual(at: At, l_and_u: Any, ab: Any, b: Any) -> Any:
    _, above = l_and_u
    return _flat(band_times(ab, above, _as_columns(at.y)), b) - b


def _banded_again(at: At, r: Any) -> Any:
    l_and_u, ab, _ = at.args
    return solve_banded(l_and_u, ab, r)


def _banded_adjoint(at: At, w: Any) -> Any:
    (below, above), ab, _ = at.args
    return solve_banded((above, below), adjoint_band(ab, above), w)


solve_banded = declare(
    _sp.solve_banded,
    _banded_residual,
    count=3,
    out=_banded_shape,
    solve=_banded_again,
    adjoint=_banded_adjoint,
)


def _hermitian_band_residual(at: At, ab: Any, b: Any, lower: Any) -> Any:
    return _flat(hermitian_band_times(ab, lower, _as_columns(at.y)), b) - b


def _hermitian_band_again(at: At, r: Any, lower: Any) -> Any:
    return solveh_banded(at.args[0], r, lower=lower)


solveh_banded = declare(
    _sp.solveh_banded,
    _hermitian_band_residual,
    count=2,
    out=like(1),
    solve=_hermitian_band_again,
    adjoint=_hermitian_band_again,
)


def _band_pair_shape(pair: Any, b: Any, *_args: Any, **_kw: Any) -> Any:
    return shaped(b.shape, pair[0], b)


def _cholesky_band_residual(at: At, cb_and_lower: Any, b: Any) -> Any:
    cb, lower = cb_and_lower
    width = cb.shape[-2] - 1
    above = 0 if lower else width
    other = adjoint_band(cb, above)
    first, second = (cb, other) if lower else (other, cb)
    x = band_times(second, width, _as_columns(at.y))
    return _flat(band_times(first, 0, x), b) - b


def _cholesky_band_again(at: At, r: Any) -> Any:
    return cho_solve_banded(at.args[0], r)


cho_solve_banded = declare(
    _sp.cho_solve_banded,
    _cholesky_band_residual,
    count=2,
    out=_band_pair_shape,
    solve=_cholesky_band_again,
    adjoint=_cholesky_band_again,
)
