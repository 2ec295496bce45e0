"""Interpolation of scattered data: radial basis functions, triangles, neighbours."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.interpolate as _sp
import scipy.spatial

import rules_core as rc
from rules_scipy.linalg._systems import solution

from ._arrays import (
    arrays,
    beside,
    check,
    covers,
    covers_methods,
    refuse,
)
from ._kernels import KERNELS, LEAST_DEGREE, differences, squares, thin_plate
from ._ndsplines import coordinates

__all__ = [
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "RBFInterpolator",
    "Rbf",
    "griddata",
]

_NAN = float("nan")


def _monomials(x: Any, powers: Any) -> Any:
    """`(..., q, r)` of points `(..., q, n)`."""
    xp = rc.array_namespace(x)
    columns = []
    for row in powers:
        term = xp.ones_like(x[..., 0])
        for axis in row:
            term = term * x[..., axis]
        columns.append(term)
    if not columns:
        return x[..., :0]
    return xp.stack(columns, axis=-1)


def _powers(ndim: int, degree: int) -> list[tuple[int, ...]]:
    """The factors of each monomial."""
    return [
        row
        for total in range(degree + 1)
        for row in combinations_with_replacement(range(ndim), total)
    ]


def _scaling(y: Any) -> tuple[Any, Any]:
    """Where monomials are small. The interpolant does not depend on it."""
    y = rc.ignore_derivatives(y)
    xp = rc.array_namespace(y)
    low, high = xp.min(y, axis=-2), xp.max(y, axis=-2)
    scale = 0.5 * (high - low)
    scale = xp.where(scale == 0, xp.ones_like(scale), scale)
    return 0.5 * (high + low)[..., None, :], scale[..., None, :]


@covers(_sp.RBFInterpolator)
class RBFInterpolator(_sp.RBFInterpolator):
    """`scipy.interpolate.RBFInterpolator`, in all its arrays and `epsilon`.

    At a centre `linear` has a kink, with derivative zero; the second derivative of
    `thin_plate_spline` is infinite there.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import RBFInterpolator
    >>> y = np.asarray([[0.0], [1.0], [3.0]])
    >>> f = lambda q: RBFInterpolator(y, y[:, 0])(q[None])[0]
    >>> jax.grad(f)(np.asarray([2.0])).round(4).tolist()
    [1.0]
    """

    def __init__(
        self, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0,
        kernel: Any = "thin_plate_spline", epsilon: Any = None, degree: Any = None,
    ) -> None:  # fmt: skip
        check(
            _sp.RBFInterpolator, y, d, neighbors, smoothing, kernel,
            None if epsilon is None else rc.ignore_derivatives(epsilon), degree,
        )  # fmt: skip
        y, d, smoothing, epsilon = arrays(y, d, smoothing, epsilon)
        xp = rc.array_namespace(y, d)
        count, ndim = y.shape
        if d.shape[0] != count:
            message = f"Expected the first axis of `d` to have length {count}."
            raise ValueError(message)
        self.kernel = kernel.lower()
        self.d_shape = tuple(d.shape[1:])
        self.y, self.d = y, xp.reshape(d, (count, -1))
        self.smoothing = smoothing + 0.0 * y[:, 0]
        if epsilon is None and self.kernel not in LEAST_DEGREE | {"": 0}:
            message = "`epsilon` must be specified for this kernel."
            raise ValueError(message)
        scaleless = ("linear", "thin_plate_spline", "cubic", "quintic")
        if epsilon is None and self.kernel not in scaleless:
            message = f"`epsilon` must be specified if `kernel` is not in {scaleless}."
            raise ValueError(message)
        self.epsilon = 1.0 if epsilon is None else epsilon
        least = max(LEAST_DEGREE.get(self.kernel, -1), 0)
        self.powers = _powers(ndim, least if degree is None else int(degree))
        self.neighbors = None if neighbors is None else int(min(neighbors, count))
        self.solution: Any = None
        if neighbors is None:
            self.solution = self._solved(self.y, self.d, self.smoothing)

    def _solved(self, y: Any, d: Any, smoothing: Any) -> Any:
        """Coefficients of kernels and monomials, with their scaling."""
        xp = rc.array_namespace(y, d)
        shift, scale = _scaling(y)
        kernels = self._kernels(y)
        n, r = kernels.shape[-1], len(self.powers)
        eye = xp.eye(n, dtype=kernels.dtype, device=getattr(kernels, "device", None))
        kernels = kernels + eye * smoothing[..., None]
        p = _monomials((y - shift) / scale, self.powers)
        none = 0.0 * p[..., :r, :] if r <= n else None
        if none is None:
            message = f"At least {r} data points are required."
            raise ValueError(message)
        top = xp.concat([kernels, p], axis=-1)
        bottom = xp.concat([xp.matrix_transpose(p), none], axis=-1)
        left = xp.concat([top, bottom], axis=-2)
        zeros = [0.0 * d[..., :1, :]] * r
        right = xp.concat([d, *zeros], axis=-2)
        if left.dtype != right.dtype:
            left = xp.astype(left, right.dtype)
        return shift, scale, solution(left, right)

    def _kernels(self, x: Any, *ys: Any) -> Any:
        """Of points and others, or among themselves."""
        [e] = arrays(self.epsilon, x, *ys)[:1]
        scaled = [points * e for points in (x, *ys)]
        if self.kernel == "thin_plate_spline":
            return thin_plate(differences(*scaled))
        return KERNELS[self.kernel](squares(*scaled))

    def __call__(self, x: Any) -> Any:
        """Values at points, `(q, n)`."""
        x, y, d, smoothing = arrays(x, self.y, self.d, self.smoothing)
        xp = rc.array_namespace(x, d)
        if self.neighbors is None:
            out = self._values(x, y, arrays(*self.solution, x)[:3])
        else:
            i = nearest(y, x, self.neighbors)
            own = self._solved(y[i], d[i], smoothing[i])
            out = self._values(x[:, None, :], y[i], own)[:, 0, :]
        return xp.reshape(out, (x.shape[0], *self.d_shape))

    def _values(self, x: Any, y: Any, solution: Any) -> Any:
        xp = rc.array_namespace(x, y)
        shift, scale, c = solution
        parts = [self._kernels(x, y), _monomials((x - shift) / scale, self.powers)]
        row = xp.concat(parts, axis=-1)
        return (row if row.dtype == c.dtype else xp.astype(row, c.dtype)) @ c


def _nearest_shape(y: Any, x: Any, k: int) -> Any:
    return rc.ShapeDtype((x.shape[0], k), np.int64)


def _nearest(y: Any, x: Any, k: int) -> Any:
    _, i = scipy.spatial.KDTree(np.asarray(y)).query(np.asarray(x), k)
    return np.sort(np.asarray(i, np.int64).reshape(len(x), k), axis=1)


# The numbers of the `k` nearest points of `y`, `(q, k)`.
nearest: rc.Primitive = rc.primitive(
    _nearest, host=True, out=_nearest_shape, static_argnames="k"
)
rc.non_differentiable(nearest)


@covers(_sp.Rbf)
class Rbf(_sp.Rbf):
    """`scipy.interpolate.Rbf` with a named function and the Euclidean norm."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        check(_sp.Rbf, *args, **{**kwargs, "epsilon": _number(kwargs.get("epsilon"))})
        name = kwargs.get("function", "multiquadric")
        if not isinstance(name, str) or kwargs.get("norm", "euclidean") != "euclidean":
            refuse("Rbf", "has derivatives for a named function and norm='euclidean'")
        name = {"inverse": "inverse_multiquadric", "thin-plate": "thin_plate"}.get(
            name.lower(), name.lower().replace(" ", "_")
        )
        epsilon, smooth, *xs, values = arrays(
            kwargs.get("epsilon"), kwargs.get("smooth", 0.0), *args
        )
        xp = rc.array_namespace(values, *xs)
        self.xi = xp.stack([xp.reshape(x, (-1,)) for x in xs])
        self.N = self.xi.shape[-1]
        self.mode, self.function, self.smooth = kwargs.get("mode", "1-D"), name, smooth
        self.di = values if self.mode == "N-D" else xp.reshape(values, (-1,))
        self.epsilon = _mean_distance(self.xi) if epsilon is None else epsilon
        points = xp.matrix_transpose(self.xi)
        eye = xp.eye(self.N, dtype=points.dtype)
        matrix = self._kernels(points) - eye * smooth
        flat = xp.reshape(self.di, (self.N, -1))
        self.nodes = xp.reshape(solution(matrix, flat), self.di.shape)

    def _kernels(self, *points: Any) -> Any:
        """Of points and others, or among themselves."""
        if self.function == "thin_plate":
            return thin_plate(differences(*points))
        r2 = squares(*points)
        if self.function in ("linear", "cubic", "quintic"):
            sign = -1.0 if self.function in ("linear", "quintic") else 1.0
            return sign * KERNELS[self.function](r2)
        [epsilon] = arrays(self.epsilon, r2)[:1]
        kernel = KERNELS[self.function](r2 / epsilon**2)
        return -kernel if self.function == "multiquadric" else kernel

    def __call__(self, *args: Any) -> Any:
        """Values at points."""
        nodes, xi, *xs = arrays(self.nodes, self.xi, *args)
        xp = rc.array_namespace(nodes, *xs)
        shape = xs[0].shape
        x = xp.stack([xp.reshape(x, (-1,)) for x in xs], axis=-1)
        y = self._kernels(x, xp.matrix_transpose(xi)) @ nodes
        return xp.reshape(y, (*shape, *nodes.shape[1:]))


