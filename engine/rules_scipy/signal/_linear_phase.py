"""Symmetric filters with a given response, and those of minimum phase."""

from __future__ import annotations

from math import ceil, log2
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._axes import concat
from rules_scipy.linalg._matrices import solved

from ._axis import column, fixed, flipped, padded, together
from ._declare import At, declared
from ._designs import sinc
from ._windows import window_of

__all__ = ["firls", "firwin2", "minimum_phase"]


# By interpolated gains


def _interpolated(x: Any, freq: Any, gain: Any) -> Any:
    """Lines between the gains; SciPy moves two equal frequencies a little apart."""
    xp = rc.array_namespace(freq, gain)
    jump = rc.ignore_derivatives(freq[1:]) == rc.ignore_derivatives(freq[:-1])
    apart = float(np.finfo(float).eps) * rc.ignore_derivatives(freq[-1])
    gap = xp.where(jump, apart, 0 * apart)
    freq = freq + padded(gap, 0, 1, 0) - padded(gap, 0, 0, 1)
    still = rc.ignore_derivatives(freq)
    last = xp.searchsorted(still, x, side="left")
    last = xp.clip(last, 1, freq.shape[0] - 1)
    left, right = xp.take(freq, last - 1), xp.take(freq, last)
    low, high = xp.take(gain, last - 1), xp.take(gain, last)
    return low + (x - left) / (right - left) * (high - low)


