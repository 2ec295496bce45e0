"""Filters of a spectrum: its entries times a function of the frequency."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._lists import constant_like, dtype_of, entries_like, shape_of
from rules_scipy._steps import At, declare

from ._arrays import as_array, cast, dtype_named, linear
from ._linear import floating

__all__ = [
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
]


def _shape(f: Any, least: str) -> Any:
    """The shape rule; results are `complex` or floating at least."""
    names = tuple(inspect.signature(f).parameters)

    def spectrum_shape(*args: Any, **kw: Any) -> Any:
        own = dict(zip(names, args, strict=False)) | kw
        dtype, output = np.dtype(dtype_of(own["input"])), own.get("output")
        kept = dtype.kind == "c" or (least == "float" and dtype == np.float32)
        found = dtype if kept else np.dtype(least)
        if output is not None:
            found = dtype_named(output)
        return rc.ShapeDtype(shape_of(own["input"]), found)

    spectrum_shape.__qualname__ = f"{f.__name__}_shape"
    return spectrum_shape


def _frequencies(x: Any, n: int, axis: int) -> list[Any]:
    """Frequencies in periods per sample, each along its axis."""
    found = []
    for i, size in enumerate(x.shape):
        halved = n >= 0 and i == axis % x.ndim
        own: Any = np.arange(size) / n if halved else np.fft.fftfreq(size)
        shape = [1] * x.ndim
        shape[i] = -1
        found.append(constant_like(own.reshape(shape), x))
    return found


def _each(values: Any, x: Any) -> list[Any]:
    """The parameter of each axis."""
    if isinstance(values, list | tuple):
        return [floating(as_array(value, x)) for value in values]
    own = floating(as_array(values, x))
    return [own[i] for i in range(x.ndim)] if own.ndim else [own] * x.ndim


def _gaussian_step(at: At, input: Any, sigma: Any, n: Any, axis: Any) -> Any:
    xp, total = rc.array_namespace(input), 0.0
    widths = _each(sigma, input)
    for f, width in zip(_frequencies(input, n, axis), widths, strict=True):
        total = total - 2 * (np.pi * f * width) ** 2
    return cast(floating(input) * xp.exp(total), at.y)


def _uniform_step(at: At, input: Any, size: Any, n: Any, axis: Any) -> Any:
    xp, y = rc.array_namespace(input), floating(input)
    for f, width in zip(_frequencies(input, n, axis), _each(size, input), strict=True):
        y = y * _sinc(xp, f * width)
    return cast(y, at.y)


def _sinc(xp: Any, x: Any) -> Any:
    zero = x == 0
    safe = np.pi * xp.where(zero, xp.ones_like(x), x)
    return xp.where(zero, xp.ones_like(x), xp.sin(safe) / safe)


def _shift_step(at: At, input: Any, shift: Any, n: Any, axis: Any) -> Any:
    xp, total = rc.array_namespace(input), 0.0
    moves = _each(shift, input)
    for f, move in zip(_frequencies(input, n, axis), moves, strict=True):
        total = total - 2 * np.pi * f * move
    return cast(xp.exp(1j * total) * input, at.y)


def _declared(f: Any, step: Any, count: int, least: str = "float") -> rc.Primitive:
    return declare(f, step, count=count, out=_shape(f, least))


fourier_gaussian = _declared(_sp.fourier_gaussian, _gaussian_step, 2)
fourier_uniform = _declared(_sp.fourier_uniform, _uniform_step, 2)
fourier_shift = _declared(_sp.fourier_shift, _shift_step, 2, "complex")


def _ellipsoid_adjoint(
    dy: Any, input: Any, size: Any, n: Any, axis: Any, output: Any
) -> Any:
    """The map itself: entries are multiplied by real numbers."""
    return entries_like(input, cast(fourier_ellipsoid(dy, size, n, axis), input))


fourier_ellipsoid: rc.Primitive = linear(
    _sp.fourier_ellipsoid, _ellipsoid_adjoint, _shape(_sp.fourier_ellipsoid, "float")
)
