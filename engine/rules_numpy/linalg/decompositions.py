"""Eigenvalues, singular values, QR and Cholesky factors.

Eigenvectors are unique up to a phase, and those of equal eigenvalues up to a rotation;
a function of them has a derivative if it does not depend on that choice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative

from .equal_values import (
    antihermitian,
    block_of,
    diagonal_matrix,
    diagonal_of,
    equal_groups,
    over_gaps,
    refuse_choice,
    refuse_phase,
    refuse_split,
    refuse_unknown_block,
    share,
    tied,
)
from .free_turns import free_turn
from .general_position import (
    eig_in_general,
    eig_values,
    eigh_in_general,
    eigh_values,
)
from .products import adjoint

__all__ = ["fold", "unfold"]


def unfold(da: Any, uplo: str) -> Any:
    """The Hermitian matrix that a function reads off one triangle."""
    lower = np.tril(da, -1) if uplo.upper() == "L" else np.triu(da, 1)
    return lower + adjoint(lower) + diagonal_matrix(np.real(diagonal_of(da)))


def fold(h: Any, uplo: str) -> Any:
    """The adjoint of `unfold`."""
    h = (h + adjoint(h)) / 2.0
    lower = np.tril(h, -1) if uplo.upper() == "L" else np.triu(h, 1)
    return 2.0 * lower + diagonal_matrix(np.real(diagonal_of(h)))


@derivative(np.linalg.eigh, symbolic=True, reverse=(eigh_in_general, eigh_values))
def eigh_derivative(y: Any, a: Any, UPLO: Any = "L") -> Any:
    """dw = diag(Vᴴ da V), dV = V (F ∘ Vᴴ da V)."""
    w, v = y
    vh, groups = adjoint(v), equal_groups("eigh", w)
    over = over_gaps(w, groups)

    def eigh_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(vh, unfold(da, UPLO)), v)
        refuse_split("eigh", m, groups, m)
        turn = free_turn(groups, da, w, v)
        inner = over * m if turn is None else over * m + turn
        return np.real(diagonal_of(m)), np.matmul(v, inner)

    def eigh_pullback(dy: Any) -> Any:
        dw, dv = _arrays(dy, y)
        if dv is None:
            inner = diagonal_matrix(share(dw, groups))
        else:
            x = np.matmul(vh, dv)
            inner = diagonal_matrix(dw) + over * x
            inner = inner + _tied_part("eigh", w, dw, x, groups)
        return fold(np.matmul(np.matmul(v, inner), vh), UPLO)

    return eigh_pushforward, eigh_pullback


def _arrays(dy: Any, y: Any) -> Any:
    """The cotangents of values and vectors; None for unused vectors."""
    dw, dv = (None if isinstance(d, rc.AbstractZero) else d for d in dy)
    return np.zeros_like(y[0]) if dw is None else dw, dv


def _tied_part(f: str, w: Any, dw: Any, x: Any, groups: Any) -> Any:
    if x.dtype.kind == "c":
        refuse_phase(f, np.imag(diagonal_of(x)), x)
    if not tied(groups):
        return 0.0
    refuse_choice(f, (np.where(groups, antihermitian(x), 0.0), x))
    return block_of(f, w, dw, x, groups)


@derivative(np.linalg.eigvalsh)
def eigvalsh_derivative(y: Any, a: Any, UPLO: Any = "L") -> Any:
    """dw = diag(Vᴴ da V), the mean over equal ones."""
    groups = equal_groups("eigvalsh", y)
    _, v = np.linalg.eigh(a, UPLO)
    vh = adjoint(v)

    def eigvalsh_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(vh, unfold(da, UPLO)), v)
        return share(np.real(diagonal_of(m)), groups)

    def eigvalsh_pullback(dw: Any) -> Any:
        shared = np.expand_dims(share(dw, groups), -2)
        return fold(np.matmul(v * shared, vh), UPLO)

    return eigvalsh_pushforward, eigvalsh_pullback


def _inverse(f: str, v: Any) -> Any:
    """V⁻¹; an error if the vectors are not independent."""
    try:
        inverse = np.linalg.inv(v)
    except np.linalg.LinAlgError:
        inverse = np.full_like(v, np.inf)
    if not np.max(np.abs(inverse), initial=0.0) < 1e-2 / np.finfo(v.dtype).eps:
        message = (
            f"the derivative of numpy.linalg.{f} must be taken of a matrix with "
            "independent eigenvectors, but got one without: its eigenvalues have no "
            "derivative. Use a function of the matrix, or move it a little."
        )
        raise rc.UnsupportedError(message)
    return inverse


@derivative(np.linalg.eig, symbolic=True, reverse=(eig_in_general, eig_values))
def eig_derivative(y: Any, a: Any) -> Any:
    """dw = diag(M), dV = V (F ∘ M), M = V⁻¹ da V; vectors of length one.

    LAPACK also makes the largest entry of every vector real.
    """
    w, v = y
    if not v.size:
        return None
    inverse, groups = _inverse("eig", v), equal_groups("eig", w)
    over = over_gaps(w, groups)
    lead = np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)

    def eig_pushforward(da: Any) -> Any:
        m = np.matmul(np.matmul(inverse, da), v)
        refuse_split("eig", m, groups, m)
        turn = free_turn(groups, da, w, v, unitary=False)
        dv = np.matmul(v, over * m if turn is None else over * m + turn)
        size = np.sum(np.real(np.conjugate(v) * dv), axis=-2, keepdims=True)
        return diagonal_of(m), dv - v * (size + _turn(dv))

    def _turn(dv: Any) -> Any:
        if v.dtype.kind != "c":
            return 0.0
        top = np.real(np.take_along_axis(v, lead, -2))
        return 1j * np.imag(np.take_along_axis(dv, lead, -2)) / top

    def eig_pullback(dy: Any) -> Any:
        dw, dv = _arrays(dy, y)
        if dv is None:
            m = diagonal_matrix(share(dw, groups))
            return np.matmul(np.matmul(adjoint(inverse), m), adjoint(v))
        size = np.sum(np.conjugate(v) * dv, axis=-2, keepdims=True)
        free = dv - v * np.real(size)
        if v.dtype.kind == "c":
            top = np.real(np.take_along_axis(v, lead, -2))
            mark = np.arange(v.shape[-2])[:, None] == lead
            free = free - np.where(mark, 1j * np.imag(size) / top, 0.0)
        x = np.matmul(adjoint(v), free)
        _check_eig(dw, x, groups)
        m = diagonal_matrix(dw) + np.conjugate(over) * x
        return np.matmul(np.matmul(adjoint(inverse), m), adjoint(v))

    return eig_pushforward, eig_pullback


def _check_eig(dw: Any, x: Any, groups: Any) -> None:
    """Check a block in any basis, so x is zero there."""
    if tied(groups):
        within = groups & ~np.eye(x.shape[-1], dtype=bool)
        refuse_choice("eig", (np.where(within, x, 0.0), x))
        refuse_unknown_block("eig", dw, groups)


@derivative(np.linalg.eigvals)
def eigvals_derivative(y: Any, a: Any) -> Any:
    """dw = diag(V⁻¹ da V), the mean over equal ones."""
    groups = equal_groups("eigvals", y)
    _, v = np.linalg.eig(a)
    inverse = _inverse("eigvals", v)

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


def solved_with_r(r: Any, r1: Any, b: Any) -> Any:
    """r⁻¹ b, r being the triangle r1 of a QR factorisation or its adjoint.

    Raises:
        UnsupportedError: A column depends on those before it, up to rounding.
    """
    rounding = 100.0 * np.finfo(r1.dtype).eps
    alone, whole = np.abs(diagonal_of(r1)), np.sqrt(np.sum(np.abs(r1) ** 2, axis=-2))
    if not np.all(alone > rounding * whole):
        message = (
            "the derivative of numpy.linalg.qr must be taken where the first columns "
            "are independent, but one depends on those before it: there Q is not "
            "determined. Leave it out, or use numpy.linalg.svd."
        )
        raise rc.UnsupportedError(message)
    return np.linalg.solve(r, b)


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
    right, r1 = a[..., k:], r[..., :k]

    def over_r1(x: Any) -> Any:
        return adjoint(solved_with_r(adjoint(r1), r1, adjoint(x)))

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
        da = solved_with_r(r1, r1, adjoint(dq + np.matmul(q, seed)))
        return np.concatenate([adjoint(da), np.matmul(q, dr2)], axis=-1)

    return qr_pushforward, qr_pullback
