"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import derivative

__all__ = ["adjoint", "product_maps"]


def adjoint(a: Any) -> Any:
    """The conjugate transpose of the last two axes."""
    return np.conjugate(np.swapaxes(a, -1, -2))


def product_maps(f: Any, a: Any, b: Any, to_a: Any, to_b: Any) -> Any:
    """The derivative of a bilinear product: `f(da, b) + f(a, db)`."""

    def left_pushforward(da: Any) -> Any:
        return f(da, b)

    def right_pushforward(db: Any) -> Any:
        return f(a, db)

    return (left_pushforward, to_a), (right_pushforward, to_b)


@derivative([np.matmul], argnums=(0, 1))
def matmul_derivative(
    y: Any, a: Any, b: Any, *, dtype: Any = None, casting: Any = None, order: Any = None
) -> Any:
    """ȧ = ẏ bᴴ and ḃ = aᴴ ẏ, for stacks of matrices and vectors."""
    return _matmul_maps(np.matmul, a, b)


def _matmul_maps(f: Any, a: Any, b: Any) -> Any:
    def to_a(dy: Any) -> Any:
        if b.ndim == 1:
            outer = np.expand_dims(dy, -1) * np.conjugate(b)
            return outer if a.ndim > 1 else np.reshape(outer, a.shape)
        if a.ndim == 1:
            return np.matmul(np.conjugate(b), np.expand_dims(dy, -1))[..., 0]
        return np.matmul(dy, adjoint(b))

    def to_b(dy: Any) -> Any:
        if a.ndim == 1:
            if b.ndim == 1:
                return dy * np.conjugate(a)
            return np.expand_dims(np.conjugate(a), -1) * np.expand_dims(dy, -2)
        if b.ndim == 1:
            return np.matmul(adjoint(a), np.expand_dims(dy, -1))[..., 0]
        return np.matmul(adjoint(a), dy)

    return product_maps(f, a, b, to_a, to_b)


if hasattr(np.linalg, "matmul"):

    @derivative(np.linalg.matmul, argnums=(0, 1))
    def linalg_matmul_derivative(y: Any, x1: Any, x2: Any) -> Any:
        """As `np.matmul`."""
        return _matmul_maps(np.linalg.matmul, x1, x2)


@derivative(np.dot, argnums=(0, 1))
def dot_derivative(y: Any, a: Any, b: Any, out: Any = None) -> Any:
    """Sum over the last axis of a and the last but one of b."""
    if a.ndim == 0 or b.ndim == 0:
        return _times_maps(np.dot, a, b)
    if a.ndim < 3 and b.ndim < 3:
        return _matmul_maps(np.dot, a, b)
    last = (a.ndim - 1,), (max(b.ndim - 2, 0),)
    return _tensordot_maps(np.dot, a, b, last)


def _times_maps(f: Any, a: Any, b: Any) -> Any:
    def to_a(dy: Any) -> Any:
        return dy * np.conjugate(b)

    def to_b(dy: Any) -> Any:
        return dy * np.conjugate(a)

    return product_maps(f, a, b, to_a, to_b)


@derivative(np.inner, argnums=(0, 1))
def inner_derivative(y: Any, a: Any, b: Any) -> Any:
    """Sum over the last axes."""
    if a.ndim == 0 or b.ndim == 0:
        return _times_maps(np.inner, a, b)
    if a.ndim < 3 and b.ndim == 1:
        return _matmul_maps(np.inner, a, b)
    if a.ndim < 3 and b.ndim == 2:
        return _inner_maps(a, b)
    return _tensordot_maps(np.inner, a, b, ((a.ndim - 1,), (b.ndim - 1,)))


def _inner_maps(a: Any, b: Any) -> Any:
    """y = a bᵀ with a matrix b."""

    def to_a(dy: Any) -> Any:
        return np.matmul(dy, np.conjugate(b))

    def to_b(dy: Any) -> Any:
        if a.ndim == 1:
            return np.expand_dims(dy, -1) * np.conjugate(a)
        return np.matmul(np.swapaxes(dy, -1, -2), np.conjugate(a))

    return product_maps(np.inner, a, b, to_a, to_b)


