"""Spectra of segments of signals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._axes import moveaxis
from rules_scipy.linalg._matrices import conjugate, is_complex, real

from ._axis import beyond, fixed, padded, part, selected, together
from ._declare import At, declared
from ._smoothing import detrended
from ._windows import window_of

__all__ = [
    "coherence",
    "csd",
    "istft",
    "overlapped",
    "periodogram",
    "placed",
    "spectrogram",
    "stft",
    "vectorstrength",
    "welch",
]


def _windowed(window: Any, nperseg: Any, n: int, x: Any) -> tuple[Any, int]:
    """The window's values, and the length of a segment."""
    if isinstance(window, str | tuple):
        nperseg = min(256 if nperseg is None else int(nperseg), n)
        return window_of(window, nperseg, x), nperseg
    if isinstance(window, list):
        window = np.asarray(window, float)
    return together(window, x)[0], window.shape[0]


def _spectra(
    x: Any, window: Any, step: int, nfft: int, detrend: Any, onesided: bool
) -> Any:
    """Transforms of windowed segments of the last axis: (…, segment, frequency)."""
    xp, size = rc.array_namespace(x), window.shape[0]
    starts = np.arange(0, x.shape[-1] - size + 1, step)
    index = starts[:, None] + np.arange(size)
    parts = selected(x, x.ndim - 1, index.ravel())
    parts = xp.reshape(parts, (*x.shape[:-1], *index.shape))
    if callable(detrend):
        message = "derivative of spectra with a function for detrend; subtract it first"
        raise rc.UnsupportedError(message)
    if detrend:
        parts = detrended(parts, -1, detrend)
    parts = window * parts
    if not onesided:
        return xp.fft.fft(parts + 0j, n=nfft, axis=-1)
    return xp.fft.rfft(parts, n=nfft, axis=-1)


def _power(window: Any) -> Any:
    """The sum of squares of a window."""
    return rc.array_namespace(window).sum(real(window * conjugate(window)))


def _total(window: Any) -> Any:
    xp = rc.array_namespace(window)
    total = xp.sum(window)
    return xp.sqrt(real(total * conjugate(total)))


