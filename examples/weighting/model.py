"""The A weighting of sound levels as a cascade of sections of second order.

The standard IEC 61672 defines the gain at each frequency. The bilinear transform of the
analog filter misses it near half the sampling rate: its last section, and one more, are
fitted to the gain, through the response of the filter to an impulse.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal

import rules_core as rc
from rules_scipy.signal import sosfilt

__all__ = ["RATE", "START", "STEEP", "TONES", "bilinear", "gain", "loss", "sections"]

RATE, LENGTH = 48_000, 4096
TONES = np.geomspace(200.0, 20_000.0, 120)
_CORNERS = 20.598997, 107.65265, 737.86223, 12194.217  # Hz
STEEP = 10.0  # the penalty of poles outside of a disc


def gain(f: Any) -> Any:
    """The A weighting in decibels, zero at 1000 Hz."""

    def response(f: Any) -> Any:
        low, middle, high, last = (f**2 + corner**2 for corner in _CORNERS)
        return f**4 / (low * np.sqrt(middle * high) * last)

    return 20 * np.log10(response(f) / response(1000.0))


def bilinear() -> Any:
    """The usual digital filter, three sections, with the gain one at 1000 Hz."""
    low, middle, high, last = 2 * np.pi * np.array(_CORNERS)
    poles = -np.array([low, low, middle, high, last, last])
    z, p, k = scipy.signal.bilinear_zpk(np.zeros(4), poles, 1.0, RATE)
    _, at = scipy.signal.freqz_zpk(z, p, k, [1000.0], fs=RATE)
    return scipy.signal.zpk2sos(z, p, k / abs(at[0]))


_FIRST = bilinear()
_LAST = int(np.argmin(np.abs(_FIRST[:, 5])))  # the fast poles
_SLOW = np.delete(_FIRST, _LAST, axis=0)
# Numerator and denominator of the last section, and of one that does nothing yet.
START = np.concatenate([_FIRST[_LAST, [0, 1, 2, 4, 5]], [1.0, 0, 0, 0, 0]])


def sections(theta: Any) -> Any:
    """The four sections; their denominators begin with one."""
    xp = rc.array_namespace(theta)
    one = xp.ones_like(theta[:1])
    parts = [xp.concat([theta[i : i + 3], one, theta[i + 3 : i + 5]]) for i in (0, 5)]
    return xp.concat([xp.asarray(_SLOW), xp.stack(parts)], axis=0)


_IMPULSE = np.eye(1, LENGTH)[0]
_WAVES = np.exp(-2j * np.pi / RATE * np.outer(TONES, np.arange(LENGTH)))
_TARGET = gain(TONES)


def levels(theta: Any) -> Any:
    """The filter's gain in decibels, by the transform of its response."""
    h = sosfilt(sections(theta), _IMPULSE)
    xp = rc.array_namespace(h)
    power = (xp.asarray(_WAVES.real) @ h) ** 2 + (xp.asarray(_WAVES.imag) @ h) ** 2
    return 10 * xp.log10(power)


def loss(theta: Any) -> Any:
    """The mean square of the error in decibels; poles stay inside of the circle."""
    xp = rc.array_namespace(theta)
    outside = [xp.clip(xp.abs(theta[i]) - 0.95, 0, None) ** 2 for i in (4, 9)]
    error = levels(theta) - xp.asarray(_TARGET)
    return xp.mean(error**2) + STEEP * sum(outside)
