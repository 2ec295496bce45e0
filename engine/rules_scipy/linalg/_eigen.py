"""Eigenvalues and eigenvectors, of pairs of matrices and of bands too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_numpy.linalg.equal_values import equal_groups

from ._bands import constant_like, full_of_band
from ._declare import At, declare
from ._gauge import distinct, nan_if, phases, refuse_phase, share
from ._matrices import (
    adjoint,
    conjugate,
    diagonal_of,
    hermitian,
    is_complex,
    joined,
    real,
)
from ._shapes import Shape, complex_of, dtype_of, real_of

__all__ = [
    "eig",
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "funm",
]


# Hermitian


def _standard(a: Any, b: Any, kind: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The standard problem of a pair, and the vectors of the pair of its own."""
    if b is None:
        return a, _same
    xp = rc.array_namespace(b)
    low = xp.linalg.cholesky(b)
    if kind == 1:
        half = xp.linalg.solve(low, a)
        inner = adjoint(xp.linalg.solve(low, adjoint(half)))
    else:
        inner = adjoint(low) @ a @ low
    inner = (inner + adjoint(inner)) / 2
    if kind == 3:
        return inner, lambda u: low @ u
    return inner, lambda u: xp.linalg.solve(adjoint(low), u)


def _same(x: Any) -> Any:
    return x


def _window(n: int, subset: Any) -> slice:
    """The columns of a subset by index."""
    return slice(None) if subset is None else slice(int(subset[0]), int(subset[1]) + 1)


_BY_VALUE = (
    "the derivative of scipy.linalg.{name} must be taken with a subset by index, but "
    "got one by value, whose size depends on the matrix. Use {cure}."
)


def _refuse_by_value(f: str, subset: Any) -> None:
    if subset is not None:
        cure = "subset_by_index" if f.startswith("eigh") or f == "eigvalsh" else "'i'"
        raise rc.UnsupportedError(_BY_VALUE.format(name=f, cure=cure))


def _values(f: str, m: Any, part: slice) -> Any:
    xp = rc.array_namespace(m)
    w = xp.linalg.eigvalsh(m)
    return share(f, w, w)[..., part]


def _vectors(f: str, m: Any, back: Any, part: slice, scipys: Any) -> Any:
    """The framework's vectors with SciPy's phases."""
    xp = rc.array_namespace(m)
    w, u = xp.linalg.eigh(m)
    own = back(distinct(f, w, u))[..., :, part]
    return own * phases(own, scipys)


