"""Norms and condition numbers of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import moves
from rules_numpy._declare.derivative import derivative

from .products import adjoint

__all__ = ["matrix_slope", "vector_slope"]


def _positive(y: Any) -> Any:
    return np.where(y == 0, 1.0, y)


def vector_slope(y: Any, x: Any, p: Any, axis: Any) -> Any:
    """S with dy = Σ Re(conj(S) dx); `y` has the reduced axes. Zero at zero.

    (|x| / y)ᵖ⁻¹ x / |x|; the entries that attain a maximum or minimum share.
    """
    if p is None or p == 2:
        return x / _positive(y)
    if p in (np.inf, -np.inf):
        hit = np.where(np.abs(x) == y, 1.0, 0.0)
        return np.sign(x) * hit / np.sum(hit, axis=axis, keepdims=True)
    if p == 0:
        return np.zeros_like(x)
    if p == 1:
        return np.sign(x)
    ratio = np.where(x == 0, 1.0, np.abs(x) / _positive(y))
    return np.sign(x) * ratio ** (p - 1)


def _order_slope(y: Any, x: Any, p: Any, axis: Any) -> Any:
    """∂y/∂p = (y / p) Σ tᵖ ln t with t = |x| / y."""
    ratio = np.where(x == 0, 1.0, np.abs(x) / _positive(y))
    terms = np.where(x == 0, 0.0, ratio**p * np.log(ratio))
    return y / p * np.sum(terms, axis=axis, keepdims=True)


def matrix_slope(y: Any, x: Any, p: Any) -> Any:
    """S with dy = Σ Re(conj(S) dx) over the last two axes."""
    if p is None or p == "fro":
        return x / _positive(y)
    if p in ("nuc", 2, -2):
        return _spectral_slope(y, x, p)
    axis = -2 if abs(p) == 1 else -1
    sums = np.sum(np.abs(x), axis=axis, keepdims=True)
    hit = np.where(sums == y, 1.0, 0.0)
    return np.sign(x) * hit / np.sum(hit, axis=(-2, -1), keepdims=True)


def _spectral_slope(y: Any, x: Any, p: Any) -> Any:
    """U diag(g) Vᴴ, with g the derivative in the singular values."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    tiny = _tiny(s, x)
    g = np.where(s > tiny, 1.0, 0.0) if p == "nuc" else _end(s, tiny, p)
    return np.matmul(u * np.expand_dims(g, -2), vh)


def _tiny(s: Any, x: Any) -> Any:
    top = np.max(s, axis=-1, keepdims=True, initial=0.0)
    return 8 * max(x.shape[-2:]) * np.finfo(s.dtype).eps * top


def _end(s: Any, tiny: Any, p: Any) -> Any:
    """Weights of the largest (2) or smallest (-2) values: ties share."""
    pick, start = (np.max, 0.0) if p == 2 else (np.min, np.inf)
    end = pick(s, axis=-1, keepdims=True, initial=start)
    g = np.where((np.abs(s - end) <= tiny) & (s > 0), 1.0, 0.0)
    return g / np.maximum(np.sum(g, axis=-1, keepdims=True), 1.0)


def _slope_maps(slope: Any, axis: Any, shape: Any) -> Any:
    wide = np.sum(np.zeros(np.shape(slope)), axis=axis, keepdims=True).shape

    def slope_pushforward(dx: Any) -> Any:
        terms = np.real(np.conjugate(slope) * dx)
        return np.reshape(np.sum(terms, axis=axis), shape)

    def slope_pullback(dy: Any) -> Any:
        return slope * np.real(np.reshape(dy, wide))  # NumPy 2.1: y + 0j in `cond`

    return slope_pushforward, slope_pullback


def _order_maps(slope: Any, shape: Any) -> Any:
    def order_pushforward(dp: Any) -> Any:
        return np.reshape(slope, shape) * dp

    def order_pullback(dy: Any) -> Any:
        return np.sum(np.reshape(slope, shape) * dy)

    return order_pushforward, order_pullback