def _number(x: Any) -> Any:
    return None if x is None else rc.ignore_derivatives(x)


def _mean_distance(xi: Any) -> Any:
    """SciPy's `epsilon`, by the edges of a box."""
    xp = rc.array_namespace(xi)
    edges = xp.max(xi, axis=1) - xp.min(xi, axis=1)
    counts = rc.ignore_derivatives(edges != 0)
    size = xp.sum(xp.astype(counts, edges.dtype))
    product = xp.prod(xp.where(counts, edges, xp.ones_like(edges)))
    return (product / xi.shape[1]) ** (1.0 / size)


# triangles


def _vertices_shape(points: Any, q: Any, rescale: bool) -> Any:
    return rc.ShapeDtype((q.shape[0], points.shape[1] + 1), np.int64)


def _vertices(points: Any, q: Any, rescale: bool) -> Any:
    points, q = np.asarray(points, float), np.asarray(q, float)
    if rescale:
        shift, scale = points.mean(axis=0), np.ptp(points, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        points, q = (points - shift) / scale, (q - shift) / scale
    mesh = scipy.spatial.Delaunay(points)
    i = mesh.find_simplex(q)
    found = np.where(i[:, None] < 0, -1, mesh.simplices[i])
    return found.astype(np.int64)


# The numbers of the simplex's corners around each point; -1 outside.
vertices: rc.Primitive = rc.primitive(
    _vertices, host=True, out=_vertices_shape, static_argnames="rescale"
)
rc.non_differentiable(vertices)


class _Scattered:
    """Data at scattered points.

    Attributes:
        points: `(n, d)`.
        values: `(n, ...)`.
    """

    points: Any = None
    values: Any = None
    fill_value: Any = _NAN
    rescale: bool = False

    def assign(self, points: Any, values: Any, fill_value: Any, rescale: bool) -> None:
        if isinstance(points, scipy.spatial.Delaunay):
            refuse(type(self).__name__, "has derivatives for points, not for a mesh")
        points, values = arrays(coordinates(points), values)
        if values.shape[0] != points.shape[0]:
            message = "different number of values and points"
            raise ValueError(message)
        self.points, self.values = points, values
        self.fill_value, self.rescale = fill_value, bool(rescale)

    def _query(self, args: Any) -> Any:
        ndim = self.points.shape[1]
        given = args[0] if len(args) == 1 else tuple(args)
        return coordinates(given, ndim)


@covers(_sp.LinearNDInterpolator)
class LinearNDInterpolator(_Scattered, _sp.LinearNDInterpolator):
    """`scipy.interpolate.LinearNDInterpolator`: linear on Delaunay's simplices.

    The mesh is a constant. At an edge the derivative is that of the simplex that SciPy
    finds.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import LinearNDInterpolator
    >>> p = np.asarray([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> f = lambda q: LinearNDInterpolator(p, p @ np.asarray([2.0, 3.0]))(q[None])[0]
    >>> jax.grad(f)(np.asarray([0.2, 0.3])).round(4).tolist()
    [2.0, 3.0]
    """

    def __init__(
        self, points: Any, values: Any, fill_value: Any = _NAN, rescale: bool = False
    ) -> None:
        self.assign(points, values, fill_value, rescale)

    def __call__(self, *args: Any) -> Any:
        """Values at points along the last axis, or by their coordinates."""
        points, values, q, fill = arrays(
            self.points, self.values, self._query(args), self.fill_value
        )
        xp = rc.array_namespace(points, values, q)
        shape, q = q.shape[:-1], xp.reshape(q, (-1, q.shape[-1]))
        i = vertices(
            rc.ignore_derivatives(points), rc.ignore_derivatives(q), self.rescale
        )
        outside = i[:, 0] < 0
        i = xp.clip(i, 0, None) if hasattr(i, "clip") else i
        corners = points[i]
        edges = corners[:, 1:, :] - corners[:, :1, :]
        eye = xp.eye(q.shape[-1], dtype=edges.dtype)
        edges = xp.where(outside[:, None, None], eye[None, :, :], edges)
        b = (q - corners[:, 0, :])[..., None]
        share = solution(xp.matrix_transpose(edges), b)[..., 0]
        first = 1.0 - xp.sum(share, axis=1)
        weights = xp.concat([first[:, None], share], axis=1)
        own = values[i]
        y = xp.sum(beside(weights, len(own.shape)) * own, axis=1)
        y = xp.where(beside(outside, len(y.shape)), fill + 0.0 * xp.ones_like(y), y)
        return xp.reshape(y, (*shape, *values.shape[1:]))


@covers(_sp.NearestNDInterpolator)
class NearestNDInterpolator(_Scattered, _sp.NearestNDInterpolator):
    """`scipy.interpolate.NearestNDInterpolator`: constant in pieces.

    It has a derivative in the values; in points it is zero.
    """

    def __init__(
        self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None
    ) -> None:
        check(_sp.NearestNDInterpolator, x, y, rescale, tree_options)
        self.assign(x, y, _NAN, rescale)

    def __call__(self, *args: Any, **query_options: Any) -> Any:
        """Values at points along the last axis, or by their coordinates."""
        if query_options:
            refuse("NearestNDInterpolator", "has derivatives without options")
        points, values, q = arrays(self.points, self.values, self._query(args))
        xp = rc.array_namespace(points, values, q)
        shape, q = q.shape[:-1], xp.reshape(q, (-1, q.shape[-1]))
        points, q = rc.ignore_derivatives(points), rc.ignore_derivatives(q)
        if self.rescale:
            scale = xp.max(points, axis=0) - xp.min(points, axis=0)
            scale = xp.where(scale > 0, scale, xp.ones_like(scale))
            points, q = points / scale, q / scale
        i = nearest(points, q, 1)[:, 0]
        return xp.reshape(values[i], (*shape, *values.shape[1:]))


@covers(_sp.griddata)
def griddata(
    points: Any, values: Any, xi: Any, method: Any = "linear", fill_value: Any = _NAN,
    rescale: bool = False,
) -> Any:  # fmt: skip
    """`scipy.interpolate.griddata`, but for `"cubic"` in two variables."""
    points = coordinates(points)
    if points.shape[-1] == 1:
        from ._lines import interp1d

        xi = xi[0] if isinstance(xi, tuple) else xi
        xp = rc.array_namespace(points)
        fill = "extrapolate" if method == "nearest" else fill_value
        line = interp1d(
            xp.reshape(points, (-1,)), values, kind=method, axis=0, bounds_error=False,
            fill_value=fill,
        )  # fmt: skip
        return line(xi)
    if method == "nearest":
        return NearestNDInterpolator(points, values, rescale)(xi)
    if method == "linear":
        return LinearNDInterpolator(points, values, fill_value, rescale)(xi)
    return refuse(
        f"griddata(method={method!r})",
        "estimates gradients by an iteration that ends at a tolerance: use 'linear', "
        "or RBFInterpolator",
    )


# SciPy's instances of constants, at points with a derivative


def own_rbf(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, RBFInterpolator):
        return s
    degree = int(np.max(np.sum(s.powers, axis=1), initial=-1))
    d = s.d.view(s.d_dtype).reshape(len(s.y), *s.d_shape)
    return RBFInterpolator(
        s.y, d, s.neighbors, s.smoothing, s.kernel, s.epsilon, degree
    )


def own_old_rbf(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, Rbf):
        return s
    return Rbf(
        *s.xi, s.di, function=s.function, norm=s.norm, epsilon=s.epsilon,
        smooth=s.smooth, mode=s.mode,
    )  # fmt: skip


def own_nearest(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, NearestNDInterpolator):
        return s
    made = NearestNDInterpolator(s.points, s.values)
    made.rescale = s.scale is not None
    return made


covers_methods(_sp.RBFInterpolator, own_rbf, "__call__")
covers_methods(_sp.Rbf, own_old_rbf, "__call__")
covers_methods(_sp.NearestNDInterpolator, own_nearest, "__call__")
