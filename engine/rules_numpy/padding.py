"""`np.pad`: every mode that is linear in the array."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare import derivative

__all__: list[str] = []

_LINEAR = ("constant", "edge", "linear_ramp", "mean", "reflect", "symmetric", "wrap")


@derivative(np.pad)
def pad_derivative(
    y: Any, array: Any, pad_width: Any, mode: Any = "constant", **kw: Any
) -> Any:
    """Each axis is mapped by a matrix, found by padding the unit matrix.

    Constants and the ends of ramps are part of the value, not of the derivative.
    """
    if mode not in _LINEAR:
        message = (
            f"the derivative of numpy.pad must have a mode among {', '.join(_LINEAR)}, "
            f"but got {mode!r}. Compute the border and join it by numpy.concatenate."
        )
        raise rc.UnsupportedError(message)
    options = {
        k: v for k, v in kw.items() if k not in ("constant_values", "end_values")
    }
    widths = _widths(pad_width, array.ndim)

    def pad_pushforward(dx: Any) -> Any:
        return np.pad(dx, pad_width, mode, **options)

    def pad_pullback(dy: Any) -> Any:
        for axis in reversed(range(array.ndim)):
            dy = _back(dy, axis, widths[axis], array.shape[axis], mode, options)
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
    table = np.asarray(value)
    row = table[axis] if table.ndim == 2 and len(table) > 1 else np.ravel(table)
    return (tuple(np.broadcast_to(row, (2,)).tolist()), (1, 1))
