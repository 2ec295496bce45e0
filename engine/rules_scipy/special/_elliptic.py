r"""Elliptic integrals and functions, and the arithmetic-geometric mean.

Everything rests on Carlson's symmetric integrals (DLMF 19.16, 19.18, 19.25), whose
derivatives are integrals of the same kind: nothing cancels. Those beyond $R_D$ are
computed by the trapezoidal rule in $\ln t$, which converges faster than any power.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

import rules_core as rc

from ._arrays import absolute, cos, floor, sin, sqrt, where
from ._declare import elementwise, ufunc

__all__ = [
    "agm",
    "ellipe",
    "ellipeinc",
    "ellipj",
    "ellipk",
    "ellipkinc",
    "ellipkm1",
    "elliprc",
    "elliprd",
    "elliprf",
    "elliprg",
    "elliprj",
]

_sp = scipy.special
_STEP = 0.4
_DEPTH = 90.0  # exp(-90 / 2) is below rounding


@elementwise
def carlson(a: int, b: int, c: int, d: int, x: Any, y: Any, z: Any, p: Any) -> Any:
    r"""$\int_0^\infty (t+x)^{-a/2} (t+y)^{-b/2} (t+z)^{-c/2} (t+p)^{-d/2}\, dt$.

    NaN at negative numbers; ∞ where the integral diverges at 0.
    """
    arguments = np.broadcast_arrays(x, y, z, p)
    dtype = np.result_type(*arguments, np.float64)
    points = [np.asarray(v, dtype).ravel() for v in arguments]
    powers = [int(n) for n in (a, b, c, d)]
    used = [v for v, n in zip(points, powers, strict=True) if n]
    outside = sum((v.real < 0) | np.isnan(v) for v in used) > 0
    sizes = np.abs(np.array(used))
    least = np.where(sizes > 0, sizes, np.inf).min(axis=0)
    low = np.log(np.where(np.isfinite(least), least, 1)) - _DEPTH
    high = np.log(np.maximum(sizes.max(axis=0), 1e-300)) + _DEPTH
    count = int(np.max(high - low, initial=0) / _STEP) + 1
    u = low + (high - low) * np.linspace(0, 1, count)[:, None]
    t = np.exp(u)
    with np.errstate(all="ignore"):
        total = u
        for v, n in zip(points, powers, strict=True):
            total = total - n / 2 * np.log(t + v) if n else total
        integral = np.exp(total).sum(axis=0) * (high - low) / (count - 1)
    zero_power = sum(n * (v == 0) for v, n in zip(points, powers, strict=True))
    integral = np.where(zero_power >= 2, np.inf, integral)
    return np.where(outside, np.nan, integral).reshape(arguments[0].shape)[()]


def _carlson_in(position: int) -> Any:
    """The partial in an argument lowers its power by one."""

    def partial(_y: Any, *args: Any) -> Any:
        powers = list(args[:4])
        n = powers[position]
        powers[position] = n + 2
        return -n / 2 * carlson(*powers, *args[4:]) if n else 0 * args[4 + position]

    return partial


ufunc(
    carlson,
    *("derivative of a Carlson integral in a power",) * 4,
    *map(_carlson_in, range(4)),
    holomorphic=True,
)


# DLMF 19.18.1; R_J = 3/2 ∫ …, R_D(x, y, z) = R_J(x, y, z, z), R_C(x, y) = R_F(x, y, y).
elliprf = ufunc(
    _sp.elliprf,
    lambda _, x, y, z: -elliprd(y, z, x) / 6,
    lambda _, x, y, z: -elliprd(z, x, y) / 6,
    lambda _, x, y, z: -elliprd(x, y, z) / 6,
    holomorphic=True,
)


def _rd(a: int, b: int, c: int, factor: float) -> Any:
    def partial(_: Any, x: Any, y: Any, z: Any) -> Any:
        return factor * carlson(a, b, c, 0, x, y, z, 1.0)

    return partial


elliprd: rc.Primitive = ufunc(
    _sp.elliprd,
    _rd(3, 1, 3, -0.75),
    _rd(1, 3, 3, -0.75),
    _rd(1, 1, 5, -2.25),
    holomorphic=True,
)


def _rj(a: int, b: int, c: int, d: int, factor: float) -> Any:
    def partial(_: Any, *args: Any) -> Any:
        return factor * carlson(a, b, c, d, *args)

    return partial


elliprj = ufunc(
    _sp.elliprj,
    _rj(3, 1, 1, 2, -0.75),
    _rj(1, 3, 1, 2, -0.75),
    _rj(1, 1, 3, 2, -0.75),
    _rj(1, 1, 1, 4, -1.5),
    holomorphic=True,
)


def _rg_slope(x: Any, y: Any, z: Any) -> Any:
    """The integral of `t / ((t + x) s(t))`, by `t / (t + x) = 1 - x / (t + x)`."""
    still = x == 0
    product = where(still, 0.0, x * elliprd(y, z, where(still, 1.0, x)))
    return elliprf(x, y, z) / 4 - product / 12


elliprg = ufunc(
    _sp.elliprg,
    lambda _, x, y, z: _rg_slope(x, y, z),
    lambda _, x, y, z: _rg_slope(y, z, x),
    lambda _, x, y, z: _rg_slope(z, x, y),
    holomorphic=True,
)


def _rc_y(_: Any, x: Any, y: Any) -> Any:
    return -carlson(1, 4, 0, 0, x, y, 1.0, 1.0) / 2


elliprc = ufunc(
    _sp.elliprc,
    lambda _, x, y: -carlson(3, 2, 0, 0, x, y, 1.0, 1.0) / 4,
    _rc_y,
    holomorphic=True,
)


# Legendre's integrals by the parameter m (DLMF 19.25.1, 19.25.5, 19.25.9).
ellipk = ufunc(_sp.ellipk, lambda _, m: elliprd(0.0, 1.0, 1 - m) / 6)
ellipkm1 = ufunc(_sp.ellipkm1, lambda _, p: -elliprd(0.0, 1.0, p) / 6)
ellipe = ufunc(_sp.ellipe, lambda _, m: -elliprd(0.0, 1 - m, 1.0) / 6)


def _reduced(phi: Any) -> tuple[Any, Any, Any]:
    """Turns by π, and sine and squared cosine of the rest."""
    turns = floor(phi / math.pi + 0.5)
    rest = phi - math.pi * turns
    return turns, sin(rest), cos(rest) ** 2


def _turned(turns: Any, of_turn: Any) -> Any:
    """`turns · of_turn`, zero without a turn."""
    return where(turns == 0, 0.0, turns * where(turns == 0, 1.0, of_turn))


def _first_m(phi: Any, m: Any) -> Any:
    turns, s, c2 = _reduced(phi)
    part = s**3 * elliprd(c2, 1.0, 1 - m * s * s) / 6
    return part + _turned(turns, elliprd(0.0, 1.0, 1 - m) / 3)


def _second_m(_: Any, phi: Any, m: Any) -> Any:
    turns, s, c2 = _reduced(phi)
    part = -(s**3) * elliprd(c2, 1 - m * s * s, 1.0) / 6
    return part - _turned(turns, elliprd(0.0, 1 - m, 1.0) / 3)


ellipkinc = ufunc(
    _sp.ellipkinc,
    lambda _, phi, m: 1 / sqrt(1 - m * sin(phi) ** 2),
    lambda _, phi, m: _first_m(phi, m),
)
ellipeinc = ufunc(
    _sp.ellipeinc, lambda _, phi, m: sqrt(1 - m * sin(phi) ** 2), _second_m
)


def _ellipj_u(y: Any, u: Any, m: Any) -> Any:
    """DLMF 22.13.1, 22.16.4."""
    sn, cn, dn, _ = y
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _ellipj_m(y: Any, u: Any, m: Any) -> Any:
    """Of the amplitude φ, where F(φ, m) = u; and of its functions."""
    sn, cn, dn, phi = y
    turn = -dn * _first_m(phi, m)
    return cn * turn, -sn * turn, -(sn * sn + 2 * m * sn * cn * turn) / (2 * dn), turn


ellipj = ufunc(_sp.ellipj, _ellipj_u, _ellipj_m)


def _agm_slope(y: Any, a: Any, b: Any) -> Any:
    r"""By $1 / M(a, b) = \frac2\pi R_F(0, a^2, b^2)$ (DLMF 19.22.1, 19.25.1)."""
    return 2 / (3 * math.pi) * y * y * absolute(a) * elliprd(0.0, b * b, a * a)


agm = ufunc(_sp.agm, _agm_slope, lambda y, a, b: _agm_slope(y, b, a))
