"""Waveforms, in time and in their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._lists import shape_of

from ._axis import together
from ._declare import At, declared

__all__ = ["chirp", "gausspulse", "sawtooth", "square", "sweep_poly"]


def _chirp_phase(t: Any, f0: Any, t1: Any, f1: Any, method: str, vertex: Any) -> Any:
    xp = rc.array_namespace(t, f0)
    if method in ("linear", "lin", "li"):
        return f0 * t + 0.5 * (f1 - f0) / t1 * t * t
    if method in ("quadratic", "quad", "q"):
        slope = (f1 - f0) / t1**2
        if vertex:
            return f0 * t + slope * t**3 / 3
        return f1 * t + slope * ((t1 - t) ** 3 - t1**3) / 3
    if method in ("logarithmic", "log", "lo"):
        rate = xp.log(f1 / f0) / t1
        safe = xp.where(rate == 0, xp.ones_like(rate), rate)
        y = f0 * xp.expm1(safe * t) / safe
        even = f0 * t * (1 + rate * t / 2 * (1 + rate * t / 3))
        return xp.where(rate == 0, even, y)
    # log(1 - x) / x of x = t / sing, with its series where the frequencies are equal
    gap = (f1 - f0) / (f1 * t1)
    small = xp.abs(gap * t) < 1e-4
    x = xp.where(small, 0.5 * xp.ones_like(gap * t), gap * t)
    full = xp.log(xp.abs(1 - x)) / -x
    x = gap * t
    series = 1 + x / 2 * (1 + 2 * x / 3 * (1 + 3 * x / 4 * (1 + 4 * x / 5)))
    return f0 * t * xp.where(small, series, full)


def _chirp_step(
    at: At, t: Any, f0: Any, t1: Any, f1: Any, phi: Any, method: Any,
    vertex_zero: Any, complex: Any,
) -> Any:  # fmt: skip
    t, f0, t1, f1, phi = together(t, f0, t1, f1, phi)
    phase = 2 * np.pi * _chirp_phase(t, f0, t1, f1, method, vertex_zero)
    phase = phase + phi * (np.pi / 180)
    xp = rc.array_namespace(phase)
    return xp.exp(1j * phase) if complex else xp.cos(phase)


chirp = declared(_sp.chirp, _chirp_step, "t", "f0", "t1", "f1", "phi")


def _pulse_shape(
    t: Any, fc: Any = 0, bw: Any = 0, bwr: Any = 0, tpr: Any = 0,
    retquad: Any = False, retenv: Any = False,
) -> Any:  # fmt: skip
    y = rc.ShapeDtype(() if isinstance(t, str) else shape_of(t), np.dtype(float))
    return (y,) * (1 + bool(retquad) + bool(retenv)) if retquad or retenv else y


def _gausspulse_step(
    at: At, t: Any, fc: Any, bw: Any, bwr: Any, tpr: Any, retquad: Any, retenv: Any
) -> Any:
    moving = [fc, bw, bwr, tpr] if isinstance(t, str) else [fc, bw, bwr, tpr, t]
    fc, bw, bwr, tpr, *times = together(*moving)
    xp, ten = rc.array_namespace(fc, *times), np.log(10.0) / 20
    a = -((np.pi * fc * bw) ** 2) / (4 * bwr * ten)
    if not times:
        return xp.sqrt(-tpr * ten / a)
    t = times[0]
    envelope, angle = xp.exp(-a * t * t), 2 * np.pi * fc * t
    parts = [envelope * xp.cos(angle)]
    parts += [envelope * xp.sin(angle)] if retquad else []
    parts += [envelope] if retenv else []
    return tuple(parts) if len(parts) > 1 else parts[0]


gausspulse = declared(
    _sp.gausspulse, _gausspulse_step, "t", "fc", "bw", "bwr", "tpr", out=_pulse_shape
)


def _sawtooth_step(at: At, t: Any, width: Any) -> Any:
    """The slopes of both sides; of the jump none."""
    t, w = together(t, width)
    xp = rc.array_namespace(t, w)
    t, w = t + 0 * w, w + 0 * t
    phase = t - 2 * np.pi * xp.floor(rc.ignore_derivatives(t) / (2 * np.pi))
    rising = phase < w * 2 * np.pi
    up = phase / (np.pi * xp.where(rising, w, xp.ones_like(w))) - 1
    rest = xp.where(rising, xp.ones_like(w), 1 - w)
    return xp.where(rising, up, (np.pi * (w + 1) - phase) / (np.pi * rest))


def _square_step(at: At, t: Any, duty: Any) -> Any:
    """Constant between jumps."""
    t, duty = together(t, duty)
    return 0 * t + 0 * duty


sawtooth = declared(_sp.sawtooth, _sawtooth_step, "t", "width")
square = declared(_sp.square, _square_step, "t", "duty")


def _sweep_poly_step(at: At, t: Any, poly: Any, phi: Any) -> Any:
    if isinstance(poly, np.poly1d):
        poly = poly.coeffs
    t, poly, phi = together(t, poly, phi)
    xp, n, y = rc.array_namespace(t, poly), poly.shape[0], 0 * t
    for i in range(n):
        y = y * t + poly[i] / (n - i)
    return xp.cos(2 * np.pi * y * t + phi * (np.pi / 180))


# SciPy multiplies an array `phi` in place.
sweep_poly = declared(
    _sp.sweep_poly, _sweep_poly_step, "t", "poly", "phi", copy_in=True
)
