"""Partials of ufuncs as array-API code, for JAX and PyTorch.

Most are those of `rules_numpy.formulas`; this module has the others, which NumPy
computes in another way.

NumPy's own code for them is faster on NumPy arrays and handles more special cases; the
framework differentiates these, so every order works. `partials(xp, y, *args)` receives
the namespace of the framework's arrays. A ufunc that is missing here has NumPy-only
partials: first order in a framework, and an error beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

from .arguments import moves
from .namespaces import framework

__all__ = ["IN_HOSTS"]

Partials = Callable[..., tuple[Any, ...]]
IN_HOSTS: dict[Any, Partials] = {}


def _of(*ufuncs: Any) -> Callable[[Partials], Partials]:
    def note(partials: Partials) -> Partials:
        for ufunc in ufuncs:
            IN_HOSTS[ufunc] = partials
        return partials

    return note


@_of(np.power, np.float_power)
def _power(xp: Any, y: Any, x: Any, p: Any, *, needs: Any = (True, True)) -> Any:
    by_exponent = _by_exponent(xp, y, x, p) if needs[1] and moves(p) else None
    if not rc.is_array(p):
        by_base = p * x ** (p - 1) if p else xp.zeros_like(y)
    else:
        flat = (x == 0) & (p == 0)
        by_base = p * x ** xp.where(flat, xp.zeros_like(y), p - 1.0)
    return by_base, rc.NoTangent() if by_exponent is None else by_exponent


def _by_exponent(xp: Any, y: Any, x: Any, p: Any) -> Any:
    # The limit 0 ln 0 = 0 of a base at zero.
    still = (x == 0) & (xp.real(p) >= 0 if _is_complex(xp, p) else p >= 0)
    return y * xp.log(xp.where(still, xp.ones_like(y), x))


@_of(np.absolute)
def _absolute(xp: Any, y: Any, x: Any) -> Any:
    if not _is_complex(xp, x):
        return (framework(xp)["sign"](x),)
    # By y and not by sign(x), which a framework may treat as constant.
    return (xp.conj(x) / xp.where(y == 0, xp.ones_like(y), y),)


@_of(np.maximum)
def _maximum(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return _shares(xp, y, *_nan_wins(a > b, b > a, a, b))


@_of(np.minimum)
def _minimum(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return _shares(xp, y, *_nan_wins(a < b, b < a, a, b))


@_of(np.fmax)
def _fmax(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return _shares(xp, y, *_number_wins(a > b, b > a, a, b))


@_of(np.fmin)
def _fmin(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return _shares(xp, y, *_number_wins(a < b, b < a, a, b))


def _number_wins(first: Any, second: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The argument that is the value: the only number, if there is one."""
    return _nan_wins(first, second, b, a)


def _nan_wins(first: Any, second: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The argument that is the value: the only NaN, if there is one. NaN != NaN."""
    odd_a, odd_b = a != a, b != b  # noqa: PLR0124  the test for NaN
    first = first | (odd_a & (b == b))  # noqa: PLR0124  as above
    second = second | (odd_b & (a == a))  # noqa: PLR0124  as above
    return first, second, (a == b) | (odd_a & odd_b)


def _shares(xp: Any, y: Any, first: Any, second: Any, ties: Any) -> Any:
    one, zero = xp.ones_like(y), xp.zeros_like(y)
    shared = xp.where(ties, 0.5 * one, zero)
    return xp.where(first, one, shared), xp.where(second, one, shared)


def _is_complex(xp: Any, x: Any) -> bool:
    return rc.is_array(x) and bool(xp.isdtype(x.dtype, "complex floating"))
