"""The recursion a * y = v, and the response of a filter."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.signal as _sp

import rules_core as rc
from rules_scipy._arrays import vector
from rules_scipy._steps import declare
from rules_scipy.linalg._matrices import conjugate

from ._axis import flipped, padded, part, together
from ._convolution import filtered
from ._declare import At

__all__ = ["recursion", "response"]


def _recursion(a: Any, v: Any, axis: int) -> Any:
    """y with a * y = v along an axis, from rest."""
    return _sp.lfilter(np.ones(1, a.dtype), a, v, axis)


def _recursion_shape(a: Any, v: Any, axis: Any) -> Any:
    return rc.ShapeDtype(v.shape, np.result_type(np.dtype(a.dtype), np.dtype(v.dtype)))


def _recursion_residual(at: At, a: Any, v: Any, axis: Any) -> Any:
    n = v.shape[axis]
    return part(filtered(a, at.y, axis), axis, 0, n) - v


def _recursion_again(at: At, r: Any, axis: Any) -> Any:
    return recursion(at.args[0], r, axis)


def _recursion_adjoint(at: At, w: Any, axis: Any) -> Any:
    a = conjugate(at.args[0])
    return flipped(recursion(a, flipped(w, axis), axis), axis)


recursion = declare(
    _recursion,
    _recursion_residual,
    count=2,
    out=_recursion_shape,
    solve=_recursion_again,
    adjoint=_recursion_adjoint,
)


def response(b: Any, a: Any, x: Any, zi: Any, axis: int) -> tuple[Any, Any]:
    """A filter's response and its final state, None without an initial one.

    Beyond the end of the signal, b * x - a * y is the state.
    """
    b, a, x = together(vector(b), vector(a), x)
    b, a = b / a[0], a / a[0]
    axis, n = axis % x.ndim, x.shape[axis]
    v = filtered(b, x, axis)
    if zi is None:
        return _recursed(a, part(v, axis, 0, n), axis), None
    order = max(a.shape[0], b.shape[0]) - 1
    x, zi = together(x, zi)
    shape = [*x.shape]
    shape[axis] = order
    zi = rc.array_namespace(zi).broadcast_to(zi, tuple(shape))
    v = padded(v, axis, 0, n + order - v.shape[axis]) + padded(zi, axis, 0, n)
    y = _recursed(a, part(v, axis, 0, n), axis)
    rest = filtered(a, y, axis)
    tail = v - padded(rest, axis, 0, n + order - rest.shape[axis])
    return y, part(tail, axis, n, n + order)


def _recursed(a: Any, v: Any, axis: int) -> Any:
    return recursion(a, v, axis) if a.shape[0] > 1 else v / a[0]
