r"""Convolutions and correlations.

All are parts of one product, which is linear in each factor: the full convolution, and
the part of it without values beyond an edge. These two are each other's adjoints.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy.linalg._matrices import conjugate

from ._axis import beyond, flipped, padded, part, projected, selected, together
from ._declare import At, declared

__all__ = [
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "fftconvolve",
    "filtered",
    "oaconvolve",
    "product",
]


# The product


def _product(x: Any, h: Any, mode: str, method: str, axes: tuple[int, ...]) -> Any:
    """The convolution of two arrays along axes; others are broadcast."""
    x, h = np.asarray(x), np.asarray(h)
    if method == "direct":
        return _sp.convolve(x, h, mode, "direct")
    f = _sp.fftconvolve if method == "fft" else _sp.oaconvolve
    return f(x, h, mode, axes=axes)


def _product_shape(x: Any, h: Any, mode: Any, method: Any, axes: Any) -> Any:
    shape = list(np.broadcast_shapes(*[_others(u, axes) for u in (x, h)]))
    for i in axes:
        m, n = sorted((x.shape[i], h.shape[i]))
        shape[i] = m + n - 1 if mode == "full" else n - m + 1
    return rc.ShapeDtype(tuple(shape), np.result_type(_dtype(x), _dtype(h)))


def _others(x: Any, axes: Any) -> tuple[int, ...]:
    return tuple([1 if i in axes else n for i, n in enumerate(x.shape)])


def _dtype(x: Any) -> Any:
    return np.dtype(x.dtype)


product: rc.Primitive = rc.primitive(_product, host=True, out=_product_shape)


@rc.frule.define(product)
def product_frule(
    tangents: Any, x: Any, h: Any, mode: Any, method: Any, axes: Any
) -> Any:
    """The rule of Leibniz."""
    _, dx, dh, *_ = tangents
    y: Any = product(x, h, mode, method, axes)
    terms = [] if _is_zero(dx) else [product(dx, h, mode, method, axes)]
    terms += [] if _is_zero(dh) else [product(x, dh, mode, method, axes)]
    return y, sum(terms[1:], terms[0]) if terms else rc.ZeroTangent()


@rc.rrule.define(product)
def product_rrule(x: Any, h: Any, mode: Any, method: Any, axes: Any) -> Any:
    """Each factor gets the correlation of the cotangent with the other."""

    def along(dy: Any, u: Any, v: Any) -> Any:
        if not rc.has_tangent(u):
            return rc.NoTangent()
        turned = flipped(conjugate(v), *axes)
        larger = all(u.shape[i] >= v.shape[i] for i in axes)
        if mode == "full":
            du = product(dy, turned, "valid", method, axes)
        elif larger:
            du = product(dy, turned, "full", method, axes)
        else:
            du = product(turned, dy, "valid", method, axes)
        return projected(u, du)

    def product_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        dx, dh = along(dy, x, h), along(dy, h, x)
        return none, dx, dh, none, none, none

    return product(x, h, mode, method, axes), product_pullback


def _is_zero(dx: Any) -> bool:
    return isinstance(dx, rc.AbstractZero)


def filtered(h: Any, x: Any, axis: int) -> Any:
    """The full convolution with a vector along one axis."""
    h, x = together(h, x)
    shape = [1] * x.ndim
    shape[axis] = h.shape[0]
    h = rc.array_namespace(h).reshape(h, tuple(shape))
    return product(h, x, "full", "direct", tuple(range(x.ndim)))


# Functions of SciPy


def _centred(y: Any, x: Any, *, late: bool = False) -> Any:
    """The centre of the full result, of the shape of `x`; broadcast axes are cut too.

    Of two centres the first, or with `late` the second.
    """
    for i, n in enumerate(x.shape):
        start = (y.shape[i] - n + late) // 2
        y = part(y, i, start, start + n)
    return y


def _convolved(in1: Any, in2: Any, mode: str, method: str, axes: Any) -> Any:
    in1, in2 = together(in1, in2)
    if in1.ndim == 0:
        return in1 * in2
    axes = _axes(in1.ndim, axes)
    kind = "valid" if mode == "valid" else "full"
    y = product(in1, in2, kind, method, axes)
    return _centred(y, in1) if mode == "same" else y


def _axes(ndim: int, axes: Any) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(ndim))
    axes = (axes,) if isinstance(axes, int) else axes
    return tuple([int(i) % ndim for i in axes])


def _method(in1: Any, in2: Any, mode: str, method: str) -> str:
    if method != "auto":
        return method
    empty = [np.broadcast_to(np.zeros(()), x.shape) for x in (in1, in2)]
    return str(_sp.choose_conv_method(*empty, mode))


def _convolve_step(at: At, in1: Any, in2: Any, mode: Any, method: Any) -> Any:
    method = _method(at.args[0], at.args[1], mode, method)
    return _convolved(in1, in2, mode, method, None)


def _correlate_step(at: At, in1: Any, in2: Any, mode: Any, method: Any) -> Any:
    method = _method(at.args[0], at.args[1], mode, method)
    return _convolved(in1, _turned(in2), mode, method, None)


def _turned(x: Any) -> Any:
    return flipped(conjugate(x), *range(x.ndim))


def _fftconvolve_step(at: At, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    return _convolved(in1, in2, mode, "fft", axes)


def _oaconvolve_step(at: At, in1: Any, in2: Any, mode: Any, axes: Any) -> Any:
    return _convolved(in1, in2, mode, "oa", axes)


convolve = declared(_sp.convolve, _convolve_step, "in1", "in2")
correlate = declared(_sp.correlate, _correlate_step, "in1", "in2")
fftconvolve = declared(_sp.fftconvolve, _fftconvolve_step, "in1", "in2")
oaconvolve = declared(_sp.oaconvolve, _oaconvolve_step, "in1", "in2")


# Two dimensions, with a choice of what is beyond the edges

_PADDING = {"wrap": "wrap", "circular": "wrap", "symm": "symmetric",
            "symmetric": "symmetric"}  # fmt: skip


def _extended(x: Any, axis: int, margin: int, boundary: str, fill: Any) -> Any:
    """`x` with `margin` entries more at both ends."""
    if boundary in ("fill", "pad"):
        inside = padded(x, axis, margin, margin)
        if fill == 0:
            return inside
        ones = rc.array_namespace(x).ones_like(x)
        return inside + fill * (1 - padded(ones, axis, margin, margin))
    return selected(x, axis, beyond(x.shape[axis], margin, margin, _PADDING[boundary]))


def _convolved2d(
    in1: Any, in2: Any, mode: Any, boundary: Any, fill: Any, *, late: bool = False
) -> Any:
    in1, in2 = together(in1, in2)
    if mode == "valid":
        return _convolved(in1, in2, mode, "direct", None)
    x = in1
    for axis in (0, 1):
        x = _extended(x, axis, in2.shape[axis] - 1, boundary, fill)
    y = product(x, in2, "valid", "direct", (0, 1))
    return _centred(y, in1, late=late) if mode == "same" else y


def _convolve2d_step(
    at: At, in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any
) -> Any:
    return _convolved2d(in1, in2, mode, boundary, fillvalue)


def _correlate2d_step(
    at: At, in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any
) -> Any:
    if mode == "valid" and at.args[0].shape[0] < at.args[1].shape[0]:
        # SciPy exchanges the arrays, and conjugates what is second then.
        return _convolved(conjugate(in1), flipped(in2, 0, 1), mode, "direct", None)
    return _convolved2d(in1, _turned(in2), mode, boundary, fillvalue, late=True)


convolve2d = declared(_sp.convolve2d, _convolve2d_step, "in1", "in2")
correlate2d = declared(_sp.correlate2d, _correlate2d_step, "in1", "in2")