def _firwin2_step(
    at: At, freq: Any, gain: Any, numtaps: Any, nfreqs: Any, window: Any,
    antisymmetric: Any, fs: Any,
) -> Any:  # fmt: skip
    """The inverse transform of the gains with a linear phase, times a window."""
    freq, gain = together(freq, gain)
    half = 1.0 if fs is None else fs / 2
    count = 1 + 2 ** ceil(log2(numtaps)) if nfreqs is None else nfreqs
    grid = np.linspace(0.0, half, count)
    gains = _interpolated(fixed(grid, gain), freq, gain)
    shift = np.exp(-(numtaps - 1) / 2 * 1j * np.pi * grid / half)
    shift = 1j * shift if antisymmetric else shift
    xp = rc.array_namespace(gains)
    h = xp.fft.irfft(gains * fixed(shift, gains))[:numtaps]
    if antisymmetric and numtaps % 2:
        h = h * fixed(np.arange(numtaps) != numtaps // 2, h)
    if window is None:
        return h
    h, w = together(h, window_of(window, numtaps, h, fftbins=False))
    return h * w


def _taps_shape(numtaps: Any, *_args: Any, **_kw: Any) -> Any:
    return rc.ShapeDtype((numtaps,), np.dtype(float))


firwin2 = declared(_sp.firwin2, _firwin2_step, "freq", "gain", out=_taps_shape)


# By least squares


def _moments(bands: Any, n: Any) -> Any:
    """f sin(πnf) / πnf at both edges of each band, (n, band, edge)."""
    n = column(fixed(n * 1.0, bands), 3, 0)
    return bands * sinc(n * bands)


def _between(edges: Any) -> Any:
    """The differences over the bands."""
    return edges[..., 1] - edges[..., 0]


def _ramps(bands: Any, slope: Any, n: Any) -> Any:
    """The integrals that a slope adds: cos(πnf) / (πn)², and -f² / 2 for n = 0."""
    rest = column(fixed(np.pi * n[1:], bands), 3, 0)
    waves = rc.array_namespace(bands).cos(rest * bands) / rest**2
    return concat([-(bands**2 / 2)[None], waves], 0) * slope


def _firls_step(
    at: At, bands: Any, desired: Any, weight: Any, numtaps: Any, fs: Any
) -> Any:
    """The normal equations for the cosines of the response.

    They may be ill-conditioned: as SciPy's they are in double precision, but in JAX
    without it. Where the precision does not suffice the derivative is NaN.
    """
    bands, desired = together(bands, desired)
    xp, m = rc.array_namespace(bands, desired), (numtaps - 1) // 2
    double = xp.asarray(np.zeros(1)).dtype
    bands, desired = [xp.astype(x, double) for x in (bands, desired)]
    bands = xp.reshape(bands / (1.0 if fs is None else fs / 2), (-1, 2))
    desired = xp.reshape(desired, (-1, 2))
    if not rc.is_array(weight):
        count = bands.shape[0]
        weight = fixed(np.ones(count) if weight is None else np.array(weight), bands)
    bands, desired, weight = together(bands, desired, weight)
    q = xp.sum(_between(_moments(bands, np.arange(numtaps))) * weight, axis=1)
    row, col = np.indices((m + 1, m + 1))
    matrix = xp.take(q, fixed(np.abs(row - col).ravel(), q))
    matrix = matrix + xp.take(q, fixed((row + col).ravel(), q))
    slope = (_between(desired) / _between(bands))[:, None]
    level = desired[:, :1] - bands[:, :1] * slope
    n = np.arange(m + 1)
    b = (slope * bands + level) * _moments(bands, n) + _ramps(bands, slope, n)
    b = xp.sum(_between(b) * weight, axis=1)
    matrix = xp.reshape(matrix, (m + 1, m + 1))
    w = xp.linalg.eigvalsh(rc.ignore_derivatives(matrix))
    slack = 80.0 * float(xp.finfo(matrix.dtype).eps)
    b = nan_unless(w[0] > slack * w[-1], b)
    a = solved(matrix, b[:, None])[:, 0]
    return concat([flipped(a[1:], 0), 2 * a[:1], a[1:]], 0)


firls = declared(_sp.firls, _firls_step, "bands", "desired", out=_taps_shape)


# Of minimum phase


def _minimum_phase_step(at: At, h: Any, method: Any, n_fft: Any, half: Any) -> Any:
    xp, n = rc.array_namespace(h), h.shape[0]
    size = 2 ** ceil(log2(2 * (n - 1) / 0.01)) if n_fft is None else int(n_fft)
    out = n // 2 + n % 2 if half else n
    spectrum = xp.fft.fft(h + 0j, n=size)
    if method == "hilbert":
        return _by_hilbert(spectrum, n // 2)[:out]
    gains = xp.sqrt(xp.real(spectrum) ** 2 + xp.imag(spectrum) ** 2)
    lowest = xp.min(xp.where(gains > 0, gains, xp.inf * xp.ones_like(gains)))
    logs = xp.log(gains + 1e-7 * lowest) * (0.5 if half else 1.0)
    cepstrum = xp.real(xp.fft.ifft(logs + 0j)) * fixed(_causal(size), h)
    return xp.real(xp.fft.ifft(xp.exp(xp.fft.fft(cepstrum + 0j))))[:out]


def _causal(n: int) -> Any:
    """Weights of a cepstrum: positive times twice."""
    weights = np.zeros(n)
    weights[0], weights[1 : n // 2] = 1, 2
    if n % 2:
        weights[n // 2] = 1
    return weights


def _by_hilbert(spectrum: Any, delay: int) -> Any:
    """The square root of the response above its lowest value."""
    xp, n = rc.array_namespace(spectrum), spectrum.shape[0]
    turn = np.exp(2j * np.pi * delay * np.arange(n) / n)
    gains = xp.real(spectrum * fixed(turn, spectrum))
    over, under = xp.max(gains) - 1, -xp.min(gains)
    scale = 4 / (xp.sqrt(1 + over + under) + xp.sqrt(1 - over + under)) ** 2
    # At its lowest value the root is not differentiable: SciPy adds 1e-10 to it.
    level = (gains + under) * scale
    positive = level > 0
    root = xp.sqrt(xp.where(positive, level, xp.ones_like(level)))
    gains = xp.where(positive, root, xp.zeros_like(root)) + 1e-10
    sign = np.zeros(n)
    sign[1 : n // 2], sign[n // 2 + 1 :] = 1, -1
    phase = xp.fft.fft(xp.fft.ifft(xp.log(gains) + 0j) * fixed(sign, gains))
    return xp.real(xp.fft.ifft(gains * xp.exp(phase)))


minimum_phase = declared(_sp.minimum_phase, _minimum_phase_step, "h")
