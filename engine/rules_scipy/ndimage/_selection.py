"""Filters that select an entry of each window: ranks, extrema, grey morphology.

The derivative belongs to the entries that the result is equal to; several share it
equally, as at every tie. `shared(z, h, …)` is the mean of `z + h` over those entries,
and linear in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage as _sp

import rules_core as rc
from rules_scipy._steps import At, declare

from ._arrays import as_array, cast, extended, image_shape, per_axis, places_of
from ._linear import opposite

__all__ = [
    "black_tophat",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "rank_filter",
    "white_tophat",
]


def _parts(footprint: Any, shape: Any) -> Any:
    """The places in a window, and the part of the extended image that each sees."""
    for place in zip(*np.nonzero(footprint), strict=True):
        own = zip(place, shape, strict=True)
        yield place, tuple(slice(start, start + n) for start, n in own)


def _hits(keys: Any, tops: Any, y: Any, footprint: Any) -> Any:
    """For each place in a window: whether its entry is the result."""
    missing = np.isnan(y)
    for place, part in _parts(footprint, y.shape):
        entry = np.asarray(keys[part] + tops[place], y.dtype)
        yield place, part, (entry == y) | (missing & np.isnan(entry))


def _counts(keys: Any, tops: Any, y: Any, footprint: Any) -> Any:
    return sum(hit.astype(float) for _, _, hit in _hits(keys, tops, y, footprint))


def _shared_shape(z: Any, h: Any, keys: Any, tops: Any, y: Any, *_: Any) -> Any:
    return rc.ShapeDtype(tuple(y.shape), z.dtype)


@rc.primitive(host=True, out=_shared_shape)
def shared(z: Any, h: Any, keys: Any, tops: Any, y: Any, footprint: Any) -> Any:
    """The mean over the entries of each window that the result is equal to.

    Args:
        z: What is averaged, an extended image.
        h: What is added to it for each place in the window.
        keys: The extended image.
        tops: What was added to it.
        y: The result.
        footprint: The places of the window that count.
    """
    total = np.zeros(y.shape)
    for place, part, hit in _hits(keys, tops, y, footprint):
        total += np.where(hit, z[part] + h[place], 0.0)
    return np.asarray(total / _counts(keys, tops, y, footprint), z.dtype)


def _image_shape(dy: Any, keys: Any, *_: Any) -> Any:
    return rc.ShapeDtype(tuple(keys.shape), dy.dtype)


@rc.primitive(host=True, out=_image_shape)
def shared_image(dy: Any, keys: Any, tops: Any, y: Any, footprint: Any) -> Any:
    """The adjoint of `shared` in the image."""
    share = dy / _counts(keys, tops, y, footprint)
    total = np.zeros(keys.shape)
    for _, part, hit in _hits(keys, tops, y, footprint):
        total[part] += np.where(hit, share, 0.0)
    return np.asarray(total, dy.dtype)


def _heights_shape(dy: Any, keys: Any, tops: Any, *_: Any) -> Any:
    return rc.ShapeDtype(tuple(tops.shape), dy.dtype)


@rc.primitive(host=True, out=_heights_shape)
def shared_heights(dy: Any, keys: Any, tops: Any, y: Any, footprint: Any) -> Any:
    """The adjoint of `shared` in what is added at each place."""
    share = dy / _counts(keys, tops, y, footprint)
    total = np.zeros(tops.shape)
    for place, _, hit in _hits(keys, tops, y, footprint):
        total[place] = np.where(hit, share, 0.0).sum()
    return np.asarray(total, dy.dtype)


def _zero(x: Any, like: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.zeros_like(xp.astype(x, like.dtype))


def _adjoint(dy: Any, z: Any, h: Any, *fixed: Any) -> Any:
    return cast(shared_image(dy, *fixed), z), cast(shared_heights(dy, *fixed), h)


def _image_adjoint(
    z: Any, dy: Any, keys: Any, tops: Any, y: Any, footprint: Any
) -> Any:
    return shared(z, _zero(tops, z), keys, tops, y, footprint)


def _heights_adjoint(
    h: Any, dy: Any, keys: Any, tops: Any, y: Any, footprint: Any
) -> Any:
    return shared(_zero(keys, h), h, keys, tops, y, footprint)


rc.linear_rule(shared, _adjoint, (0, 1))
rc.linear_rule(shared_image, _image_adjoint, 0)
rc.linear_rule(shared_heights, _heights_adjoint, 0)


# Windows


def _window(size: Any, footprint: Any, structure: Any, ndim: int) -> Any:
    """The places of a window of as many axes as are filtered."""
    if footprint is not None:
        return as_numbers(footprint)
    if structure is not None:
        return np.ones(tuple(structure.shape))
    return np.ones([int(n) for n in per_axis(size, ndim)])


def as_numbers(footprint: Any) -> Any:
    """A footprint as an array of numbers."""
    if not rc.is_array(footprint):
        return np.asarray(np.asarray(footprint, bool), float)
    xp = rc.array_namespace(footprint)
    return xp.astype(xp.astype(footprint, xp.bool), xp.float64)


def _selected(
    at: At, x: Any, heights: Any, fixed: Any, window: Any, mode: Any, cval: Any,
    origins: dict[int, int],
) -> Any:  # fmt: skip
    """The derivative of a selection by a window.

    Args:
        at: Where it is differentiated.
        x: The image.
        heights: What is added to the entries, along the filtered axes; or None.
        fixed: Its value where the derivative is taken.
        window: The places that count, along the filtered axes.
        mode: One mode for all axes, or one for each that is filtered.
        cval: The value of constant borders.
        origins: The origin for each filtered axis.
    """
    keys, shape = rc.ignore_derivatives(at.args[0]), [1] * x.ndim
    inside = rc.ignore_derivatives(cval)
    modes = per_axis(mode, len(origins))
    rows = zip(origins.items(), window.shape, modes, strict=True)
    for (axis, origin), size, border in rows:
        shape[axis] = size
        before = size // 2 + origin
        pads = before, size - 1 - before
        keys = extended(keys, axis, pads, border, inside)
        x = extended(x, axis, pads, border, cval)
    places = as_array(rc.array_namespace(window).reshape(window, tuple(shape)), x)
    none = rc.array_namespace(x).zeros_like(cast(places, x))
    h, tops = none, none
    if heights is not None:
        xp = rc.array_namespace(heights)
        h, tops = (xp.reshape(own, tuple(shape)) for own in (heights, fixed))
    y = rc.ignore_derivatives(at.y)
    return cast(shared(x, h, keys, rc.ignore_derivatives(tops), y, places), at.y)


def _origins(origin: Any, axes: Any, ndim: int, window: Any, each: bool) -> Any:
    """The origin by axis, in the order of the window's axes.

    SciPy takes sizes in the order of the axes that are given if it filters each axis by
    itself, and in the image's order if not.
    """
    places = places_of(axes, ndim)
    found = dict(zip(places, per_axis(origin, len(places)), strict=True))
    if list(places) == sorted(places) or (each and bool(np.all(window))):
        return found
    return dict(sorted(found.items()))


# Ranks and extrema


def _ranked(*, each: bool) -> Any:
    """A selection by rank; of extrema SciPy filters each axis by itself."""

    def rank_step(
        at: At, input: Any, cval: Any, size: Any, footprint: Any, mode: Any,
        origin: Any, axes: Any,
    ) -> Any:  # fmt: skip
        window = _window(size, footprint, None, len(places_of(axes, input.ndim)))
        origins = _origins(origin, axes, input.ndim, window, each)
        return _selected(at, input, None, None, window, mode, cval, origins)

    return rank_step


def _extremum_step(
    at: At, input: Any, cval: Any, size: Any, axis: Any, mode: Any, origin: Any
) -> Any:
    origins = {axis % input.ndim: origin}
    return _selected(at, input, None, None, np.ones(size), mode, cval, origins)


def _declared(f: Any, step: Any, *also: str) -> rc.Primitive:
    return declare(f, step, of=("input", *also, "cval"), out=image_shape(f))


minimum_filter1d = _declared(_sp.minimum_filter1d, _extremum_step)
maximum_filter1d = _declared(_sp.maximum_filter1d, _extremum_step)
minimum_filter = _declared(_sp.minimum_filter, _ranked(each=True))
maximum_filter = _declared(_sp.maximum_filter, _ranked(each=True))
rank_filter = _declared(_sp.rank_filter, _ranked(each=False))
median_filter = _declared(_sp.median_filter, _ranked(each=False))
percentile_filter = _declared(_sp.percentile_filter, _ranked(each=False))


# Grey morphology


def _morphology(sign: int) -> Any:
    """Erosion subtracts the structure, dilation adds it turned round."""

    def morphology_step(
        at: At, input: Any, structure: Any, cval: Any, size: Any, footprint: Any,
        mode: Any, origin: Any, axes: Any,
    ) -> Any:  # fmt: skip
        heights, fixed = (
            None if s is None else sign * as_array(s, input)
            for s in (structure, at.args[1])
        )
        count = len(places_of(axes, input.ndim))
        window = _window(size, footprint, heights, count)
        origins = _origins(origin, axes, input.ndim, window, structure is None)
        if sign > 0:
            window, heights, fixed = map(_turned, (window, heights, fixed))
            back = map(opposite, origins.values(), window.shape)
            origins = dict(zip(origins, back, strict=True))
        return _selected(at, input, heights, fixed, window, mode, cval, origins)

    return morphology_step


def _turned(x: Any) -> Any:
    return None if x is None else rc.array_namespace(x).flip(x)


grey_erosion = _declared(_sp.grey_erosion, _morphology(-1), "structure")
grey_dilation = _declared(_sp.grey_dilation, _morphology(1), "structure")


def _composed(f: Any, compose: Any) -> rc.Primitive:
    """A function made of erosions and dilations."""

    def composed_step(
        at: At, input: Any, structure: Any, cval: Any, size: Any, footprint: Any,
        mode: Any, origin: Any, axes: Any,
    ) -> Any:  # fmt: skip
        if structure is not None:
            structure = as_array(structure, input)

        def eroded(x: Any) -> Any:
            return grey_erosion(
                x, size, footprint, structure, None, mode, cval, origin, axes=axes
            )

        def dilated(x: Any) -> Any:
            return grey_dilation(
                x, size, footprint, structure, None, mode, cval, origin, axes=axes
            )

        return cast(compose(input, eroded, dilated), at.y)

    return _declared(f, composed_step, "structure")


grey_opening = _composed(_sp.grey_opening, lambda x, e, d: d(e(x)))
grey_closing = _composed(_sp.grey_closing, lambda x, e, d: e(d(x)))
morphological_gradient = _composed(
    _sp.morphological_gradient, lambda x, e, d: d(x) - e(x)
)
morphological_laplace = _composed(
    _sp.morphological_laplace, lambda x, e, d: d(x) + e(x) - 2 * x
)
white_tophat = _composed(_sp.white_tophat, lambda x, e, d: x - d(e(x)))
black_tophat = _composed(_sp.black_tophat, lambda x, e, d: e(d(x)) - x)
