"""Chirp z-transforms: spectra at points of a spiral, or in a band."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp
from scipy.fft import next_fast_len

import rules_core as rc
from rules_scipy._axes import concat, moveaxis

from ._axis import fixed, flipped, positions, together
from ._declare import At, declared
from ._roots import as_complex

__all__ = ["czt", "czt_points", "zoom_fft"]


def _power(base: Any, exponent: Any) -> Any:
    """The principal power of a complex number to real exponents."""
    xp = rc.array_namespace(base)
    return xp.exp(fixed(exponent, base) * xp.log(as_complex(base)))


def _chirped(x: Any, start: Any, chirp: Any, m: int, axis: int) -> Any:
    """Bluestein's algorithm: Σ x[n] start[n] chirp[n] chirp[k] / chirp[k - n].

    Args:
        x: The signal, of length n along the axis.
        start: The powers a⁻ⁿ.
        chirp: The powers w^(k²/2), of length max(m, n).
        m: The length of the result.
        axis: The axis.
    """
    xp = rc.array_namespace(x, start, chirp)
    x = moveaxis(x, axis, -1)
    n = x.shape[-1]
    size = next_fast_len(n + m - 1)
    kernel = 1 / concat([flipped(chirp[1:n], 0), chirp[:m]], 0)
    spectrum = xp.fft.fft(as_complex(x * start * chirp[:n]), n=size, axis=-1)
    y = xp.fft.ifft(xp.fft.fft(kernel, n=size) * spectrum, axis=-1)
    return moveaxis(y[..., n - 1 : n + m - 1] * chirp[:m], -1, axis)


def _czt_step(at: At, x: Any, w: Any, a: Any, m: Any, axis: Any) -> Any:
    n = x.shape[axis]
    m = n if m is None else m
    k = np.arange(max(m, n))
    if w is None:
        # SciPy reduces the angles before it takes the exponential.
        chirp = fixed(np.exp(-1j * np.pi * (k**2 % (2 * m)) / m), x)
        x, a, chirp = together(x, a, chirp)
    else:
        x, a, w = together(x, a, w)
        chirp = _power(w, k**2 / 2)
    return _chirped(x, _power(a, -1.0 * k[:n]), chirp, m, axis)


czt = declared(_sp.czt, _czt_step, "x", "w", "a")


def _edges(fn: Any, like: Any) -> Any:
    """The band: two frequencies, or one from zero."""
    if isinstance(fn, tuple):
        return together(*map(np.asarray, fn)) if _plain(fn) else together(*fn)
    fn = rc.array_namespace(fn).reshape(fn, (-1,))
    return (0 * fn[0], fn[0]) if fn.shape[0] == 1 else (fn[0], fn[1])


def _plain(parts: Any) -> bool:
    return all(isinstance(x, int | float) for x in parts)


def _zoom_fft_step(
    at: At, x: Any, fn: Any, m: Any, fs: Any, endpoint: Any, axis: Any
) -> Any:
    n = x.shape[axis]
    m = n if m is None else m
    x, low, high = together(x, *_edges(fn, x))
    xp, k = rc.array_namespace(x, low, high), np.arange(max(m, n)) * 1.0
    width = (high - low) / fs
    step = width / (m - 1) if endpoint else width / m
    chirp = xp.exp(-1j * np.pi * step * fixed(k**2, step))
    start = xp.exp(-2j * np.pi / fs * low * fixed(k[:n], low))
    return _chirped(x, start, chirp, m, axis)


zoom_fft = declared(_sp.zoom_fft, _zoom_fft_step, "x", "fn")


def _czt_points_step(at: At, w: Any, a: Any, m: Any) -> Any:
    if w is None:
        return a * fixed(np.exp(2j * np.pi * np.arange(m) / m), a)
    a, w = together(a, w)
    return a * w ** (-1 * positions(w, m))


czt_points = declared(_sp.czt_points, _czt_points_step, "w", "a")
