r"""B-splines through samples, by recursive filters with mirrored ends.

A filter with a pole z and one with its reciprocal give the coefficients; their first
and last values are sums over the mirrored signal. SciPy cuts these sums where powers of
the pole are small; here they are whole.
"""

from __future__ import annotations

from math import atan, sqrt
from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_core.extend import stand_in
from rules_scipy._axes import concat, moveaxis

from ._axis import fixed, flipped, padded, part, selected, together
from ._convolution import filtered
from ._declare import DECLARED, At, declared
from ._recursion import recursion

__all__ = [
    "cspline1d",
    "cspline1d_eval",
    "cspline2d",
    "gauss_spline",
    "qspline1d",
    "qspline1d_eval",
    "qspline2d",
    "sepfir2d",
    "spline_filter",
    "symiirorder1",
    "symiirorder2",
]

_CUBIC, _QUADRATIC = -2 + 3**0.5, -3 + 2 * 2**0.5


# Filters along the last axis


def _started(start: Any, v: Any, a: Any) -> Any:
    """y with a * y = v, and given first values of y."""
    n = a.shape[0] - 1
    past = filtered(a, start, start.ndim - 1)
    past = padded(part(past, past.ndim - 1, 0, n), past.ndim - 1, 0, v.shape[-1] - n)
    inside = fixed(np.arange(v.shape[-1]) >= n, v)
    xp = rc.array_namespace(v, past)
    return recursion(a, xp.where(inside, v, past), v.ndim - 1)


def _number(x: Any, like: Any) -> Any:
    """A number in the library and precision of a signal."""
    return x if rc.is_array(x) else fixed(np.asarray(x), like)


def _first_order(x: Any, c0: Any, z1: Any) -> Any:
    """c0 / (1 - z1 / z) / (1 - z1 z), with mirrored ends."""
    x, c0, z1 = together(x, _number(c0, x), _number(z1, x))
    xp, n = rc.array_namespace(x, z1), x.shape[-1]
    first = x[..., :1] + z1 * xp.sum(x * _powers(z1, n), axis=-1, keepdims=True)
    a = xp.stack([xp.ones_like(z1), -z1])
    ahead = _started(first, x, a)
    last = -c0 / (z1 - 1) * ahead[..., -1:]
    back = flipped(c0 * ahead, x.ndim - 1)
    return flipped(_started(last, back, a), x.ndim - 1)


def _powers(z: Any, n: int) -> Any:
    """The powers 1, z, z² and so on."""
    xp = rc.array_namespace(z)
    one = fixed(np.ones(1), z)
    return xp.cumulative_prod(concat([one, z * fixed(np.ones(n - 1), z)], 0))


def _second_order(x: Any, r: Any, omega: Any, firsts: Any = (1, 0)) -> Any:
    """Two poles r exp(±i omega), forwards and backwards, with mirrored ends.

    Args:
        x: The signal.
        r: The radius of the poles.
        omega: Their angle.
        firsts: The order in which the second value weighs the first two samples: that
            of SciPy's cspline1d is not that of its other functions.
    """
    x, r, omega = together(x, _number(r, x), _number(omega, x))
    xp, n = rc.array_namespace(x, r, omega), x.shape[-1]
    turn = 2 * r * xp.cos(omega)
    cs, a = 1 - turn + r * r, xp.stack([xp.ones_like(r), -turn, r * r])

    def ahead(k: int) -> Any:
        places = fixed(np.arange(k, k + n) * 1.0, x)
        return cs / xp.sin(omega) * r**places * xp.sin(omega * (places + 1))

    def around(k: int) -> Any:
        places = fixed(np.abs(np.arange(k, k + n)) * 1.0, x)
        scale = cs * cs * (1 + r * r) / (1 - r * r)
        scale = scale / (1 - 2 * r * r * xp.cos(2 * omega) + r**4)
        gamma = (1 - r * r) / (1 + r * r) / xp.tan(omega)
        wave = xp.cos(omega * places) + gamma * xp.sin(omega * places)
        return scale * r**places * wave

    def summed(weights: Any, u: Any) -> Any:
        return xp.sum(weights * u, axis=-1, keepdims=True)

    alone = [ahead(0)[i] for i in (0, 1)]
    first = alone[0] * x[..., :1] + summed(ahead(1), x)
    own = [w * x[..., i : i + 1] for w, i in zip(alone, firsts, strict=True)]
    second = own[0] + own[1] + summed(ahead(2), x)
    y = _started(concat([first, second], x.ndim - 1), cs * x, a)
    back = flipped(x, x.ndim - 1)
    ends = [summed(around(-k) + around(k + 1), back) for k in (0, 1)]
    y = _started(concat(ends, x.ndim - 1), flipped(cs * y, x.ndim - 1), a)
    return flipped(y, x.ndim - 1)