@derivative(np.linalg.norm, argnums=(0, 1), arrays=(0,))
def norm_derivative(
    y: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False
) -> Any:
    """Every order of vector and matrix norm; zero at the zero vector."""
    if axis is None and (ord is None or x.ndim == 1):
        return _vector_maps(y, x, ord, None)
    if axis is None:
        axes: Any = tuple(range(x.ndim))
    else:  # NumPy makes an axis whole by `int`
        axes = axis if isinstance(axis, tuple) else (int(axis),)
    if len(axes) == 1:
        return _vector_maps(y, x, ord, axes[0])
    return _matrix_maps(y, x, ord, axes), None


def _vector_maps(y: Any, x: Any, p: Any, axis: Any) -> Any:
    if p is not None and np.ndim(p):
        message = (
            "the derivative of numpy.linalg.norm must be given a number as ord, but "
            f"got {p!r}. Call it once for each order."
        )
        raise rc.UnsupportedError(message)
    wide = _wide(y, x, axis)
    maps = _slope_maps(vector_slope(wide, x, p, axis), axis, np.shape(y))
    if p is None or not moves(p):
        return maps, None
    return maps, _order_maps(_order_slope(wide, x, p, axis), np.shape(y))


def _wide(y: Any, x: Any, axis: Any) -> Any:
    """The value with the reduced axes of length one."""
    axes = range(x.ndim) if axis is None else np.atleast_1d(axis) % x.ndim
    return np.reshape(y, tuple(1 if i in axes else n for i, n in enumerate(x.shape)))


def _matrix_maps(y: Any, x: Any, p: Any, axes: Any) -> Any:
    wide = np.moveaxis(_wide(y, x, axes), axes, (-2, -1))
    slope = matrix_slope(wide, np.moveaxis(x, axes, (-2, -1)), p)
    return _slope_maps(np.moveaxis(slope, (-2, -1), axes), axes, np.shape(y))


if hasattr(np.linalg, "vector_norm"):

    @derivative(np.linalg.vector_norm)
    def vector_norm_derivative(
        y: Any,
        x: Any,
        /,
        *,
        axis: Any = None,
        keepdims: Any = False,
        ord: Any = 2,
    ) -> Any:
        """As `norm` of vectors; over several axes they count as one."""
        return _vector_maps(y, x, ord, axis)[0]

    @derivative(np.linalg.matrix_norm)
    def matrix_norm_derivative(
        y: Any, x: Any, /, *, keepdims: Any = False, ord: Any = "fro"
    ) -> Any:
        """As `norm` of the matrices in the last two axes."""
        return _matrix_maps(y, x, ord, (-2, -1))


@derivative(np.linalg.cond, argnums=(0, 1), arrays=(0,))
def cond_derivative(y: Any, x: Any, p: Any = None) -> Any:
    """κ = ‖x‖ ‖x⁻¹‖; for the 2-norm the ratio of singular values."""
    wide = np.expand_dims(np.expand_dims(y, -1), -1)
    if p is None or p in (2, -2):
        slope = _spectral_condition(wide, x, p)
    else:
        inverse = np.linalg.inv(x)
        sizes = [np.linalg.norm(m, p, (-2, -1), keepdims=True) for m in (x, inverse)]
        outer = adjoint(inverse)
        inner = matrix_slope(sizes[1], inverse, p)
        slope = matrix_slope(sizes[0], x, p) * sizes[1]
        slope = slope - sizes[0] * np.matmul(np.matmul(outer, inner), outer)
    return _slope_maps(slope, (-2, -1), np.shape(y)), None


def _spectral_condition(y: Any, x: Any, p: Any) -> Any:
    """κ = s₁ / s₂ with the largest and the smallest value, or the reverse."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    ends = (-2, 2) if p == -2 else (2, -2)
    above, below = (_end(s, _tiny(s, x), end) for end in ends)
    size = np.sum(below * s, axis=-1, keepdims=True)
    g = (above - y[..., 0] * below) / size
    return np.matmul(u * np.expand_dims(g, -2), vh)
