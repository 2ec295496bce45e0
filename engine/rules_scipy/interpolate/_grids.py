"""Interpolation on a grid: `RegularGridInterpolator` and `interpn`."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc
from rules_scipy._axes import moveaxis

from ._arrays import (
    arrays,
    beside,
    check,
    covers,
    covers_methods,
    increasing,
    interval,
    is_numpy,
    kept,
    refuse,
)
from ._cubic import hermite, pchip_slopes
from ._interpolating import interpolated
from ._knots import knots_for
from ._ndsplines import coordinates, tensor_values
from ._pieces import horner

__all__ = ["RegularGridInterpolator", "interpn"]

_DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}
_METHODS = (
    *("linear", "nearest", "pchip"), *_DEGREES, *[f"{own}_legacy" for own in _DEGREES],
)  # fmt: skip
_NAN = float("nan")


@covers(_sp.RegularGridInterpolator)
class RegularGridInterpolator(_sp.RegularGridInterpolator):
    """`scipy.interpolate.RegularGridInterpolator`, in grid, values and points.

    Splines are solved for directly: SciPy's default solver iterates until 1e-6. In
    traced code a point outside is NaN where `bounds_error` would raise an error.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import RegularGridInterpolator
    >>> x = np.arange(3.0)
    >>> plane = RegularGridInterpolator((x, x), np.outer(x, x), bounds_error=False)
    >>> jax.grad(lambda p: plane(p)[0])(np.asarray([[0.5, 1.5]])).tolist()
    [[1.5, 0.5]]
    """

    method: Any = "linear"
    bounds_error: Any = True
    fill_value: Any = _NAN
    grid: Any = ()
    values: Any = None
    first: Any = None

    def __init__(
        self, points: Any, values: Any, method: Any = "linear",
        bounds_error: Any = True, fill_value: Any = _NAN, *, solver: Any = None,
        solver_args: Any = None,
    ) -> None:  # fmt: skip
        check(
            _sp.RegularGridInterpolator, points, values, _cheap(method), bounds_error,
            _constant_of(fill_value),
        )  # fmt: skip
        _check_sizes(points, method)
        values, *points = arrays(values, *points)
        xp = rc.array_namespace(values)
        for axis, x in enumerate(points):
            if x.shape[0] != values.shape[axis]:
                message = (
                    f"There are {x.shape[0]} points and {values.shape[axis]} values in "
                    f"dimension {axis}"
                )
                raise ValueError(message)
        falling = [axis for axis, x in enumerate(points) if _falls(x)]
        for axis in falling:
            values = xp.flip(values, axis=axis)
            points[axis] = xp.flip(points[axis])
        self.grid, self.values = tuple(map(increasing, points)), values
        self.method, self.bounds_error = method, bounds_error
        self.fill_value = fill_value
        # Splines are solved for here, by SciPy, and not again after later writes.
        self.first = None
        if method in _DEGREES:
            self.first = kept(values), *map(kept, self.grid)

    def __call__(self, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
        """Values at points along the last axis, or in a tuple of coordinates."""
        method = self.method if method is None else method
        _check_method(method, nu)
        _check_sizes(self.grid, method)
        d = len(self.grid)
        own = (self.values, *self.grid)
        if self.first is not None and method == self.method:
            own = self.first
        values, *grid = arrays(*own)
        values, xi = arrays(values, coordinates(xi, d))
        if xi.shape[-1] != d:
            message = f"The requested sample points xi have dimension {xi.shape[-1]}"
            raise ValueError(message)
        fill = _NAN if self.bounds_error else self.fill_value
        values, xi, fill, *grid = arrays(values, xi, fill, *grid)
        xp = rc.array_namespace(values, xi)
        shape, xi = xi.shape[:-1], xp.reshape(xi, (-1, d))
        outside = _outside(grid, xi)
        if self.bounds_error and is_numpy(values, xi):
            _raise_outside(grid, xi)
        y = _evaluated(grid, values, xi, method, nu)
        if fill is not None:
            y = _filled(y, outside, fill)
        y = _filled(y, xp.any(xp.isnan(xi), axis=-1), _NAN)
        return xp.reshape(y, (*shape, *values.shape[d:]))


def _cheap(method: Any) -> Any:
    """A method for SciPy's checks, which need not solve."""
    return "linear" if method in _DEGREES else method


def _constant_of(fill_value: Any) -> Any:
    return None if fill_value is None else rc.ignore_derivatives(fill_value)


def _check_method(method: Any, nu: Any) -> None:
    if method not in _METHODS:
        message = f"Method '{method}' is not defined"
        raise ValueError(message)
    if nu is not None and method not in _DEGREES:
        message = f"Can only compute derivatives for methods {set(_DEGREES)}."
        raise ValueError(message)


def _check_sizes(points: Any, method: Any) -> None:
    name = str(method).removesuffix("_legacy")
    k = _DEGREES.get(name, 3 if name == "pchip" else 0)
    for axis, x in enumerate(points):
        if len(x) <= k:
            message = (
                f"There are {len(x)} points in dimension {axis}, but method {method} "
                f"requires at least {k + 1} points per dimension."
            )
            raise ValueError(message)


