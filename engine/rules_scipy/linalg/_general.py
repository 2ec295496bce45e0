"""Eigenvalues and eigenvectors of general matrices, and functions by them.

V⁻¹ dA V in the basis of the vectors, which are normalised as SciPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_numpy.linalg.equal_values import equal_groups
from rules_scipy._lists import constant_like
from rules_scipy._steps import At, declare

from ._gauge import distinct, nan_if, one_phase, phases, share
from ._matrices import adjoint, conjugate, diagonal_of, is_complex, real, solved
from ._shapes import Shape, complex_of, dtype_of, real_of

__all__ = ["eig", "eigvals", "funm", "independent", "complexified", "over_gaps"]


def independent(f: str, v: Any) -> Any:
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
    v = complexified(v)
    return w, v, independent(f, v)


def _in_basis(at: At, a: Any, b: Any) -> Any:
    """V⁻¹ dA V, or V⁻¹ B⁻¹ (dA V - dB V w) of a pair."""
    w, v, left = at.extra
    if b is None:
        return left @ complexified(a) @ v
    moved = complexified(a) @ v - (complexified(b) @ v) * w[..., None, :]
    return left @ solved(complexified(at.args[1]), moved)


def complexified(x: Any) -> Any:
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


def over_gaps(f: str, w: Any, m: Any) -> Any:
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
        own = own if b is None else complexified(b) @ own
        xp = rc.array_namespace(own)
        return _narrowed(_normal(adjoint(xp.linalg.inv(own)), y), y)

    vectors = [left_vectors] * bool(left) + [right_vectors] * bool(right)
    return values, *vectors


def _moved(f: str, v: Any, w: Any, m: Any) -> Any:
    """The vectors as a function of `m`, at its value diag(w)."""
    change = over_gaps(f, w, m - rc.ignore_derivatives(m))
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
    return dy if at.args[1] is None else one_phase("eig", at, dy, wanted)


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
    v = complexified(v)
    xp = rc.array_namespace(w)
    values, slopes = rc.jvp(_generic(func), (w,), (xp.ones_like(w),))
    same = equal_groups("funm", rc.ignore_derivatives(w))
    gap = w[..., None, :] - w[..., :, None]
    gap = xp.where(same, xp.ones_like(gap), gap)
    rise = values[..., None, :] - values[..., :, None]
    mean = (slopes[..., None, :] + slopes[..., :, None]) / 2
    return v, independent("funm", v), xp.where(same, mean, rise / gap)


def _generic(func: Any) -> Any:
    """A ufunc as a primitive: arrays of every framework come to it."""
    return rc.as_primitive(func, host=True) if isinstance(func, np.ufunc) else func


def _funm_step(at: At, A: Any, disp: Any) -> Any:
    """V (F ∘ V⁻¹ dA V) V⁻¹ with the divided differences F of the function."""
    v, left, factors = at.extra
    y = v @ (factors * (left @ complexified(A) @ v)) @ left
    y = _narrowed(y, at.y if disp else at.y[0])
    return y if disp else (y, None)


def _funm_shape(A: Any, func: Any, disp: Any = True) -> Any:
    y = Shape(tuple(A.shape), dtype_of(A))
    return y if disp else (y, Shape((), real_of(y.dtype)))


funm = declare(_sp.funm, _funm_step, out=_funm_shape, prepare=_funm_basis, fixed=(1,))
