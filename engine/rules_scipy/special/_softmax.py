r"""`softmax` and its logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

import rules_core as rc
from rules_scipy._lists import dtype_of, shape_of

from ._declare import DECLARED, give_rules

__all__ = ["log_softmax", "softmax"]

_sp = scipy.special
Axis = Any  # None, an int or a tuple of ints


def _total(x: Any, axis: Axis) -> Any:
    return rc.array_namespace(x).sum(x, axis=axis, keepdims=True)


def _same_shape(x: Any, axis: Axis) -> Any:
    dtype = dtype_of(x)
    inexact = np.dtype(dtype).kind in "fc"
    return rc.ShapeDtype(shape_of(x), dtype if inexact else np.dtype(float))


def _declare(f: Any, push: Any, pull: Any) -> rc.Primitive:
    """The primitive; `push(y, dx, axis)` and `pull(y, dy, axis)` are its derivative."""
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True, static_argnames="axis")

    def softmax_frule(tangents: Any, x: Any, axis: Axis) -> tuple[Any, Any]:
        """`dy` of the formula."""
        y = made(x, axis)
        return y, push(y, tangents[1], axis)

    def softmax_rrule(x: Any, axis: Axis) -> tuple[Any, Any]:
        """Its adjoint."""
        y = made(x, axis)

        def softmax_pullback(dy: Any) -> tuple[Any, ...]:
            return rc.NoTangent(), rc.ProjectTo(x)(pull(y, dy, axis)), rc.NoTangent()

        return y, softmax_pullback

    def softmax_batch(size: int, batched: Any, x: Any, axis: Axis) -> tuple[Any, Any]:
        axes = range(x.ndim - 1) if axis is None else np.atleast_1d(axis)
        if x.ndim == 1:
            return f(x[:, None], 1)[:, 0], True
        return f(x, tuple(int(i) % (x.ndim - 1) + 1 for i in axes)), True

    rules = softmax_frule, softmax_rrule, _same_shape, softmax_batch
    return give_rules(made, "softmax", *rules)


def _softmax_slope(y: Any, dx: Any, axis: Axis) -> Any:
    r"""$y_i (dx_i - \sum_j y_j\, dx_j)$: symmetric, its own adjoint."""
    return y * (dx - _total(y * dx, axis))


def _log_push(y: Any, dx: Any, axis: Axis) -> Any:
    r"""$dx_i - \sum_j e^{y_j} dx_j$."""
    return dx - _total(rc.array_namespace(y).exp(y) * dx, axis)


def _log_pull(y: Any, dy: Any, axis: Axis) -> Any:
    return dy - rc.array_namespace(y).exp(y) * _total(dy, axis)


softmax = _declare(_sp.softmax, _softmax_slope, _softmax_slope)
log_softmax = _declare(_sp.log_softmax, _log_push, _log_pull)
