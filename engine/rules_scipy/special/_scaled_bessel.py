"""Bessel, Hankel and Airy functions without their exponential factor.

For a large argument the two terms of their slope cancel: there its ratio to the value
is that of the asymptotic series (DLMF 10.17.5, 10.40.1, 10.40.2).
"""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import absolute, imag, real, sign, sqrt, where
from ._bessel import half_difference, half_sum, in_order, yv_slope
from ._declare import (
    arrays,
    complex_valued,
    elementwise,
    is_complex,
    is_integer,
    signed,
    strong,
    ufunc,
)

__all__ = [
    "airye",
    "hankel1e",
    "hankel2e",
    "i0e",
    "i1e",
    "ive",
    "jve",
    "k0e",
    "k1e",
    "kve",
    "yve",
]

_sp = scipy.special
_FAR = 40.0
_TERMS = 18


def _ratio(v: Any, z: Any) -> Any:
    r"""$f' / f$ of $f(z) = z^{-1/2} \sum_k a_k(v) / z^k$: of $e^z K_v$.

    At $-z$ that of $e^{-z} I_v$ up to its sign, at $\mp i z$ that of Hankel's.
    """
    term = total = 0 * z + 1
    moment = term / 2
    for k in range(1, _TERMS):
        term = term * (4 * v * v - (2 * k - 1) ** 2) / (8 * k * z)
        total, moment = total + term, moment + (k + 0.5) * term
    return -moment / (z * total)


def _beyond(near: Any, y: Any, v: Any, z: Any, turn: complex = 1.0) -> Any:
    """`near`, but for large `turn · z` the value times the ratio of the series.

    Hankel's, of a turned argument, have another series left of the imaginary axis.
    """
    far = rc.array_namespace(z).abs(z) > _FAR + 2 * v * v
    far = far if turn == 1.0 else far & (real(z) >= 0)
    outside = turn * where(far, z, 1.0)
    return where(far, turn * y * _ratio(v, outside), near)


def _kve_slope(y: Any, v: Any, z: Any) -> Any:
    r"""$e^z (K_v + K_v')$; at 0, where it is ∞ - ∞, the larger term."""
    middle = half_sum(kve, v, z)
    infinite = rc.array_namespace(middle).isinf(middle)
    return _beyond(where(infinite, -middle, y - middle), y, v, z)


kve: rc.Primitive = ufunc(_sp.kve, in_order, _kve_slope, holomorphic=True)
k0e = ufunc(_sp.k0e, lambda y, x: _kve_slope(y, 0.0, x))
k1e = ufunc(_sp.k1e, lambda y, x: _kve_slope(y, 1.0, x))


def _ive_slope(y: Any, v: Any, x: Any) -> Any:
    r"""$(e^{-|x|} I_v(x))'$ of real $x$, with slope zero of $|x|$ at 0."""
    side = sign(x)
    near = half_sum(ive, v, x) - side * y
    far = absolute(x) > _FAR + 2 * v * v
    return where(far, -side * y * _ratio(v, where(far, -absolute(x), 1.0)), near)


i0e = ufunc(_sp.i0e, lambda y, x: _ive_slope(y, 0.0, x))
i1e = ufunc(_sp.i1e, lambda y, x: _ive_slope(y, 1.0, x))


def _hankel1e_slope(y: Any, v: Any, z: Any) -> Any:
    return _beyond(half_difference(hankel1e, v, z) - 1j * y, y, v, z, -1j)


def _hankel2e_slope(y: Any, v: Any, z: Any) -> Any:
    return _beyond(half_difference(hankel2e, v, z) + 1j * y, y, v, z, 1j)


hankel1e: rc.Primitive = complex_valued(
    ufunc(_sp.hankel1e, in_order, _hankel1e_slope, holomorphic=True)
)
hankel2e: rc.Primitive = complex_valued(
    ufunc(_sp.hankel2e, in_order, _hankel2e_slope, holomorphic=True)
)


