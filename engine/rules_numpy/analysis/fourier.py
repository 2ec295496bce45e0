"""`numpy.fft`: every transform is linear; its adjoint is a transform again."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.axes import along
from rules_numpy._declare.derivative import linear

__all__: list[str] = []

# The adjoint of a transform is the inverse one with the other side's factor.
_ADJOINT_NORM = {None: "forward", "backward": "forward", "ortho": "ortho"}


def _other(norm: Any) -> Any:
    return _ADJOINT_NORM.get(norm, "backward")


def _resized(x: Any, n: int, axis: int) -> Any:
    """`x` truncated, or padded with zeros, to length n: its own adjoint."""
    length = x.shape[axis]
    if n <= length:
        return x[along(0, n, axis, x.ndim)] if n < length else x
    shape = list(x.shape)
    shape[axis] = n - length
    return np.concatenate([x, np.zeros(shape, x.dtype)], axis=axis)


def _complex_transform(f: Any, opposite: Any) -> None:
    def transform_adjoint(
        dy: Any,
        a: Any,
        n: Any = None,
        axis: Any = -1,
        norm: Any = None,
        out: Any = None,
    ) -> Any:
        """The inverse transform, with the other side's factor."""
        dx = opposite(dy, axis=axis, norm=_other(norm))
        return _resized(dx, a.shape[axis], axis)

    transform_adjoint.__qualname__ = f"{f.__name__}_adjoint"
    linear(f)(transform_adjoint)


_complex_transform(np.fft.fft, np.fft.ifft)
_complex_transform(np.fft.ifft, np.fft.fft)


@linear(np.fft.rfft)
def rfft_adjoint(
    dy: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    """The real part of the inverse transform of the half spectrum filled by zeros."""
    n = a.shape[axis] if n is None else n
    dx = np.fft.ifft(_resized(dy, n, axis), axis=axis, norm=_other(norm))
    return _resized(np.real(dx), a.shape[axis], axis)


@linear(np.fft.irfft)
def irfft_adjoint(
    dy: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    """The half spectrum, in which all but the real frequencies count twice."""
    n = dy.shape[axis]
    half = np.fft.rfft(dy, axis=axis, norm=_other(norm))
    return _resized(half * _twice(half, n, axis), a.shape[axis], axis)


def _twice(half: Any, n: int, axis: int) -> Any:
    weights = np.full(half.shape[axis], 2.0)
    weights[0] = 1.0
    if n % 2 == 0:
        weights[-1] = 1.0
    shape = [1] * half.ndim
    shape[axis] = -1
    return np.reshape(weights, shape)


@linear(np.fft.hfft)
def hfft_adjoint(
    dy: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    """hfft(a) is irfft(conj(a)) with the other factor."""
    return np.conjugate(irfft_adjoint(dy, a, n, axis, _swapped(norm)))


@linear(np.fft.ihfft)
def ihfft_adjoint(
    dy: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None
) -> Any:
    """ihfft(a) is conj(rfft(a)) with the other factor."""
    return rfft_adjoint(np.conjugate(dy), a, n, axis, _swapped(norm))


def _swapped(norm: Any) -> str:
    swap = {None: "forward", "backward": "forward", "forward": "backward"}
    return swap.get(norm, "ortho")


def _lengths(a: Any, s: Any, axes: Any) -> tuple[tuple[int, ...], Any]:
    """Axes and lengths of a transform over several axes; -1 keeps the length."""
    if axes is None:
        count = a.ndim if s is None else len(s)
        axes = tuple(range(-count, 0))
    if s is None:
        return tuple(axes), [None] * len(axes)
    return tuple(axes), [
        a.shape[i] if n in (-1, None) else n for i, n in zip(axes, s, strict=True)
    ]


def _over_axes(dy: Any, shape: Any, axes: Any, norm: Any, inverse: Any) -> Any:
    for axis in axes:
        dy = inverse(dy, axis=axis, norm=norm)
        dy = _resized(dy, shape[axis], axis)
    return dy


def _complex_transforms(functions: Any, opposite: Any) -> None:
    def transforms_adjoint(
        dy: Any,
        a: Any,
        s: Any = None,
        axes: Any = None,
        norm: Any = None,
        out: Any = None,
    ) -> Any:
        """Axis by axis."""
        axes, _ = _lengths(a, s, axes)
        return _over_axes(dy, a.shape, axes, _other(norm), opposite)

    transforms_adjoint.__qualname__ = f"{functions[0].__name__}_adjoint"
    linear(functions)(transforms_adjoint)


_complex_transforms([np.fft.fftn, np.fft.fft2], np.fft.ifft)
_complex_transforms([np.fft.ifftn, np.fft.ifft2], np.fft.fft)


@linear([np.fft.rfftn, np.fft.rfft2])
def rfftn_adjoint(
    dy: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    """Complex over all axes but the last, which is real."""
    axes, lengths = _lengths(a, s, axes)
    if not axes:
        return np.real(dy)
    dy = _over_axes(dy, a.shape, axes[:-1], _other(norm), np.fft.ifft)
    last, n = axes[-1], lengths[-1]
    return rfft_adjoint(dy, a, n, last, norm)


@linear([np.fft.irfftn, np.fft.irfft2])
def irfftn_adjoint(
    dy: Any, a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None
) -> Any:
    """Complex over all axes but the last, which is real."""
    axes, _ = _lengths(a, s, axes)
    dy = irfft_adjoint(dy, a, None, axes[-1], norm)
    return _over_axes(dy, a.shape, axes[:-1], _other(norm), np.fft.fft)
