"""Associated Legendre functions and spherical harmonics."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

import rules_core as rc
from rules_scipy._lists import dtype_of, shape_of

from ._arrays import exp, sign, sin, sqrt, where
from ._declare import (
    DECLARED,
    complex_valued,
    give_rules,
    is_complex,
    name_of,
    ufunc,
)
from ._differences import Difference

__all__ = ["lpmv"]

_sp = scipy.special
_WHOLE = "derivative in n or m, which are whole numbers: pass them as ints"


def _lpmv_x(_y: Any, m: Any, v: Any, x: Any) -> Any:
    """DLMF 14.10.1 and its companion for the order above."""
    m, v, bend = 1.0 * m, 1.0 * v, 1 - x * x
    return -(lpmv(m + 1, v, x) / sqrt(bend) + m * x / bend * lpmv(m, v, x))


lpmv = ufunc(_sp.lpmv, _WHOLE, Difference(0.0625), _lpmv_x)


# SciPy's functions of several orders compute two derivatives themselves: `diff_n`.
def _stacked(f: Any, orders: int, lengths: int) -> rc.Primitive:
    """The primitive of `f(*orders, z, *, diff_n)`: derivatives are along a first axis.

    Args:
        f: The function.
        orders: The number of whole numbers before the argument.
        lengths: How many of them make further axes: all orders up to them.
    """
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True)

    def slopes(args: tuple[Any, ...], kw: dict[str, Any]) -> Any:
        highest = kw.get("diff_n", 0)
        if highest > 1:
            return rc.not_implemented(f"derivative of {name_of(f)} beyond the second")
        return made(*args, **{**kw, "diff_n": highest + 1})[1:]

    def stacked_frule(tangents: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
        """The next derivatives, along `dz`."""
        y, dz = made(*args, **kw), tangents[-1]
        return y, dz if isinstance(dz, rc.AbstractZero) else slopes(args, kw) * dz

    def stacked_rrule(*args: Any, **kw: Any) -> tuple[Any, Any]:
        """Its adjoint: a sum over the axes in front."""

        def stacked_pullback(dy: Any) -> tuple[Any, ...]:
            nones = (rc.NoTangent(),) * (orders + 1)
            slope = slopes(args, kw)
            if isinstance(slope, rc.AbstractTangent) or isinstance(dy, rc.AbstractZero):
                return *nones, slope * dy
            xp, z = rc.array_namespace(slope), args[-1]
            slope = xp.conj(slope) if is_complex(slope) else slope
            front = tuple(range(slope.ndim - getattr(z, "ndim", 0)))
            return *nones, rc.ProjectTo(z)(xp.sum(slope * dy, axis=front))

        return made(*args, **kw), stacked_pullback

    def stacked_shape(*args: Any, **kw: Any) -> Any:
        *numbers, z = args
        sizes = [2 * n + 1 if i else n + 1 for i, n in enumerate(numbers[:lengths])]
        shape = kw.get("diff_n", 0) + 1, *sizes, *shape_of(z)
        return rc.ShapeDtype(shape, dtype_of(z))

    def stacked_batch(size: int, batched: Any, *args: Any, **kw: Any) -> Any:
        return np.moveaxis(np.asarray(f(*args, **kw)), 1 + lengths, 0), True

    rules = stacked_frule, stacked_rrule, stacked_shape, stacked_batch
    return give_rules(made, "stacked", *rules)


def _side(n: Any, m: Any) -> Any:
    """The factor of a neighbour, zero outside of the triangle of orders."""
    xp = np if not rc.is_array(n) and not rc.is_array(m) else rc.array_namespace(n, m)
    product = xp.asarray(1.0 * (n - m) * (n + m + 1))
    return sqrt(where(product > 0, product, 0.0)) / 2


def _harmonic_theta(_y: Any, n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """By both neighbours: no division at the poles (DLMF 14.10.2, 14.30.1)."""
    # SciPy's are functions of cos θ.
    turn, side = exp(phi * 1j), sign(sin(theta))
    above = _number(_side(n, m)) * sph_harm_y(n, m + 1, theta, phi) / turn
    below = _number(_side(n, -m)) * sph_harm_y(n, m - 1, theta, phi) * turn
    return side * (above - below)


def _number(x: Any) -> Any:
    return float(x) if isinstance(x, np.ndarray | np.generic) and not x.ndim else x


if hasattr(_sp, "sph_harm_y"):  # since SciPy 1.15
    legendre_p = _stacked(_sp.legendre_p, 1, 0)
    legendre_p_all = _stacked(_sp.legendre_p_all, 1, 1)
    assoc_legendre_p = _stacked(_sp.assoc_legendre_p, 2, 0)
    assoc_legendre_p_all = _stacked(_sp.assoc_legendre_p_all, 2, 2)
    sph_legendre_p = _stacked(_sp.sph_legendre_p, 2, 0)
    sph_legendre_p_all = _stacked(_sp.sph_legendre_p_all, 2, 2)
    sph_harm_y = complex_valued(
        ufunc(
            _sp.sph_harm_y,
            _WHOLE,
            _WHOLE,
            _harmonic_theta,
            lambda y, n, m, theta, phi: 1j * m * y,
        )
    )
    __all__ += [
        "assoc_legendre_p",
        "assoc_legendre_p_all",
        "legendre_p",
        "legendre_p_all",
        "sph_harm_y",
        "sph_legendre_p",
        "sph_legendre_p_all",
    ]
