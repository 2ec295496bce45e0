"""Prominences, widths and heights of peaks, at positions that are constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy._arrays import arrays

from ._axis import together
from ._declare import DECLARED, At, declared

__all__ = ["find_peaks", "peak_prominences", "peak_widths"]


def _size(peaks: Any) -> tuple[int, ...]:
    return (len(peaks),) if isinstance(peaks, list) else tuple(peaks.shape)


def _prominences_shape(x: Any, peaks: Any, *_args: Any, **_kw: Any) -> Any:
    places = rc.ShapeDtype(_size(peaks), np.dtype(np.intp))
    return rc.ShapeDtype(places.shape, np.dtype(float)), places, places


def _at(x: Any, index: Any) -> Any:
    index = np.asarray(index) if isinstance(index, list) else index
    return rc.array_namespace(x).take(x, together(index, x)[0], axis=0)


def _prominences_step(at: At, x: Any, peaks: Any) -> Any:
    """The height above the higher one of the two bases."""
    xp, (_, left, right) = rc.array_namespace(x), at.y
    base = xp.maximum(_at(x, left), _at(x, right))
    return _at(x, peaks) - base, None, None


peak_prominences = declared(
    _sp.peak_prominences, _prominences_step, "x", out=_prominences_shape
)


def _widths_shape(x: Any, peaks: Any, *_args: Any, **_kw: Any) -> Any:
    return (rc.ShapeDtype(_size(peaks), np.dtype(float)),) * 4


def _crossing(x: Any, height: Any, place: Any, side: int) -> Any:
    """Where the line between two samples has a height; a base stays where it is.

    Args:
        x: The signal.
        height: The heights.
        place: The results.
        side: 1 for a crossing to the left of its peak, -1 to the right.
    """
    xp = rc.array_namespace(x, height)
    still = rc.ignore_derivatives(place)
    outer = xp.astype(xp.floor(still) if side > 0 else xp.ceil(still), xp.int64)
    inner = xp.clip(outer + side, 0, x.shape[0] - 1)
    low, high = xp.take(x, outer, axis=0), xp.take(x, inner, axis=0)
    crossed = rc.ignore_derivatives(low) < rc.ignore_derivatives(height)
    rise = xp.where(crossed, high - low, xp.ones_like(low))
    return xp.where(crossed, side * (height - low) / rise, 0 * low)


def _widths_step(
    at: At, x: Any, rel_height: Any, prominence_data: Any, peaks: Any, wlen: Any
) -> Any:
    """Between two crossings of the height, by linear interpolation."""
    if prominence_data is None:
        prominence_data = peak_prominences(x, peaks, wlen)
    x, rel_height, prominences = together(x, rel_height, prominence_data[0])
    height = _at(x, peaks) - prominences * rel_height
    left, right = [
        _crossing(x, height, together(place, x)[0], side)
        for place, side in ((at.y[2], 1), (at.y[3], -1))
    ]
    return right - left, height, left, right


peak_widths = declared(
    _sp.peak_widths,
    _widths_step,
    "x",
    "rel_height",
    "prominence_data",
    out=_widths_shape,
)


# What find_peaks tells of the peaks that it finds


def _found(x: Any, options: Any) -> Any:
    """SciPy's result for numbers; an error for an array without numbers."""
    try:
        known = np.asarray(x)
    except Exception as error:  # each framework raises its own
        message = (
            "find_peaks: how many peaks there are is not known in traced code. Find "
            "them outside, and call peak_prominences and peak_widths with their "
            "positions."
        )
        raise rc.UnsupportedError(message) from error
    return _sp.find_peaks(known, **options)


rc.non_differentiable(_found)


def find_peaks(
    x: Any,
    height: Any = None,
    threshold: Any = None,
    distance: Any = None,
    prominence: Any = None,
    width: Any = None,
    wlen: Any = None,
    rel_height: Any = 0.5,
    plateau_size: Any = None,
) -> Any:
    """`(peaks, properties)`, as `scipy.signal.find_peaks`.

    Positions and the choice of peaks are constants; heights, thresholds, prominences
    and widths have their derivatives in the signal. The signal must have numbers: in
    code that is traced this is an error.

    >>> import numpy as np
    >>> from rules_scipy import signal
    >>> x = np.array([0.0, 2.0, 1.0, 3.0, 0.0])
    >>> signal.find_peaks(x, height=0)[1]["peak_heights"]
    array([2., 3.])
    """
    options = {
        "height": height, "threshold": threshold, "distance": distance,
        "prominence": prominence, "width": width, "wlen": wlen,
        "rel_height": rel_height, "plateau_size": plateau_size,
    }  # fmt: skip
    if isinstance(x, list | tuple):
        (x,) = arrays(x)
    peaks, found = _found(rc.ignore_derivatives(x), options)
    return peaks, found | _heights(x, peaks, found, wlen, rel_height)


def _heights(x: Any, peaks: Any, found: Any, wlen: Any, rel_height: Any) -> Any:
    """Those of the properties that have derivatives."""
    own = {}
    if "peak_heights" in found:
        own["peak_heights"] = _at(x, peaks)
    if "left_thresholds" in found:
        own["left_thresholds"] = _at(x, peaks) - _at(x, peaks - 1)
        own["right_thresholds"] = _at(x, peaks) - _at(x, peaks + 1)
    if "prominences" in found:
        own["prominences"] = peak_prominences(x, peaks, wlen)[0]
    if "widths" in found:
        bases = found["left_bases"], found["right_bases"]
        data = own["prominences"], *bases
        names = "widths", "width_heights", "left_ips", "right_ips"
        widths = peak_widths(x, peaks, rel_height, data)
        own |= dict(zip(names, widths, strict=True))
    return own


DECLARED[_sp.find_peaks] = "covered"
stand_in(_sp.find_peaks)(find_peaks)