def _scaled(f: Any, recurrence: Any, part: Any, real_slope: Any) -> rc.Primitive:
    r"""The primitive of $y = e^{-|p(z)|} F_v(z)$, $p$ the real or imaginary part.

    $dy = e^{-|p|} F_v'(z)\, dz - \mathrm{sign}(p)\, y\, p(dz)$: not holomorphic.

    Args:
        f: The ufunc.
        recurrence: $e^{-|p|} F_v'$ by its neighbours.
        part: $p$, `real` or `imag`.
        real_slope: The slope at real arguments.
    """
    made = elementwise(f)
    by_order = in_order.of(made, 0)

    def slopes(y: Any, v: Any, z: Any) -> tuple[Any, Any]:
        """The factors of $dz$ and of $p(dz)$."""
        _, y, z = arrays(y, z)
        if not is_complex(z):
            return real_slope(y, v, z), None
        return recurrence(made, v, z), -sign(part(z)) * y

    def along_order(v: Any, z: Any, y: Any) -> Any:
        _, v, z = arrays(v, z)
        return by_order(y, v, z)

    def scaled_frule(tangents: Any, v: Any, z: Any) -> tuple[Any, Any]:
        """`dy` of the formula."""
        _, dv, dz = tangents
        v, z, y = signed(v), signed(z), made(v, z)
        dy: Any = rc.ZeroTangent()
        if not isinstance(dv, rc.AbstractZero):
            dy = dy + strong(along_order(v, z, y), dv)
        if not isinstance(dz, rc.AbstractZero):
            slope, other = slopes(y, v, z)
            dy = dy + strong(slope, dz)
            dy = dy if other is None else dy + other * part(dz)
        return y, dy if isinstance(dy, rc.AbstractZero) else rc.ProjectTo(y)(dy)

    def scaled_rrule(v: Any, z: Any, *, needs: tuple[bool, ...]) -> Any:
        """The adjoint of the frule."""
        y = made(v, z)
        return y, rc.Pullback(pull, needs, v, z, y)

    def pull(needs: Any, v: Any, z: Any, y: Any, dy: Any) -> tuple[Any, Any, Any]:
        dv: Any = rc.NoTangent()
        dz: Any = rc.NoTangent()
        if needs[0] and not is_integer(v):
            dv = rc.ProjectTo(v)(strong(_conj(along_order(signed(v), z, y)), dy))
        if needs[1]:
            slope, other = slopes(y, signed(v), signed(z))
            dz = strong(_conj(slope), dy)
            if other is not None:
                dz = dz + back(real(_conj(other) * dy))
            dz = rc.ProjectTo(z)(dz)
        return rc.NoTangent(), dv, dz

    def back(x: Any) -> Any:
        return x if part is real else 1j * x

    for rule in (scaled_frule, scaled_rrule):
        rule.__name__ = rule.__name__.replace("scaled", f.__name__)
        rule.__qualname__ = rule.__name__
    rc.frule.define(made, symbolic_zeros=True)(scaled_frule)
    rc.rrule.define(made)(scaled_rrule)
    return made


def _conj(x: Any) -> Any:
    return rc.array_namespace(x).conj(x) if is_complex(x) else x


def _jve_slope(y: Any, v: Any, x: Any) -> Any:
    return half_difference(jve, v, x)


def _yve_slope(y: Any, v: Any, x: Any) -> Any:
    return yv_slope(yve, v, x)


ive: rc.Primitive = _scaled(_sp.ive, half_sum, real, _ive_slope)
jve: rc.Primitive = _scaled(_sp.jve, half_difference, imag, _jve_slope)
yve: rc.Primitive = _scaled(_sp.yve, half_difference, imag, _yve_slope)


# Scaled Airy functions. Far right: Ai by K of order 1/3, Ai' by 2/3, and so Bi by I.
def _airye_slopes(y: Any, z: Any) -> Any:
    r"""$e^\zeta \mathrm{Ai}$ with $\zeta = \frac23 z^{3/2}$: $\zeta' = \sqrt z$.

    For real arguments: the last two outputs are not holomorphic.
    """
    ai, in_ai, bi, in_bi = y
    root = sqrt(where(z < 0, 0.0, z))
    far = z > 25
    x = where(far, z, 25.0)
    zeta, x_root = 2 / 3 * x * sqrt(x), sqrt(x)
    falls = [_ratio(order, zeta) * x_root for order in (1 / 3, 2 / 3)]
    rises = [-_ratio(order, -zeta) * x_root for order in (1 / 3, 2 / 3)]
    return (
        where(far, ai * (0.5 / x + falls[0]), in_ai + root * ai),
        where(far, in_ai * (1 / x + falls[1]), z * ai + root * in_ai),
        where(far, bi * (0.5 / x + rises[0]), in_bi - root * bi),
        where(far, in_bi * (1 / x + rises[1]), z * bi - root * in_bi),
    )


airye = ufunc(_sp.airye, _airye_slopes)