def _falls(x: Any) -> bool:
    """Whether the points of a grid descend; traced ones are taken to ascend."""
    if x.shape[0] < 2:
        return False
    try:
        return bool(x[0] > x[-1])
    except (TypeError, RuntimeError):
        return False


rc.non_differentiable(_falls)


def _outside(grid: Any, xi: Any) -> Any:
    outside = False
    for axis, x in enumerate(grid):
        q = xi[:, axis]
        outside = outside | (q < x[0]) | (q > x[-1])
    return outside


def _raise_outside(grid: Any, xi: Any) -> None:
    for axis, x in enumerate(grid):
        q = xi[:, axis]
        if not (np.all(x[0] <= q) and np.all(q <= x[-1])):
            message = f"One of the requested xi is out of bounds in dimension {axis}"
            raise ValueError(message)


rc.non_differentiable(_raise_outside)


def _filled(y: Any, where: Any, value: Any) -> Any:
    xp = rc.array_namespace(y)
    value = arrays(value, y)[0] if rc.is_array(value) else value
    return xp.where(beside(where, len(y.shape)), value + 0.0 * xp.zeros_like(y), y)


def _evaluated(grid: Any, values: Any, xi: Any, method: Any, nu: Any) -> Any:
    if method == "linear":
        return _linear(grid, values, xi)
    if method == "nearest":
        return _nearest(grid, values, xi)
    if method == "pchip":
        return _pchip(grid, values, xi)
    d, k = len(grid), _DEGREES[method.removesuffix("_legacy")]
    c, t = values, []
    for axis, x in enumerate(grid):
        t.append(knots_for(x, k, None))
        own = interpolated(x, moveaxis(c, axis, 0), t[-1], k)
        c = moveaxis(own, 0, axis)
    points = [xi[:, axis] for axis in range(d)]
    return tensor_values(t, c, (k,) * d, points, (0,) * d if nu is None else nu)


def _cells(grid: Any, xi: Any) -> list[tuple[Any, Any, Any]]:
    """The cell of each point: both indices, and the place between them."""
    found = []
    for axis, x in enumerate(grid):
        q = xi[:, axis]
        if x.shape[0] == 1:
            i = interval(x, q, 0, 0)
            found.append((i, i, 0.0 * q))
            continue
        i = interval(x, q, 0, x.shape[0] - 2)
        found.append((i, i + 1, (q - x[i]) / (x[i + 1] - x[i])))
    return found


def _linear(grid: Any, values: Any, xi: Any) -> Any:
    cells, ndim = _cells(grid, xi), len(values.shape) - len(grid) + 1
    total: Any = 0.0
    for corner in product(*[(0, 1)] * len(grid)):
        index = tuple([cell[side] for cell, side in zip(cells, corner, strict=True)])
        weight: Any = 1.0
        for (_, _, s), side in zip(cells, corner, strict=True):
            weight = weight * (s if side else 1.0 - s)
        total = total + values[index] * beside(weight, ndim)
    return total


def _nearest(grid: Any, values: Any, xi: Any) -> Any:
    xp = rc.array_namespace(values, xi)
    index = [xp.where(s <= 0.5, i, j) for i, j, s in _cells(grid, xi)]
    return values[tuple(index)] + 0.0 * beside(
        xi[:, 0], len(values.shape) - len(grid) + 1
    )


def _pchip(grid: Any, values: Any, xi: Any) -> Any:
    """Axis by axis, from the last: each point has data of its own along the next."""
    xp, d = rc.array_namespace(values, xi), len(grid)
    y = values[None, ...]
    count = xi.shape[0]
    y = y + xp.zeros((count, *[1] * len(values.shape)), dtype=xi.dtype)
    point = xp.arange(count, device=getattr(xi, "device", None))
    for axis in range(d - 1, -1, -1):
        x, q = grid[axis], xi[:, axis]
        own = moveaxis(y, axis + 1, 0)
        c = hermite(x, own, pchip_slopes(x, own))
        i = interval(x, q, 0, x.shape[0] - 2)
        y = horner(c[:, i, point, ...], beside(q - x[i], len(own.shape) - 1))
    return y


@covers(_sp.interpn)
def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear",
    bounds_error: Any = True, fill_value: Any = _NAN,
) -> Any:  # fmt: skip
    """`scipy.interpolate.interpn`: values at points of data on a grid."""
    if method != "splinef2d":
        made = RegularGridInterpolator(points, values, method, bounds_error, fill_value)
        return made(coordinates(xi, len(points)))
    check(_sp.interpn, points, values, xi, method, bounds_error, fill_value)
    if bounds_error and not is_numpy(points, values, xi):
        refuse("interpn('splinef2d')", "must have bounds_error=False in traced code")
    from ._surfaces import RectBivariateSpline

    one, two, xi = arrays(*points, coordinates(xi, 2))
    made = RectBivariateSpline(one, two, values)
    flat = rc.array_namespace(xi).reshape(xi, (-1, 2))
    y = made.ev(flat[:, 0], flat[:, 1])
    y = _filled(y, _outside((one, two), flat), fill_value)
    return rc.array_namespace(y).reshape(y, xi.shape[:-1])


def own_grid(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, RegularGridInterpolator):
        return s
    return RegularGridInterpolator(
        s.grid, s.values, s.method, s.bounds_error, s.fill_value
    )


covers_methods(_sp.RegularGridInterpolator, own_grid, "__call__")
