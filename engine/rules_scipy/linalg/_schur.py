"""Schur's form, and the LDL factorisation of symmetric matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_scipy._steps import At, declare

from ._gauge import nan_if, refuse_phase
from ._general import complexified, eig, independent, over_gaps
from ._matrices import (
    adjoint,
    diagonal_of,
    hermitian,
    identity,
    is_complex,
    lower_part,
    real,
    solved,
    symmetric,
    transposed,
    triangle,
)
from ._shapes import Shape, complex_of, dtype_of, shaped

__all__ = ["ldl", "schur"]


# A = Z T Zᴴ


def _schur_basis(at: At) -> tuple[Any, Any, Any]:
    """Values, vectors and their inverse of the triangle, in its order."""
    t = at.y[0]
    w, v = eig(t)
    v = complexified(v)
    xp = rc.array_namespace(t)
    gap = xp.max(xp.abs(rc.ignore_derivatives(w - diagonal_of(t))))
    size = xp.max(xp.abs(rc.ignore_derivatives(t)))
    message = (
        "the derivative of scipy.linalg.schur must be taken of a triangular form, but "
        "got a real one with blocks of complex eigenvalues, which are determined up "
        "to a rotation. Use output='complex'."
    )
    slack = float(xp.finfo(t.dtype).eps) ** 0.5
    v = nan_if(gap > slack * size, v, message)
    return w, v, independent("schur", v)


def _schur_step(at: At, a: Any) -> Any:
    """dZ = Z X, dT = M + T X - X T with M = Zᴴ dA Z; X is skew, its diagonal zero.

    Below the diagonal dT is zero: in the basis of the vectors of T, which are
    triangular, X is M there over the differences of the values.
    """
    (t, z), (w, v, left) = at.y[:2], at.extra
    m = adjoint(z) @ a @ z
    inner = lower_part(over_gaps("schur", w, left @ complexified(m) @ v))
    low = lower_part(v @ inner @ left)
    low = low if is_complex(t) else real(low)
    turn = low - adjoint(low)
    dt = triangle(m + t @ turn - turn @ t, lower=False)
    return (lambda: dt), (lambda: z @ turn), None


def _schur_check(at: At, dy: Any, wanted: Any) -> Any:
    """A phase turns a column of Z, and a row and a column of T."""
    t, z = at.y[:2]
    if not is_complex(t):
        return dy
    cotangents, parts = dict(zip(wanted, dy, strict=True)), []
    if 1 in cotangents:
        parts.append(diagonal_of(adjoint(z) @ cotangents[1]))
    if 0 in cotangents:
        d = cotangents[0]
        parts.append(diagonal_of(adjoint(t) @ d - d @ adjoint(t)))
    xp = rc.array_namespace(t)
    turn = sum(xp.imag(part) for part in parts)
    size = sum(xp.abs(d) for d in dy)
    first = wanted[0]
    cotangents[first] = refuse_phase("schur", turn, size, cotangents[first])
    return tuple(cotangents.values())


def _schur_shape(
    a: Any,
    output: Any = "real",
    lwork: Any = None,
    overwrite_a: Any = False,
    sort: Any = None,
    check_finite: Any = True,
) -> Any:
    dtype = dtype_of(a)
    dtype = complex_of(dtype) if output in ("complex", "c") else dtype
    form = Shape(tuple(a.shape), dtype)
    count = Shape(tuple(a.shape[:-2]), np.dtype(int))
    return (form, form) if sort is None else (form, form, count)


schur = declare(
    _sp.schur,
    _schur_step,
    out=_schur_shape,
    check=_schur_check,
    prepare=_schur_basis,
    fixed=(2,),
)


# A = L D Lᴴ with blocks of one or two rows in D


def _ldl_step(at: At, A: Any, lower: Any, hermitian: Any) -> Any:
    """K D + dD + D Kᴴ = L⁻¹ dA L⁻ᴴ: dD in the blocks, dL = L K beside them."""
    low, d, _ = at.y
    xp = rc.array_namespace(low)
    turned = adjoint if hermitian else transposed
    read = _read(A, lower, hermitian)
    half = solved(low, read)
    m = turned(solved(low, turned(half)))
    fixed = rc.ignore_derivatives(d)
    inside = (fixed != 0) | (identity(fixed, d.shape[-1]) != 0)
    zero = xp.zeros_like(m)
    side = lower_part(m) if lower else transposed(lower_part(transposed(m)))
    beside = xp.where(inside, zero, side)
    k = transposed(solved(transposed(d), transposed(beside)))
    return low @ k, xp.where(inside, m, zero), None


def _read(a: Any, lower: Any, even: Any) -> Any:
    return hermitian(a, lower=lower) if even else symmetric(a, lower=lower)


def _ldl_shape(A: Any, *_args: Any, **_kw: Any) -> Any:
    y = shaped(A.shape, A)
    return y, y, Shape(tuple(A.shape[:-1]), np.dtype(int))


ldl = declare(_sp.ldl, _ldl_step, out=_ldl_shape)