def _tensordot_maps(f: Any, a: Any, b: Any, axes: Any) -> Any:
    """Any product that sums over pairs of axes, the free ones in order."""
    of_a, of_b = (
        tuple(i % x.ndim for i in ax) for x, ax in zip((a, b), axes, strict=True)
    )
    free_a = tuple(i for i in range(a.ndim) if i not in of_a)
    free_b = tuple(i for i in range(b.ndim) if i not in of_b)
    count_a, count_b = len(free_a), len(free_b)

    def to_a(dy: Any) -> Any:
        dy_axes = tuple(range(count_a, count_a + count_b))
        da = np.tensordot(dy, np.conjugate(b), (dy_axes, free_b))
        # The summed axes of b, in the order of b.
        summed = tuple(of_a[of_b.index(i)] for i in sorted(of_b))
        return np.transpose(da, np.argsort((*free_a, *summed)))

    def to_b(dy: Any) -> Any:
        db = np.tensordot(np.conjugate(a), dy, (free_a, tuple(range(count_a))))
        summed = tuple(of_b[of_a.index(i)] for i in sorted(of_a))
        return np.transpose(db, np.argsort((*summed, *free_b)))

    return product_maps(f, a, b, to_a, to_b)


@derivative(
    [np.tensordot, *([np.linalg.tensordot] if hasattr(np.linalg, "tensordot") else [])],
    argnums=(0, 1),
)
def tensordot_derivative(y: Any, a: Any, b: Any, /, axes: Any = 2) -> Any:
    """Sum over pairs of axes."""

    def product(left: Any, right: Any) -> Any:
        return np.tensordot(left, right, axes)

    return _tensordot_maps(product, a, b, _axes_of_tensordot(axes, a.ndim))


def _axes_of_tensordot(axes: Any, ndim: int) -> Any:
    if np.ndim(axes) == 0 and not isinstance(axes, (tuple, list)):
        return tuple(range(ndim - axes, ndim)), tuple(range(axes))
    of_a, of_b = axes
    return tuple(np.atleast_1d(of_a).tolist()), tuple(np.atleast_1d(of_b).tolist())


@derivative(np.outer, argnums=(0, 1))
def outer_derivative(y: Any, a: Any, b: Any, out: Any = None) -> Any:
    """y = a bᵀ of the flat arrays."""
    return _outer_maps(np.outer, a, b)


def _outer_maps(f: Any, a: Any, b: Any) -> Any:
    def to_a(dy: Any) -> Any:
        return np.reshape(np.matmul(dy, np.ravel(np.conjugate(b))), a.shape)

    def to_b(dy: Any) -> Any:
        return np.reshape(np.matmul(np.ravel(np.conjugate(a)), dy), b.shape)

    return product_maps(f, a, b, to_a, to_b)


if hasattr(np.linalg, "outer"):

    @derivative(np.linalg.outer, argnums=(0, 1))
    def linalg_outer_derivative(y: Any, x1: Any, x2: Any) -> Any:
        """As `np.outer`."""
        return _outer_maps(np.linalg.outer, x1, x2)


@derivative(np.vdot, argnums=(0, 1))
def vdot_derivative(y: Any, a: Any, b: Any) -> Any:
    """y = Σ conj(a) b."""

    def to_a(dy: Any) -> Any:
        return np.conjugate(dy) * np.reshape(b, a.shape)

    def to_b(dy: Any) -> Any:
        return dy * np.reshape(a, b.shape)

    return product_maps(np.vdot, a, b, to_a, to_b)


def _vecdot_maps(f: Any, a: Any, b: Any, axis: int) -> Any:
    def to_a(dy: Any) -> Any:
        return np.conjugate(np.expand_dims(dy, axis)) * b

    def to_b(dy: Any) -> Any:
        return np.expand_dims(dy, axis) * a

    def product(left: Any, right: Any) -> Any:
        return f(left, right, axis=axis)

    return product_maps(product, a, b, to_a, to_b)


@derivative(
    [g for g in (getattr(np, "vecdot", None), getattr(np.linalg, "vecdot", None)) if g],
    argnums=(0, 1),
)
def vecdot_derivative(y: Any, a: Any, b: Any, /, *, axis: Any = -1) -> Any:
    """y = Σ conj(a) b over one axis, counted from the end."""
    return _vecdot_maps(np.vecdot, a, b, axis)


