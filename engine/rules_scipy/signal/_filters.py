r"""Linear filters: recursive ones, sections of second order, forwards and backwards.

One primitive, the recursion $a * y = v$, is defined by its equation; its adjoint runs
backwards in time. Filters are made of it and of convolutions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._axes import concat

from ._axis import column, padded, part, positions, selected, together
from ._convolution import product
from ._declare import At, declared, trial
from ._gustafsson import gustafsson
from ._recursion import response

__all__ = [
    "deconvolve",
    "filtfilt",
    "lfilter",
    "lfilter_zi",
    "lfiltic",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
]


# Filters


def _lfilter_step(at: At, b: Any, a: Any, x: Any, zi: Any, axis: Any) -> Any:
    y, zf = response(b, a, x, zi, axis)
    return y if zi is None else (y, zf)


lfilter = declared(_sp.lfilter, _lfilter_step, "b", "a", "x", "zi")


def _sections(sos: Any) -> list[tuple[Any, Any]]:
    """Numerators and denominators; SciPy requires that these begin with one."""
    one = rc.array_namespace(sos).ones_like(sos[0, :1])
    return [(sos[i, :3], concat([one, sos[i, 4:]], 0)) for i in range(sos.shape[0])]


def _cascade(sos: Any, x: Any, zi: Any, axis: int) -> tuple[Any, Any]:
    states = []
    for i, (b, a) in enumerate(_sections(sos)):
        x, state = response(b, a, x, None if zi is None else zi[i], axis)
        states.append(state)
    if zi is None:
        return x, None
    return x, rc.array_namespace(*states).stack(states, axis=0)


def _sosfilt_step(at: At, sos: Any, x: Any, zi: Any, axis: Any) -> Any:
    sos, x = together(sos, x)
    if zi is not None:
        zi, x = together(zi, x)
    y, zf = _cascade(sos, x, zi, axis)
    return y if zi is None else (y, zf)


sosfilt = declared(
    _sp.sosfilt, _sosfilt_step, "sos", "x", "zi", out=trial(_sp.sosfilt, sections=True)
)


# States


def _resting(b: Any, a: Any) -> Any:
    """The state in which the response to a constant signal is constant."""
    b, a = together(vector(b), vector(a))
    b, a = b / a[0], a / a[0]
    n = max(a.shape[0], b.shape[0])
    a, b = padded(a, 0, 0, n - a.shape[0]), padded(b, 0, 0, n - b.shape[0])
    xp = rc.array_namespace(a, b)
    changes = b[1:] - a[1:] * b[0]
    first = xp.sum(changes) / xp.sum(a)
    before = xp.cumulative_sum(a)[:-1]
    return before * first - padded(xp.cumulative_sum(changes), 0, 1, 0)[: n - 1]


def _lfilter_zi_step(at: At, b: Any, a: Any) -> Any:
    return _resting(b, a)


lfilter_zi = declared(_sp.lfilter_zi, _lfilter_zi_step, "b", "a")


def _resting_sections(sos: Any) -> Any:
    xp = rc.array_namespace(sos)
    gain, states = 1.0, []
    for i in range(sos.shape[0]):
        b, a = sos[i, :3], sos[i, 3:]
        states.append(gain * _resting(b, a))
        gain = gain * xp.sum(b) / xp.sum(a)
    return xp.stack(states, axis=0)


def _sosfilt_zi_step(at: At, sos: Any) -> Any:
    return _resting_sections(sos)


sosfilt_zi = declared(_sp.sosfilt_zi, _sosfilt_zi_step, "sos")


def _past(coefficients: Any, signal: Any, order: int) -> Any:
    """The past of a signal in the state, without the present coefficient."""
    c, past = together(coefficients[1:], signal)
    n = c.shape[0]
    past = padded(past[:n], 0, 0, max(n - past.shape[0], 0))
    xp = rc.array_namespace(c, past)
    if n == 0:
        return padded(c * past, 0, 0, order)
    sums = [xp.sum(c[i:] * past[: n - i]) for i in range(n)]
    return padded(xp.stack(sums), 0, 0, order - n)


def _lfiltic_step(at: At, b: Any, a: Any, y: Any, x: Any) -> Any:
    b, a = together(vector(b), vector(a))
    order = max(a.shape[0], b.shape[0]) - 1
    state = -_past(a, y, order)
    if x is not None:
        state = state + _past(b, x, order)
    return state / a[0]


lfiltic = declared(_sp.lfiltic, _lfiltic_step, "b", "a", "y", "x")


# Forwards and backwards


def _extension(x: Any, axis: int, edge: Any, room: int, padtype: Any) -> Any:
    """`x` with `edge` entries more at both ends, in an array with `room` for them.

    The number may be known only when traced code runs; entries after the end are not
    read then.
    """
    xp, n = rc.array_namespace(x), x.shape[axis]
    place = positions(x, n + 2 * room) - edge
    inside = (place >= 0) & (place < n)
    nearest = xp.clip(place, 0, n - 1)
    if padtype in (None, "constant"):
        return selected(x, axis, nearest)
    mirrored = xp.clip(n - 1 - xp.abs(n - 1 - xp.abs(place)), 0, n - 1)
    y = selected(x, axis, mirrored)
    if padtype == "even":
        return y
    turned = 2 * selected(x, axis, nearest) - y
    return xp.where(column(inside, x.ndim, axis), y, turned)


def _both_ways(x: Any, axis: int, edge: Any, room: int, padtype: Any, run: Any) -> Any:
    """`run(signal, its first entries)` forwards, then backwards, without the edges."""
    xp, n = rc.array_namespace(x), x.shape[axis]
    ahead = _extension(x, axis, edge, room, padtype)
    ahead = run(ahead, part(ahead, axis, 0, 1))
    last = n - 1 + 2 * edge
    order = xp.clip(last - positions(x, n + 2 * room), 0, n + 2 * room - 1)
    back = selected(ahead, axis, order)
    back = run(back, part(back, axis, 0, 1))
    return selected(back, axis, n - 1 + edge - positions(x, n))


def _filtfilt_step(
    at: At, b: Any, a: Any, x: Any, axis: Any, padtype: Any, padlen: Any, method: Any,
    irlen: Any,
) -> Any:  # fmt: skip
    b, a, x = together(vector(b), vector(a), x)
    if method == "gust":
        return gustafsson(b, a, x, axis, irlen)
    zi, axis = column(_resting(b, a), x.ndim, axis), axis % x.ndim

    def run(signal: Any, first: Any) -> Any:
        return response(b, a, signal, zi * first, axis)[0]

    edge = 3 * max(a.shape[0], b.shape[0]) if padlen is None else padlen
    edge = 0 if padtype is None else edge
    return _both_ways(x, axis, edge, edge, padtype, run)


filtfilt = declared(_sp.filtfilt, _filtfilt_step, "b", "a", "x")


def _sosfiltfilt_step(
    at: At, sos: Any, x: Any, axis: Any, padtype: Any, padlen: Any
) -> Any:
    """The default length of edges is less where coefficients are zero."""
    sos, x = together(sos, x)
    xp, axis, n = rc.array_namespace(sos, x), axis % x.ndim, sos.shape[0]
    states = _resting_sections(sos)

    def run(signal: Any, first: Any) -> Any:
        zi = [column(states[i], x.ndim, axis) * first for i in range(n)]
        return _cascade(sos, signal, zi, axis)[0]

    edge, room = padlen, padlen
    if padlen is None:
        still = rc.ignore_derivatives(sos)
        zeros = [xp.sum(xp.astype(still[:, i] == 0, xp.int64)) for i in (2, 5)]
        edge, room = 3 * (2 * n + 1 - xp.minimum(*zeros)), 3 * (2 * n + 1)
    if padtype is None:
        edge, room = 0, 0
    return _both_ways(x, axis, edge, room, padtype, run)


sosfiltfilt = declared(
    _sp.sosfiltfilt,
    _sosfiltfilt_step,
    "sos",
    "x",
    out=trial(_sp.sosfiltfilt, sections=True),
)


# The inverse of a convolution


def _deconvolve_step(at: At, signal: Any, divisor: Any) -> Any:
    """The quotient is a filter's response to an impulse."""
    signal, divisor = together(vector(signal), vector(divisor))
    n = signal.shape[0] - divisor.shape[0] + 1
    if n <= 0:
        return None, signal
    impulse = np.zeros(n)
    impulse[0] = 1.0
    quotient: Any = lfilter(signal, divisor, impulse)
    return quotient, signal - product(divisor, quotient, "full", "direct", (0,))


deconvolve = declared(_sp.deconvolve, _deconvolve_step, "signal", "divisor")