def _twice(nfft: int) -> Any:
    """Weights of one side: frequencies that have a negative one count twice."""
    weights = np.full(nfft // 2 + 1, 2.0)
    weights[0] = 1.0
    if nfft % 2 == 0:
        weights[-1] = 1.0
    return weights


def _filled(x: Any, n: int) -> Any:
    return padded(x, x.ndim - 1, 0, n - x.shape[-1])


def _cross(
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    nfft: Any,
    detrend: Any,
    onesided: Any,
    scaling: str,
    axis: int,
    average: str = "mean",
) -> Any:
    """The cross spectrum, averaged over segments."""
    x, y = together(x, y)
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    n = max(x.shape[-1], y.shape[-1])
    window, nperseg = _windowed(window, nperseg, n, x)
    nfft = nperseg if nfft is None else int(nfft)
    step = nperseg - (nperseg // 2 if noverlap is None else int(noverlap))
    onesided = bool(onesided) and not is_complex(x)
    fx, fy = [
        _spectra(_filled(u, n), window, step, nfft, detrend, onesided) for u in (x, y)
    ]
    scale = fs * _power(window) if scaling == "density" else _total(window) ** 2
    cross = conjugate(fx) * fy / scale
    if onesided:
        cross = cross * fixed(_twice(nfft), cross)
    return moveaxis(_averaged(cross, average), -1, axis)


def _averaged(cross: Any, average: str) -> Any:
    """Over segments, the axis before the last."""
    xp, n = rc.array_namespace(cross), cross.shape[-2]
    if average == "mean" or n == 1:
        return xp.mean(cross, axis=-2)
    steps = 2 * np.arange(1.0, (n - 1) // 2 + 1)
    bias = float(1 + np.sum(1 / (steps + 1) - 1 / steps))
    return (_median(xp.real(cross)) + 1j * _median(xp.imag(cross))) / bias


def _median(x: Any) -> Any:
    xp, n = rc.array_namespace(x), x.shape[-2]
    ordered = xp.sort(x, axis=-2)
    return xp.mean(ordered[..., (n - 1) // 2 : n // 2 + 1, :], axis=-2)


def _csd_step(
    at: At, x: Any, y: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, return_onesided: Any, scaling: Any, axis: Any,
    average: Any,
) -> Any:  # fmt: skip
    return None, _cross(
        x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
        axis, average,
    )  # fmt: skip


def _welch_step(
    at: At, x: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, return_onesided: Any, scaling: Any, axis: Any,
    average: Any,
) -> Any:  # fmt: skip
    return None, real(_cross(
        x, x, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
        axis, average,
    ))  # fmt: skip


def _periodogram_step(
    at: At, x: Any, window: Any, fs: Any, nfft: Any, detrend: Any,
    return_onesided: Any, scaling: Any, axis: Any,
) -> Any:  # fmt: skip
    n = x.shape[axis]
    if nfft is not None and nfft < n:
        x, n, nfft = part(x, axis, 0, nfft), nfft, None
    window = "boxcar" if window is None else window
    return None, real(_cross(
        x, x, fs, window, n, 0, nfft, detrend, return_onesided, scaling, axis,
    ))  # fmt: skip


def _coherence_step(
    at: At, x: Any, y: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any,
    nfft: Any, detrend: Any, axis: Any,
) -> Any:  # fmt: skip
    def cross(u: Any, v: Any) -> Any:
        return _cross(
            u, v, fs, window, nperseg, noverlap, nfft, detrend, True, "density", axis
        )

    both = cross(x, y)
    return None, real(both * conjugate(both)) / real(cross(x, x)) / real(cross(y, y))


csd = declared(_sp.csd, _csd_step, "x", "y", "window")
welch = declared(_sp.welch, _welch_step, "x", "window")
periodogram = declared(_sp.periodogram, _periodogram_step, "x", "window")
coherence = declared(_sp.coherence, _coherence_step, "x", "y", "window")


# Short times


def _short(
    x: Any, window: Any, nperseg: Any, noverlap: Any, nfft: Any, detrend: Any,
    onesided: Any, axis: int, boundary: Any, filled: Any,
) -> tuple[Any, Any, int]:  # fmt: skip
    """Spectra (…, segment, frequency), the window, and the length of transforms."""
    x = moveaxis(x, axis, -1)
    window, nperseg = _windowed(window, nperseg, x.shape[-1], x)
    nfft = nperseg if nfft is None else int(nfft)
    step = nperseg - (nperseg // 2 if noverlap is None else int(noverlap))
    if boundary is not None:
        x = _extended(x, nperseg // 2, boundary)
    if filled:
        x = _filled(x, x.shape[-1] + (-(x.shape[-1] - nperseg) % step) % nperseg)
    onesided = bool(onesided) and not is_complex(x)
    return _spectra(x, window, step, nfft, detrend, onesided), window, nfft


def _extended(x: Any, margin: int, boundary: str) -> Any:
    axis, n = x.ndim - 1, x.shape[-1]
    if boundary == "zeros":
        return padded(x, axis, margin, margin)
    edges = selected(x, axis, beyond(n, margin, margin, "edge"))
    if boundary == "constant":
        return edges
    mirrored = selected(x, axis, beyond(n, margin, margin, "reflect"))
    return mirrored if boundary == "even" else 2 * edges - mirrored


def placed(spectra: Any, axis: int) -> Any:
    """Frequencies in place of the signal's axis, segments last."""
    return moveaxis(spectra, -1, axis if axis >= 0 else axis - 1)


def _amplitude(window: Any, scaling: str, fs: Any) -> Any:
    xp = rc.array_namespace(window)
    if scaling == "spectrum":
        return _total(window)
    return xp.sqrt(fs * _power(window))


def _stft_step(
    at: At, x: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any, nfft: Any,
    detrend: Any, return_onesided: Any, boundary: Any, padded: Any, axis: Any,
    scaling: Any,
) -> Any:  # fmt: skip
    spectra, window, _ = _short(
        x, window, nperseg, noverlap, nfft, detrend, return_onesided, axis, boundary,
        padded,
    )  # fmt: skip
    return None, None, placed(spectra / _amplitude(window, scaling, fs), axis)


def _spectrogram_step(
    at: At, x: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any, nfft: Any,
    detrend: Any, return_onesided: Any, scaling: Any, axis: Any, mode: Any,
) -> Any:  # fmt: skip
    _, size = _windowed(window, nperseg, x.shape[axis], x)
    noverlap = size // 8 if noverlap is None else noverlap
    spectra, window, nfft = _short(
        x, window, nperseg, noverlap, nfft, detrend, return_onesided, axis, None, False
    )
    spectra = spectra / _amplitude(window, scaling, fs)
    xp = rc.array_namespace(spectra)
    power = xp.real(spectra) ** 2 + xp.imag(spectra) ** 2
    if mode == "psd":
        onesided = return_onesided and not is_complex(x)
        weights = _twice(nfft) if onesided else np.ones(spectra.shape[-1])
        spectra = power * fixed(weights, power)
    elif mode == "magnitude":
        spectra = xp.sqrt(power)
    elif mode in ("angle", "phase"):
        spectra = xp.atan2(xp.imag(spectra), xp.real(spectra))
    return None, None, placed(spectra, axis)


stft = declared(_sp.stft, _stft_step, "x", "window")
spectrogram = declared(_sp.spectrogram, _spectrogram_step, "x", "window")


def overlapped(parts: Any, step: int) -> Any:
    """The sum of segments (…, segment, entry) that begin `step` entries apart."""
    count, size = parts.shape[-2:]
    n = size + (count - 1) * step
    xp, place, total = rc.array_namespace(parts), np.arange(n), 0.0
    flat = xp.reshape(parts, (*parts.shape[:-2], count * size))
    flat = padded(flat, flat.ndim - 1, 0, 1)
    for back in range(-(-size // step)):
        segment = place // step - back
        entry = place - segment * step
        inside = (segment >= 0) & (segment < count) & (entry < size)
        index = np.where(inside, segment * size + entry, count * size)
        total = total + selected(flat, flat.ndim - 1, index)
    return total


def _istft_step(
    at: At, Zxx: Any, window: Any, fs: Any, nperseg: Any, noverlap: Any, nfft: Any,
    input_onesided: Any, boundary: Any, time_axis: Any, freq_axis: Any, scaling: Any,
) -> Any:  # fmt: skip
    xp = rc.array_namespace(Zxx)
    time, freq = time_axis % Zxx.ndim, freq_axis % Zxx.ndim
    spectra = moveaxis(Zxx, (time, freq), (-2, -1)) + 0j
    whole = spectra.shape[-1]
    usual = 2 * (whole - 1) if input_onesided else whole
    nperseg = usual if nperseg is None else int(nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == usual + 1 else usual
    step = nperseg - (nperseg // 2 if noverlap is None else int(noverlap))
    back = xp.fft.irfft if input_onesided else xp.fft.ifft
    parts = back(spectra, n=nfft, axis=-1)[..., :nperseg]
    window = window_of(window, nperseg, xp.real(parts))
    window, parts = together(window, parts)
    ones = fixed(np.ones((parts.shape[-2], 1)), window)
    x = overlapped(parts * window, step) * _amplitude(window, scaling, fs)
    norm = overlapped(ones * window**2, step)
    if boundary:
        half = nperseg // 2
        x, norm = x[..., half:-half], norm[half:-half]
    x = x / xp.where(norm > 1e-10, norm, xp.ones_like(norm))
    if x.ndim > 1 and time_axis != Zxx.ndim - 1:
        x = moveaxis(x, -1, time - (freq < time))
    return None, x


istft = declared(_sp.istft, _istft_step, "Zxx", "window")


# Other spectra


def _vectorstrength_step(at: At, events: Any, period: Any) -> Any:
    events, period = together(events, period)
    xp = rc.array_namespace(events, period)
    scalar = period.ndim == 0
    periods = xp.reshape(period, (-1, 1))
    angles = 2 * np.pi * xp.reshape(events, (1, -1)) / periods
    c, s = xp.mean(xp.cos(angles), axis=1), xp.mean(xp.sin(angles), axis=1)
    strength, phase = xp.sqrt(c * c + s * s), xp.atan2(s, c)
    return (strength[0], phase[0]) if scalar else (strength, phase)


vectorstrength = declared(_sp.vectorstrength, _vectorstrength_step, "events", "period")
