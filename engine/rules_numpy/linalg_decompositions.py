"""Eigenvalues, singular values, QR and Cholesky factors.

Eigenvectors are determined up to a phase, and those of equal eigenvalues up to a
rotation; a function of them has a derivative if it does not depend on that choice. So
differences of equal eigenvalues are left out, and their cotangents are shared.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare import derivative
from rules_numpy.linalg_products import adjoint

__all__ = [
    "diagonal_matrix",
    "diagonal_of",
    "equal_groups",
    "fold",
    "refuse_mixture",
    "refuse_phase",
    "share",
    "unfold",
]


def equal_groups(w: Any) -> Any:
    """Mask (…, n, n) of the pairs of equal eigenvalues, equal within rounding."""
    size = np.max(np.abs(w), axis=-1, keepdims=True, initial=0.0)
    tiny = 8 * w.shape[-1] * np.finfo(w.dtype).eps
    gap = np.abs(np.expand_dims(w, -1) - np.expand_dims(w, -2))
    return gap <= tiny * np.expand_dims(size, -1)


def share(dw: Any, groups: Any) -> Any:
    """The mean over every group of equal eigenvalues."""
    if not np.any(np.sum(groups, axis=-1) > 1):
        return dw
    weights = groups / np.sum(groups, axis=-1, keepdims=True)
    return np.matmul(weights, np.expand_dims(dw, -1))[..., 0]


def _over_gaps(w: Any, groups: Any) -> Any:
    """F[i, j] = 1 / (wⱼ - wᵢ), zero within a group."""
    gap = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    return np.where(groups, 0.0, 1.0 / np.where(groups, 1.0, gap))


def diagonal_of(m: Any) -> Any:
    """The diagonals of a stack of matrices."""
    return np.diagonal(m, axis1=-2, axis2=-1)


def diagonal_matrix(d: Any) -> Any:
    """A stack of matrices with these diagonals."""
    return np.expand_dims(d, -1) * np.eye(d.shape[-1])


def unfold(da: Any, uplo: str) -> Any:
    """The Hermitian matrix that a function reads off one triangle."""
    lower = np.tril(da, -1) if uplo.upper() == "L" else np.triu(da, 1)
    return lower + adjoint(lower) + diagonal_matrix(np.real(diagonal_of(da)))


def fold(h: Any, uplo: str) -> Any:
    """The adjoint of `unfold`."""
    h = (h + adjoint(h)) / 2.0
    lower = np.tril(h, -1) if uplo.upper() == "L" else np.triu(h, 1)
    return 2.0 * lower + diagonal_matrix(np.real(diagonal_of(h)))


def refuse_mixture(f: str, dw: Any, shared: Any, dv: Any) -> None:
    """With equal eigenvalues, only what treats them alike has a known derivative."""
    rounding = 1e3 * np.finfo(np.real(dw).dtype).eps * np.max(np.abs(dw), initial=0.0)
    if np.any(np.abs(dw - shared) > rounding) and np.any(dv != 0):
        message = (
            f"the derivative of numpy.linalg.{f} must be wanted for a function that "
            "treats equal eigenvalues alike, but got different cotangents for equal "
            "ones: their vectors do not determine it. Use a function of the matrix "
            "(a solve, matrix_power, scipy.linalg.sqrtm), or make them differ."
        )
        raise rc.UnsupportedError(message)


def refuse_phase(f: str, turn: Any, size: Any) -> None:
    """A complex vector is fixed up to its phase: refuse what depends on that."""
    if np.any(np.abs(turn) > 1e-8 * (1.0 + np.max(np.abs(size), initial=0.0))):
        message = (
            f"the derivative of numpy.linalg.{f} must be wanted for a function that "
            "does not depend on the phase of a complex vector, but got one that does. "
            "Fix the phase in the function, for instance by one real entry."
        )
        raise rc.UnsupportedError(message)


@derivative(np.linalg.eigh)
def eigh_derivative(y: Any, a: Any, UPLO: Any = "L") -> Any:
    """dw = diag(Vᴴ da V), dV = V (F ∘ Vᴴ da V)."""
    w, v = y
    vh, groups = adjoint(v), equal_groups(w)
    over = _over_gaps(w, groups)

    def eigh_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(vh, unfold(da, UPLO)), v)
        return share(np.real(diagonal_of(m)), groups), np.matmul(v, over * m)

    def eigh_pullback(dy: Any) -> Any:
        dw, dv = dy
        shared = share(dw, groups)
        refuse_mixture("eigh", dw, shared, dv)
        x = np.matmul(vh, dv)
        if v.dtype.kind == "c":
            refuse_phase("eigh", np.imag(diagonal_of(x)), x)
        return fold(
            np.matmul(np.matmul(v, diagonal_matrix(shared) + over * x), vh), UPLO
        )

    return eigh_pushforward, eigh_pullback


@derivative(np.linalg.eigvalsh)
def eigvalsh_derivative(y: Any, a: Any, UPLO: Any = "L") -> Any:
    """dw = diag(Vᴴ da V)."""
    _, v = np.linalg.eigh(a, UPLO)
    vh, groups = adjoint(v), equal_groups(y)

    def eigvalsh_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(vh, unfold(da, UPLO)), v)
        return share(np.real(diagonal_of(m)), groups)

    def eigvalsh_pullback(dw: Any) -> Any:
        shared = np.expand_dims(share(dw, groups), -2)
        return fold(np.matmul(v * shared, vh), UPLO)

    return eigvalsh_pushforward, eigvalsh_pullback


@derivative(np.linalg.eig)
def eig_derivative(y: Any, a: Any) -> Any:
    """dw = diag(M), dV = V (F ∘ M), M = V⁻¹ da V; vectors of length one.

    LAPACK also makes the largest entry of every vector real.
    """
    w, v = y
    inverse, groups = np.linalg.inv(v), equal_groups(w)
    over = _over_gaps(w, groups)
    lead = np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)

    def eig_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(inverse, da), v)
        dv = np.matmul(v, over * m)
        size = np.sum(np.real(np.conjugate(v) * dv), axis=-2, keepdims=True)
        return share(diagonal_of(m), groups), dv - v * (size + _turn(dv))

    def _turn(dv: Any) -> Any:
        if v.dtype.kind != "c":
            return 0.0
        top = np.real(np.take_along_axis(v, lead, -2))
        return 1j * np.imag(np.take_along_axis(dv, lead, -2)) / top

    def eig_pullback(dy: Any) -> Any:
        dw, dv = dy
        shared = share(dw, groups)
        refuse_mixture("eig", dw, shared, dv)
        size = np.sum(np.conjugate(v) * dv, axis=-2, keepdims=True)
        free = dv - v * np.real(size)
        if v.dtype.kind == "c":
            top = np.real(np.take_along_axis(v, lead, -2))
            mark = np.arange(v.shape[-2])[:, None] == lead
            free = free - np.where(mark, 1j * np.imag(size) / top, 0.0)
        m = diagonal_matrix(shared) + np.conjugate(over) * np.matmul(adjoint(v), free)
        return np.matmul(np.matmul(adjoint(inverse), m), adjoint(v))

    return eig_pushforward, eig_pullback


@derivative(np.linalg.eigvals)
def eigvals_derivative(y: Any, a: Any) -> Any:
    """dw = diag(V⁻¹ da V)."""
    _, v = np.linalg.eig(a)
    inverse, groups = np.linalg.inv(v), equal_groups(y)

    def eigvals_pushforward(da: Any) -> Any:
        return share(diagonal_of(np.matmul(np.matmul(inverse, da), v)), groups)

    def eigvals_pullback(dw: Any) -> Any:
        shared = np.expand_dims(share(dw, groups), -2)
        return np.matmul(adjoint(inverse) * shared, adjoint(v))

    return eigvals_pushforward, eigvals_pullback


@derivative(np.linalg.cholesky)
def cholesky_derivative(y: Any, a: Any, /, *, upper: Any = False) -> Any:
    """dL = L Φ(L⁻¹ da L⁻ᴴ), Φ the lower triangle with half the diagonal."""
    low = adjoint(y) if upper else y
    uplo = "U" if upper else "L"
    inverse = np.linalg.inv(low)

    def half(m: Any) -> Any:
        return np.tril(m, -1) + diagonal_matrix(diagonal_of(m)) / 2.0

    def cholesky_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(inverse, unfold(da, uplo)), adjoint(inverse))
        dlow = np.matmul(low, half(m))
        return adjoint(dlow) if upper else dlow

    def cholesky_pullback(dy: Any) -> Any:
        dlow = np.tril(adjoint(dy) if upper else dy)
        m = half(np.matmul(adjoint(low), dlow))
        return fold(np.matmul(np.matmul(adjoint(inverse), m), inverse), uplo)

    return cholesky_pushforward, cholesky_pullback


@derivative(np.linalg.qr)
def qr_derivative(y: Any, a: Any, mode: Any = "reduced") -> Any:
    """dR = (M - Ω) R, dQ = Q Ω + (I - Q Qᴴ) da R⁻¹ with M = Qᴴ da R⁻¹.

    Ω is skew and below the diagonal equal to M. Walter and Lehmann, 2018.
    """
    m, n = a.shape[-2:]
    if mode == "raw" or (mode == "complete" and m > n):
        message = (
            f"the derivative of numpy.linalg.qr must be taken with mode 'reduced' or "
            f"'r', but got {mode!r} for a matrix of {m} rows and {n} columns."
        )
        raise rc.UnsupportedError(message)
    q, r = np.linalg.qr(a) if mode == "r" else y
    only_r = mode == "r"
    k = min(m, n)
    left, right = a[..., :k], a[..., k:]
    r1 = r[..., :k]

    def over_r1(x: Any) -> Any:
        return adjoint(np.linalg.solve(adjoint(r1), adjoint(x)))

    def qr_pushforward(da: Any) -> Any:
        change = over_r1(da[..., :k])
        inner = np.matmul(adjoint(q), change)
        below = np.tril(inner, -1)
        turn = (
            below - adjoint(below) + 1j * diagonal_matrix(np.imag(diagonal_of(inner)))
        )
        turn = turn if q.dtype.kind == "c" else np.real(turn)
        dq = change + np.matmul(q, turn - inner)
        dr = np.matmul(inner - turn, r1)
        if n > k:
            rest = np.matmul(adjoint(dq), right) + np.matmul(adjoint(q), da[..., k:])
            dr = np.concatenate([dr, rest], axis=-1)
        return dr if only_r else (dq, dr)

    def qr_pullback(dy: Any) -> Any:
        dq, dr = (np.zeros_like(q), dy) if only_r else dy
        dr1, dr2 = np.triu(dr[..., :k]), dr[..., k:]
        dq = dq + np.matmul(right, adjoint(dr2))
        skew = np.matmul(dr1, adjoint(r1)) - np.matmul(adjoint(q), dq)
        above = np.triu(skew, 1)
        seed = above + adjoint(above) + diagonal_matrix(np.real(diagonal_of(skew)))
        da = np.linalg.solve(r1, adjoint(dq + np.matmul(q, seed)))
        return np.concatenate([adjoint(da), np.matmul(q, dr2)], axis=-1)

    _ = left
    return qr_pushforward, qr_pullback
