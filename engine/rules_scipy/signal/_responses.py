"""Responses of filters at frequencies, which are constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy._arrays import vector
from rules_scipy.linalg._matrices import conjugate

from ._axis import flipped, positions, together
from ._convolution import product
from ._declare import DECLARED, At, declared, trial

__all__ = [
    "freqs",
    "freqs_zpk",
    "freqz",
    "freqz_sos",
    "freqz_zpk",
    "group_delay",
    "products",
    "series",
    "sosfreqz",
]


def _circle(at: At, fs: Any, sign: int, like: Any) -> Any:
    """Points of the unit circle at the frequencies of the result."""
    w, like = together(at.y[0], like)
    xp = rc.array_namespace(w)
    return xp.exp(sign * 1j * (2 * np.pi / fs) * rc.ignore_derivatives(w))


def series(c: Any, z: Any) -> Any:
    """c[0] + c[1] z + …; of several filters by broadcasting."""
    y = 0 * z + c[-1]
    for i in range(c.shape[0] - 2, -1, -1):
        y = y * z + c[i]
    return y


def _freqz_step(at: At, b: Any, a: Any, fs: Any) -> Any:
    b, a = together(vector(b), vector(a))
    z = _circle(at, fs, -1, b)
    return None, series(b, z) / series(a, z)


def _freqz_sos_step(at: At, sos: Any, fs: Any) -> Any:
    z, h = _circle(at, fs, -1, sos), 1.0
    for i in range(sos.shape[0]):
        h = h * series(sos[i, :3], z) / series(sos[i, 3:], z)
    return None, h


def products(z: Any, roots: Any) -> Any:
    return rc.array_namespace(z, roots).prod(z[:, None] - roots[None, :], axis=1)


def _freqz_zpk_step(at: At, z: Any, p: Any, k: Any, fs: Any) -> Any:
    z, p, k = together(vector(z), vector(p), k)
    w = _circle(at, fs, 1, p)
    return None, k * products(w, z) / products(w, p)


def _line(at: At, like: Any) -> Any:
    return 1j * rc.ignore_derivatives(together(at.y[0], like)[0])


def _freqs_step(at: At, b: Any, a: Any) -> Any:
    b, a = together(vector(b), vector(a))
    s = _line(at, b)
    return None, series(flipped(b, 0), s) / series(flipped(a, 0), s)


def _freqs_zpk_step(at: At, z: Any, p: Any, k: Any) -> Any:
    z, p, k = together(vector(z), vector(p), k)
    s = _line(at, p)
    return None, k * products(s, z) / products(s, p)


freqz = declared(_sp.freqz, _freqz_step, "b", "a")
freqz_sos = declared(
    _sp.freqz_sos, _freqz_sos_step, "sos", out=trial(_sp.freqz_sos, sections=True)
)
DECLARED[_sp.sosfreqz] = "covered"
sosfreqz = freqz_sos  # its other name
stand_in(_sp.sosfreqz)(freqz_sos)
freqz_zpk = declared(_sp.freqz_zpk, _freqz_zpk_step, "z", "p", "k")
freqs = declared(_sp.freqs, _freqs_step, "b", "a")
freqs_zpk = declared(_sp.freqs_zpk, _freqs_zpk_step, "z", "p", "k")


def _group_delay_step(at: At, system: Any, fs: Any) -> Any:
    """The logarithmic derivative; zero where SciPy sets it to zero."""
    b, a = together(*map(vector, system))
    z = _circle(at, fs, -1, b)
    c = product(b, flipped(conjugate(a), 0), "full", "direct", (0,))
    ramp = positions(c, c.shape[0])
    top, bottom = series(c * ramp, z), series(c, z)
    xp = rc.array_namespace(bottom)
    zero = bottom == 0
    ratio = xp.real(top / xp.where(zero, xp.ones_like(bottom), bottom))
    return None, xp.where(zero, xp.zeros_like(ratio), ratio)


group_delay = declared(_sp.group_delay, _group_delay_step, "system")
