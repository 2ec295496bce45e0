"""Trends, analytic signals, and smoothing."""

from __future__ import annotations

from itertools import pairwise, product as _product
from math import prod
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis
from rules_scipy.linalg._matrices import is_complex

from ._axis import beyond, column, fixed, padded, part, selected, together
from ._convolution import correlate, filtered
from ._declare import At, declared

__all__ = [
    "detrend",
    "detrended",
    "envelope",
    "hilbert",
    "hilbert2",
    "medfilt",
    "medfilt2d",
    "order_filter",
    "savgol_coeffs",
    "savgol_filter",
    "wiener",
]


# Trends


def detrended(x: Any, axis: int, kind: str, bp: Any = 0) -> Any:
    """`x` without its mean, or without the line of least squares in each piece."""
    xp = rc.array_namespace(x)
    if kind in ("constant", "c"):
        return x - xp.mean(x, axis=axis, keepdims=True)
    n = x.shape[axis]
    ends = sorted({0, n, *[int(i) for i in np.atleast_1d(bp)]})
    pairs = pairwise(ends)
    return concat([_level(part(x, axis, i, j), axis) for i, j in pairs], axis)


def _level(x: Any, axis: int) -> Any:
    """`x` without its line: minus its parts along two orthonormal vectors."""
    xp, n = rc.array_namespace(x), x.shape[axis]
    steps = np.arange(n) - (n - 1) / 2
    units = [np.full(n, n**-0.5), steps / max(float(np.sqrt(steps @ steps)), 1e-300)]
    for unit in units:
        u = column(fixed(unit, x), x.ndim, axis)
        x = x - u * xp.sum(u * x, axis=axis, keepdims=True)
    return x


def _detrend_step(at: At, data: Any, axis: Any, type: Any, bp: Any) -> Any:
    return detrended(data, axis, type, bp)


detrend = declared(_sp.detrend, _detrend_step, "data")


# Analytic signals


