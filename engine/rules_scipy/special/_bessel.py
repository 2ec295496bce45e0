"""Bessel functions and modified Bessel functions of real order.

The recurrences are those without cancellation: for K and I both terms have one sign.
There is no closed form for the derivative in the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special

import rules_core as rc

from ._declare import (
    arrays,
    elementwise,
    is_complex,
    no_derivative,
    scalar_rule,
    signed,
    strong,
)

__all__ = ["iv", "ive", "jv", "kv", "kve", "yv"]

jv = elementwise(scipy.special.jv)
yv = elementwise(scipy.special.yv)
iv = elementwise(scipy.special.iv)
kv = elementwise(scipy.special.kv)
ive = elementwise(scipy.special.ive)
kve = elementwise(scipy.special.kve)


def _order(name: str, v: Any) -> Any:
    return no_derivative(
        v,
        f"derivative of {name} in its order v, which has no closed form: keep v "
        "constant, or differentiate in it by finite differences",
    )


def _neighbours(f: Callable[..., Any], v: Any, z: Any) -> tuple[Any, Any]:
    v = signed(v)
    return f(v - 1, z), f(v + 1, z)


def jv_partials(_y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$J_v'(z) = (J_{v-1}(z) - J_{v+1}(z)) / 2$ (DLMF 10.6.1)."""
    below, above = _neighbours(jv, v, z)
    return _order("jv", v), (below - above) / 2


def yv_partials(_y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$Y_v'(z) = (Y_{v-1}(z) - Y_{v+1}(z)) / 2$ (DLMF 10.6.1).

    At 0, where both terms are infinite, the term of larger order gives the limit.
    """
    xp, v_, z_ = arrays(v, z)
    below, above = _neighbours(yv, v, z)
    limit = xp.where(v_ < 0, below, -above)
    return _order("yv", v), xp.where(z_ == 0, limit, (below - above) / 2)


def iv_partials(_y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$I_v'(z) = (I_{v-1}(z) + I_{v+1}(z)) / 2$ (DLMF 10.29.1)."""
    below, above = _neighbours(iv, v, z)
    return _order("iv", v), (below + above) / 2


def kv_partials(_y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$K_v'(z) = -(K_{v-1}(z) + K_{v+1}(z)) / 2$ (DLMF 10.29.1)."""
    below, above = _neighbours(kv, v, z)
    return _order("kv", v), -(below + above) / 2


def kve_partials(y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$(e^z K_v(z))' = e^z (K_v(z) + K_v'(z))$, holomorphic (DLMF 10.29.1).

    The difference is of the order of $e^z K_v(z) / z$: for large $z$ it loses as many
    digits as $z$ has. At 0, where it is ∞ - ∞, the derivative is the larger term.
    """
    xp, middle = arrays(sum(_neighbours(kve, v, z)) / 2)
    return _order("kve", v), xp.where(xp.isinf(middle), -middle, y - middle)


scalar_rule(jv, jv_partials, holomorphic=True)
scalar_rule(yv, yv_partials, holomorphic=True)
scalar_rule(iv, iv_partials, holomorphic=True)
scalar_rule(kv, kv_partials, holomorphic=True)
scalar_rule(kve, kve_partials, holomorphic=True)


def _ive_slopes(y: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""The factors of $dz$ and of $d\,\mathrm{Re}\,z$."""
    xp, z = arrays(signed(z))
    real = xp.real(z) if is_complex(z) else z
    # By selection: array_api_compat's sign of tensors writes under a mask.
    one, zero = xp.ones_like(real), xp.zeros_like(real)
    sign = xp.where(real > 0, one, xp.where(real < 0, -one, zero))
    return sum(_neighbours(ive, v, z)) / 2, -sign * y


@rc.frule.define(ive, symbolic_zeros=True)
def ive_frule(tangents: Any, v: Any, z: Any) -> tuple[Any, Any]:
    r"""$dy = e^{-|x|} I_v'(z)\, dz - \mathrm{sign}(x)\, y\, dx$, $x = \mathrm{Re} z$.

    Not holomorphic. Zero is the slope of $|x|$ at 0; $I_v'$ is DLMF 10.29.1.
    """
    _, dv, dz = tangents
    y = ive(v, z)
    slope, real_slope = _ive_slopes(y, v, z)
    dy = _order("ive", v) * dv
    if isinstance(dz, rc.AbstractZero):
        return y, dy
    if not is_complex(z):
        return y, dy + strong(slope + real_slope, dz)
    return y, dy + strong(slope, dz) + real_slope * rc.array_namespace(y).real(dz)


@rc.rrule.define(ive)
def ive_rrule(v: Any, z: Any) -> tuple[Any, rc.Pullback]:
    """The adjoint of `ive_frule`."""
    y = ive(v, z)
    return y, rc.Pullback(_ive_pull, v, z, *_ive_slopes(y, v, z))


def _ive_pull(
    v: Any, z: Any, slope: Any, real_slope: Any, dy: Any
) -> tuple[Any, Any, Any]:
    if is_complex(z):
        xp = rc.array_namespace(slope)
        dz = strong(xp.conj(slope), dy) + xp.real(xp.conj(real_slope) * dy)
    else:
        dz = strong(slope + real_slope, dy)
    return rc.NoTangent(), _order("ive", v), rc.ProjectTo(z)(dz)