def _eigh_step(
    at: At,
    a: Any,
    b: Any,
    lower: Any,
    eigvals_only: Any,
    type: Any,
    subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    _refuse_by_value("eigh", subset_by_value)
    pair = None if b is None else hermitian(b, lower=lower)
    m, back = _standard(hermitian(a, lower=lower), pair, type)
    part = _window(a.shape[-1], subset_by_index)
    if eigvals_only:
        return _values("eigh", m, part)
    return (
        lambda: _values("eigh", m, part),
        lambda: _vectors("eigh", m, back, part, at.y[1]),
    )


def _one_phase(f: str, at: At, dy: Any, wanted: tuple[int, ...] | None) -> Any:
    """Cotangents of complex vectors that do not depend on their phases."""
    if wanted is None:
        return dy
    checked = []
    for i, d in zip(wanted, dy, strict=True):
        v = at.y[i]
        if i == 0 or not is_complex(v):
            checked.append(d)
            continue
        part = conjugate(v) * d
        xp = rc.array_namespace(part)
        turn = xp.imag(xp.sum(part, axis=-2))
        checked.append(refuse_phase(f, turn, xp.abs(part), d))
    return tuple(checked)


def _eigh_check(at: At, dy: Any, wanted: Any) -> Any:
    return _one_phase("eigh", at, dy, wanted)


def _eigh_shape(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    type: Any = 1,
    check_finite: Any = True,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    driver: Any = None,
) -> Any:
    _refuse_by_value("eigh", subset_by_value)
    *loop, n = a.shape[:-1]
    count = len(range(n)[_window(n, subset_by_index)])
    dtype = dtype_of(a, b)
    w = Shape((*loop, count), real_of(dtype))
    return w if eigvals_only else (w, Shape((*loop, n, count), dtype))


eigh = declare(_sp.eigh, _eigh_step, count=2, out=_eigh_shape, check=_eigh_check)


def _eigvalsh_step(
    at: At,
    a: Any,
    b: Any,
    lower: Any,
    type: Any,
    subset_by_index: Any,
    subset_by_value: Any,
) -> Any:
    _refuse_by_value("eigvalsh", subset_by_value)
    pair = None if b is None else hermitian(b, lower=lower)
    m, _ = _standard(hermitian(a, lower=lower), pair, type)
    return _values("eigvalsh", m, _window(a.shape[-1], subset_by_index))


def _eigvalsh_shape(a: Any, b: Any = None, **options: Any) -> Any:
    return _eigh_shape(a, b, eigvals_only=True, **options)


eigvalsh = declare(_sp.eigvalsh, _eigvalsh_step, count=2, out=_eigvalsh_shape)


# Bands


def _selected(f: str, n: int, select: Any, select_range: Any) -> slice:
    if select in ("v", 1, "value"):
        _refuse_by_value(f, select_range)
    by_index = select in ("i", 2, "index")
    return _window(n, select_range) if by_index else slice(None)


def _banded(ab: Any, lower: Any) -> Any:
    full = full_of_band(ab, 0 if lower else ab.shape[-2] - 1)
    return hermitian(full, lower=lower)


def _eig_banded_step(
    at: At,
    a_band: Any,
    lower: Any,
    eigvals_only: Any,
    select: Any,
    select_range: Any,
) -> Any:
    m = _banded(a_band, lower)
    part = _selected("eig_banded", m.shape[-1], select, select_range)
    if eigvals_only:
        return _values("eig_banded", m, part)
    return (
        lambda: _values("eig_banded", m, part),
        lambda: _vectors("eig_banded", m, _same, part, at.y[1]),
    )


def _eig_banded_check(at: At, dy: Any, wanted: Any) -> Any:
    return _one_phase("eig_banded", at, dy, wanted)


def _pair_shape(n: int, part: slice, dtype: Any, eigvals_only: Any) -> Any:
    count = len(range(n)[part])
    w = Shape((count,), real_of(dtype))
    return w if eigvals_only else (w, Shape((n, count), dtype))


def _eig_banded_shape(
    a_band: Any,
    lower: Any = False,
    eigvals_only: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    max_ev: Any = 0,
    check_finite: Any = True,
) -> Any:
    n = a_band.shape[-1]
    part = _selected("eig_banded", n, select, select_range)
    return _pair_shape(n, part, dtype_of(a_band), eigvals_only)


eig_banded = declare(
    _sp.eig_banded, _eig_banded_step, out=_eig_banded_shape, check=_eig_banded_check
)


def _eigvals_banded_step(
    at: At, a_band: Any, lower: Any, select: Any, select_range: Any
) -> Any:
    m = _banded(a_band, lower)
    part = _selected("eigvals_banded", m.shape[-1], select, select_range)
    return _values("eigvals_banded", m, part)


def _eigvals_banded_shape(
    a_band: Any,
    lower: Any = False,
    overwrite_a_band: Any = False,
    select: Any = "a",
    select_range: Any = None,
    check_finite: Any = True,
) -> Any:
    n = a_band.shape[-1]
    part = _selected("eigvals_banded", n, select, select_range)
    return _pair_shape(n, part, dtype_of(a_band), eigvals_only=True)


eigvals_banded = declare(
    _sp.eigvals_banded, _eigvals_banded_step, out=_eigvals_banded_shape
)


def _tridiagonal(d: Any, e: Any) -> Any:
    band = joined([e, 0 * d[..., :1]], -1)
    xp = rc.array_namespace(d, e)
    return _banded(xp.stack([d, band]), lower=True)


def _tridiagonal_step(
    at: At, d: Any, e: Any, eigvals_only: Any, select: Any, select_range: Any
) -> Any:
    m = _tridiagonal(d, e)
    part = _selected("eigh_tridiagonal", m.shape[-1], select, select_range)
    if eigvals_only:
        return _values("eigh_tridiagonal", m, part)
    return (
        lambda: _values("eigh_tridiagonal", m, part),
        lambda: _vectors("eigh_tridiagonal", m, _same, part, at.y[1]),
    )


def _tridiagonal_shape(
    d: Any,
    e: Any,
    eigvals_only: Any = False,
    select: Any = "a",
    select_range: Any = None,
    *_args: Any,
    **_kw: Any,
) -> Any:
    n = d.shape[-1]
    part = _selected("eigh_tridiagonal", n, select, select_range)
    return _pair_shape(n, part, dtype_of(d, e), eigvals_only)


eigh_tridiagonal = declare(
    _sp.eigh_tridiagonal, _tridiagonal_step, count=2, out=_tridiagonal_shape
)


def _tridiagonal_values_step(
    at: At, d: Any, e: Any, select: Any, select_range: Any
) -> Any:
    m = _tridiagonal(d, e)
    part = _selected("eigvalsh_tridiagonal", m.shape[-1], select, select_range)
    return _values("eigvalsh_tridiagonal", m, part)


def _tridiagonal_values_shape(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, *_a: Any, **_kw: Any
) -> Any:
    return _tridiagonal_shape(d, e, True, select, select_range)


eigvalsh_tridiagonal = declare(
    _sp.eigvalsh_tridiagonal,
    _tridiagonal_values_step,
    count=2,
    out=_tridiagonal_values_shape,
)


# General matrices: V⁻¹ dA V in the basis of the vectors, which are normalised.


def _independent(f: str, v: Any) -> Any:
    """V⁻¹, if there are as many independent vectors as rows."""
    xp = rc.array_namespace(v)
    message = (
        f"the derivative of scipy.linalg.{f} must be taken of a matrix with "
        "independent eigenvectors, but got one without: its eigenvalues have no "
        "derivative. Use a function of the matrix, or move it a little."
    )
    s = xp.linalg.svdvals(rc.ignore_derivatives(v))
    limit = 1e2 * float(xp.finfo(s.dtype).eps)
    v = nan_if(xp.any(s[..., -1] <= limit * s[..., 0]), v, message)
    return xp.linalg.inv(v)


def _basis(f: str, at: At) -> tuple[Any, Any, Any]:
    """Values, vectors and their inverse, for `at.extra`."""
    w, v = eig(*at.args)
    v = _complex(v)
    return w, v, _independent(f, v)


def _in_basis(at: At, a: Any, b: Any) -> Any:
    """V⁻¹ dA V, or V⁻¹ B⁻¹ (dA V - dB V w) of a pair."""
    w, v, left = at.extra
    if b is None:
        return left @ _complex(a) @ v
    moved = _complex(a) @ v - (_complex(b) @ v) * w[..., None, :]
    xp = rc.array_namespace(moved)
    return left @ xp.linalg.solve(_complex(at.args[1]), moved)


def _complex(x: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.astype(x, xp.result_type(x.dtype, xp.complex64))


def _normal(v: Any, scipys: Any) -> Any:
    """Columns of length one whose largest entry has the phase that SciPy gives it.

    LAPACK makes it real, for one matrix; for a pair it keeps another phase fixed, of
    which a function must not depend.
    """
    xp = rc.array_namespace(v)
    size = xp.sqrt(xp.sum(real(conjugate(v) * v), axis=-2, keepdims=True))
    fixed = xp.abs(rc.ignore_derivatives(v))
    lead = xp.argmax(fixed, axis=-2, keepdims=True)
    rows = constant_like(np.arange(v.shape[-2])[:, None], v)
    top = xp.sum(v * xp.astype(rows == lead, v.dtype), axis=-2, keepdims=True)
    phase = xp.astype(xp.abs(top), v.dtype) / top
    unit = v * phase / xp.astype(size, v.dtype)
    return unit * phases(unit, scipys)


def _over_gaps(f: str, w: Any, m: Any) -> Any:
    """Entries off the diagonal over the differences of the values."""
    xp = rc.array_namespace(w)
    gap = w[..., None, :] - w[..., :, None]
    eye = constant_like(np.eye(w.shape[-1], dtype=bool), w)
    gap = xp.where(eye, xp.ones_like(gap), gap)
    return xp.where(eye, xp.zeros_like(m), m / distinct(f, w, gap))


def _narrowed(x: Any, y: Any) -> Any:
    """Real if the result is: of a real matrix whose values are all real."""
    return x if is_complex(y) else real(x)


def _eig_step(
    at: At, a: Any, b: Any, left: Any, right: Any, homogeneous_eigvals: Any
) -> Any:
    _refuse_homogeneous("eig", homogeneous_eigvals)
    w, v, _ = at.extra
    m = _in_basis(at, a, b)

    def values() -> Any:
        return share("eig", w, diagonal_of(m))

    if not (left or right):
        return values()

    def right_vectors() -> Any:
        y = at.y[-1]
        return _narrowed(_normal(_moved("eig", v, w, m), y), y)

    def left_vectors() -> Any:
        y = at.y[1]
        own = _moved("eig", v, w, m)
        own = own if b is None else _complex(b) @ own
        xp = rc.array_namespace(own)
        return _narrowed(_normal(adjoint(xp.linalg.inv(own)), y), y)

    vectors = [left_vectors] * bool(left) + [right_vectors] * bool(right)
    return values, *vectors


def _moved(f: str, v: Any, w: Any, m: Any) -> Any:
    """The vectors as a function of `m`, at its value diag(w)."""
    change = _over_gaps(f, w, m - rc.ignore_derivatives(m))
    return v + v @ change


def _refuse_homogeneous(f: str, homogeneous: Any) -> None:
    if homogeneous:
        message = (
            f"the derivative of scipy.linalg.{f} must be taken with "
            "homogeneous_eigvals=False, but got True: the pairs are determined up to a "
            "factor. Divide the values yourself."
        )
        raise rc.UnsupportedError(message)


def _eig_shape(
    a: Any,
    b: Any = None,
    left: Any = False,
    right: Any = True,
    overwrite_a: Any = False,
    overwrite_b: Any = False,
    check_finite: Any = True,
    homogeneous_eigvals: Any = False,
) -> Any:
    *loop, n = a.shape[:-1]
    dtype = complex_of(dtype_of(a, b))
    w = Shape((2, *loop, n) if homogeneous_eigvals else (*loop, n), dtype)
    v = Shape((*loop, n, n), dtype)
    vectors = [v] * (bool(left) + bool(right))
    return (w, *vectors) if vectors else w


def _eig_check(at: At, dy: Any, wanted: Any) -> Any:
    """LAPACK makes an entry real for one matrix, not for a pair."""
    return dy if at.args[1] is None else _one_phase("eig", at, dy, wanted)


eig = declare(
    _sp.eig,
    _eig_step,
    count=2,
    out=_eig_shape,
    check=_eig_check,
    prepare=lambda at: _basis("eig", at),
)


def _eigvals_step(at: At, a: Any, b: Any, homogeneous_eigvals: Any) -> Any:
    _refuse_homogeneous("eigvals", homogeneous_eigvals)
    return share("eigvals", at.extra[0], diagonal_of(_in_basis(at, a, b)))


def _eigvals_shape(
    a: Any,
    b: Any = None,
    overwrite_a: Any = False,
    check_finite: Any = True,
    homogeneous_eigvals: Any = False,
) -> Any:
    return _eig_shape(a, b, False, False, homogeneous_eigvals=homogeneous_eigvals)


eigvals = declare(
    _sp.eigvals,
    _eigvals_step,
    count=2,
    out=_eigvals_shape,
    prepare=lambda at: _basis("eigvals", at),
)


# Any function of a matrix


def _funm_basis(at: At, func: Any) -> Any:
    """The basis of the vectors, and divided differences of the function."""
    w, v = eig(at.args[0])
    v = _complex(v)
    xp = rc.array_namespace(w)
    values, slopes = rc.jvp(func, (w,), (xp.ones_like(w),))
    same = equal_groups("funm", rc.ignore_derivatives(w))
    gap = w[..., None, :] - w[..., :, None]
    gap = xp.where(same, xp.ones_like(gap), gap)
    rise = values[..., None, :] - values[..., :, None]
    mean = (slopes[..., None, :] + slopes[..., :, None]) / 2
    return v, _independent("funm", v), xp.where(same, mean, rise / gap)


def _funm_step(at: At, A: Any, disp: Any) -> Any:
    """V (F ∘ V⁻¹ dA V) V⁻¹ with the divided differences F of the function."""
    v, left, factors = at.extra
    y = v @ (factors * (left @ _complex(A) @ v)) @ left
    y = _narrowed(y, at.y if disp else at.y[0])
    return y if disp else (y, None)


def _funm_shape(A: Any, func: Any, disp: Any = True) -> Any:
    y = Shape(tuple(A.shape), dtype_of(A))
    return y if disp else (y, Shape((), real_of(y.dtype)))


funm = declare(_sp.funm, _funm_step, out=_funm_shape, prepare=_funm_basis, fixed=(1,))
