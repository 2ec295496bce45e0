"""Filtering forwards and backwards without a preferred direction: Gustafsson's method.

Its initial states are those for which both orders of the two passes agree best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat, moveaxis
from rules_scipy.linalg import lstsq
from rules_scipy.linalg._matrices import transposed

from ._axis import fixed, flipped, padded
from ._recursion import response

__all__ = ["gustafsson"]


def _filtered(b: Any, a: Any, x: Any, zi: Any = None) -> Any:
    return response(b, a, x, zi, x.ndim - 1)[0]


def _back(x: Any) -> Any:
    return flipped(x, x.ndim - 1)


def _observed(b: Any, a: Any, m: int, order: int) -> Any:
    """The responses to unit states, (m, order): one response, and its delays."""
    rest, unit = fixed(np.zeros(m), a), fixed(np.eye(order)[0], a)
    first = _filtered(b, a, rest, unit)
    columns = [padded(first[: max(m - k, 0)], 0, min(k, m), 0) for k in range(order)]
    return rc.array_namespace(first).stack(columns, axis=1)


def _blocks(left: Any, right: Any, *, whole: bool) -> Any:
    """Two matrices side by side, or diagonally for the two ends of a signal."""
    if whole:
        return concat([left, right], 1)
    n = left.shape[1]
    return concat([padded(left, 1, 0, n), padded(right, 1, n, 0)], 0)


def gustafsson(b: Any, a: Any, x: Any, axis: int, irlen: Any) -> Any:
    """The filtered signal, by equation (7) of Gustafsson (1996).

    Args:
        b: The numerator.
        a: The denominator.
        x: The signal.
        axis: The axis of time.
        irlen: The length of the impulse response, None for that of the signal.
    """
    xp, order = rc.array_namespace(b, a, x), max(b.shape[0], a.shape[0]) - 1
    if order == 0:
        return (b[0] / a[0]) ** 2 * x
    x = moveaxis(x, axis, -1)
    n = x.shape[-1]
    whole = irlen is None or n <= 2 * irlen
    m = n if whole else irlen
    ahead = _back(_filtered(b, a, _back(_filtered(b, a, x))))
    behind = _filtered(b, a, _back(_filtered(b, a, _back(x))))
    gap = behind - ahead
    gap = gap if whole else concat([gap[..., :m], gap[..., -m:]], x.ndim - 1)
    seen = _observed(b, a, m, order)
    turned = flipped(seen, 0)
    again = transposed(_filtered(b, a, transposed(turned)))
    matrix = _blocks(flipped(again, 0) - seen, turned - again, whole=whole)
    right = transposed(xp.reshape(gap, (-1, gap.shape[-1])))
    states = lstsq(matrix, right)[0]
    change = transposed(_blocks(flipped(again, 0), turned, whole=whole) @ states)
    change = xp.reshape(change, gap.shape)
    if not whole:
        first, last = change[..., :m], change[..., m:]
        axis_, rest = x.ndim - 1, n - m
        change = padded(first, axis_, 0, rest) + padded(last, axis_, rest, 0)
    return moveaxis(ahead + change, -1, axis)
