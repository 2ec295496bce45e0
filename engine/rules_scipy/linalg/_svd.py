"""Singular values and vectors, and what is made of them: inverses, norms, subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_numpy.linalg.solves import cofactor
from rules_scipy._axes import concat, moveaxis
from rules_scipy._steps import At, declare

from ._gauge import distinct, nan_if, phases, refuse_phase, share
from ._matrices import (
    adjoint,
    conjugate,
    hermitian,
    identity,
    is_complex,
    real,
    solved,
)
from ._shapes import Shape, batch_of, dtype_of, real_of, shaped

__all__ = [
    "det",
    "lstsq",
    "norm",
    "pinv",
    "pinvh",
    "subspace_angles",
    "svd",
    "svdvals",
]


def _signed(s: Any) -> Any:
    """Singular values and their negatives: a zero equals its own."""
    return concat([s, -s], -1)


def _shared_values(f: str, a: Any) -> Any:
    """Equal ones share; a zero, where the function has a kink, has slope zero."""
    s = rc.array_namespace(a).linalg.svdvals(a)
    return share(f, _signed(s), _signed(s))[..., : s.shape[-1]]


def _svd_step(at: At, a: Any, full_matrices: Any, compute_uv: Any) -> Any:
    if not compute_uv:
        return _shared_values("svd", a)
    return (
        lambda: _left_vectors(at, a),
        lambda: _shared_values("svd", a),
        lambda: adjoint(_right_vectors(at, a)),
    )


def _own_svd(at: At, a: Any) -> tuple[Any, Any]:
    """The framework's vectors with SciPy's phases."""
    xp = rc.array_namespace(a)
    u, s, vh = xp.linalg.svd(a, full_matrices=False)
    k = s.shape[-1]
    u = distinct("svd", _signed(s) if _has_rest(a) else s, u)
    factor = phases(u, at.y[0][..., :, :k])
    return u * factor, adjoint(vh) * factor


def _has_rest(a: Any) -> bool:
    """Whether a zero singular value has other vectors than its own two."""
    return a.shape[-2] != a.shape[-1] or is_complex(a)


def _left_vectors(at: At, a: Any) -> Any:
    u, _ = _own_svd(at, a)
    return _completed(u, at.y[0])


def _right_vectors(at: At, a: Any) -> Any:
    _, v = _own_svd(at, a)
    return _completed(v, adjoint(at.y[2]))


def _completed(own: Any, whole: Any) -> Any:
    """The further vectors of a full decomposition turn with the first ones."""
    k = own.shape[-1]
    if whole.shape[-1] == k:
        return own
    first, more = whole[..., :, :k], whole[..., :, k:]
    return concat([own, more - first @ (adjoint(own) @ more)], -1)


_FURTHER = (
    "the derivative of scipy.linalg.svd must be wanted of vectors that the matrix "
    "determines, but got several further ones of a full decomposition, which are "
    "determined up to a rotation. Use full_matrices=False."
)


def _further(v: Any, i: int, k: int) -> Any:
    """The columns of U, or the rows of Vᴴ, after the first k; None if it is but one."""
    rest = v[..., :, k:] if i == 0 else v[..., k:, :]
    return rest if rest.shape[-1 if i == 0 else -2] > 1 else None


def _svd_limit(at: At, dy: Any, wanted: Any) -> Any:
    k = at.y[1].shape[-1]
    return tuple(_limited(d, i, k) for i, d in zip(wanted, dy, strict=True))


def _limited(d: Any, i: int, k: int) -> Any:
    """The tangent of a result, NaN for the further vectors."""
    rest = None if i == 1 else _further(d, i, k)
    if rest is None:
        return d
    first = d[..., :, :k] if i == 0 else d[..., :k, :]
    return concat([first, rest * float("nan")], -1 if i == 0 else -2)


def _refuse_further(at: At, dy: Any, wanted: Any) -> Any:
    k = at.y[1].shape[-1]
    return tuple(_unlimited(d, i, k) for i, d in zip(wanted, dy, strict=True))


def _unlimited(d: Any, i: int, k: int) -> Any:
    """The cotangent of a result, if that of the further vectors is zero."""
    rest = None if i == 1 else _further(d, i, k)
    if rest is None:
        return d
    seen = rc.ignore_derivatives(rest)
    return nan_if(rc.array_namespace(d).any(seen != 0), d, _FURTHER)


def _svd_check(at: At, dy: Any, wanted: Any) -> Any:
    """A phase turns a left vector and its right one together."""
    if wanted is not None:
        dy = _refuse_further(at, dy, wanted)
    if wanted is None or not is_complex(at.y[0]) or not {0, 2} & set(wanted):
        return dy
    cotangents, turn, size = dict(zip(wanted, dy, strict=True)), 0.0, 0.0
    k = at.y[1].shape[-1]
    for i in (0, 2):
        if i in cotangents:
            v, d = at.y[i], cotangents[i]
            v, d = (v, d) if i == 0 else (adjoint(v), adjoint(d))
            part = (conjugate(v) * d)[..., :, :k]
            xp = rc.array_namespace(part)
            turn = turn + xp.imag(xp.sum(part, axis=-2))
            size = size + xp.abs(part)
    first = min({0, 2} & set(wanted))
    cotangents[first] = refuse_phase("svd", turn, size, cotangents[first])
    return tuple(cotangents.values())


def _svd_shape(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    *_args: Any,
    **_kw: Any,
) -> Any:
    *loop, m, n = a.shape
    k, dtype = min(m, n), dtype_of(a)
    s = Shape((*loop, k), real_of(dtype))
    if not compute_uv:
        return s
    rows, columns = (m, n) if full_matrices else (k, k)
    return Shape((*loop, m, rows), dtype), s, Shape((*loop, columns, n), dtype)


svd = declare(_sp.svd, _svd_step, out=_svd_shape, check=_svd_check, limit=_svd_limit)


def _svdvals_step(at: At, a: Any) -> Any:
    return _shared_values("svdvals", a)


def _svdvals_shape(a: Any, *_args: Any, **_kw: Any) -> Any:
    return _svd_shape(a, compute_uv=False)


svdvals = declare(_sp.svdvals, _svdvals_step, out=_svdvals_shape)


# Determinants, pseudo-inverses, least squares


def _cofactors(at: At) -> Any:
    """Of singular matrices too; a framework needs a regular one, else there is NaN."""
    (a,) = at.args
    if isinstance(a, np.ndarray):
        return cofactor(a)
    xp = rc.array_namespace(a)
    unit = identity(a, a.shape[-1])
    return at.y[..., None, None] * xp.matrix_transpose(solved(a, unit + 0 * a))


def _det_step(at: At, a: Any) -> Any:
    """Σ C dA with the cofactors C."""
    return rc.array_namespace(a).sum(at.extra * a, axis=(-2, -1))


def _det_shape(a: Any, *_args: Any, **_kw: Any) -> Any:
    return shaped(a.shape[:-2], a)


det = declare(_sp.det, _det_step, out=_det_shape, prepare=_cofactors)


def _cut(a: Any, atol: Any, rtol: Any) -> Any:
    """The relative size below which singular values are taken for zero."""
    xp = rc.array_namespace(a)
    a = rc.ignore_derivatives(a)
    if rtol is None:
        eps = float(xp.finfo(a.dtype).eps)
        rtol = max(a.shape[-2:]) * eps if atol is None or atol == 0 else 0.0
    if not atol:
        return rtol
    return rtol + atol / xp.max(xp.linalg.svdvals(a), axis=-1)


_CUT = (
    "the derivative of scipy.linalg.{} must be taken where all singular values that "
    "are left out are zero, but got larger ones below the cutoff. Use svd, and leave "
    "out its parts."
)


def _pinv(a: Any, cut: Any, f: str) -> Any:
    xp = rc.array_namespace(a)
    s = rc.ignore_derivatives(xp.linalg.svdvals(rc.ignore_derivatives(a)))
    largest = s[..., :1]
    zero = 10.0 * max(a.shape[-2:]) * float(xp.finfo(a.dtype).eps) * largest
    if rc.is_array(cut) and cut.ndim:
        cut = cut[..., None]
    wrong = xp.any((s > zero) & (s <= cut * largest))
    return xp.linalg.pinv(nan_if(wrong, a, _CUT.format(f)), rtol=_number(cut))


def _number(cut: Any) -> Any:
    return cut[..., 0] if rc.is_array(cut) and cut.ndim else cut


def _pinv_step(at: At, a: Any, atol: Any, rtol: Any, return_rank: Any) -> Any:
    y = _pinv(a, _cut(a, atol, rtol), "pinv")
    return (y, None) if return_rank else y


def _pinv_shape(a: Any, *_args: Any, return_rank: Any = False, **_kw: Any) -> Any:
    *loop, m, n = a.shape
    y = shaped((*loop, n, m), a)
    return (y, Shape(tuple(loop), np.dtype(int))) if return_rank else y


pinv = declare(_sp.pinv, _pinv_step, out=_pinv_shape)


def _pinvh_step(
    at: At, a: Any, atol: Any, rtol: Any, lower: Any, return_rank: Any
) -> Any:
    m = hermitian(a, lower=lower)
    y = _pinv(m, _cut(m, atol, rtol), "pinvh")
    return (y, None) if return_rank else y


def _pinvh_shape(
    a: Any,
    atol: Any = None,
    rtol: Any = None,
    lower: Any = True,
    return_rank: Any = False,
    check_finite: Any = True,
) -> Any:
    return _pinv_shape(a, return_rank=return_rank)


pinvh = declare(_sp.pinvh, _pinvh_step, out=_pinvh_shape)


def _lstsq_step(at: At, a: Any, b: Any, cond: Any) -> Any:
    x0, residues = at.y[:2]
    xp = rc.array_namespace(a)
    eps = float(xp.finfo(a.dtype).eps)
    columns = b[..., None] if b.ndim == 1 else b

    def solution() -> Any:
        x = _pinv(a, eps if cond is None else cond, "lstsq") @ columns
        return x[..., 0] if b.ndim == 1 else x

    def residue() -> Any:
        x = x0[..., None] if b.ndim == 1 else x0
        gap = columns - a @ x  # the solution makes it stationary
        total = xp.sum(real(conjugate(gap) * gap), axis=-2)
        return total[..., 0] if b.ndim == 1 else total

    if 0 in residues.shape:
        residue_or_none: Any = lambda: 0 * residues  # noqa: E731
    else:
        residue_or_none = residue
    return solution, residue_or_none, None, lambda: _shared_values("lstsq", a)


def _lstsq_shape(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = None,
) -> Any:
    m, n = a.shape[-2:]
    dtype = dtype_of(a, b)
    columns = tuple(b.shape[-1:]) if b.ndim > 1 else ()
    batch = batch_of(a, b)
    several = (*batch, 0) if m <= n else (*batch, *columns)
    residues = Shape(several, dtype if m <= n else real_of(dtype))
    rank = Shape(batch, np.dtype(int))
    driver = lapack_driver or _sp.lstsq.default_lapack_driver
    values = Shape((*batch, min(m, n)), real_of(dtype)) if driver != "gelsy" else None
    return Shape((*batch, n, *columns), dtype), residues, rank, values


lstsq = declare(_sp.lstsq, _lstsq_step, count=2, out=_lstsq_shape, fixed=(2,))


# Norms


def _norm_step(at: At, a: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """Zero at zero, as of NumPy's."""
    axes = _axes(a, axis)
    xp = rc.array_namespace(a)
    if ord is not None and ord != (2 if len(axes) == 1 else "fro"):
        return _other_norm(xp, a, ord, axes, keepdims)
    y = at.y
    if not keepdims:
        shape = [1 if i in axes else n for i, n in enumerate(a.shape)]
        y = xp.reshape(y, tuple(shape))
    fixed = at.args[0]
    unit = conjugate(fixed) / xp.where(y == 0, xp.ones_like(y), y)
    return xp.sum(real(unit * a), axis=axes, keepdims=bool(keepdims))


