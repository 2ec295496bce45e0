"""Filters that are linear in the image: correlation and its kin, means, differences.

Each is a sum over windows of the image extended beyond its borders. The derivative is
that of the extension and of the sum, for every mode: also in the weights and in the
value of constant borders.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._steps import At, declare

from ._arrays import (
    as_array,
    cast,
    conjugate,
    extended,
    image_shape,
    per_axis,
    places_of,
)
from ._windows import window_sums

__all__ = [
    "along_axis",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "floating",
    "laplace",
    "opposite",
    "prewitt",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]


def _window(x: Any, weights: Any, pads: Any, mode: str, cval: Any) -> Any:
    for axis, own in enumerate(pads):
        x = extended(x, axis, own, mode, cval)
    return window_sums(x, weights)


def _pads(size: int, origin: int) -> tuple[int, int]:
    """How far a window reaches to both sides."""
    before = size // 2 + origin
    return before, size - 1 - before


def along_axis(
    x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int = 0
) -> Any:
    """The correlation with weights along one axis, without conjugation."""
    shape = [1] * x.ndim
    shape[axis] = size = weights.shape[0]
    pads = [(0, 0)] * x.ndim
    pads[axis] = _pads(size, origin)
    window = rc.array_namespace(weights).reshape(weights, tuple(shape))
    return _window(x, window, pads, mode, cval)


def floating(x: Any) -> Any:
    """Whole numbers as floating ones."""
    xp = rc.array_namespace(x)
    if xp.isdtype(x.dtype, ("real floating", "complex floating")):
        return x
    return xp.astype(x, xp.float64)


def opposite(origin: int, size: int) -> int:
    """The origin of a window that is turned round."""
    return -origin - (size % 2 == 0)


# Correlation and convolution


def _correlated_1d(
    at: At, input: Any, weights: Any, cval: Any, axis: Any, mode: Any, origin: Any
) -> Any:
    weights = conjugate(as_array(weights, input))
    y = along_axis(floating(input), floating(weights), axis, mode, cval, origin)
    return cast(y, at.y)


def _convolved_1d(
    at: At, input: Any, weights: Any, cval: Any, axis: Any, mode: Any, origin: Any
) -> Any:
    weights = as_array(weights, input)
    turned = floating(rc.array_namespace(weights).flip(weights))
    back = opposite(origin, weights.shape[0])
    return cast(along_axis(floating(input), turned, axis, mode, cval, back), at.y)


def _correlated(
    at: At, input: Any, weights: Any, cval: Any, mode: Any, origin: Any, axes: Any
) -> Any:
    weights = conjugate(as_array(weights, input))
    places = _origins(origin, axes, input.ndim)
    return cast(
        _over_axes(floating(input), floating(weights), mode, cval, places), at.y
    )


def _convolved(
    at: At, input: Any, weights: Any, cval: Any, mode: Any, origin: Any, axes: Any
) -> Any:
    weights = as_array(weights, input)
    turned = floating(rc.array_namespace(weights).flip(weights))
    places = _origins(origin, axes, input.ndim)
    others = map(opposite, places.values(), weights.shape)
    back = dict(zip(places, others, strict=True))
    return cast(_over_axes(floating(input), turned, mode, cval, back), at.y)


def _origins(origin: Any, axes: Any, ndim: int) -> dict[int, int]:
    """The origin of each axis, by axis: a window's axes are in the image's order."""
    places = places_of(axes, ndim)
    origins = per_axis(origin, len(places))
    return dict(sorted(zip(places, origins, strict=True)))


def _over_axes(
    x: Any, weights: Any, mode: str, cval: Any, origins: dict[int, int]
) -> Any:
    shape, pads = [1] * x.ndim, [(0, 0)] * x.ndim
    for (place, origin), size in zip(origins.items(), weights.shape, strict=True):
        shape[place] = size
        pads[place] = _pads(size, origin)
    window = rc.array_namespace(weights).reshape(weights, tuple(shape))
    return _window(x, window, pads, mode, cval)


def _weighted(f: Any, step: Any) -> rc.Primitive:
    return declare(
        f, step, of=("input", "weights", "cval"), out=image_shape(f, "weights")
    )


correlate1d = _weighted(_sp.correlate1d, _correlated_1d)
convolve1d = _weighted(_sp.convolve1d, _convolved_1d)
correlate = _weighted(_sp.correlate, _correlated)
convolve = _weighted(_sp.convolve, _convolved)


# Filters of fixed weights


def _fixed(weights: Any, like: Any) -> Any:
    """Weights in the precision of an image."""
    return cast(as_array(np.asarray(weights, float), like), like)


def _mean_1d(
    at: At, input: Any, cval: Any, size: Any, axis: Any, mode: Any, origin: Any
) -> Any:
    weights = _fixed(np.full(size, 1 / size), input)
    return cast(along_axis(input, weights, axis, mode, cval, origin), at.y)


def _mean(
    at: At, input: Any, cval: Any, size: Any, mode: Any, origin: Any, axes: Any
) -> Any:
    places = places_of(axes, input.ndim)
    own = [per_axis(option, len(places)) for option in (size, origin, mode)]
    y = input
    for axis, n, start, border in zip(places, *own, strict=True):
        weights = _fixed(np.full(int(n), 1 / int(n)), input)
        y = along_axis(y, weights, axis, border, cval, start) if n > 1 else y
    return cast(y, at.y)


def _smoothed_difference(smooth: list[int]) -> Any:
    def difference_step(at: At, input: Any, cval: Any, axis: Any, mode: Any) -> Any:
        axis %= input.ndim
        modes, y = per_axis(mode, input.ndim), input
        for i in (axis, *[i for i in range(input.ndim) if i != axis]):
            weights = _fixed([-1, 0, 1] if i == axis else smooth, input)
            y = along_axis(y, weights, i, modes[i], cval)
        return cast(y, at.y)

    return difference_step


def _laplace(at: At, input: Any, cval: Any, mode: Any, axes: Any) -> Any:
    places = places_of(axes, input.ndim)
    modes, weights = per_axis(mode, len(places)), _fixed([1, -2, 1], input)
    parts = [
        along_axis(input, weights, axis, border, cval)
        for axis, border in zip(places, modes, strict=True)
    ]
    return cast(sum(parts[1:], start=parts[0]) if parts else input, at.y)


def _filter(f: Any, step: Any) -> rc.Primitive:
    return declare(f, step, of=("input", "cval"), out=image_shape(f))


uniform_filter1d = _filter(_sp.uniform_filter1d, _mean_1d)
uniform_filter = _filter(_sp.uniform_filter, _mean)
sobel = _filter(_sp.sobel, _smoothed_difference([1, 2, 1]))
prewitt = _filter(_sp.prewitt, _smoothed_difference([1, 1, 1]))
laplace = _filter(_sp.laplace, _laplace)
