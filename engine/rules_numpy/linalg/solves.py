"""Inverses, linear systems, determinants, pseudo-inverses and least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative

from .decompositions import fold, unfold
from .products import adjoint

__all__ = ["cofactor"]


def _chain(a: Any, b: Any, c: Any) -> Any:
    return np.matmul(np.matmul(a, b), c)


@derivative(np.linalg.inv)
def inv_derivative(y: Any, a: Any) -> Any:
    """d a⁻¹ = -a⁻¹ da a⁻¹."""
    yh = adjoint(y)

    def inv_pushforward(da: Any) -> Any:
        return -_chain(y, da, y)

    def inv_pullback(dy: Any) -> Any:
        return -_chain(yh, dy, yh)

    return inv_pushforward, inv_pullback


@derivative(np.linalg.solve, argnums=(0, 1))
def solve_derivative(y: Any, a: Any, b: Any) -> Any:
    """d y = a⁻¹ (db - da y)."""
    vector = b.ndim == 1

    def solved(m: Any, right: Any) -> Any:
        if not vector:
            return np.linalg.solve(m, right)
        return np.linalg.solve(m, np.expand_dims(right, -1))[..., 0]

    def to_a(da: Any) -> Any:
        moved = np.expand_dims(y, -1) if vector else y
        change = np.linalg.solve(a, np.matmul(da, moved))
        return -(change[..., 0] if vector else change)

    def to_b(db: Any) -> Any:
        return np.linalg.solve(a, db)

    def from_b(dy: Any) -> Any:
        return solved(adjoint(a), dy)

    def from_a(dy: Any) -> Any:
        db = from_b(dy)
        if vector:
            return -np.expand_dims(db, -1) * np.expand_dims(np.conjugate(y), -2)
        return -np.matmul(db, adjoint(y))

    return (to_a, from_a), (to_b, from_b)


@rc.primitive(host=True)
def cofactor(a: Any) -> Any:
    """The matrix of cofactors, det(a) a⁻ᵀ continued to singular matrices.

    With a = U S Vᴴ it is det(U) det(Vᴴ) (V Ŝ Uᴴ)ᵀ where each entry of Ŝ is the product
    of the other singular values.
    """
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = [np.prod(np.delete(s, i, axis=-1), axis=-1) for i in range(n)]
    scale = np.linalg.det(u) * np.linalg.det(vh)
    rest = np.stack(others, axis=-1) if n else s  # the determinant of nothing is 1
    middle = np.conjugate(u) * np.expand_dims(rest, -2)
    return scale[..., None, None] * np.matmul(middle, np.conjugate(vh))


@rc.shape_rule.define(cofactor)
def cofactor_shape(a: Any) -> Any:
    """As the matrix."""
    return a


@rc.batch_rule.define(cofactor)
def cofactor_batch(axis_size: int, in_batched: Any, a: Any) -> Any:
    """A batch is a stack of matrices."""
    return cofactor.fun(a), True


def _far_from_singular(a: Any) -> bool:
    s = np.linalg.svd(a, compute_uv=False)
    return s.size == 0 or bool(np.all(s[..., -1] > 1e-5 * s[..., 0]))


@derivative(cofactor)
def cofactor_derivative(y: Any, a: Any) -> Any:
    """By the inverse; near singular matrices by the determinants of the minors."""
    if a.shape[-1] == 1:
        return np.zeros_like, np.zeros_like
    return _regular_cofactor(y, a) if _far_from_singular(a) else _minors(a)


def _regular_cofactor(y: Any, a: Any) -> Any:
    inverse = np.linalg.inv(a)
    turned = np.swapaxes(inverse, -1, -2)

    def cofactor_pushforward(da: Any) -> Any:
        along = np.sum(y * da, axis=(-2, -1), keepdims=True)
        return along * turned - _chain(y, np.swapaxes(da, -1, -2), turned)

    def cofactor_pullback(dy: Any) -> Any:
        yc, tc = np.conjugate(y), np.conjugate(turned)
        along = np.sum(tc * dy, axis=(-2, -1), keepdims=True)
        return along * yc - _chain(tc, np.swapaxes(dy, -1, -2), yc)

    return cofactor_pushforward, cofactor_pullback


def _minors(a: Any) -> Any:
    n = a.shape[-1]
    keep = np.array([[j for j in range(n) if j != i] for i in range(n)])
    sign = (-1.0) ** np.add.outer(np.arange(n), np.arange(n))
    key = (..., keep[:, None, :, None], keep[None, :, None, :])
    slope = cofactor(a[key])

    def minors_pushforward(da: Any) -> Any:
        return sign * np.sum(slope * da[key], axis=(-2, -1))

    def minors_pullback(dy: Any) -> Any:
        from rules_numpy.arrays.indexing import put_zeros

        seed = np.expand_dims(np.expand_dims(sign * dy, -1), -1)
        return put_zeros(np.conjugate(slope) * seed, key, a.shape)

    return minors_pushforward, minors_pullback


@derivative(np.linalg.det)
def det_derivative(y: Any, a: Any) -> Any:
    """d det = Σ C da with the cofactors C, correct for singular matrices too."""
    slope = cofactor(a)

    def det_pushforward(da: Any) -> Any:
        return np.sum(slope * da, axis=(-2, -1))

    def det_pullback(dy: Any) -> Any:
        return np.conjugate(slope) * np.expand_dims(np.expand_dims(dy, -1), -1)

    return det_pushforward, det_pullback


@derivative(np.linalg.slogdet)
def slogdet_derivative(y: Any, a: Any) -> Any:
    """d ln|det| = Re tr(a⁻¹ da); the phase changes by Im tr(a⁻¹ da)."""
    sign, _ = y
    inverse = _inverse(a, sign)
    turned = np.swapaxes(inverse, -1, -2)
    is_complex = inverse.dtype.kind == "c"

    def slogdet_pushforward(da: Any) -> Any:
        trace = np.sum(turned * da, axis=(-2, -1))
        turn = 1j * np.imag(trace) * sign if is_complex else np.zeros_like(sign)
        return turn, np.real(trace)

    def slogdet_pullback(dy: Any) -> Any:
        dsign, dlog = dy
        seed = dlog
        if is_complex:
            seed = dlog + 1j * np.imag(np.conjugate(sign) * dsign)
        seed = np.expand_dims(np.expand_dims(seed, -1), -1)
        # Zero is strong: where the matrix is singular the inverse is infinite.
        dead = ~np.isfinite(turned) & (seed == 0)
        return np.where(dead, 0.0, np.conjugate(turned)) * seed

    return slogdet_pushforward, slogdet_pullback


def _inverse(a: Any, sign: Any) -> Any:
    """The inverse; for a singular matrix infinite, by the cofactors."""
    if np.all(sign != 0):
        return np.linalg.inv(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        det = np.expand_dims(np.expand_dims(np.linalg.det(a), -1), -1)
        return np.swapaxes(cofactor(a), -1, -2) / det


def _of_hermitian(y: Any, a: Any) -> Any:
    """NumPy reads the lower triangle only."""
    push, pull = pinv_derivative(y, unfold(a, "L"))

    def pinv_pushforward(da: Any) -> Any:
        return push(unfold(da, "L"))

    def pinv_pullback(dy: Any) -> Any:
        return fold(pull(dy), "L")

    return pinv_pushforward, pinv_pullback


@derivative(np.linalg.pinv)
def pinv_derivative(
    y: Any, a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = None
) -> Any:
    """Golub and Pereyra (1973), eq. 4.12; the rank must be locally constant."""
    if hermitian:
        return _of_hermitian(y, a)
    yh = adjoint(y)
    yyh, yhy = np.matmul(y, yh), np.matmul(yh, y)

    def off_range(m: Any) -> Any:
        return m - np.matmul(m, np.matmul(a, y))

    def off_kernel(m: Any) -> Any:
        return m - np.matmul(np.matmul(y, a), m)

    def pinv_pushforward(da: Any) -> Any:
        dah = adjoint(da)
        turned = np.matmul(yyh, off_range(dah)) + np.matmul(off_kernel(dah), yhy)
        return turned - _chain(y, da, y)

    def pinv_pullback(dy: Any) -> Any:
        dyh = adjoint(dy)
        # (I - a y) and (I - y a) are their own adjoints.
        one = np.matmul(dyh - np.matmul(np.matmul(a, y), dyh), yyh)
        two = np.matmul(yhy, dyh - np.matmul(dyh, np.matmul(y, a)))
        return one + two - _chain(yh, dy, yh)

    return pinv_pushforward, pinv_pullback


@derivative(np.linalg.lstsq, argnums=(0, 1))
def lstsq_derivative(y: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    """x = a⁺ b, the residuals ‖b - a x‖², the rank, and the singular values."""
    x, residuals, _, _ = y
    a, b = _floating(a), _floating(b)
    limit = _cutoff(a, rcond)
    p = np.linalg.pinv(a, limit)
    pair = pinv_derivative(p, a, limit)
    column = b[:, None] if b.ndim == 1 else b
    x2 = x[:, None] if b.ndim == 1 else x
    rest = column - np.matmul(a, x2)

    def shaped(m: Any) -> Any:
        return m[:, 0] if b.ndim == 1 else m

    def moved(change: Any, drest: Any, ds: Any) -> Any:
        dres = 2.0 * np.sum(np.real(np.conjugate(rest) * drest), axis=0)
        return shaped(change), dres[: residuals.size], rc.NoTangent(), ds

    def to_a(da: Any) -> Any:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        ds = np.real(np.sum(np.conjugate(u) * np.matmul(da, adjoint(vh)), axis=0))
        return moved(np.matmul(pair[0](da), column), -np.matmul(da, x2), ds)

    def to_b(db: Any) -> Any:
        db = db[:, None] if b.ndim == 1 else db
        return moved(np.matmul(p, db), db, np.zeros_like(y[3]))

    def from_b(dy: Any) -> Any:
        dx = dy[0][:, None] if b.ndim == 1 else dy[0]
        db = np.matmul(adjoint(p), dx)
        if residuals.size:
            db = db + 2.0 * rest * dy[1]
        return shaped(db)

    def from_a(dy: Any) -> Any:
        dx = dy[0][:, None] if b.ndim == 1 else dy[0]
        da = pair[1](np.matmul(dx, adjoint(column)))
        if residuals.size:
            da = da - 2.0 * np.matmul(rest * dy[1], adjoint(x2))
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        return da + np.matmul(u * dy[3], vh)

    return (to_a, from_a), (to_b, from_b)


def _floating(a: Any) -> Any:
    """An integer array as floating numbers, as NumPy solves it."""
    return a if a.dtype.kind in "fc" else a.astype(float)


def _cutoff(a: Any, rcond: Any) -> Any:
    if rcond is None:
        return np.finfo(a.dtype).eps * max(a.shape)
    return np.finfo(a.dtype).eps if rcond == -1 else rcond


@derivative(np.linalg.tensorinv)
def tensorinv_derivative(y: Any, a: Any, ind: Any = 2) -> Any:
    """The inverse of the matrix that the first `ind` axes make with the others."""
    size = int(np.prod(a.shape[:ind]))
    push, pull = inv_derivative(np.reshape(y, (size, size)), a)

    def tensorinv_pushforward(da: Any) -> Any:
        return np.reshape(push(np.reshape(da, (size, size))), y.shape)

    def tensorinv_pullback(dy: Any) -> Any:
        return np.reshape(pull(np.reshape(dy, (size, size))), a.shape)

    return tensorinv_pushforward, tensorinv_pullback


@derivative(np.linalg.tensorsolve, argnums=(0, 1))
def tensorsolve_derivative(y: Any, a: Any, b: Any, axes: Any = None) -> Any:
    """The solution with the matrix that the axes of b make with those of y."""
    moved = tuple(i % a.ndim for i in axes or ())
    order = (*(i for i in range(a.ndim) if i not in moved), *moved)
    back = np.argsort(order)
    turned = np.transpose(a, order)
    matrix = np.reshape(turned, (b.size, b.size))
    of_a, of_b = solve_derivative(np.ravel(y), matrix, np.ravel(b))

    def to_a(da: Any) -> Any:
        flat = np.reshape(np.transpose(da, order), matrix.shape)
        return np.reshape(of_a[0](flat), y.shape)

    def from_a(dy: Any) -> Any:
        flat = np.reshape(of_a[1](np.ravel(dy)), turned.shape)
        return np.transpose(flat, back)

    def to_b(db: Any) -> Any:
        return np.reshape(of_b[0](np.ravel(db)), y.shape)

    def from_b(dy: Any) -> Any:
        return np.reshape(of_b[1](np.ravel(dy)), b.shape)

    return (to_a, from_a), (to_b, from_b)
