"""Reshaping, permuting and broadcasting: linear, with simple adjoints."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from rules_numpy._declare.derivative import derivative, linear

__all__: list[str] = []


def _shaped_like(dy: Any, a: Any) -> Any:
    return np.reshape(dy, a.shape)


@linear(np.reshape)
def reshape_adjoint(
    dy: Any, a: Any, shape: Any, order: Any = "C", *, copy: Any = None
) -> Any:
    """Reshape back in this order."""
    return np.reshape(dy, a.shape, order=_order_of(a, order))


def _order_of(a: Any, order: str) -> Any:
    if order == "K":
        return "C"
    if order != "A":
        return order
    return "F" if np.isfortran(a) else "C"


# The array's own layout defines "A" and "K", so the tangent, which may have another
# layout, is read in the order of the array.
@derivative(np.ravel, linear=True)
def ravel_derivative(y: Any, a: Any, order: Any = "C") -> Any:
    """Reshape to one axis, and back."""
    axes = _memory_axes(a) if order == "K" else None
    plain = _order_of(a, order)

    def ravel_pushforward(da: Any) -> Any:
        if axes is not None:
            da = np.transpose(da, axes)
        return np.reshape(da, -1, order=plain)

    def ravel_pullback(dy: Any) -> Any:
        if axes is None:
            return np.reshape(dy, a.shape, order=plain)
        moved = np.reshape(dy, tuple(a.shape[i] for i in axes))
        return np.transpose(moved, _inverse(axes))

    return ravel_pushforward, ravel_pullback


def _memory_axes(a: Any) -> tuple[int, ...]:
    """Axes from the largest stride to the smallest, as order "K" reads them."""
    order = sorted(range(a.ndim), key=lambda i: (-abs(a.strides[i]), i))
    return tuple(order)


def _inverse(axes: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(axes))


@linear([np.transpose])
def transpose_adjoint(dy: Any, a: Any, axes: Any = None) -> Any:
    """Permute back."""
    if axes is None:
        return np.transpose(dy)
    return np.transpose(dy, _inverse([i % a.ndim for i in axes]))


@linear(np.swapaxes)
def swapaxes_adjoint(dy: Any, a: Any, axis1: Any, axis2: Any) -> Any:
    """Swap again."""
    return np.swapaxes(dy, axis1, axis2)


@linear(np.moveaxis)
def moveaxis_adjoint(dy: Any, a: Any, source: Any, destination: Any) -> Any:
    """Move back."""
    return np.moveaxis(dy, destination, source)


@linear(np.rollaxis)
def rollaxis_adjoint(dy: Any, a: Any, axis: Any, start: Any = 0) -> Any:
    """Move back."""
    axis, start = axis % a.ndim, start + a.ndim if start < 0 else start
    return np.moveaxis(dy, start - 1 if axis < start else start, axis)


@linear([np.expand_dims, np.squeeze])
def squeeze_adjoint(dy: Any, a: Any, axis: Any = None) -> Any:
    """Axes of length one are removed and added."""
    return _shaped_like(dy, a)


with contextlib.suppress(AttributeError):

    @linear([np.matrix_transpose, np.linalg.matrix_transpose])
    def matrix_transpose_adjoint(dy: Any, x: Any) -> Any:
        """Transpose again."""
        return np.swapaxes(dy, -1, -2)


@linear(np.broadcast_to)
def broadcast_to_adjoint(dy: Any, array: Any, shape: Any, subok: Any = False) -> Any:
    """Sum over the broadcast axes."""
    lead = dy.ndim - array.ndim
    axes = tuple(i for i in range(dy.ndim) if i < lead or array.shape[i - lead] == 1)
    return np.reshape(np.sum(dy, axis=axes), array.shape)


@linear([np.copy, np.ascontiguousarray, np.asfortranarray])
def copy_adjoint(dy: Any, a: Any, *_options: Any, **_kw: Any) -> Any:
    """These entries."""
    return np.reshape(dy, a.shape)


@linear(np.flip)
def flip_adjoint(dy: Any, m: Any, axis: Any = None) -> Any:
    """Flip again."""
    return np.flip(dy, axis)


@linear(np.fliplr)
def fliplr_adjoint(dy: Any, m: Any) -> Any:
    """Flip again."""
    return np.fliplr(dy)


@linear(np.flipud)
def flipud_adjoint(dy: Any, m: Any) -> Any:
    """Flip again."""
    return np.flipud(dy)


@linear(np.rot90)
def rot90_adjoint(dy: Any, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    """Turn back."""
    return np.rot90(dy, -k, axes)


@linear(np.roll)
def roll_adjoint(dy: Any, a: Any, shift: Any, axis: Any = None) -> Any:
    """Roll back."""
    return np.roll(dy, np.negative(shift), axis)


@linear([np.fft.fftshift])
def fftshift_adjoint(dy: Any, x: Any, axes: Any = None) -> Any:
    """The inverse shift."""
    return np.fft.ifftshift(dy, axes)


@linear([np.fft.ifftshift])
def ifftshift_adjoint(dy: Any, x: Any, axes: Any = None) -> Any:
    """The shift."""
    return np.fft.fftshift(dy, axes)


@linear(np.tril)
def tril_adjoint(dy: Any, m: Any, k: Any = 0) -> Any:
    """Removed entries have derivative zero."""
    return _cut(np.tril(dy, k), m)


@linear(np.triu)
def triu_adjoint(dy: Any, m: Any, k: Any = 0) -> Any:
    """Removed entries have derivative zero."""
    return _cut(np.triu(dy, k), m)


def _cut(dm: Any, m: Any) -> Any:
    """A vector counts as every row of a matrix."""
    return np.sum(dm, axis=0) if m.ndim == 1 else dm


@linear([np.diagonal])
def diagonal_adjoint(
    dy: Any, a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1
) -> Any:
    """Put the entries back on the diagonal."""
    n, m = a.shape[axis1], a.shape[axis2]
    rows = np.arange(dy.shape[-1]) + max(-offset, 0)
    on = (np.arange(n) == rows[:, None]) * 1.0
    off = (np.arange(m) == (rows + offset)[:, None]) * 1.0
    matrix = np.einsum("...k,ki,kj->...ij", dy, on, off)
    return np.moveaxis(matrix, (-2, -1), (axis1, axis2))
