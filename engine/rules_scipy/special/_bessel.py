"""Bessel, Hankel and Airy functions.

The recurrences in the argument are those without cancellation: for K and I both terms
have one sign. Derivatives in the order are differences.
"""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import log, where
from ._declare import Recurrence, complex_valued, ufunc
from ._differences import Difference

__all__ = [
    "airy",
    "hankel1",
    "hankel2",
    "i0",
    "i1",
    "iv",
    "j0",
    "j1",
    "jn",
    "jv",
    "k0",
    "k1",
    "kn",
    "kv",
    "y0",
    "y1",
    "yn",
    "yv",
]

_sp = scipy.special
_WHOLE = "derivative of {} in n, which is a whole number: take {} for a real order"


def order_step(v: Any, z: Any) -> Any:
    r"""The step in an order: $(z / 2)^v / \Gamma(v + 1)$ is the factor that varies."""
    xp = rc.array_namespace(z, v)
    size = xp.abs(z)
    rate = log(where(size > 0, size, 1.0) / 2) - log(1 + xp.abs(v))
    return 0.125 / (1 + xp.abs(rate) / 2)


def half_difference(f: Any, v: Any, z: Any) -> Any:
    """`(f(v - 1) - f(v + 1)) / 2` (DLMF 10.6.1)."""
    return (f(v - 1, z) - f(v + 1, z)) / 2


def half_sum(f: Any, v: Any, z: Any) -> Any:
    """`(f(v - 1) + f(v + 1)) / 2` (DLMF 10.29.1)."""
    return (f(v - 1, z) + f(v + 1, z)) / 2


def yv_slope(f: Any, v: Any, z: Any) -> Any:
    """At 0, where both terms are infinite, the term of larger order gives the limit."""
    below, above = f(v - 1, z), f(v + 1, z)
    limit = (
        where(v < 0, below, -above) if rc.is_array(v) else below if v < 0 else -above
    )
    return where(z == 0, limit, (below - above) / 2)


in_order = Difference(order_step)
_falls = Recurrence(half_difference)
jv = ufunc(_sp.jv, in_order, _falls, holomorphic=True)
yv = ufunc(_sp.yv, in_order, Recurrence(yv_slope), holomorphic=True)
iv = ufunc(_sp.iv, in_order, Recurrence(half_sum), holomorphic=True)
kv: rc.Primitive = ufunc(
    _sp.kv, in_order, lambda y, v, z: -half_sum(kv, v, z), holomorphic=True
)
hankel1 = complex_valued(ufunc(_sp.hankel1, in_order, _falls, holomorphic=True))
hankel2 = complex_valued(ufunc(_sp.hankel2, in_order, _falls, holomorphic=True))
jn = jv  # one ufunc

# Of whole orders, for real arguments.
yn: rc.Primitive = ufunc(_sp.yn, _WHOLE.format("yn", "yv"), Recurrence(yv_slope))
kn: rc.Primitive = ufunc(
    _sp.kn, _WHOLE.format("kn", "kv"), lambda y, n, x: -half_sum(kv, 1.0 * n, x)
)
j0: rc.Primitive = ufunc(_sp.j0, lambda y, x: -j1(x))
j1: rc.Primitive = ufunc(_sp.j1, lambda y, x: (j0(x) - jv(2.0, x)) / 2)
y0: rc.Primitive = ufunc(_sp.y0, lambda y, x: -y1(x))
y1: rc.Primitive = ufunc(_sp.y1, lambda y, x: yv_slope(yv, 1.0, x))
i0: rc.Primitive = ufunc(_sp.i0, lambda y, x: i1(x))
i1: rc.Primitive = ufunc(_sp.i1, lambda y, x: (i0(x) + iv(2.0, x)) / 2)
k0: rc.Primitive = ufunc(_sp.k0, lambda y, x: -k1(x))
k1: rc.Primitive = ufunc(_sp.k1, lambda y, x: -(k0(x) + kv(2.0, x)) / 2)

# Ai, Ai′, Bi, Bi′, and w″ = z w (DLMF 9.2.1).
airy = ufunc(_sp.airy, lambda y, z: (y[1], z * y[0], y[3], z * y[2]), holomorphic=True)
