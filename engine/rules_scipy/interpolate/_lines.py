"""`interp1d`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc

from ._arrays import (
    along,
    arrays,
    beside,
    check,
    covers,
    field,
    interval,
    is_numpy,
    place,
    placed,
)
from ._interpolating import make_interp_spline

__all__ = ["interp1d"]

_STEPS = ("nearest", "nearest-up", "previous", "next")
_ORDERS = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
_NAN = float("nan")


@covers(_sp.interp1d)
class interp1d(_sp.interp1d):  # noqa: N801  SciPy's name
    """`scipy.interpolate.interp1d`.

    At an abscissa the slope of a line is that of the piece to its right. In traced code
    a point outside is NaN where `bounds_error` would raise an error.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import interp1d
    >>> x = np.arange(3.0)
    >>> float(jax.grad(lambda q: interp1d(x, x**2)(q))(1.0))
    3.0
    """

    x: Any = None
    y: Any = None
    axis: int = -1
    kind: Any = "linear"
    fill_value: Any = _NAN
    bounds_error: Any = None

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
        bounds_error: Any = None, fill_value: Any = _NAN, assume_sorted: bool = False,
    ) -> None:  # fmt: skip
        check(
            _sp.interp1d, x, y, kind, axis, copy, bounds_error, fill_value,
            assume_sorted,
        )  # fmt: skip
        x, y = arrays(x, y)
        self.axis = axis % len(y.shape)
        y = along(y, self.axis)
        if y.shape[0] != x.shape[0]:
            message = "x and y arrays must be equal in length along interpolation axis."
            raise ValueError(message)
        if not assume_sorted:
            xp = rc.array_namespace(x)
            order = xp.argsort(rc.ignore_derivatives(x), stable=True)
            x, y = x[order], y[order]
        self.x, self.y = x, y
        self.kind = _ORDERS.get(kind, kind)
        self.fill_value = fill_value
        extends = isinstance(fill_value, str)
        self.bounds_error = (not extends) if bounds_error is None else bounds_error

    def __call__(self, x: Any) -> Any:
        """Values at points."""
        below, above = _fills(self.kind, self.fill_value, self.bounds_error)
        own, y, q, below, above = arrays(self.x, self.y, x, below, above)
        if self.bounds_error and is_numpy(own, q):
            _raise_outside(own, q)
        xp = rc.array_namespace(y, q)
        shape, q = q.shape, xp.reshape(q, (-1,))
        values = _filled(own, q, _values(own, y, q, self.kind), (below, above))
        values = xp.reshape(values, (*shape, *y.shape[1:]))
        return placed(values, len(shape), self.axis if len(shape) else 0)


def _filled(own: Any, q: Any, y: Any, fills: Any) -> Any:
    xp = rc.array_namespace(y, q)
    for where, value in zip((q < own[0], q > own[-1]), fills, strict=True):
        if value is not None:
            fill = value + 0.0 * xp.ones_like(y)
            y = xp.where(beside(where, len(y.shape)), fill, y)
    return y


def _fills(kind: Any, fill_value: Any, bounds_error: Any) -> tuple[Any, Any]:
    """What lies below and above; None: what the pieces give."""
    if bounds_error:
        return _NAN, _NAN
    if isinstance(fill_value, str):
        ends = {"previous": (_NAN, None), "next": (None, _NAN)}
        return ends.get(kind, (None, None))
    if isinstance(fill_value, tuple) and len(fill_value) == 2:
        return fill_value
    return fill_value, fill_value


def _raise_outside(x: Any, q: Any) -> None:
    for name, wrong in (("below", q < x[0]), ("above", q > x[-1])):
        if np.any(wrong):
            message = (
                f"A value ({np.asarray(q)[wrong].flat[0]}) in x_new is {name} the "
                f"interpolation range [{x[0]}, {x[-1]}]."
            )
            raise ValueError(message)


rc.non_differentiable(_raise_outside)


def _values(x: Any, y: Any, q: Any, kind: Any) -> Any:
    if kind == "linear":
        i = interval(x, q, 0, x.shape[0] - 2)
        ndim = len(y.shape)
        slope = (y[i + 1] - y[i]) / beside(x[i + 1] - x[i], ndim)
        return y[i] + slope * beside(q - x[i], ndim)
    if kind in _STEPS:
        return y[_step(x, q, kind)]
    return make_interp_spline(x, y, k=int(kind))(q)


def _step(x: Any, q: Any, kind: str) -> Any:
    """The number of the abscissa whose value counts."""
    xp, last = rc.array_namespace(x, q), x.shape[0] - 1
    x, q = rc.ignore_derivatives(x), rc.ignore_derivatives(q)
    if kind == "previous":
        return interval(x, q, 0, last)
    if kind == "next":
        return xp.clip(place(x, q, "left"), 0, last)
    middle = 0.5 * x
    middle = middle[1:] + middle[:-1]
    side = "left" if kind == "nearest" else "right"
    return xp.clip(place(middle, q, side), 0, last)


def own_line(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, interp1d):
        return s
    spline = getattr(s, "_spline", None)
    kind = field(s, "_kind")
    made = object.__new__(interp1d)
    made.x, made.axis = s.x, s.axis
    made.y = along(s.y, s.axis)
    made.kind = kind if spline is None else spline.k
    made.fill_value, made.bounds_error = s.fill_value, s.bounds_error
    return made
