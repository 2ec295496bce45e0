"""Signals at other rates."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis
from rules_scipy.linalg._matrices import is_complex

from ._axis import beyond, fixed, flipped, padded, part, selected, together
from ._convolution import filtered
from ._declare import At, declared
from ._designs import designed
from ._filters import filtfilt, lfilter, sosfilt, sosfiltfilt
from ._windows import window_of

__all__ = ["decimate", "resample", "resample_poly", "resampled", "upfirdn"]


# By Fourier transforms


def resampled(spectrum: Any, n: int, num: int) -> Any:
    """A real signal of length `num` from the half spectrum of one of length `n`."""
    m = min(num, n)
    weights = np.ones(m // 2 + 1)
    if m % 2 == 0 and num != n:
        weights[m // 2] = 2.0 if num < n else 0.5
    kept = spectrum[..., : m // 2 + 1] * fixed(weights, spectrum)
    return rc.array_namespace(kept).fft.irfft(kept * (num / n), n=num)


def _resampled_whole(spectrum: Any, n: int, num: int) -> Any:
    """A complex signal from the whole spectrum; an unpaired frequency is shared."""
    xp, m = rc.array_namespace(spectrum), min(num, n)
    half = m // 2 + 1
    low, high = spectrum[..., :half], spectrum[..., n - (m - half) :]
    middle = spectrum[..., m // 2 : half]
    if m % 2 == 0 and num < n:
        middle = middle + spectrum[..., n - m // 2 : n - m // 2 + 1]
    axis, gap = spectrum.ndim - 1, num - m
    if m % 2 == 0 and n < num:
        middle = middle / 2
        parts = [low[..., :-1], padded(middle, axis, 0, gap - 1), middle, high]
    elif m % 2 == 0:
        parts = [low[..., :-1], middle, high]
    else:
        parts = [padded(low, axis, 0, gap), high]
    return xp.fft.ifft(concat(parts, axis) * (num / n), n=num)


def _spectral_window(window: Any, n: int, x: Any) -> Any:
    if callable(window):
        return fixed(window(np.fft.fftfreq(n)), x)
    if hasattr(window, "shape"):
        return window
    made = window_of(window, n, x)
    return concat([made[n - n // 2 :], made[: n - n // 2]], 0)


def _resample_step(
    at: At, x: Any, t: Any, window: Any, num: Any, axis: Any, domain: Any
) -> Any:
    xp = rc.array_namespace(x)
    x = moveaxis(x, axis, -1)
    n, real = x.shape[-1], domain == "time" and not is_complex(x)
    spectrum = xp.fft.fft(x + 0j) if domain == "time" else x
    if window is not None:
        weights = _spectral_window(window, n, x)
        if real:
            others = concat([weights[:1], flipped(weights[1:], 0)], 0)
            weights = (weights + others) / 2
        spectrum = spectrum * weights
    if real:
        y = resampled(spectrum[..., : n // 2 + 1], n, num)
    else:
        y = _resampled_whole(spectrum, n, num)
    y = moveaxis(y, -1, axis)
    if t is None:
        return y
    return y, t[0] + (t[1] - t[0]) * (n / num) * fixed(np.arange(num * 1.0), t)


resample = declared(_sp.resample, _resample_step, "x", "t", "window")


# By filters

_PADDING = ("constant", "symmetric", "reflect", "wrap", "edge")


def _upfirdn(h: Any, x: Any, up: int, down: int, axis: int) -> Any:
    """Zeros in between, a filter, and every `down`-th entry."""
    xp, axis = rc.array_namespace(x), axis % x.ndim
    n = x.shape[axis]
    if up > 1:
        spread = padded(xp.expand_dims(x, axis=axis + 1), axis + 1, 0, up - 1)
        shape = (*x.shape[:axis], n * up, *x.shape[axis + 1 :])
        x = part(xp.reshape(spread, shape), axis, 0, (n - 1) * up + 1)
    return part(filtered(h, x, axis), axis, None, None, down)


def _beyond(h: Any, x: Any, up: int, down: int, axis: int, mode: str, cval: Any) -> Any:
    """As `_upfirdn`, of a signal that goes on beyond its ends."""
    if mode == "constant" and cval == 0:
        return _upfirdn(h, x, up, down, axis)
    if mode not in _PADDING:
        message = f"derivative of scipy.signal.upfirdn with mode={mode!r}"
        raise rc.UnsupportedError(message)
    axis, n, m = axis % x.ndim, x.shape[axis], h.shape[0]
    # Entries before the first that a result reads, a multiple of `down` of outputs.
    before = -(-(m // up + 1) // down) * down
    after = m // up + 1
    if mode == "constant":
        wide = _filled(x, axis, before, after, cval)
    else:
        wide = selected(x, axis, beyond(n, before, after, mode))
    y = _upfirdn(h, wide, up, down, axis)
    count = ((n - 1) * up + m - 1) // down + 1
    start = before * up // down
    return part(y, axis, start, start + count)


def _filled(x: Any, axis: int, before: int, after: int, cval: Any) -> Any:
    inside = padded(rc.array_namespace(x).ones_like(x), axis, before, after)
    return padded(x, axis, before, after) + cval * (1 - inside)


def _upfirdn_step(
    at: At, h: Any, x: Any, up: Any, down: Any, axis: Any, mode: Any, cval: Any
) -> Any:
    h, x = together(h, x)
    return _beyond(h, x, up, down, axis, mode, cval)


upfirdn = declared(_sp.upfirdn, _upfirdn_step, "h", "x")

_LEVELS = {"mean": "mean", "minimum": "min", "maximum": "max"}


def _level(x: Any, axis: int, padtype: str) -> Any:
    xp = rc.array_namespace(x)
    if padtype != "median":
        return getattr(xp, _LEVELS[padtype])(x, axis=axis, keepdims=True)
    ordered, n = xp.sort(x, axis=axis), x.shape[axis]
    middle = part(ordered, axis, (n - 1) // 2, n // 2 + 1)
    return xp.mean(middle, axis=axis, keepdims=True)


def _polyphase_filter(window: Any, up: int, down: int, x: Any) -> Any:
    if hasattr(window, "shape"):
        return window
    if isinstance(window, list):
        return fixed(np.asarray(window, float), x)
    rate = max(up, down)
    cutoff = fixed(np.asarray([1 / rate]), x)
    return designed(cutoff, window, 20 * rate + 1, True)


def _resample_poly_step(
    at: At, x: Any, window: Any, up: Any, down: Any, axis: Any, padtype: Any, cval: Any
) -> Any:
    up, down = up // gcd(up, down), down // gcd(up, down)
    if up == down == 1:
        return x
    axis, n = axis % x.ndim, x.shape[axis]
    h, x = together(_polyphase_filter(window, up, down, x), x)
    half, count = (h.shape[0] - 1) // 2, -(-n * up // down)
    before = down - half % down
    start = (half + before) // down
    after = max((start + count) * down - ((n - 1) * up + h.shape[0] + before), 0)
    h = padded(up * h, 0, before, after + down)
    if padtype not in (*_LEVELS, "median"):
        filled = 0 if cval is None else cval
        y = _beyond(h, x, up, down, axis, padtype, filled)
        return part(y, axis, start, start + count)
    level = _level(x, axis, padtype)
    y = _upfirdn(h, x - level, up, down, axis)
    return part(y, axis, start, start + count) + level


resample_poly = declared(_sp.resample_poly, _resample_poly_step, "x", "window")


def _decimated_by(at: At, q: int, n: Any, ftype: str) -> Any:
    if ftype == "fir":
        return _sp.firwin((20 * q if n is None else n) + 1, 1 / q, window="hamming")
    return _sp.cheby1(8 if n is None else n, 0.05, 0.8 / q, output="sos")


def _decimate_step(
    at: At, x: Any, q: Any, n: Any, ftype: Any, axis: Any, zero_phase: Any
) -> Any:
    axis = axis % x.ndim
    if not isinstance(ftype, str):
        return _decimated(x, q, ftype, axis, zero_phase)
    made = fixed(_decimated_by(at, q, n, ftype), x)
    if ftype == "iir":
        f = sosfiltfilt if zero_phase else sosfilt
        return part(f(made, x, axis=axis), axis, None, None, q)
    if zero_phase:
        return resample_poly(x, 1, q, axis=axis, window=made)
    return part(upfirdn(made, x, 1, q, axis), axis, 0, -(-x.shape[axis] // q))


def _decimated(x: Any, q: int, system: Any, axis: int, zero_phase: Any) -> Any:
    """By a filter that the caller made: a constant."""
    filters = system.to_tf()
    b, a = fixed(filters.num / filters.den[0], x), fixed(filters.den, x)
    if len(system.to_zpk().poles):
        f = filtfilt if zero_phase else lfilter
        return part(f(b, a / a[0], x, axis=axis), axis, None, None, q)
    b = fixed(filters.num / filters.den, x)
    if zero_phase:
        return resample_poly(x, 1, q, axis=axis, window=b)
    return part(upfirdn(b, x, 1, q, axis), axis, 0, -(-x.shape[axis] // q))


decimate = declared(_sp.decimate, _decimate_step, "x")