def _axes(a: Any, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(a.ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple([int(i) % a.ndim for i in axes])


def _other_norm(xp: Any, a: Any, ord: Any, axes: Any, keepdims: Any) -> Any:
    if len(axes) == 1:
        return xp.linalg.vector_norm(a, axis=axes[0], ord=ord, keepdims=bool(keepdims))
    m = moveaxis(a, axes, (-2, -1))
    if ord in (2, -2, "nuc"):
        s = _shared_values("norm", m)
        y = xp.sum(s, axis=-1) if ord == "nuc" else s[..., 0 if ord == 2 else -1]
    else:
        sums = xp.sum(xp.abs(m), axis=-2 if abs(ord) == 1 else -1)
        y = (xp.max if ord > 0 else xp.min)(sums, axis=-1)
    if keepdims:
        shape = [1 if i in axes else n for i, n in enumerate(a.shape)]
        y = xp.reshape(y, tuple(shape))
    return y


def _norm_shape(
    a: Any,
    ord: Any = None,
    axis: Any = None,
    keepdims: Any = False,
    check_finite: Any = True,
) -> Any:
    axes = _axes(a, axis)
    kept = [
        1 if i in axes else n
        for i, n in enumerate(a.shape)
        if keepdims or i not in axes
    ]
    return Shape(tuple(kept), real_of(dtype_of(a)))


norm = declare(_sp.norm, _norm_step, out=_norm_shape)


def _angles_step(at: At, A: Any, B: Any) -> Any:
    """Small angles by their sines, others by their cosines."""
    xp = rc.array_namespace(A, B)
    qa, qb = xp.linalg.qr(A)[0], xp.linalg.qr(B)[0]
    inner = adjoint(qa) @ qb
    cosines = _shared_values("subspace_angles", inner)
    if qa.shape[-1] >= qb.shape[-1]:
        outer = qb - qa @ inner
    else:
        outer = qa - qb @ adjoint(inner)
    sines = _shared_values("subspace_angles", outer)
    small = rc.ignore_derivatives(at.y) < np.pi / 4
    turned = xp.flip(cosines, axis=-1)
    half = xp.full_like(sines, 0.5)
    by_sine = xp.asin(xp.where(small, sines, half))
    return xp.where(small, by_sine, xp.acos(xp.where(small, half, turned)))


def _angles_shape(A: Any, B: Any) -> Any:
    count = min(A.shape[-1], B.shape[-1])
    return Shape((count,), real_of(dtype_of(A, B)))


subspace_angles = declare(_sp.subspace_angles, _angles_step, count=2, out=_angles_shape)
