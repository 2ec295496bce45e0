"""Fourier transforms: the adjoint is the inverse one with the other side's factor."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft as _sp

import rules_core as rc
from rules_scipy._lists import entries_like
from rules_scipy._steps import DECLARED, constant

from ._declare import Axes, edges, resized, transform

__all__ = [
    "fft", "fft2", "fftn", "fftshift", "fht", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ifht", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2",
    "irfftn", "rfft", "rfft2", "rfftn",
]  # fmt: skip

_OTHER = {None: "forward", "backward": "forward", "ortho": "ortho",
          "forward": "backward"}  # fmt: skip


def _complex(dtype: Any) -> Any:
    single = dtype.kind in "fc" and np.finfo(dtype).bits <= 32
    return np.dtype(np.complex64 if single else np.complex128)


def _real(dtype: Any) -> Any:
    return np.empty(0, _complex(dtype)).real.dtype


def _same(n: int, asked: int | None) -> int:
    return n if asked is None else asked


def _half(n: int, asked: int | None) -> int:
    return _same(n, asked) // 2 + 1


def _whole(n: int, asked: int | None) -> int:
    return 2 * (n - 1) if asked is None else asked


def _inverse(dy: Any, shape: Any, axes: Axes) -> Any:
    dx = ifftn(dy, axes=axes.places, norm=_OTHER[axes.norm])
    return resized(dx, shape, axes)


def _forward(dy: Any, shape: Any, axes: Axes) -> Any:
    dx = fftn(dy, axes=axes.places, norm=_OTHER[axes.norm])
    return resized(dx, shape, axes)


def _of_half(dy: Any, shape: Any, axes: Axes) -> Any:
    """The real part of the inverse transform of the half spectrum filled by zeros."""
    if not axes.places:
        return dy
    last = axes.places[-1]
    n = _same(shape[last], axes.lengths[-1])
    whole = resized(dy, {last: n}, axes._replace(places=(last,)))
    dx = ifftn(whole, axes=axes.places, norm=_OTHER[axes.norm])
    return resized(rc.array_namespace(dx).real(dx), shape, axes)


def _of_whole(dy: Any, shape: Any, axes: Axes) -> Any:
    """The half spectrum, in which all but the real frequencies count twice."""
    last = axes.places[-1]
    half = 2.0 * rfftn(dy, axes=axes.places, norm=_OTHER[axes.norm])
    even = dy.shape[last] % 2 == 0
    dx = edges(half, last, 0.5, 0.5 if even and half.shape[last] > 1 else 1.0)
    return resized(dx, shape, axes)


def _of_hermitian(dy: Any, shape: Any, axes: Axes) -> Any:
    """hfft(x) is irfft(conj(x)) with the other factor."""
    dx = _of_whole(dy, shape, axes._replace(norm=_OTHER[axes.norm]))
    return rc.array_namespace(dx).conj(dx)


def _to_hermitian(dy: Any, shape: Any, axes: Axes) -> Any:
    """ihfft(x) is conj(rfft(x)) with the other factor."""
    dy = rc.array_namespace(dy).conj(dy)
    return _of_half(dy, shape, axes._replace(norm=_OTHER[axes.norm]))


fft = transform(_sp.fft, _inverse, length=_same, dtype=_complex)
fft2 = transform(_sp.fft2, _inverse, length=_same, dtype=_complex)
fftn = transform(_sp.fftn, _inverse, length=_same, dtype=_complex)
ifft = transform(_sp.ifft, _forward, length=_same, dtype=_complex)
ifft2 = transform(_sp.ifft2, _forward, length=_same, dtype=_complex)
ifftn = transform(_sp.ifftn, _forward, length=_same, dtype=_complex)
rfft = transform(_sp.rfft, _of_half, length=_half, dtype=_complex)
rfft2 = transform(_sp.rfft2, _of_half, length=_half, dtype=_complex)
rfftn = transform(_sp.rfftn, _of_half, length=_half, dtype=_complex)
irfft = transform(_sp.irfft, _of_whole, length=_whole, dtype=_real)
irfft2 = transform(_sp.irfft2, _of_whole, length=_whole, dtype=_real)
irfftn = transform(_sp.irfftn, _of_whole, length=_whole, dtype=_real)
hfft = transform(_sp.hfft, _of_hermitian, length=_whole, dtype=_real)
hfft2 = transform(_sp.hfft2, _of_hermitian, length=_whole, dtype=_real)
hfftn = transform(_sp.hfftn, _of_hermitian, length=_whole, dtype=_real)
ihfft = transform(_sp.ihfft, _to_hermitian, length=_half, dtype=_complex)
ihfft2 = transform(_sp.ihfft2, _to_hermitian, length=_half, dtype=_complex)
ihfftn = transform(_sp.ihfftn, _to_hermitian, length=_half, dtype=_complex)


def _shift(f: Any, back: Any) -> rc.Primitive:
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True, out="x")

    def shift_adjoint(dy: Any, x: Any, axes: Any) -> Any:
        return entries_like(x, back()(dy, axes))

    @rc.batch_rule.define(made)
    def shift_batch(_size: int, in_batched: Any, x: Any, axes: Any) -> Any:
        if not in_batched[0]:
            return f(x, axes), False
        count = x.ndim - 1
        chosen = range(count) if axes is None else np.atleast_1d(axes)
        return f(x, tuple(int(i) - count if i >= 0 else int(i) for i in chosen)), True

    shift_adjoint.__qualname__ = f"{f.__name__}_adjoint"
    rc.linear_rule(made, shift_adjoint, 0)
    return made


fftshift: rc.Primitive = _shift(_sp.fftshift, lambda: ifftshift)
ifftshift: rc.Primitive = _shift(_sp.ifftshift, lambda: fftshift)


def _hankel(f: Any) -> rc.Primitive:
    """The fast Hankel transform is a convolution in reverse order: it is symmetric."""
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True, out=_like)

    def hankel_adjoint(dy: Any, a: Any, *parameters: Any) -> Any:
        return entries_like(a, made(dy, *parameters))

    hankel_adjoint.__qualname__ = f"{f.__name__}_adjoint"
    rc.linear_rule(made, hankel_adjoint, 0)
    return made


def _like(a: Any, *_parameters: Any) -> Any:
    return rc.ShapeDtype(a.shape, np.float64)


fht, ifht = _hankel(_sp.fht), _hankel(_sp.ifht)

constant(
    _sp.next_fast_len, _sp.prev_fast_len, _sp.get_workers, _sp.set_workers,
    _sp.set_backend, _sp.skip_backend, _sp.set_global_backend, _sp.register_backend,
)  # fmt: skip
