"""Hypergeometric functions, and Wright's generalisation of Bessel functions.

The derivative in the argument shifts the parameters (DLMF 13.3.15, 13.3.22, 15.5.1,
16.3.1); those in the parameters are differences.
"""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._arrays import absolute, exp, floor, log1p, where
from ._declare import ufunc
from ._differences import Difference

__all__ = [
    "hyp0f1",
    "hyp1f1",
    "hyp2f1",
    "hyperu",
    "log_wright_bessel",
    "wright_bessel",
]

_sp = scipy.special


def _upper_step(*args: Any) -> Any:
    """For an upper parameter: the function varies like a power of the argument."""
    size = rc.array_namespace(args[-1]).abs(args[-1])
    return 0.125 / (1 + log1p(size) / 4)


def _lower_step(*args: Any) -> Any:
    """For the last lower parameter: away from its poles at 0, -1, -2, …."""
    b, step = args[-2], _upper_step(*args)
    pole = where(b < 0, absolute(b - floor(b + 0.5)), absolute(b))
    return _least(pole / 32, step)


def _least(first: Any, second: Any) -> Any:
    return where(first < second, first + 0 * second, second + 0 * first)


hyp0f1: rc.Primitive = ufunc(
    _sp.hyp0f1,
    Difference(_lower_step),
    lambda y, b, z: hyp0f1(b + 1, z) / b,
    holomorphic=True,
)
hyp1f1: rc.Primitive = ufunc(
    _sp.hyp1f1,
    Difference(_upper_step),
    Difference(_lower_step),
    lambda y, a, b, z: a / b * hyp1f1(a + 1, b + 1, z),
    holomorphic=True,
)
hyp2f1: rc.Primitive = ufunc(
    _sp.hyp2f1,
    Difference(_upper_step),
    Difference(_upper_step),
    Difference(_lower_step),
    lambda y, a, b, c, z: a * b / c * hyp2f1(a + 1, b + 1, c + 1, z),
    holomorphic=True,
)
hyperu: rc.Primitive = ufunc(
    _sp.hyperu,
    Difference(_upper_step),
    Difference(_upper_step),
    lambda y, a, b, x: -a * hyperu(a + 1, b + 1, x),
)


def _wright_step(a: Any, b: Any, x: Any) -> Any:
    """Both parameters must not be negative."""
    return _least(_least(a, b) / 8, 0.0625 + 0 * x)


def _log_slope(y: Any, a: Any, b: Any, x: Any) -> Any:
    return exp(log_wright_bessel(a, a + b, x) - y)


wright_bessel: rc.Primitive = ufunc(
    _sp.wright_bessel,
    Difference(_wright_step),
    Difference(_wright_step),
    lambda y, a, b, x: wright_bessel(a, a + b, x),
)
log_wright_bessel: rc.Primitive = ufunc(
    _sp.log_wright_bessel,
    Difference(_wright_step),
    Difference(_wright_step),
    _log_slope,
)
