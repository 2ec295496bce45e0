"""Matrices of any array library: adjoints, triangles, diagonals."""

from __future__ import annotations

from typing import Any

import rules_core as rc

__all__ = [
    "adjoint",
    "conjugate",
    "diagonal_matrix",
    "diagonal_of",
    "hermitian",
    "identity",
    "is_complex",
    "lower_part",
    "real",
    "solved",
    "symmetric",
    "transposed",
    "triangle",
]


def is_complex(x: Any) -> bool:
    """Whether the entries are complex."""
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def conjugate(x: Any) -> Any:
    """The conjugate; real arrays as they are."""
    return rc.array_namespace(x).conj(x) if is_complex(x) else x


def real(x: Any) -> Any:
    """The real part; real arrays as they are."""
    return rc.array_namespace(x).real(x) if is_complex(x) else x


def transposed(x: Any) -> Any:
    """Stacks of matrices, rows and columns exchanged."""
    return rc.array_namespace(x).matrix_transpose(x)


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return transposed(conjugate(x))


def identity(like: Any, n: int) -> Any:
    """The matrix one, of the dtype and on the device of an array."""
    from array_api_compat import device

    xp = rc.array_namespace(like)
    return xp.eye(n, dtype=like.dtype, device=device(like))


def diagonal_of(x: Any) -> Any:
    """The diagonals of a stack of square matrices."""
    return rc.array_namespace(x).sum(x * identity(x, x.shape[-1]), axis=-1)


def diagonal_matrix(d: Any) -> Any:
    """The stack of matrices with these diagonals."""
    return d[..., :, None] * identity(d, d.shape[-1])


def lower_part(x: Any) -> Any:
    """The entries below the diagonal."""
    return rc.array_namespace(x).tril(x, k=-1)


def triangle(a: Any, *, lower: Any, unit: Any = False) -> Any:
    """The triangle that a function reads; with `unit` it takes the diagonal for 1."""
    xp = rc.array_namespace(a)
    edge = 1 if unit else 0
    part = xp.tril(a, k=-edge) if lower else xp.triu(a, k=edge)
    return part + identity(a, a.shape[-1]) if unit else part


def hermitian(a: Any, *, lower: Any) -> Any:
    """The Hermitian matrix that a function reads off one triangle."""
    strict = triangle(a, lower=lower) - diagonal_matrix(diagonal_of(a))
    return strict + adjoint(strict) + diagonal_matrix(real(diagonal_of(a)))


def symmetric(a: Any, *, lower: Any) -> Any:
    """The symmetric matrix that a function reads off one triangle."""
    strict = triangle(a, lower=lower) - diagonal_matrix(diagonal_of(a))
    return strict + transposed(strict) + diagonal_matrix(diagonal_of(a))


@rc.primitive
def solved(a: Any, b: Any) -> Any:
    """a⁻¹ b of matrices, with rules of its own.

    PyTorch's are wrong where a forward mode is differentiated.
    """
    return rc.array_namespace(a, b).linalg.solve(a, b)


@rc.frule.define(solved)
def solved_frule(tangents: Any, a: Any, b: Any) -> Any:
    """d y = a⁻¹ (db - da y)."""
    y, (_, da, db) = solved(a, b), tangents
    change: Any = db
    if not isinstance(da, rc.AbstractZero):
        change = -(da @ y) if isinstance(db, rc.AbstractZero) else db - da @ y
    return y, solved(a, change)


@rc.rrule.define(solved)
def solved_rrule(a: Any, b: Any) -> Any:
    """db = a⁻ᴴ dy, da = -db yᴴ."""
    y = solved(a, b)

    def solved_pullback(dy: Any) -> Any:
        db = solved(adjoint(a), dy)
        return rc.NoTangent(), -db @ adjoint(y), db

    return y, solved_pullback