def _symiirorder1_step(at: At, signal: Any, c0: Any, z1: Any) -> Any:
    return _first_order(signal, c0, z1)


def _symiirorder2_step(at: At, input: Any, r: Any, omega: Any) -> Any:
    return _second_order(input, r, omega)


symiirorder1 = declared(_sp.symiirorder1, _symiirorder1_step, "signal", "c0", "z1")
symiirorder2 = declared(_sp.symiirorder2, _symiirorder2_step, "input", "r", "omega")


# Coefficients


def _poles(lamb: float) -> tuple[float, float]:
    """The radius and the angle of the poles for a smoothing parameter."""
    root = sqrt(3 + 144 * lamb)
    xi = 1 - 96 * lamb + 24 * lamb * root
    r = (24 * lamb - 1 - sqrt(xi)) / (24 * lamb)
    r = r * sqrt((48 * lamb + 24 * lamb * root) / xi)
    return r, atan(sqrt((144 * lamb - 1) / xi))


def _unsmoothed(x: Any, pole: float, gain: float) -> Any:
    return _first_order(x, -pole * gain, pole)


def _of_line(x: Any, pole: float, gain: float) -> Any:
    """As `_unsmoothed`; SciPy leaves the gain out for one sample."""
    return _unsmoothed(x, pole, gain if x.shape[0] > 1 else 1.0)


def _cspline1d_step(at: At, signal: Any, lamb: Any) -> Any:
    if lamb == 0:
        return _of_line(signal, _CUBIC, 6.0)
    return _second_order(signal, *_poles(lamb), firsts=(0, 1))


def _qspline1d_step(at: At, signal: Any) -> Any:
    return _of_line(signal, _QUADRATIC, 8.0)


def _twice(x: Any, run: Any) -> Any:
    """A filter along both axes of an image."""
    return moveaxis(run(moveaxis(run(x), 0, -1)), -1, 0)


def _cubic(x: Any, lamb: float) -> Any:
    """Cubic coefficients of an image."""
    if lamb <= 1 / 144:
        return _twice(x, lambda u: _unsmoothed(u, _CUBIC, 6.0))
    return _twice(x, lambda u: _second_order(u, *_poles(lamb)))


def _cspline2d_step(at: At, signal: Any, lamb: Any) -> Any:
    return _cubic(signal, lamb)


def _qspline2d_step(at: At, signal: Any) -> Any:
    return _twice(signal, lambda x: _unsmoothed(x, _QUADRATIC, 8.0))


cspline1d = declared(_sp.cspline1d, _cspline1d_step, "signal")
qspline1d = declared(_sp.qspline1d, _qspline1d_step, "signal")
cspline2d = declared(_sp.cspline2d, _cspline2d_step, "signal")
qspline2d = declared(_sp.qspline2d, _qspline2d_step, "signal")


# Values


def _cubic_weights(t: Any) -> tuple[Any, ...]:
    """Of four coefficients, in the piece from knot 0 to 1."""
    back = 1 - t
    return (
        back**3 / 6,
        2 / 3 - t * t * (2 - t) / 2,
        2 / 3 - back * back * (1 + t) / 2,
        t**3 / 6,
    )