@derivative(getattr(np, "matvec", None) or [], argnums=(0, 1))
def matvec_derivative(y: Any, a: Any, b: Any) -> Any:
    """Stacks of a b, matrix times vector."""

    def to_a(dy: Any) -> Any:
        return np.expand_dims(dy, -1) * np.expand_dims(np.conjugate(b), -2)

    def to_b(dy: Any) -> Any:
        return np.matmul(adjoint(a), np.expand_dims(dy, -1))[..., 0]

    return product_maps(np.matvec, a, b, to_a, to_b)


@derivative(getattr(np, "vecmat", None) or [], argnums=(0, 1))
def vecmat_derivative(y: Any, a: Any, b: Any) -> Any:
    """Stacks of aᴴ b, conjugated vector times matrix."""

    def to_a(dy: Any) -> Any:
        return np.matmul(b, np.conjugate(np.expand_dims(dy, -1)))[..., 0]

    def to_b(dy: Any) -> Any:
        return np.expand_dims(a, -1) * np.expand_dims(dy, -2)

    return product_maps(np.vecmat, a, b, to_a, to_b)


@derivative(np.kron, argnums=(0, 1))
def kron_derivative(y: Any, a: Any, b: Any) -> Any:
    """Entries a[i] b[j] at i · len(b) + j on every axis."""
    ndim = max(a.ndim, b.ndim)
    shape_a = (1,) * (ndim - a.ndim) + a.shape
    shape_b = (1,) * (ndim - b.ndim) + b.shape
    split = tuple(n for pair in zip(shape_a, shape_b, strict=True) for n in pair)
    of_a = tuple(n for i in shape_a for n in (i, 1))
    of_b = tuple(n for i in shape_b for n in (1, i))
    even, odd = tuple(range(0, 2 * ndim, 2)), tuple(range(1, 2 * ndim, 2))

    def to_a(dy: Any) -> Any:
        terms = np.reshape(dy, split) * np.conjugate(np.reshape(b, of_b))
        return np.reshape(np.sum(terms, axis=odd), a.shape)

    def to_b(dy: Any) -> Any:
        terms = np.reshape(dy, split) * np.conjugate(np.reshape(a, of_a))
        return np.reshape(np.sum(terms, axis=even), b.shape)

    return product_maps(np.kron, a, b, to_a, to_b)


@derivative(np.cross, argnums=(0, 1))
def cross_derivative(
    y: Any,
    a: Any,
    b: Any,
    axisa: Any = -1,
    axisb: Any = -1,
    axisc: Any = -1,
    axis: Any = None,
) -> Any:
    """y = a × b: ȧ = b × ẏ and ḃ = ẏ × a."""
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)

    def product(left: Any, right: Any) -> Any:
        return np.cross(left, right, *axes)

    return _cross_maps(product, a, b, axes)


def _cross_maps(product: Any, a: Any, b: Any, axes: Any) -> Any:
    sizes = a.shape[axes[0]], b.shape[axes[1]]
    if sizes != (3, 3):
        message = (
            "the derivative of numpy.cross must be given vectors of three entries, but "
            f"got {sizes[0]} and {sizes[1]}. Append a zero."
        )
        raise rc.UnsupportedError(message)
    left, right = np.moveaxis(a, axes[0], -1), np.moveaxis(b, axes[1], -1)

    def to_a(dy: Any) -> Any:
        da = np.cross(np.conjugate(right), np.moveaxis(dy, axes[2], -1))
        return np.moveaxis(da, -1, _end(a, da, axes[0]))

    def to_b(dy: Any) -> Any:
        db = np.cross(np.moveaxis(dy, axes[2], -1), np.conjugate(left))
        return np.moveaxis(db, -1, _end(b, db, axes[1]))

    return product_maps(product, a, b, to_a, to_b)


def _end(x: Any, dx: Any, axis: int) -> int:
    """The axis counted from the end: broadcasting adds axes at the front."""
    return axis % x.ndim - x.ndim if x.ndim != dx.ndim else axis


if hasattr(np.linalg, "cross"):

    @derivative(np.linalg.cross, argnums=(0, 1))
    def linalg_cross_derivative(y: Any, x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
        """As `np.cross`."""

        def product(left: Any, right: Any) -> Any:
            return np.linalg.cross(left, right, axis=axis)

        return _cross_maps(product, x1, x2, (axis, axis, axis))
