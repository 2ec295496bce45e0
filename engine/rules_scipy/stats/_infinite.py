"""Derivatives of a logarithm where it is minus infinity, in NumPy programs.

There the partial derivatives along a formula are products of zeros and infinities, in
which a strong zero would win. The derivative is the limit of the difference quotient:
infinite where a step makes the value finite, of the sign of the step, and NaN where no
step does or both do. JAX and PyTorch have NaN or infinity of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import find_adapter
from rules_scipy.special._arrays import exp, where

from ._numbers import INF, plain

__all__ = ["at_minus_infinity", "at_zero"]

_STEP = 1e-8


def at_minus_infinity(
    value: Callable[..., Any], y: Any, args: tuple[Any, ...], constant: Any
) -> Any:
    """`y`, with infinite derivatives or NaN where it is minus infinity.

    Args:
        value: The function of `args` whose value is `y`.
        y: A logarithm.
        args: Its arguments, arrays of NumPy if this is a NumPy program.
        constant: `constant()` tells where `y` is a constant around `args`.
    """
    if find_adapter((y, *args), {}) is not None:
        return y
    lost = rc.ignore_derivatives(y) == -INF
    if np.any(lost):
        lost = lost & ~rc.ignore_derivatives(constant)
    if not np.any(lost):
        return y
    slopes = rc.ignore_derivatives(lambda: _slopes(value, lost, args))
    return plain(_with_slopes(where(lost, -INF, y), *args, *slopes))


def at_zero(y: Any, args: tuple[Any, ...], at_end: Any) -> Any:
    """A density, with derivatives that are NaN where it is zero at an end.

    It is the exponential of minus infinity there, of which a strong zero would win.

    Args:
        y: The density.
        args: Its arguments, arrays of NumPy if this is a NumPy program.
        at_end: `at_end()` tells where they are at an end of the support.
    """
    if find_adapter((y, *args), {}) is not None:
        return y
    lost = rc.ignore_derivatives(y) == 0
    if np.any(lost):
        lost = lost & rc.ignore_derivatives(at_end)
    if not np.any(lost):
        return y
    slopes = [np.where(lost, np.nan, 0.0)] * len(args)
    return plain(_with_slopes(where(lost, 0.0, y), *args, *slopes))


def _slopes(value: Callable[..., Any], lost: Any, args: tuple[Any, ...]) -> list[Any]:
    """The quotient's limit in each argument where `lost`, elsewhere zero."""

    def finite(i: int, step: float) -> Any:
        moved = args[i] + step * np.maximum(np.abs(args[i]), 1.0)
        return np.isfinite(value(*args[:i], moved, *args[i + 1 :]))

    def slope(i: int) -> Any:
        up, down = finite(i, _STEP), finite(i, -_STEP)
        one_side = np.where(up, INF, -INF)
        return np.where(lost, np.where(up != down, one_side, np.nan), 0.0)

    return [slope(i) for i in range(len(args))]


@rc.primitive
def _with_slopes(y: Any, *rest: Any) -> Any:
    """`y`; the first half of `rest` are arguments, the second their partials."""
    return y


def _with_slopes_partials(_out: Any, y: Any, *rest: Any) -> tuple[Any, ...]:
    args, slopes = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    # A factor of one, so that second derivatives are infinite or NaN too.
    growth = exp(sum([x - rc.ignore_derivatives(x) for x in args]))
    own = [
        where(s == 0, 0.0, s * growth) for s in slopes
    ]  # an argument may be infinite
    return (1.0, *own, *[0.0 for _ in slopes])


rc.scalar_rule(_with_slopes, _with_slopes_partials)
