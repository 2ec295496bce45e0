"""Splines and piecewise polynomials of several variables."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import scipy.interpolate as _sp
import scipy.sparse

import rules_core as rc
from rules_scipy._axes import moveaxis

from ._arrays import (
    arrays,
    beside,
    check,
    covers,
    covers_class_methods,
    covers_methods,
    increasing,
    interval,
    is_numpy,
    kept,
    refuse,
)
from ._basis import basis, knot_interval
from ._bsplines import derivative_of
from ._pieces import PPoly, end_of, horner

__all__ = ["NdBSpline", "NdPPoly", "coordinates", "tensor_values"]


def coordinates(points: Any, ndim: int | None = None) -> Any:
    """Points along the last axis: of an array, or of a tuple of arrays."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        points = arrays(*points)
        xp = rc.array_namespace(*points)
        return xp.stack(xp.broadcast_arrays(*points), axis=-1)
    [points] = arrays(points)
    if len(points.shape) == 1:
        size = 1 if ndim is None else ndim
        return rc.array_namespace(points).reshape(points, (-1, size))
    return points


def _columns(first: Any, k: int, axis: int, ndim: int) -> Any:
    """Columns `first` to `first + k` of each point, along one of `ndim` axes."""
    xp = rc.array_namespace(first)
    step = xp.arange(k + 1, device=getattr(first, "device", None))
    shape = [1] * ndim
    shape[axis] = k + 1
    return xp.reshape(first[:, None] + step[None, :], (first.shape[0], *shape))


def tensor_values(t: Any, c: Any, k: Any, points: Sequence[Any], nu: Any) -> Any:
    """Values of a product of splines.

    Args:
        t: The knots of each variable.
        c: Coefficients, `(n_1, ..., n_d, ...)`.
        k: The degree in each variable.
        points: The coordinates, `d` arrays of one shape.
        nu: The order of the derivative in each variable.
    """
    d, xp = len(t), rc.array_namespace(c, points[0])
    shape = points[0].shape
    index, weights = [], []
    for axis in range(d):
        q, own = xp.reshape(points[axis], (-1,)), t[axis]
        i = knot_interval(own, q, k[axis], own.shape[0] - k[axis] - 1)
        index.append(_columns(i - k[axis], k[axis], axis, d))
        weights.append(xp.stack(basis(own, q, i, k[axis], int(nu[axis])), axis=1))
    block = c[tuple(index)]
    for w in weights:
        block = xp.sum(beside(w, len(block.shape)) * block, axis=1)
    return xp.reshape(block, (*shape, *block.shape[1:]))


