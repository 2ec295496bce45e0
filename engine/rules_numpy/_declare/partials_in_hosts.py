"""Partials of ufuncs as array-API code, for JAX and PyTorch to trace.

NumPy's own code for them is quicker on NumPy arrays and knows more of their corners;
these are differentiated by the host, so every order follows. `partials(xp, y, *args)`
has the namespace of the host's arrays. A ufunc that is missing here has NumPy-only
partials: first order in a host, and an error beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc

from .arguments import moves

__all__ = ["IN_HOSTS"]

Partials = Callable[..., tuple[Any, ...]]
IN_HOSTS: dict[Any, Partials] = {}

LN2 = 0.6931471805599453
LN10 = 2.302585092994046


def _of(*ufuncs: Any) -> Callable[[Partials], Partials]:
    def note(partials: Partials) -> Partials:
        for ufunc in ufuncs:
            IN_HOSTS[ufunc] = partials
        return partials

    return note


@_of(np.sin)
def _sin(xp: Any, y: Any, x: Any) -> Any:
    return (xp.cos(x),)


@_of(np.cos)
def _cos(xp: Any, y: Any, x: Any) -> Any:
    return (-xp.sin(x),)


@_of(np.sinh)
def _sinh(xp: Any, y: Any, x: Any) -> Any:
    return (xp.cosh(x),)


@_of(np.cosh)
def _cosh(xp: Any, y: Any, x: Any) -> Any:
    return (xp.sinh(x),)


@_of(np.arcsin)
def _arcsin(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (xp.sqrt(-(x - 1.0)) * xp.sqrt(1.0 + x)),)


@_of(np.arccos)
def _arccos(xp: Any, y: Any, x: Any) -> Any:
    return (-1.0 / (xp.sqrt(-(x - 1.0)) * xp.sqrt(1.0 + x)),)


@_of(np.arctan)
def _arctan(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (1.0 + x * x),)


@_of(np.arcsinh)
def _arcsinh(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / xp.sqrt(1.0 + x * x),)


@_of(np.arccosh)
def _arccosh(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0)),)


@_of(np.arctanh)
def _arctanh(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / ((1.0 - x) * (1.0 + x)),)


@_of(np.arctan2)
def _arctan2(xp: Any, y: Any, a: Any, b: Any) -> Any:
    h = xp.hypot(_full(xp, y, a), _full(xp, y, b))
    return b / h / h, -a / h / h


def _full(xp: Any, y: Any, x: Any) -> Any:
    """A number as an array like `y`; some functions take nothing else."""
    return x if rc.is_array(x) else xp.zeros_like(y) + x


@_of(np.expm1)
def _expm1(xp: Any, y: Any, x: Any) -> Any:
    return (xp.exp(x),)


@_of(np.log)
def _log(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / x,)


@_of(np.log2)
def _log2(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (x * LN2),)


@_of(np.log10)
def _log10(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (x * LN10),)


@_of(np.log1p)
def _log1p(xp: Any, y: Any, x: Any) -> Any:
    return (1.0 / (1.0 + x),)


@_of(np.logaddexp)
def _logaddexp(xp: Any, y: Any, a: Any, b: Any) -> Any:
    gap, zero = _gap(xp, y, a, b), xp.zeros_like(y)
    return xp.exp(-xp.logaddexp(zero, gap)), xp.exp(-xp.logaddexp(zero, -gap))


@_of(np.logaddexp2)
def _logaddexp2(xp: Any, y: Any, a: Any, b: Any) -> Any:
    gap, zero = LN2 * _gap(xp, y, a, b), xp.zeros_like(y)
    return xp.exp(-xp.logaddexp(zero, gap)), xp.exp(-xp.logaddexp(zero, -gap))


def _gap(xp: Any, y: Any, a: Any, b: Any) -> Any:
    """`b - a`, and 0 between equal infinities."""
    a, b = _full(xp, y, a), _full(xp, y, b)
    same, zero = xp.isinf(y) & (a == b), xp.zeros_like(y)
    return xp.where(same, zero, b) - xp.where(same, zero, a)


@_of(np.divide)
def _divide(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return 1.0 / b, -y / b


@_of(np.sqrt)
def _sqrt(xp: Any, y: Any, x: Any) -> Any:
    return (0.5 / y,)


@_of(np.cbrt)
def _cbrt(xp: Any, y: Any, x: Any) -> Any:
    return ((1.0 / 3.0) / (y * y),)


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


@_of(np.remainder, np.fmod)
def _remainder(xp: Any, y: Any, a: Any, b: Any) -> Any:
    return xp.ones_like(y), -xp.round((a - y) / b)


@_of(np.absolute)
def _absolute(xp: Any, y: Any, x: Any) -> Any:
    if not _is_complex(xp, x):
        return (_sign(xp, x),)
    # By y and not by sign(x), of which a host may say that it is constant.
    return (xp.conj(x) / xp.where(y == 0, xp.ones_like(y), y),)


@_of(np.fabs)
def _fabs(xp: Any, y: Any, x: Any) -> Any:
    return (_sign(xp, x),)


def _sign(xp: Any, x: Any) -> Any:
    """By choices: array_api_compat's writes under a mask, torch refuses in batches."""
    one, zero = xp.ones_like(x), xp.zeros_like(x)
    still = xp.where(x == 0, zero, zero + float("nan"))
    return xp.where(x > 0, one, xp.where(x < 0, -one, still))


@_of(np.hypot)
def _hypot(xp: Any, y: Any, a: Any, b: Any) -> Any:
    h = xp.where(y == 0, xp.ones_like(y), y)
    return a / h, b / h


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
    """Which argument the value is: the only number, if there is one."""
    return _nan_wins(first, second, b, a)


def _nan_wins(first: Any, second: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Which argument the value is: the only NaN, if there is one. NaN != NaN."""
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