def _quadratic_weights(t: Any) -> tuple[Any, ...]:
    """Of three coefficients, in the piece from knot 0 to 1."""
    return (1 - t) ** 2 / 2, 0.75 - (t - 0.5) ** 2, t * t / 2


def _evaluated(cj: Any, newx: Any, dx: Any, x0: Any, weights: Any, width: int) -> Any:
    """Splines at points; coefficients are mirrored, once, and then repeated.

    At a knot derivatives are those of the piece after it.
    """
    cj, newx, dx, x0 = together(cj, newx, dx, x0)
    xp, n = rc.array_namespace(cj, newx), cj.shape[0]
    x = _folded((newx - x0) / dx, n)
    before = xp.floor(rc.ignore_derivatives(x) - width / 2)
    total = 0.0
    for i, weight in enumerate(weights(x - width / 2 - before)):
        index = xp.astype(xp.clip(before + (i + 1), 0, n - 1), xp.int64)
        total = total + selected(cj, 0, index) * weight
    return total


def _folded(x: Any, n: int) -> Any:
    """Points reflected at both ends until they are inside.

    At the ends themselves, which are symmetric kinks, derivatives are zero.
    """
    still = rc.ignore_derivatives(x)
    xp, period = rc.array_namespace(x), 2.0 * max(n - 1, 1)
    at = still - period * xp.floor(still / period)
    one = xp.ones_like(at)
    side = xp.where(at > n - 1, -one, one)
    side = xp.where((at == 0) | (at == n - 1), xp.zeros_like(at), side)
    return xp.where(at > n - 1, period - at, at) + side * (x - still)


def _cspline1d_eval_step(at: At, cj: Any, newx: Any, dx: Any, x0: Any) -> Any:
    return _evaluated(cj, newx, dx, x0, _cubic_weights, 4)


def _qspline1d_eval_step(at: At, cj: Any, newx: Any, dx: Any, x0: Any) -> Any:
    return _evaluated(cj, newx, dx, x0, _quadratic_weights, 3)


def _gauss_spline_step(at: At, x: Any, n: Any) -> Any:
    square = (n + 1) / 12
    wave = rc.array_namespace(x).exp(-(x**2) / 2 / square)
    return wave / (2 * np.pi * square) ** 0.5


_OF = ("cj", "newx", "dx", "x0")
cspline1d_eval = declared(_sp.cspline1d_eval, _cspline1d_eval_step, *_OF)
qspline1d_eval = declared(_sp.qspline1d_eval, _qspline1d_eval_step, *_OF)
gauss_spline = declared(_sp.gauss_spline, _gauss_spline_step, "x")


# Images


def _mirrored(x: Any, h: Any, axis: int) -> Any:
    """A convolution along an axis; beyond the edges samples return in reverse."""
    half, n = h.shape[0] // 2, x.shape[axis]
    wide = selected(x, axis, np.pad(np.arange(n), half, "symmetric"))
    y = filtered(h, wide, axis)
    return part(y, axis, 2 * half, 2 * half + n)


def _sepfir2d_step(at: At, input: Any, hrow: Any, hcol: Any) -> Any:
    return _mirrored(_mirrored(input, hrow, 1), hcol, 0)


def _separable(input: Any, hrow: Any, hcol: Any) -> Any:
    """SciPy's function, which has no signature."""
    return _sp.sepfir2d(input, hrow, hcol)


sepfir2d = declared(_separable, _sepfir2d_step, "input", "hrow", "hcol")
DECLARED[_sp.sepfir2d] = "covered"
stand_in(_sp.sepfir2d)(sepfir2d)


def _spline_filter_step(at: At, Iin: Any, lmbda: Any) -> Any:
    c = _cubic(Iin, lmbda)
    h = fixed(np.array([1.0, 4.0, 1.0]) / 6, c)
    return _mirrored(_mirrored(c, h, 1), h, 0)


spline_filter = declared(_sp.spline_filter, _spline_filter_step, "Iin")
