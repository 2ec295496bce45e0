"""Triangular and unitary factors: Cholesky, LU, QR, polar and Schur."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._steps import At, declare

from ._bands import band_of, full_of_band
from ._equations import solve_sylvester
from ._gauge import is_singular, nan_if, phases
from ._matrices import (
    adjoint,
    diagonal_of,
    hermitian,
    lower_part,
    real,
    solved,
    triangle,
)
from ._shapes import Shape, dtype_of, like, shaped
from ._solves import pivots_like

__all__ = [
    "cho_factor",
    "cholesky",
    "cholesky_banded",
    "lu",
    "lu_factor",
    "orthogonal_procrustes",
    "polar",
    "qr",
    "rq",
]


# Cholesky


def _factor(a: Any, lower: Any) -> Any:
    """The factor of the matrix in one triangle."""
    m = hermitian(a, lower=lower)
    low = rc.array_namespace(m).linalg.cholesky(m)
    return low if lower else adjoint(low)


def _cholesky_step(at: At, a: Any, lower: Any) -> Any:
    return _factor(a, lower)


cholesky = declare(_sp.cholesky, _cholesky_step, out=like())


def _cho_factor_step(at: At, a: Any, lower: Any) -> Any:
    return _packed(a, lower), None


def _packed(a: Any, lower: Any) -> Any:
    """The other triangle holds entries of the matrix."""
    return _factor(a, lower) + a - triangle(a, lower=lower)


def _cho_factor_shape(a: Any, lower: Any = False, *_args: Any, **_kw: Any) -> Any:
    return shaped(a.shape, a), lower


# Frameworks return arrays alone: there `cho_factor` below adds which triangle it is.
declare(_sp.cho_factor, _cho_factor_step, out=_cho_factor_shape)


def packed_factor(a: Any, lower: Any) -> Any:
    """The first result of `cho_factor`."""
    return _sp.cho_factor(a, lower)[0]


def _packed_step(at: At, a: Any, lower: Any) -> Any:
    return _packed(a, lower)


_packed_factor = declare(packed_factor, _packed_step, out=like())


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Any, bool]:
    """The Cholesky factor of `a` in one triangle, and which, for `cho_solve`.

    >>> import numpy as np
    >>> from rules_scipy.linalg import cho_factor, cho_solve
    >>> cho_solve(cho_factor(4.0 * np.eye(2)), np.ones(2))
    array([0.25, 0.25])
    """
    return _packed_factor(a, lower), lower


def _cholesky_band_step(at: At, ab: Any, lower: Any) -> Any:
    width = ab.shape[-2] - 1
    above = 0 if lower else width
    factor = _factor(full_of_band(ab, above), lower)
    # Entries outside of the matrix stay in their place.
    outside = ab - band_of(full_of_band(ab, above), above, width + 1)
    return band_of(factor, above, width + 1) + outside


cholesky_banded = declare(_sp.cholesky_banded, _cholesky_band_step, out=like())


# LU, at fixed pivots


def _lu_of(l: Any, u: Any, a: Any) -> tuple[Any, Any]:
    """The derivative of the factors l u = a, linear in `a`."""
    k = min(l.shape[-2], u.shape[-1])
    l1, u1 = l[..., :k, :], u[..., :, :k]
    inner = solved(l1, a[..., :k, :k])
    inner = _over(inner, u1)
    below, above = lower_part(inner), triangle(inner, lower=False)
    dl, du = l1 @ below, above @ u1
    if l.shape[-2] > k:
        rest = a[..., k:, :] - l[..., k:, :] @ du
        dl = concat([dl, _over(rest, u1)], -2)
    if u.shape[-1] > k:
        rest = a[..., :, k:] - dl @ u[..., :, k:]
        du = concat([du, solved(l1, rest)], -1)
    return dl, du


def _over(m: Any, u: Any) -> Any:
    """m u⁻¹."""
    return adjoint(solved(adjoint(u), adjoint(m)))


def _lu_factor_step(at: At, a: Any) -> Any:
    lu, piv = at.y
    m, n = lu.shape[-2:]
    k = min(m, n)
    xp = rc.array_namespace(lu)
    l = xp.tril(lu[..., :, :k], k=-1)
    l = l + _wide_identity(l, m, k)
    u = xp.triu(lu[..., :k, :])
    dl, du = _lu_of(l, u, row_exchange(piv, m, lu) @ a)
    if m > k:
        du = concat([du, xp.zeros_like(lu[..., k:, :])], -2)
    if n > k:
        dl = concat([dl, xp.zeros_like(lu[..., :, k:])], -1)
    return dl + du, None


def _wide_identity(like: Any, m: int, k: int) -> Any:
    from array_api_compat import device

    xp = rc.array_namespace(like)
    return xp.eye(m, k, dtype=like.dtype, device=device(like))


def row_exchange(piv: Any, m: int, like: Any) -> Any:
    """P of the exchanges of `m` rows, of which there are perhaps fewer."""
    xp = rc.array_namespace(like)
    count = piv.shape[-1]
    if count < m:
        rest = xp.astype(xp.arange(count, m), piv.dtype)
        rest = xp.broadcast_to(rest, (*piv.shape[:-1], m - count))
        piv = concat([piv, rest], -1)
    return pivots_like(piv, like)


def _lu_factor_shape(a: Any, *_args: Any, **_kw: Any) -> Any:
    m, n = a.shape[-2:]
    pivots = (*a.shape[:-2], min(m, n))
    return shaped(a.shape, a), Shape(pivots, np.dtype(np.int32))


lu_factor = declare(_sp.lu_factor, _lu_factor_step, out=_lu_factor_shape)


def _lu_step(at: At, a: Any, permute_l: Any, p_indices: Any) -> Any:
    if permute_l:
        low, u = at.y
        # The unit triangle: rows in the order of the pivots of the product.
        p = _rows_of_factor(low)
        dl, du = _lu_of(p @ low, u, p @ a)
        return rc.array_namespace(p).matrix_transpose(p) @ dl, du
    p, low, u = at.y
    xp = rc.array_namespace(p)
    m = _chosen_rows(p, low) if p_indices else xp.astype(p, low.dtype)
    m = rc.ignore_derivatives(m)
    dl, du = _lu_of(low, u, xp.matrix_transpose(m) @ a)
    return None, dl, du


def _chosen_rows(p: Any, like: Any) -> Any:
    """The matrix of `a = l[p] @ u`."""
    xp = rc.array_namespace(p)
    n = p.shape[-1]
    return xp.astype(p[..., :, None] == xp.arange(n), like.dtype)


@rc.primitive(host=True)
def _rows_of_factor(low: Any) -> Any:
    """The permutation that makes a factor with exchanged rows triangular."""
    low = np.asarray(low)
    m, k = low.shape[-2:]
    flat, found = low.reshape(-1, m, k), []
    for part in flat:
        left, order = list(range(m)), []
        for j in range(k):
            row = next(
                i for i in left if part[i, j] == 1 and not part[i, j + 1 :].any()
            )
            order.append(row)
            left.remove(row)
        found.append(np.eye(m)[[*order, *left]])
    return np.reshape(found, (*low.shape[:-1], m)).astype(low.dtype)


@rc.shape_rule.define(_rows_of_factor)
def rows_of_factor_shape(low: Any) -> Any:
    """Square."""
    return Shape((*low.shape[:-1], low.shape[-2]), low.dtype)


rc.non_differentiable(_rows_of_factor)


def _lu_shape(
    a: Any,
    permute_l: Any = False,
    overwrite_a: Any = False,
    check_finite: Any = True,
    p_indices: Any = False,
) -> Any:
    *loop, m, n = a.shape
    k, dtype = min(m, n), dtype_of(a)
    factors = Shape((*loop, m, k), dtype), Shape((*loop, k, n), dtype)
    if permute_l:
        return factors
    rows = Shape((*loop, m), np.dtype(np.int32))
    square = Shape((*loop, m, m), np.zeros((), dtype).real.dtype)
    return (rows if p_indices else square), *factors


def _lu_fixed(y: Any) -> tuple[int, ...]:
    return (0,) if len(y) == 3 else ()


lu = declare(_sp.lu, _lu_step, out=_lu_shape, fixed=_lu_fixed)


# QR


def _columns_in_order(a: Any, y: Any, pivoting: Any) -> Any:
    """The matrix that is factored."""
    if not pivoting:
        return a
    xp = rc.array_namespace(a)
    order = _chosen_rows(y[-1], a)
    return a @ xp.matrix_transpose(order)


_QR = (
    "the derivative of scipy.linalg.{name} must be wanted of what the matrix "
    "determines, but got {what}. Use mode='economic'."
)


_LOW_RANK = (
    "the derivative of scipy.linalg.qr must be taken where the first columns are "
    "independent, but got dependent ones, whose factors are not determined."
)


def _reduced_qr(a: Any, q: Any) -> tuple[Any, Any]:
    """Q and R of LAPACK's signs, those of the first columns of `q`."""
    xp = rc.array_namespace(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    first = a[..., :, :k]
    first = nan_if(is_singular(first), first, _LOW_RANK)
    own, r = xp.linalg.qr(first)
    factor = phases(own, q[..., :, :k])
    own, r = own * factor, rc.array_namespace(factor).conj(factor[..., 0, :, None]) * r
    if n > k:
        r = concat([r, adjoint(own) @ a[..., :, k:]], -1)
    return own, r


def _qr_step(at: At, a: Any, mode: Any, pivoting: Any) -> Any:
    if mode == "raw":
        raise rc.UnsupportedError(_QR.format(name="qr", what="mode='raw'"))
    m, n = a.shape[-2:]
    ordered = _columns_in_order(a, at.y, pivoting)
    if mode == "r":
        fixed = rc.ignore_derivatives(_columns_in_order(at.args[0], at.y, pivoting))
        q = _q_of(fixed, at.y[0])
    else:
        q = at.y[0]
    own, r = _reduced_qr(ordered, q)
    if m > n and mode != "economic":
        xp = rc.array_namespace(a)
        rest = xp.zeros((*r.shape[:-2], m - n, n), dtype=r.dtype)
        r = concat([r, rest], -2)
        own = _refused_q
    results = (r,) if mode == "r" else (own, r)
    return (*results, None) if pivoting else results


def _q_of(a: Any, r: Any) -> Any:
    k = min(a.shape[-2:])
    return _over(a[..., :, :k], r[..., :k, :k])


def _refused_q() -> Any:
    raise rc.UnsupportedError(
        _QR.format(name="qr", what="columns of Q after the last one of the matrix")
    )


def _qr_shape(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: Any = False,
    check_finite: Any = True,
) -> Any:
    *loop, m, n = a.shape
    k = min(m, n) if mode == "economic" else m
    dtype = dtype_of(a)
    r = Shape((*loop, k, n), dtype)
    results = (r,) if mode == "r" else (Shape((*loop, m, k), dtype), r)
    order = Shape((*loop, n), np.dtype(np.int32))
    if mode == "raw":
        raise rc.UnsupportedError(_QR.format(name="qr", what="mode='raw'"))
    return (*results, order) if pivoting else results


qr = declare(_sp.qr, _qr_step, out=_qr_shape)


def _turned(a: Any) -> Any:
    """The matrix whose QR factors are the RQ factors, in the same order reversed."""
    xp = rc.array_namespace(a)
    return adjoint(xp.flip(a, axis=-2))


def _turned_back(m: Any) -> Any:
    xp = rc.array_namespace(m)
    return xp.flip(adjoint(m), axis=(-2, -1))


def _rq_step(at: At, a: Any, mode: Any) -> Any:
    m, n = a.shape[-2:]
    xp = rc.array_namespace(a)
    if m > n:
        message = (
            "the derivative of scipy.linalg.rq must be taken of a matrix with no more "
            f"rows than columns, but got {m} rows and {n} columns. Use scipy.linalg.qr."
        )
        raise rc.UnsupportedError(message)
    if mode == "r":
        r0 = at.y[..., :, -m:]
        q0 = solved(r0, at.args[0])
    else:
        q0 = at.y[1][..., -m:, :]
    own, r = _reduced_qr(_turned(a), _turned(q0))
    r, q = _turned_back(r), xp.flip(adjoint(own), axis=-2)
    if n > m and mode != "economic":
        zeros = xp.zeros((*r.shape[:-2], m, n - m), dtype=r.dtype)
        r, q = concat([zeros, r], -1), _refused_rq
    return r if mode == "r" else (r, q)


def _refused_rq() -> Any:
    raise rc.UnsupportedError(
        _QR.format(name="rq", what="rows of Q before the first one of the matrix")
    )


def _rq_shape(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = None,
    mode: Any = "full",
    check_finite: Any = True,
) -> Any:
    *loop, m, n = a.shape
    k = min(m, n) if mode == "economic" else n
    r = shaped((*loop, m, k), a)
    return r if mode == "r" else (r, shaped((*loop, k, n), a))


rq = declare(_sp.rq, _rq_step, out=_rq_shape)


# Polar


_RANK = (
    "the derivative of scipy.linalg.{} must be taken at a matrix of full rank, but got "
    "one of lower rank, whose factors are not determined."
)


def _polar_step(at: At, a: Any, side: Any) -> Any:
    """dU = U W + (1 - U Uᴴ) dA P⁻¹, where P W + W P is the skew part of Uᴴ dA."""
    u, p = at.y
    m, n = a.shape[-2:]
    a = nan_if(is_singular(at.args[0]), a, _RANK.format("polar"))
    if m < n:
        own = p if side == "left" else u @ p @ adjoint(u)
        turned, change = _polar_right(adjoint(u), own, adjoint(a))
        first, other = adjoint(turned), adjoint(u)
    else:
        own = p if side == "right" else adjoint(u) @ p @ u
        first, change = _polar_right(u, own, a)
        turned, other = first, u
    if (side == "left") == (m < n):
        return first, change
    part = turned @ own @ adjoint(other)
    return first, part + adjoint(part) + other @ change @ adjoint(other)


def _polar_right(u: Any, p: Any, a: Any) -> tuple[Any, Any]:
    inner = adjoint(u) @ a
    turn = solve_sylvester(p, p, inner - adjoint(inner))
    outside = _over(a - u @ inner, p)
    return u @ turn + outside, inner - turn @ p


def _polar_shape(a: Any, side: Any = "right") -> Any:
    *batch, m, n = a.shape
    k = n if side == "right" else m
    return shaped((*batch, m, n), a), shaped((*batch, k, k), a)


polar = declare(_sp.polar, _polar_step, out=_polar_shape)


def _procrustes_step(at: At, A: Any, B: Any, check_finite: Any) -> Any:
    """The polar factor of Aᴴ B, and the trace of the other one."""
    u, p = polar(adjoint(A) @ B)
    xp = rc.array_namespace(A)
    return u, xp.sum(real(diagonal_of(p)), axis=-1)


def _procrustes_shape(A: Any, B: Any, *_args: Any, **_kw: Any) -> Any:
    dtype = dtype_of(A, B)
    n = A.shape[-1]
    return Shape((n, n), dtype), Shape((), np.zeros((), dtype).real.dtype)


orthogonal_procrustes = declare(
    _sp.orthogonal_procrustes, _procrustes_step, count=2, out=_procrustes_shape
)