def _doubled(n: int) -> Any:
    """Weights of frequencies: positive ones twice, negative ones not."""
    weights = np.zeros(n)
    weights[0] = 1.0
    weights[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        weights[n // 2] = 1.0
    return weights


def _hilbert_step(at: At, x: Any, N: Any, axis: Any) -> Any:
    xp = rc.array_namespace(x)
    n = x.shape[axis] if N is None else N
    spectrum = xp.fft.fft(x + 0j, n=n, axis=axis)
    weights = column(fixed(_doubled(n), x), x.ndim, axis)
    return xp.fft.ifft(spectrum * weights, axis=axis)


hilbert = declared(_sp.hilbert, _hilbert_step, "x")


def _halved(n: int) -> Any:
    weights = np.zeros(n)
    weights[: (n + 1) // 2] = 2.0
    weights[0] = 1.0 if n else 0.0
    return weights


def _hilbert2_step(at: At, x: Any, N: Any, axes: Any) -> Any:
    xp = rc.array_namespace(x)
    sizes = [x.shape[i] for i in axes] if N is None else N
    sizes = (sizes, sizes) if isinstance(sizes, int) else sizes
    y = x + 0j
    for axis, n in zip(axes, sizes, strict=True):
        weights = column(fixed(_halved(n), x), x.ndim, axis)
        y = xp.fft.fft(y, n=n, axis=axis) * weights
    for axis in axes:
        y = xp.fft.ifft(y, axis=axis)
    return y


hilbert2 = declared(_sp.hilbert2, _hilbert2_step, "x")


def _band(n: int, bp_in: Any) -> tuple[slice, bool]:
    """The frequencies of an envelope, and whether zero is among them."""
    start, stop = bp_in
    start = -(n // 2) if start is None else start
    stop = (n + 1) // 2 if stop is None else stop
    return slice(start, stop), start <= 0 < stop


def _envelope_spectrum(z: Any, band: slice) -> Any:
    """The spectrum of a signal, of a real one in the band made analytic."""
    xp, n = rc.array_namespace(z), z.shape[-1]
    if is_complex(z):
        return xp.fft.fft(z)
    weights = np.zeros(n)
    weights[: n // 2 + 1] = 1.0
    if band.start > 0:
        weights[band] *= 2
    elif band.stop > 0:
        weights[1 : band.stop] *= 2
    return xp.fft.fft(z + 0j) * fixed(weights, z)


def _rest(
    z: Any, spectrum: Any, band: slice, zero: bool, n_out: int, which: str
) -> Any:
    """The signal without the band, resampled."""
    from ._resampling import resample, resampled

    n = z.shape[-1]
    weights = np.ones(n)
    if zero:
        weights[: band.stop], weights[band.start :] = 0, 0
    else:
        weights[band] = 0
    if which == "lowpass" and band.stop > 0:
        weights[band.stop : (n + 1) // 2] = 0
    elif which == "lowpass":
        weights[band.start :], weights[: (n + 1) // 2] = 0, 0
    kept = spectrum * fixed(weights, z)
    if is_complex(z):
        return resample(kept, n_out, axis=-1, domain="freq")
    return resampled(kept[..., : n // 2 + 1], n, n_out)


def _envelope_step(
    at: At, z: Any, bp_in: Any, n_out: Any, squared: Any, residual: Any, axis: Any
) -> Any:
    xp, n = rc.array_namespace(z), z.shape[axis]
    n_out = n if n_out is None else n_out
    z = moveaxis(z, axis, -1)
    band, zero = _band(n, bp_in)
    spectrum = _envelope_spectrum(z, band)
    order = np.arange(n)[band]
    if zero:
        moved = slice(band.start + n // 2, band.stop + n // 2)
        order = np.fft.fftshift(np.arange(n))[moved]
    base = selected(spectrum, z.ndim - 1, order)
    base = xp.fft.ifft(base, n=n_out) * (n_out / n)
    power = xp.real(base) ** 2 + xp.imag(base) ** 2
    size = moveaxis(power if squared else xp.sqrt(power), -1, axis)
    if residual is None:
        return size
    rest = _rest(z, spectrum, band, zero, n_out, residual)
    return xp.stack([size, moveaxis(rest, -1, axis)], axis=0)


envelope = declared(_sp.envelope, _envelope_step, "z")


# Polynomials fitted to a moving window

_PADDING = {"mirror": "reflect", "nearest": "edge", "wrap": "wrap"}


def _edge_values(x: Any, axis: int, weights: Any) -> Any:
    """A matrix applied along an axis."""
    xp = rc.array_namespace(x)
    y = xp.tensordot(fixed(weights, x), x, axes=([1], [axis % x.ndim]))
    return moveaxis(y, 0, axis)


def _polynomial_edge(n: int, order: int, deriv: int, where: Any) -> Any:
    """The matrix from a window's values to derivatives of its polynomial."""
    fit = np.linalg.pinv(np.vander(np.arange(n), order + 1))
    rows = [np.polyval(np.polyder(fit[:, j], deriv), where) for j in range(n)]
    return np.stack(rows, axis=1)


def _savgol_weights(window_length: int, polyorder: int, deriv: int) -> Any:
    """The weights of the convolution, and matrices for the two edges, at spacing 1."""
    n, half = window_length, window_length // 2
    edges = [
        _polynomial_edge(n, polyorder, deriv, where)
        for where in (np.arange(half), np.arange(n - half, n))
    ]
    return _sp.savgol_coeffs(n, polyorder, deriv), *edges


def _savgol_step(
    at: At,
    x: Any,
    window_length: Any,
    polyorder: Any,
    deriv: Any,
    delta: Any,
    axis: Any,
    mode: Any,
) -> Any:
    """A convolution; in the mode "interp" polynomials at the edges."""
    axis, n, size = axis % x.ndim, x.shape[axis], window_length
    half, made = size // 2, _savgol_weights(size, polyorder, deriv)
    weights, first, last = made
    before, after = size - 1 - half, half
    if mode in _PADDING:
        wide = selected(x, axis, beyond(n, before, after, _PADDING[mode]))
    else:
        wide = padded(x, axis, before, after)
    y = filtered(fixed(weights, x), wide, axis)
    y = part(y, axis, size - 1, size - 1 + n)
    if mode == "interp":
        edges = [
            _edge_values(part(x, axis, 0, size), axis, first),
            _edge_values(part(x, axis, n - size, n), axis, last),
        ]
        y = concat([edges[0], part(y, axis, half, n - half), edges[1]], axis)
    return y / delta**deriv


savgol_filter = declared(_sp.savgol_filter, _savgol_step, "x")


def _savgol_coeffs_step(
    at: At, delta: Any, pos: Any, window_length: Any, polyorder: Any, deriv: Any,
    use: Any,
) -> Any:  # fmt: skip
    """The row of derivatives at a place, of the polynomial of least squares."""
    n = window_length
    if pos is None:
        pos = fixed(np.asarray(n // 2 - (0.5 if n % 2 == 0 else 0.0)), delta)
    delta, pos = together(delta, pos)
    xp = rc.array_namespace(delta, pos)
    fit = np.linalg.pinv(np.vander(np.arange(n) - n / 2, polyorder + 1, True))
    row = 0 * delta + 0 * pos + fixed(np.zeros(n), delta)
    for k in range(deriv, polyorder + 1):
        factor = prod(range(k - deriv + 1, k + 1)) * (pos - n / 2) ** (k - deriv)
        row = row + factor * fixed(fit[k], delta)
    row = row / delta**deriv
    return xp.flip(row) if use == "conv" else row


savgol_coeffs = declared(_sp.savgol_coeffs, _savgol_coeffs_step, "delta", "pos")


# Filters by rank


def _ranked(x: Any, domain: Any, rank: int) -> Any:
    """The entry of a rank among the neighbours, zeros beyond the edges."""
    xp, wide = rc.array_namespace(x), x
    for axis, n in enumerate(domain.shape):
        wide = padded(wide, axis, n // 2, n // 2)
    shifted = []
    for start in _product(*map(range, domain.shape)):
        pairs = zip(start, x.shape, strict=True)
        shifted.append(wide[tuple([slice(i, i + n) for i, n in pairs])])
    every = xp.stack(shifted, axis=-1)
    inside = together(xp.reshape(domain, (-1,)) != 0, every)[0]
    return xp.sort(xp.where(inside, every, xp.inf), axis=-1)[..., rank]


def _kernel(size: Any, ndim: int) -> Any:
    size = 3 if size is None else size
    sizes = np.broadcast_to(np.asarray(size), (ndim,))
    return np.ones([int(n) for n in sizes], bool)


def _median(x: Any, size: Any) -> Any:
    domain = _kernel(size, x.ndim)
    return _ranked(x, fixed(domain, x), domain.size // 2)


def _medfilt_step(at: At, volume: Any, kernel_size: Any) -> Any:
    return _median(volume, kernel_size)


def _medfilt2d_step(at: At, input: Any, kernel_size: Any) -> Any:
    return _median(input, kernel_size)


def _order_filter_step(at: At, a: Any, domain: Any, rank: Any) -> Any:
    domain = np.asarray(domain) if isinstance(domain, list) else domain
    return _ranked(a, together(domain, a)[0], rank)


medfilt = declared(_sp.medfilt, _medfilt_step, "volume")
medfilt2d = declared(_sp.medfilt2d, _medfilt2d_step, "input")
order_filter = declared(_sp.order_filter, _order_filter_step, "a")


def _wiener_step(at: At, im: Any, noise: Any, mysize: Any) -> Any:
    """Means and variances of a moving window."""
    domain = _kernel(mysize, im.ndim)
    ones, size = fixed(domain * 1.0, im), float(prod(domain.shape))
    xp = rc.array_namespace(im)
    mean = correlate(im, ones, "same") / size
    variance = correlate(im**2, ones, "same") / size - mean**2
    if noise is None:
        noise = xp.mean(variance)
    noise, im = together(noise, im)
    small = variance < noise
    safe = xp.where(small, xp.ones_like(variance), variance)
    return xp.where(small, mean, (im - mean) * (1 - noise / safe) + mean)


wiener = declared(_sp.wiener, _wiener_step, "im", "noise")
