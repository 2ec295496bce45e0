"""`np.pad` in every mode except a user's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import along
from rules_numpy._declare.derivative import NoValue, derivative

from .indexing import put_zeros
from .reductions import extreme_derivative
from .sorting import median_derivative

__all__: list[str] = []

# The border is one matrix times the array.
_LINEAR = ("edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap")
# The border is constant; "empty" leaves uninitialised memory.
_CONSTANT = ("constant", "empty")


@derivative(np.pad)
def pad_derivative(
    y: Any, array: Any, pad_width: Any, mode: Any = "constant", **kw: Any
) -> Any:
    """The array's tangent, and the border's from the entries that it contains.

    Constants and the ends of ramps belong to the value, not to the derivative.
    """
    widths = _widths(pad_width, array.ndim)
    if isinstance(mode, str) and mode in _STATISTICS:
        return _statistical(array, widths, mode, kw.get("stat_length"))
    if mode not in (*_LINEAR, *_CONSTANT):
        message = (
            "the derivative of numpy.pad must have a mode that NumPy names, but got "
            f"{mode!r}. Write the borders into an array of zeros instead."
        )
        raise rc.UnsupportedError(message)
    options = {
        k: v for k, v in kw.items() if k not in ("constant_values", "end_values")
    }
    kind: Any = "constant" if mode in _CONSTANT else mode

    def pad_pushforward(dx: Any) -> Any:
        return np.pad(dx, pad_width, kind, **options)

    def pad_pullback(dy: Any) -> Any:
        for axis in reversed(range(array.ndim)):
            dy = _back(dy, axis, widths[axis], array.shape[axis], kind, options)
        return dy

    return pad_pushforward, pad_pullback


def _widths(pad_width: Any, ndim: int) -> Any:
    if isinstance(pad_width, dict):
        widths = np.zeros((ndim, 2), int)
        for axis, width in pad_width.items():
            widths[axis] = width
        return widths
    return np.broadcast_to(pad_width, (ndim, 2))


def _back(dy: Any, axis: int, width: Any, n: int, mode: Any, options: Any) -> Any:
    before, after = (int(w) for w in width)
    if before == after == 0:
        return dy
    moved = np.moveaxis(dy, axis, -1)
    if mode == "constant":
        inner = moved[..., before : before + n]
    else:
        own = {k: _of_axis(v, axis) for k, v in options.items()}
        matrix = np.pad(np.eye(n), ((before, after), (0, 0)), mode, **own)
        inner = np.matmul(moved, matrix.astype(np.real(dy).dtype))
    return np.moveaxis(inner, -1, axis)


def _of_axis(value: Any, axis: int) -> Any:
    """An option per axis (`stat_length`), for the first axis of a matrix."""
    if not isinstance(value, (tuple, list)):
        return value
    return (tuple(_lengths(value, axis)), (1, 1))


def _lengths(value: Any, axis: int) -> list[int]:
    """The option of one axis, for both sides."""
    table = np.asarray(value)
    row = table[axis] if table.ndim == 2 and len(table) > 1 else np.ravel(table)
    return [int(k) for k in np.broadcast_to(row, (2,))]


# maximum, minimum and median of the entries next to the border


def _extreme_of(f: Any) -> Callable[..., Any]:
    def maps(x: Any, axis: int) -> Any:
        y = f(x, axis=axis, keepdims=True)
        return y, extreme_derivative(y, x, axis, None, True, NoValue, True)[0]

    return maps


def _median(x: Any, axis: int) -> Any:
    y = np.median(x, axis=axis, keepdims=True)
    return y, median_derivative(y, x, axis, None, False, True)


_STATISTICS = {
    "maximum": _extreme_of(np.max),
    "minimum": _extreme_of(np.min),
    "median": _median,
}


def _statistical(array: Any, widths: Any, mode: str, lengths: Any) -> Any:
    """Axis by axis, each including the borders of the previous ones."""
    steps, x = [], array
    for axis, (before, after) in enumerate(widths):
        own = [None, None] if lengths is None else _lengths(lengths, axis)
        step = _Border(x, axis, (int(before), int(after)), _STATISTICS[mode], own)
        steps.append(step)
        x = step.value

    def pad_pushforward(dx: Any) -> Any:
        for step in steps:
            dx = step.push(dx)
        return dx

    def pad_pullback(dy: Any) -> Any:
        for step in reversed(steps):
            dy = step.pull(dy)
        return dy

    return pad_pushforward, pad_pullback


class _Border:
    """One axis, with a repeated statistic of the first and of the last entries."""

    def __init__(self, x: Any, axis: int, widths: Any, maps: Any, lengths: Any) -> None:
        self.axis, self.widths, self.n = axis, widths, x.shape[axis]
        count = [self.n if k is None else min(k, self.n) for k in lengths]
        self.parts = [
            along(None, count[0], axis, x.ndim),
            along(self.n - count[1], None, axis, x.ndim),
        ]
        statistics = [maps(x[part], axis) for part in self.parts]
        self.pairs = [pair for _, pair in statistics]
        self.value = self.joined(x, [y for y, _ in statistics])

    def joined(self, x: Any, ends: Any) -> Any:
        first, last = (
            np.repeat(end, width, axis=self.axis)
            for end, width in zip(ends, self.widths, strict=True)
        )
        return np.concatenate([first, x, last], axis=self.axis)

    def push(self, dx: Any) -> Any:
        pairs = zip(self.pairs, self.parts, strict=True)
        return self.joined(dx, [pair[0](dx[part]) for pair, part in pairs])

    def pull(self, dy: Any) -> Any:
        start = self.widths[0]
        dx = dy[along(start, start + self.n, self.axis, dy.ndim)]
        borders = (
            dy[along(None, start, self.axis, dy.ndim)],
            dy[along(start + self.n, None, self.axis, dy.ndim)],
        )
        for border, pair, part in zip(borders, self.pairs, self.parts, strict=True):
            moved = pair[1](np.sum(border, axis=self.axis, keepdims=True))
            dx = dx + put_zeros(moved, part, dx.shape)
        return dx
