"""Filters designed from their frequencies and ripples."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._axes import concat

from ._axis import fixed, together
from ._declare import At, declared
from ._windows import window_of

__all__ = [
    "designed",
    "firwin",
    "gammatone",
    "iircomb",
    "iirnotch",
    "iirpeak",
    "kaiser_atten",
    "kaiser_beta",
    "sinc",
]


# Finite responses


def sinc(x: Any) -> Any:
    """sin(πx) / πx; at zero the beginning of its series, for its derivatives."""
    xp = rc.array_namespace(x)
    small, z = xp.abs(x) < 1e-3, np.pi * x
    square, safe = z * z, xp.where(small, xp.ones_like(z), z)
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42))
    return xp.where(small, series, xp.sin(safe) / safe)


def _bands(cutoff: Any, pass_zero: Any) -> tuple[Any, bool, bool]:
    """Edges of the bands that pass, and whether they reach zero and the end."""
    from_zero = pass_zero in ("bandstop", "lowpass") or pass_zero is True
    to_end = (cutoff.shape[0] % 2 == 0) == from_zero
    first = [fixed(np.zeros(1), cutoff)] if from_zero else []
    last = [fixed(np.ones(1), cutoff)] if to_end else []
    return concat([*first, cutoff, *last], 0), from_zero, to_end


def designed(
    cutoff: Any, window: Any, numtaps: int, pass_zero: Any, *, scale: Any = True
) -> Any:
    """A filter by the window method; frequencies in units of half the rate."""
    edges, from_zero, to_end = _bands(cutoff, pass_zero)
    xp, centred = rc.array_namespace(edges), np.arange(numtaps) - (numtaps - 1) / 2
    m, h = fixed(centred, edges), 0.0
    for i in range(0, edges.shape[0], 2):
        left, right = edges[i], edges[i + 1]
        h = h + right * sinc(right * m) - left * sinc(left * m)
    h, w = together(h, window_of(window, numtaps, edges, fftbins=False))
    h = h * w
    if not scale:
        return h
    middle = 0.5 * (edges[0] + edges[1])
    if from_zero:
        middle = 0 * middle
    elif to_end and edges.shape[0] == 2:
        middle = 0 * middle + 1
    h, m, middle = together(h, m, middle)
    xp = rc.array_namespace(h)
    return h / xp.sum(h * rc.array_namespace(m).cos(np.pi * m * middle))


def _firwin_step(
    at: At,
    cutoff: Any,
    numtaps: Any,
    width: Any,
    window: Any,
    pass_zero: Any,
    scale: Any,
    fs: Any,
) -> Any:
    half = 1.0 if fs is None else fs / 2
    if width is not None:
        beta = kaiser_beta(kaiser_atten(numtaps, width / half))
        window = ("kaiser", beta)
    cutoff = vector(cutoff) / half
    return designed(cutoff, window, numtaps, pass_zero, scale=scale)


firwin = declared(_sp.firwin, _firwin_step, "cutoff")


def _kaiser_beta_step(at: At, a: Any) -> Any:
    xp = rc.array_namespace(a)
    above = xp.where(a > 21, a - 21, xp.ones_like(a))
    middle = 0.5842 * above**0.4 + 0.07886 * above
    low = xp.where(a > 21, middle, 0 * a)
    return xp.where(a > 50, 0.1102 * (a - 8.7), low)


def _kaiser_atten_step(at: At, width: Any, numtaps: Any) -> Any:
    return 2.285 * (numtaps - 1) * np.pi * width + 7.95


kaiser_beta = declared(_sp.kaiser_beta, _kaiser_beta_step, "a")
kaiser_atten = declared(_sp.kaiser_atten, _kaiser_atten_step, "width")


# Notches and peaks


def _second_order(w0: Any, Q: Any, fs: Any, kind: str) -> tuple[Any, Any]:
    w0, Q = together(w0, Q)
    xp = rc.array_namespace(w0, Q)
    w0 = 2 * np.pi * w0 / fs
    gain = 1 / (1 + xp.tan(w0 / Q / 2))
    turn, one = -2 * xp.cos(w0), xp.ones_like(w0)
    b = gain * xp.stack([one, turn, one])
    if kind == "peak":
        b = (1 - gain) * xp.stack([one, 0 * one, -one])
    return b, xp.stack([one, gain * turn, 2 * gain - 1])


def _iirnotch_step(at: At, w0: Any, Q: Any, fs: Any) -> Any:
    return _second_order(w0, Q, fs, "notch")


def _iirpeak_step(at: At, w0: Any, Q: Any, fs: Any) -> Any:
    return _second_order(w0, Q, fs, "peak")


iirnotch = declared(_sp.iirnotch, _iirnotch_step, "w0", "Q")
iirpeak = declared(_sp.iirpeak, _iirpeak_step, "w0", "Q")


# Combs


def _iircomb_step(at: At, Q: Any, w0: Any, ftype: Any, fs: Any, pass_zero: Any) -> Any:
    """The rate is a multiple of the frequency, which is a constant therefore."""
    n = round(fs / w0)
    xp = rc.array_namespace(Q)
    beta = xp.tan(n * 2 * np.pi * w0 / fs / Q / 4)
    notch = ftype.lower() == "notch"
    first = 1 / (1 + beta) if notch else beta / (1 + beta)
    last, pole = (first if notch else -first), (1 - beta) / (1 + beta)
    sign = -1.0 if notch != pass_zero else 1.0
    gap = fixed(np.zeros(n - 1), Q)
    b = concat([vector(first), gap, vector(sign * last)], 0)
    return b, concat([fixed(np.ones(1), Q), gap, vector(sign * pole)], 0)


iircomb = declared(_sp.iircomb, _iircomb_step, "Q")


# Gammatones, after the ear


def _bandwidth(freq: Any) -> Any:
    """1.019 times the equivalent rectangular bandwidth, as an angle."""
    return 2 * np.pi * 1.019 * (24.7 + freq / 9.26449)


def _gammatone_step(
    at: At, freq: Any, ftype: Any, order: Any, numtaps: Any, fs: Any
) -> Any:
    fs = 2 if fs is None else fs
    if ftype.lower() == "iir":
        return _recursive_gammatone(freq, 1 / fs)
    order = 4 if order is None else int(order)
    n = max(int(fs * 0.015), 15) if numtaps is None else int(numtaps)
    xp, width, t = rc.array_namespace(freq), _bandwidth(freq), np.arange(n) / fs
    t = fixed(t, freq)
    wave = t ** (order - 1) * xp.exp(-width * t) * xp.cos(2 * np.pi * freq * t)
    return wave * (2 * width**order / factorial(order - 1) / fs), None


def _recursive_gammatone(freq: Any, T: float) -> Any:
    xp, angle = rc.array_namespace(freq), 2 * np.pi * T * freq
    decay = xp.exp(-T * _bandwidth(freq))
    cos, sin = xp.cos(angle), xp.sin(angle)
    turn = cos + 1j * sin
    gain = 1.0
    for side in _SIDES:
        gain = gain * (-2 * turn**2 * T + 2 * decay * turn * T * (cos + side * sin))
    gain = gain / (-2 * decay**2 - 2 * turn**2 + 2 * (1 + turn**2) * decay) ** 4
    gain = xp.sqrt(xp.real(gain) ** 2 + xp.imag(gain) ** 2)
    waves = [xp.cos(k * angle) for k in range(5)]
    b = [c * T**4 * decay**k * waves[k] / gain for k, c in enumerate(_TOP)]
    third = -8 * (6 * cos + waves[3])
    a = [
        xp.ones_like(cos), -8 * cos, 4 * (4 + 3 * waves[2]), third,
        2 * (18 + 16 * waves[2] + waves[4]), third, 4 * (4 + 3 * waves[2]),
        -8 * cos, xp.ones_like(cos),
    ]  # fmt: skip
    return xp.stack(b), xp.stack([c * decay**k for k, c in enumerate(a)])


_TOP = (1, -4, 6, -4, 1)
_SIDES = [s * (3 + r) ** 0.5 for s in (-1, 1) for r in (-(2**1.5), 2**1.5)]

gammatone = declared(_sp.gammatone, _gammatone_step, "freq")