@covers(_sp.NdBSpline)
class NdBSpline(_sp.NdBSpline):
    """`scipy.interpolate.NdBSpline`: a product of splines.

    It has derivatives in knots, coefficients and points.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import NdBSpline
    >>> t = np.asarray([0.0, 0.0, 1.0, 1.0])
    >>> plane = NdBSpline((t, t), np.asarray([[0.0, 1.0], [2.0, 5.0]]), 1)
    >>> jax.grad(lambda p: plane(p))(np.asarray([0.5, 0.25])).tolist()
    [2.5, 2.0]
    """

    t: Any = None
    c: Any = None
    k: Any = ()
    extrapolate: Any = True

    def __init__(self, t: Any, c: Any, k: Any, *, extrapolate: Any = None) -> None:
        check(_sp.NdBSpline, t, c, k, extrapolate=extrapolate)
        c, *own = arrays(c, *t)
        self.t = tuple([increasing(kept(x), strictly=False) for x in own])
        self.c = c
        degrees = (k,) * len(own) if np.ndim(k) == 0 else k
        self.k = tuple([operator.index(x) for x in degrees])
        self.extrapolate = True if extrapolate is None else bool(extrapolate)
        for axis, x in enumerate(own):
            if c.shape[axis] != x.shape[0] - self.k[axis] - 1:
                message = "Knots, coefficients and degree are inconsistent."
                raise ValueError(message)

    def __call__(self, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
        """Values, or derivatives of orders `nu`, at points along the last axis."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        c, xi, *t = arrays(self.c, xi, *self.t)
        d = len(t)
        if xi.shape[-1] != d:
            message = f"Shapes: xi.shape={xi.shape} and ndim={d}"
            raise ValueError(message)
        points = [xi[..., axis] for axis in range(d)]
        y = tensor_values(t, c, self.k, points, (0,) * d if nu is None else nu)
        return y if extrapolate else _inside(t, self.k, points, y)

    def derivative(self, nu: Any) -> Any:
        """A derivative, as a spline."""
        c, *t = arrays(self.c, *self.t)
        k = list(self.k)
        for axis, n in enumerate(nu):
            own = moveaxis(c, axis, 0)
            own = own * 0.0 if n > k[axis] else own
            order = min(int(n), k[axis])
            t[axis], own, k[axis] = derivative_of(t[axis], own, k[axis], order)
            own = own[: t[axis].shape[0] - k[axis] - 1]
            c = moveaxis(own, 0, axis)
        return NdBSpline(tuple(t), c, tuple(k), extrapolate=self.extrapolate)

    @classmethod
    def design_matrix(cls, xvals: Any, t: Any, k: Any, extrapolate: Any = True) -> Any:
        """The matrix of the splines' values at points; of NumPy's arrays."""
        if not is_numpy(xvals, t):
            refuse("NdBSpline.design_matrix", "is a sparse matrix of NumPy's arrays")
        check(_sp.NdBSpline.design_matrix, xvals, t, k, extrapolate)
        xvals, *t = arrays(xvals, *t)
        d = len(t)
        k = (k,) * d if np.ndim(k) == 0 else k
        count = [x.shape[0] - m - 1 for x, m in zip(t, k, strict=True)]
        data: Any = 1.0
        columns: Any = 0
        for axis in range(d):
            q = xvals[:, axis]
            i = knot_interval(t[axis], q, k[axis], count[axis])
            w = np.stack(basis(t[axis], q, i, k[axis]), axis=1)
            shape = [len(q), *[1] * d]
            shape[1 + axis] = k[axis] + 1
            data = data * w.reshape(shape)
            columns = columns * count[axis] + _columns(i - k[axis], k[axis], axis, d)
        return _sparse(data, columns, prod(count))


def _sparse(data: Any, columns: Any, count: int) -> Any:
    n = columns.shape[0]
    each = columns.size // max(n, 1)
    starts = np.arange(0, (n + 1) * each, each)
    return scipy.sparse.csr_array(
        (data.reshape(-1), columns.reshape(-1), starts), shape=(n, count)
    )


def _inside(t: Any, k: Any, points: Any, y: Any) -> Any:
    xp = rc.array_namespace(y)
    outside: Any = False
    for own, m, q in zip(t, k, points, strict=True):
        n = own.shape[0] - m - 1
        outside = outside | ~((q >= own[m]) & (q <= own[n]))
    return xp.where(beside(outside, len(y.shape)), xp.full_like(y, float("nan")), y)


@covers(_sp.NdPPoly)
class NdPPoly(_sp.NdPPoly):
    """`scipy.interpolate.NdPPoly`: piecewise polynomials of several variables.

    Attributes:
        c: Coefficients, `(k_1, ..., k_d, m_1, ..., m_d, ...)`.
        x: The breakpoints of each variable.
        extrapolate: Whether points outside have values.
    """

    c: Any = None
    x: Any = ()
    extrapolate: Any = True

    def __init__(self, c: Any, x: Any, extrapolate: Any = None) -> None:
        check(_of_arrays, c, x, extrapolate)
        c, *x = arrays(c, *x)
        self.assign(c, x, extrapolate)

    def assign(self, c: Any, x: Any, extrapolate: Any) -> None:
        self.c, self.x = c, tuple(x)
        self.extrapolate = True if extrapolate is None else bool(extrapolate)

    @classmethod
    def construct_fast(cls, c: Any, x: Any, extrapolate: Any = None) -> Any:
        """An instance without checks."""
        made = cls.__new__(cls)
        made.assign(c, x, extrapolate)
        return made

    def __call__(self, x: Any, nu: Any = None, extrapolate: Any = None) -> Any:
        """Values, or derivatives of orders `nu`, at points along the last axis."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        q, c, *own = arrays(coordinates(x), self.c, *self.x)
        xp, d = rc.array_namespace(c, q), len(own)
        nu = (0,) * d if nu is None else nu
        shape = q.shape[:-1]
        q = xp.reshape(q, (-1, d))
        i = [interval(b, q[:, a], 0, b.shape[0] - 2) for a, b in enumerate(own)]
        y = c[(*[slice(None)] * d, *i)]
        rest = len(c.shape) - 2 * d
        for axis in range(d):
            s = q[:, axis] - own[axis][i[axis]]
            y = horner(y, beside(s, 1 + rest), int(nu[axis]))
        if not extrapolate:
            outside = False
            for axis in range(d):
                outside = outside | end_of(own[axis], q[:, axis])
            y = xp.where(
                beside(outside, len(y.shape)), xp.full_like(y, float("nan")), y
            )
        return xp.reshape(y, (*shape, *y.shape[1:]))

    def _along(self, axis: int) -> Any:
        """The pieces along one axis, with that axis first."""
        d = len(self.x)
        c = moveaxis(self.c, (axis, d + axis), (0, 1))
        return PPoly.construct_fast(c, self.x[axis], self.extrapolate)

    def _with(self, pieces: Any, axis: int) -> Any:
        d = len(self.x)
        c = moveaxis(pieces.c, (0, 1), (axis, d + axis))
        return NdPPoly.construct_fast(c, self.x, self.extrapolate)

    def derivative(self, nu: Any) -> Any:
        """The derivative of orders `nu`."""
        made = self
        for axis, n in enumerate(nu):
            made = made._with(made._along(axis).derivative(int(n)), axis)
        return made

    def antiderivative(self, nu: Any) -> Any:
        """The antiderivative of orders `nu`."""
        made = self
        for axis, n in enumerate(nu):
            made = made._with(made._along(axis).antiderivative(int(n)), axis)
        return made

    def integrate_1d(self, a: Any, b: Any, axis: int, extrapolate: Any = None) -> Any:
        """The integral along one axis, as a function of the others."""
        extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
        d = len(self.x)
        axis = int(axis) % d
        c = self._along(axis).integrate(a, b, extrapolate)
        if d == 1:
            return c
        x = self.x[:axis] + self.x[axis + 1 :]
        return NdPPoly.construct_fast(c, x, extrapolate)

    def integrate(self, ranges: Any, extrapolate: Any = None) -> Any:
        """The integral over a box."""
        made: Any = self
        for a, b in list(ranges):
            made = made.integrate_1d(a, b, 0, extrapolate)
        return made


def _of_arrays(c: Any, x: Any, extrapolate: Any) -> None:
    _sp.NdPPoly(np.asarray(c), x, extrapolate)


def own_nd_spline(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, NdBSpline):
        return s
    return NdBSpline(s.t, s.c, s.k, extrapolate=s.extrapolate)


def own_nd_pieces(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, NdPPoly):
        return s
    return NdPPoly.construct_fast(s.c, s.x, s.extrapolate)


_methods = "__call__ derivative" if hasattr(_sp.NdBSpline, "derivative") else "__call__"
covers_methods(_sp.NdBSpline, own_nd_spline, _methods)
covers_class_methods(_sp.NdBSpline, "design_matrix")
covers_methods(
    _sp.NdPPoly,
    own_nd_pieces,
    "__call__ derivative antiderivative integrate_1d integrate",
)
covers_class_methods(_sp.NdPPoly, "construct_fast")
