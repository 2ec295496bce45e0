"""Integrals of sampled functions: sums, in array-API code."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as _sp

import rules_core as rc
from rules_scipy._axes import concat, moveaxis
from rules_scipy._lists import shape_of

from ._quadrature import DECLARED, refuse

__all__ = ["cumulative_simpson", "cumulative_trapezoid", "romb", "simpson", "trapezoid"]


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`scipy.integrate.trapezoid`."""
    if x is not None and not shape_of(x):  # the place of all samples
        x, dx = None, 0.0 * x
    y, d = _samples(y, x, dx, axis)
    xp = rc.array_namespace(y)
    return xp.sum(d * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    y, d = _samples(y, x, dx, axis)
    if initial is not None and initial != 0:
        message = "cumulative_trapezoid: initial must be None or 0."
        raise ValueError(message)
    xp = rc.array_namespace(y)
    total = xp.cumulative_sum(d * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        total = concat([xp.zeros_like(total[..., :1]), total], axis=-1)
    return moveaxis(total, -1, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """`scipy.integrate.simpson`."""
    y, d = _samples(y, x, dx, axis)
    n, xp = y.shape[-1], rc.array_namespace(y)
    d = d + xp.zeros_like(y[..., 1:])
    if n == 2:
        return 0.5 * d[..., 0] * (y[..., 0] + y[..., 1])
    if n % 2:
        return _by_parabolas(y, d)
    return _by_parabolas(y[..., :-1], d[..., :-1]) + _last_interval(y, d)


def _by_parabolas(y: Any, d: Any) -> Any:
    xp = rc.array_namespace(y)
    h0, h1 = d[..., 0::2], d[..., 1::2]
    both = h0 + h1
    terms = (
        y[..., :-1:2] * (2.0 - _ratio(h1, h0))
        + y[..., 1::2] * both * _ratio(both, h0 * h1)
        + y[..., 2::2] * (2.0 - _ratio(h0, h1))
    )
    return xp.sum(both / 6.0 * terms, axis=-1)


def _last_interval(y: Any, d: Any) -> Any:
    """Cartwright's correction for an even number of samples."""
    h0, h1 = d[..., -2], d[..., -1]
    last = _ratio(2 * h1**2 + 3 * h0 * h1, 6 * (h0 + h1))
    middle = _ratio(h1**2 + 3 * h0 * h1, 6 * h0)
    first = _ratio(h1**3, 6 * h0 * (h0 + h1))
    return last * y[..., -1] + middle * y[..., -2] - first * y[..., -3]


def _ratio(a: Any, b: Any) -> Any:
    """`a / b`, zero where `b` is zero."""
    xp = rc.array_namespace(b)
    safe = xp.where(b == 0, xp.ones_like(b), b)
    return xp.where(b == 0, xp.zeros_like(b), a / safe)


def cumulative_simpson(
    y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None
) -> Any:
    """`scipy.integrate.cumulative_simpson`."""
    own, d = _samples(y, x, dx, axis)
    xp = rc.array_namespace(own)
    if own.shape[-1] < 3:
        total = xp.cumulative_sum(d * (own[..., 1:] + own[..., :-1]) / 2.0, axis=-1)
    else:
        d = _spacings(d, own, axis, x is not None)
        total = xp.cumulative_sum(_single_intervals(xp, own, d), axis=-1)
    if initial is not None:
        first = xp.zeros_like(total[..., :1]) + _along_last(initial, total, axis)
        total = concat([first, total + first], axis=-1)
    return moveaxis(total, -1, axis)


def _spacings(d: Any, y: Any, axis: int, given: bool) -> Any:
    """The spacings in the shape of all intervals."""
    xp = rc.array_namespace(y)
    return xp.zeros_like(y[..., 1:]) + (d if given else _along_last(d, y, axis))


def _along_last(x: Any, y: Any, axis: int) -> Any:
    """A number, or an array with one entry along the axis, which becomes the last."""
    return moveaxis(x, axis, -1) if getattr(x, "shape", ()) else x


def _single_intervals(xp: Any, y: Any, d: Any) -> Any:
    """The integral of a parabola over each interval.

    It passes through the interval's ends and, by turns, the sample after and before;
    on the last interval the one before.
    """
    ahead = _of_parabola(y[..., :-2], y[..., 1:-1], y[..., 2:], d[..., :-1], d[..., 1:])
    back = _of_parabola(y[..., 2:], y[..., 1:-1], y[..., :-2], d[..., 1:], d[..., :-1])
    count = y.shape[-1] - 1
    parts = [
        ahead[..., i] if i % 2 == 0 and i < count - 1 else back[..., i - 1]
        for i in range(count)
    ]
    return xp.stack(parts, axis=-1)


def _of_parabola(first: Any, middle: Any, last: Any, own: Any, other: Any) -> Any:
    """Over the interval between the first and the middle sample."""
    whole = own + other
    part = own / whole
    bend = part * own / other
    total = (3.0 - part) * first + (3.0 + bend + part) * middle - bend * last
    return own / 6.0 * total


def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """`scipy.integrate.romb`."""
    refuse("romb", show=show)
    y, d = _samples(y, None, dx, axis)
    n = y.shape[-1] - 1
    if n < 1 or n & (n - 1):
        message = "romb: the number of samples must be one plus a power of 2."
        raise ValueError(message)
    xp = rc.array_namespace(y)
    h, step = n * d, n
    row = [(y[..., 0] + y[..., -1]) / 2.0 * h]
    while step > 1:
        inner = xp.sum(y[..., step // 2 :: step], axis=-1)
        new = [0.5 * (row[0] + h * inner)]
        for j, old in enumerate(row, 1):
            new.append(new[-1] + (new[-1] - old) / (4.0**j - 1.0))
        row, h, step = new, h / 2.0, step // 2
    return row[-1]


def _samples(y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, Any]:
    """The samples and their spacings along the last axis."""
    y = y if rc.is_array(y) else np.asarray(y)
    xp = rc.array_namespace(y)
    if not xp.isdtype(y.dtype, ("real floating", "complex floating")):
        y = y * 1.0
    if x is None:
        return moveaxis(y, axis, -1), dx
    x = x if rc.is_array(x) else np.asarray(x)
    if len(x.shape) > 1:
        x = moveaxis(x, axis, -1)
    return moveaxis(y, axis, -1), x[..., 1:] - x[..., :-1]


for _own in (cumulative_simpson, cumulative_trapezoid, romb, simpson, trapezoid):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)

DECLARED.constant(_sp.newton_cotes, _sp.lebedev_rule)
