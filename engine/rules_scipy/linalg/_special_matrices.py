"""Matrices that are made of given entries, and products with them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy.linalg as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis
from rules_scipy._lists import constant_like
from rules_scipy._steps import At, constant, declare

from ._matrices import conjugate, real
from ._shapes import Shape, batch_of, dtype_of, real_of, shaped

__all__ = [
    "block_diag",
    "circulant",
    "companion",
    "convolution_matrix",
    "diagsvd",
    "fiedler",
    "fiedler_companion",
    "hankel",
    "khatri_rao",
    "leslie",
    "matmul_toeplitz",
    "matrix_balance",
    "solve_circulant",
    "solve_toeplitz",
    "toeplitz",
]

constant(
    _sp.bandwidth,
    _sp.dft,
    _sp.find_best_blas_type,
    _sp.get_blas_funcs,
    _sp.get_lapack_funcs,
    _sp.hadamard,
    _sp.helmert,
    _sp.hilbert,
    _sp.invhilbert,
    _sp.invpascal,
    _sp.ishermitian,
    _sp.issymmetric,
    _sp.pascal,
)


# Entries at fixed places: SciPy says where, by a call with numbers of entries.


@lru_cache(maxsize=256)
def _places(f: Any, shapes: tuple[tuple[int, ...], ...], options: Any) -> Any:
    """The number of the entry at each place, counted from 1; 0 for a zero."""
    start, labels = 1, []
    for shape in shapes:
        size = int(np.prod(shape))
        labels.append(np.arange(start, start + size, dtype=float).reshape(shape))
        start += size
    return f(*labels, *options).astype(int)


def _picked(f: Any, xs: Any, options: tuple[Any, ...] = ()) -> Any:
    """The result of `f`, as a selection of entries of its arrays."""
    places = _places(f, tuple([tuple(x.shape) for x in xs]), options)
    xp = rc.array_namespace(*xs)
    dtype = xp.result_type(*[x.dtype for x in xs])
    flat = [xp.astype(xp.reshape(x, (-1,)), dtype) for x in xs]
    zero = xp.zeros_like(_one(flat))
    index = constant_like(places.ravel(), xs[0])
    return xp.reshape(xp.take(concat([zero, *flat], 0), index, axis=0), places.shape)


def _one(flat: list[Any]) -> Any:
    """One entry of the arrays, for the dtype and device of the zero."""
    (first, *_) = [x for x in flat if x.shape[0]]
    return first[:1]


def _pick_shape(f: Any, xs: Any, options: tuple[Any, ...] = ()) -> Any:
    places = _places(f, tuple([tuple(x.shape) for x in xs]), options)
    return Shape(places.shape, np.result_type(*[x.dtype for x in xs]))


def _selection(f: Any, count: int, names: tuple[str, ...] = ()) -> rc.Primitive:
    """Declare a function that puts entries of `count` arrays at their places."""

    def selection_step(at: At, *args: Any, **options: Any) -> Any:
        return _picked(f, args, tuple([options[name] for name in names]))

    def selection_shape(*args: Any, **kw: Any) -> Any:
        rest = (*args[count:], *kw.values())
        return _pick_shape(f, args[:count], rest[: len(names)])

    return declare(f, selection_step, count=count, out=selection_shape, reads=names)


circulant = _selection(_sp.circulant, 1)
leslie = _selection(_sp.leslie, 2)
diagsvd = _selection(_sp.diagsvd, 1, ("M", "N"))


def _convolution_step(at: At, a: Any, n: Any, mode: Any) -> Any:
    return _picked(_sp.convolution_matrix, (a,), (n, mode))


def _convolution_shape(a: Any, n: Any, mode: Any = "full") -> Any:
    return _pick_shape(_sp.convolution_matrix, (a,), (n, mode))


convolution_matrix = declare(
    _sp.convolution_matrix, _convolution_step, out=_convolution_shape
)


def _block_step(at: At, *arrays: Any) -> Any:
    return _picked(_sp.block_diag, arrays)


def _block_shape(*arrays: Any) -> Any:
    return _pick_shape(_sp.block_diag, arrays)


block_diag = declare(_sp.block_diag, _block_step, count=None, out=_block_shape)


# Toeplitz and Hankel matrices, whose second argument has a default.


def _row(c: Any, r: Any) -> Any:
    return conjugate(c) if r is None else r


def _toeplitz_step(at: At, c: Any, r: Any) -> Any:
    return _picked(_sp.toeplitz, (c, _row(c, r)))


def _toeplitz_shape(c: Any, r: Any = None) -> Any:
    return _pick_shape(_sp.toeplitz, (c, c if r is None else r))


toeplitz = declare(_sp.toeplitz, _toeplitz_step, count=2, out=_toeplitz_shape)


def _hankel_step(at: At, c: Any, r: Any) -> Any:
    return _picked(_sp.hankel, (c,) if r is None else (c, r))


def _hankel_shape(c: Any, r: Any = None) -> Any:
    return _pick_shape(_sp.hankel, (c,) if r is None else (c, r))


hankel = declare(_sp.hankel, _hankel_step, count=2, out=_hankel_shape)


def _ends(c_or_cr: Any) -> tuple[Any, Any]:
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, None)
    return c, _row(c, r)


def _full(c_or_cr: Any) -> Any:
    return _picked(_sp.toeplitz, _ends(c_or_cr))


def _product_shape(c_or_cr: Any, x: Any, *_args: Any, **_kw: Any) -> Any:
    c = c_or_cr[0] if isinstance(c_or_cr, tuple) else c_or_cr
    return shaped((c.shape[0], *x.shape[1:]), c_or_cr, x)


def _matmul_step(at: At, c_or_cr: Any, x: Any) -> Any:
    """The matrix alone has the length of the row: `x` decides it."""
    return _full(c_or_cr) @ x


matmul_toeplitz = declare(
    _sp.matmul_toeplitz, _matmul_step, count=2, out=_product_shape
)


def _toeplitz_residual(at: At, c_or_cr: Any, b: Any) -> Any:
    return _full(c_or_cr) @ at.y - b


def _toeplitz_again(at: At, r: Any) -> Any:
    return solve_toeplitz(at.args[0], r)


def _toeplitz_adjoint(at: At, w: Any) -> Any:
    c, r = _ends(at.args[0])
    turned = concat([conjugate(c[:1]), conjugate(r[1:])], 0)
    return solve_toeplitz((turned, conjugate(c)), w)


solve_toeplitz = declare(
    _sp.solve_toeplitz,
    _toeplitz_residual,
    count=2,
    out=_product_shape,
    solve=_toeplitz_again,
    adjoint=_toeplitz_adjoint,
)


def _circulant_step(
    at: At,
    c: Any,
    b: Any,
    singular: Any,
    tol: Any,
    caxis: Any,
    baxis: Any,
    outaxis: Any,
) -> Any:
    """b / c of the spectra, zero where SciPy takes that of c for zero."""
    xp = rc.array_namespace(c, b)
    fc = _spectrum(xp, moveaxis(c, caxis, -1))
    fb = _spectrum(xp, moveaxis(b, baxis, -1))
    size = xp.abs(rc.ignore_derivatives(fc))
    if tol is None:
        eps = float(np.finfo(float).eps)
        tol = xp.max(size, axis=-1, keepdims=True) * (fc.shape[-1] * eps)
    small = size <= tol
    safe = xp.where(small, xp.ones_like(fc), fc)
    q = fb / safe
    q = xp.where(small & (xp.abs(rc.ignore_derivatives(fb)) >= 0), 0 * q, q)
    x = xp.fft.ifft(q, axis=-1)
    dtype_real = not xp.isdtype(xp.result_type(c.dtype, b.dtype), "complex floating")
    return moveaxis(xp.real(x) if dtype_real else x, -1, outaxis)


def _spectrum(xp: Any, x: Any) -> Any:
    return xp.fft.fft(xp.astype(x, xp.result_type(x.dtype, xp.complex64)), axis=-1)


def _circulant_shape(
    c: Any,
    b: Any,
    singular: Any = "raise",
    tol: Any = None,
    caxis: Any = -1,
    baxis: Any = 0,
    outaxis: Any = 0,
) -> Any:
    loops = [list(x.shape) for x in (c, b)]
    n = loops[0].pop(caxis)
    loops[1].pop(baxis)
    shape = list(np.broadcast_shapes(*map(tuple, loops)))
    at = outaxis % (len(shape) + 1)
    return shaped((*shape[:at], n, *shape[at:]), c, b)


solve_circulant = declare(
    _sp.solve_circulant, _circulant_step, count=2, out=_circulant_shape
)


# Others


def _companion_step(at: At, a: Any) -> Any:
    xp = rc.array_namespace(a)
    row = -a[1:] / a[0]
    below = xp.eye(row.shape[0], dtype=a.dtype)[:-1, :]
    return concat([row[None, :], below], 0)


def _companion_shape(a: Any) -> Any:
    return shaped((a.shape[0] - 1,) * 2, a)


companion = declare(_sp.companion, _companion_step, out=_companion_shape)


def _fiedler_companion_step(at: At, a: Any) -> Any:
    """Entries of -a / a[0] at their places, and ones, which do not matter here."""
    ratio = -a[1:] / a[0]
    return _picked(_ratios, (ratio,))


def _ratios(labels: Any) -> Any:
    """Labels at the places of the entries; the ones of the matrix have label zero."""
    shift = 10.0 * (labels.size + 1)
    matrix = -_sp.fiedler_companion(np.concatenate([[1.0], labels + shift]))
    return np.where(matrix > shift, matrix - shift, 0.0)


fiedler_companion = declare(
    _sp.fiedler_companion, _fiedler_companion_step, out=_companion_shape
)


def _fiedler_step(at: At, a: Any) -> Any:
    """|aᵢ - aⱼ|, with slope zero where they are equal."""
    gap = a[:, None] - a[None, :]
    fixed = at.args[0][:, None] - at.args[0][None, :]
    xp = rc.array_namespace(fixed)
    size = xp.abs(fixed)
    unit = fixed / xp.where(size == 0, xp.ones_like(size), size)
    return real(conjugate(unit) * gap)


def _fiedler_shape(a: Any) -> Any:
    return Shape((a.shape[0],) * 2, real_of(dtype_of(a)))


fiedler = declare(_sp.fiedler, _fiedler_step, out=_fiedler_shape)


def _khatri_rao_step(at: At, a: Any, b: Any) -> Any:
    xp = rc.array_namespace(a, b)
    product = a[..., :, None, :] * b[..., None, :, :]
    *batch, m, n, k = product.shape
    return xp.reshape(product, (*batch, m * n, k))


def _khatri_rao_shape(a: Any, b: Any) -> Any:
    return shaped((*batch_of(a, b), a.shape[-2] * b.shape[-2], a.shape[-1]), a, b)


khatri_rao = declare(_sp.khatri_rao, _khatri_rao_step, count=2, out=_khatri_rao_shape)


def _balance_shape(
    A: Any, permute: Any = True, scale: Any = True, separate: Any = False, *_args: Any
) -> Any:
    y, n = shaped(A.shape, A), A.shape[0]
    double = np.dtype(float)
    if separate:
        return y, (Shape((n,), double), Shape((n,), np.dtype(int)))
    return y, Shape((n, n), double)


def _balance_step(at: At, A: Any, separate: Any) -> Any:
    """T⁻¹ A T: T is made of powers of two, constant nearby."""
    if separate:
        scale, rows = at.y[1]
        xp = rc.array_namespace(A)
        moved = xp.take(xp.take(A, rows, axis=0), rows, axis=1)
        return moved / scale[:, None] * scale[None, :], None
    t = rc.ignore_derivatives(at.y[1])
    xp = rc.array_namespace(A)
    return xp.linalg.solve(xp.astype(t, A.dtype), A @ xp.astype(t, A.dtype)), None


matrix_balance = declare(
    _sp.matrix_balance, _balance_step, out=_balance_shape, fixed=(1,)
)
