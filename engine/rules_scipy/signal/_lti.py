"""Responses of linear systems to a step or an impulse, and at frequencies.

Systems are tuples of arrays. Times and frequencies are constants: SciPy rounds the
frequencies that it chooses, but not the times, which follow the slowest pole. These are
an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._arrays import vector

from ._axis import fixed, flipped, together
from ._declare import At, declared
from ._forms import parts_of
from ._responses import products, series
from ._systems import simulated, space_of, stepped, times_of, transfer_of

__all__ = [
    "bode",
    "dbode",
    "dfreqresp",
    "dimpulse",
    "dstep",
    "freqresp",
    "impulse",
    "step",
]


# In time


def _spaced(at: At, space: Any, x: Any, height: float) -> Any:
    """The output at the times of the result."""
    n, first, dt = times_of(at, space[0])
    u = fixed(np.full((n, space[1].shape[1]), height), space[0])
    y, _ = simulated(space, u, x, first, dt, interp=False)
    return rc.array_namespace(y).reshape(y, at.y[1].shape)


def _refuse_own_times(T: Any, name: str) -> None:
    if T is None:
        message = (
            f"the derivative of scipy.signal.{name} must be given times as T: those "
            "that SciPy chooses move with the poles of the system."
        )
        raise rc.UnsupportedError(message)


def _step_step(at: At, system: Any, X0: Any, T: Any) -> Any:
    _refuse_own_times(T, "step")
    return None, _spaced(at, space_of(system, "step"), X0, 1.0)


def _impulse_step(at: At, system: Any, X0: Any, T: Any) -> Any:
    """An impulse sets the state to B."""
    _refuse_own_times(T, "impulse")
    A, B, C, D = space_of(system, "impulse")
    B, X0 = (B, 0.0) if X0 is None else together(B, X0)
    x = rc.array_namespace(B).reshape(B + X0, (-1,))
    return None, _spaced(at, (A, B, C, D), x, 0.0)


step = declared(_sp.step, _step_step, "system", "X0")
impulse = declared(_sp.impulse, _impulse_step, "system", "X0")


def _discrete(at: At, system: Any, x0: Any, t: Any, name: str, length: int) -> Any:
    """For each input a response to `length` ones."""
    if t is not None:
        message = f"derivative of {name} with t; give the number n of steps"
        raise rc.UnsupportedError(message)
    system = parts_of(system)
    space = space_of(system[:-1] if isinstance(system, tuple) else system, name)
    n, count = at.y[1][0].shape[0], space[1].shape[1]
    ones = np.where(np.arange(n)[:, None] < length, np.eye(count)[:, None], 0.0)
    outputs = [stepped(space, fixed(u, space[0]), x0)[0] for u in ones]
    return system[-1] * fixed(np.arange(n) * 1.0, space[0]), tuple(outputs)


def _dstep_step(at: At, system: Any, x0: Any, t: Any) -> Any:
    return _discrete(at, system, x0, t, "dstep", at.y[1][0].shape[0])


def _dimpulse_step(at: At, system: Any, x0: Any, t: Any) -> Any:
    return _discrete(at, system, x0, t, "dimpulse", 1)


dstep = declared(_sp.dstep, _dstep_step, "system", "x0")
dimpulse = declared(_sp.dimpulse, _dimpulse_step, "system", "x0")


# At frequencies


def _gain(system: Any, z: Any, name: str) -> Any:
    """The transfer function at complex numbers."""
    if not isinstance(system, tuple):
        message = f"derivative of {name} of an object; pass a tuple of arrays"
        raise rc.UnsupportedError(message)
    if len(system) == 3:
        zeros, poles, k, z = together(*map(vector, system), z)
        return k * products(z, zeros) / products(z, poles)
    if len(system) == 4:
        A, B, C, D = space_of(system, name)
        system = transfer_of(A, B, C, D, 0)
    b, a, z = together(*system, z)
    b = rc.array_namespace(b).reshape(b, (-1,))
    return series(flipped(b, 0), z) / series(flipped(vector(a), 0), z)


def _like(system: Any) -> Any:
    """An array of a system, for its library."""
    parts = system if isinstance(system, tuple) else (system,)
    arrays = [x for x in parts if rc.is_array(x)]
    return next((x for x in arrays if not isinstance(x, np.ndarray)), arrays[0])


def _freqresp_step(at: At, system: Any) -> Any:
    w = rc.ignore_derivatives(together(at.y[0], _like(system))[0])
    return None, _gain(system, 1j * w, "freqresp")


def _dfreqresp_step(at: At, system: Any) -> Any:
    w = rc.ignore_derivatives(together(at.y[0], _like(system))[0])
    z = rc.array_namespace(w).exp(1j * w)
    return None, _gain(system[:-1], z, "dfreqresp")


def _decibels(h: Any) -> tuple[Any, Any]:
    """Magnitude in decibels and phase in degrees; whole turns do not matter."""
    xp = rc.array_namespace(h)
    x, y = xp.real(h), xp.imag(h)
    return 10 * xp.log10(x * x + y * y), xp.atan2(y, x) * (180 / np.pi)


def _bode_step(at: At, system: Any) -> Any:
    w = rc.ignore_derivatives(together(at.y[0], _like(system))[0])
    return None, *_decibels(_gain(system, 1j * w, "bode"))


def _dbode_step(at: At, system: Any) -> Any:
    """Angles are constants, frequencies in units of 1 / dt."""
    w, dt = at.y[0], system[-1]
    w, dt = together(w, dt) if rc.is_array(dt) else (w, dt)
    angles = rc.ignore_derivatives(w * dt)
    angles = together(angles, _like(system))[0]
    z = rc.array_namespace(angles).exp(1j * angles)
    return angles / dt, *_decibels(_gain(system[:-1], z, "dbode"))


freqresp = declared(_sp.freqresp, _freqresp_step, "system")
dfreqresp = declared(_sp.dfreqresp, _dfreqresp_step, "system")
bode = declared(_sp.bode, _bode_step, "system")
dbode = declared(_sp.dbode, _dbode_step, "system")
