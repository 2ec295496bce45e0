"""Splines of two variables on a grid: products of splines of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.interpolate as _sp

import rules_core as rc

from ._arrays import (
    arrays,
    check,
    covers,
    covers_methods,
    defining,
    increasing,
    is_numpy,
    refuse,
)
from ._bsplines import BSpline, derivative_of
from ._fitpack import _clipped
from ._interpolating import interpolated
from ._knots import inner_knots, whole_knots

__all__ = ["RectBivariateSpline", "bisplev"]


def _along(t: Any, c: Any, k: int, x: Any, nu: int) -> Any:
    """Values along the first axis at points, at the nearest end for those outside."""
    x = _clipped(x, t[k], t[t.shape[0] - k - 1])
    spline: Any = BSpline.construct_fast(t, c, k)
    return spline(x, nu)


def _on_grid(
    tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any, nu: Any
) -> Any:
    xp = rc.array_namespace(c)
    rows = _along(tx, c, kx, x, nu[0])
    return xp.matrix_transpose(_along(ty, xp.matrix_transpose(rows), ky, y, nu[1]))


def _at_points(
    tx: Any, ty: Any, c: Any, kx: int, ky: int, x: Any, y: Any, nu: Any
) -> Any:
    from ._ndsplines import tensor_values

    x = _clipped(x, tx[kx], tx[tx.shape[0] - kx - 1])
    y = _clipped(y, ty[ky], ty[ty.shape[0] - ky - 1])
    return tensor_values((tx, ty), c, (kx, ky), [x, y], nu)


@covers(_sp.bisplev)
def bisplev(x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """`scipy.interpolate.bisplev`: values of a surface on a grid."""
    check(_sp.bisplev, x, y, tck, dx, dy)
    tx, ty, c, kx, ky = tck
    x, y, tx, ty, c = arrays(x, y, tx, ty, c)
    xp = rc.array_namespace(x, c)
    c = xp.reshape(c, (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1))
    x, y = (xp.reshape(q, (-1,)) for q in (x, y))
    z = _on_grid(tx, ty, c, kx, ky, x, y, (dx, dy))
    z = z if z.shape[0] > 1 else z[0]
    return z if z.ndim > 1 or z.shape[0] > 1 else z[0]


class _Surface:
    """What surfaces have in common.

    Attributes:
        tck: Knots of both variables, and coefficients, `(nx * ny,)`.
        degrees: Of both variables.
        fp: The sum of squares of what remains.
    """

    tck: Any = None
    degrees: Any = (3, 3)
    fp: Any = None

    def assign(self, tx: Any, ty: Any, c: Any, degrees: Any) -> None:
        self.tck, self.degrees = (tx, ty, c), degrees

    def get_residual(self) -> Any:
        """The sum of squares of what remains."""
        return self.fp

    def get_knots(self) -> Any:
        """Knots of both variables."""
        return self.tck[:2]

    def get_coeffs(self) -> Any:
        """Coefficients."""
        return self.tck[2]

    def _table(self) -> Any:
        tx, ty, c = self.tck
        kx, ky = self.degrees
        shape = (tx.shape[0] - kx - 1, ty.shape[0] - ky - 1)
        return rc.array_namespace(c).reshape(c, shape)

    def __call__(
        self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True
    ) -> Any:
        """Values on the grid of `x` and `y`, or at pairs."""
        tx, ty, c, x, y = arrays(*self.tck[:2], self._table(), x, y)
        xp = rc.array_namespace(c, x)
        kx, ky = self.degrees
        if grid:
            x, y = (xp.reshape(q, (-1,)) for q in (x, y))
            _check_ordered(x, y)
            return _on_grid(tx, ty, c, kx, ky, x, y, (dx, dy))
        x, y = xp.broadcast_arrays(x, y)
        return _at_points(tx, ty, c, kx, ky, x, y, (dx, dy))

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Values at pairs."""
        return self(xi, yi, dx, dy, grid=False)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """The integral over a rectangle; zero outside of the knots."""
        tx, ty, c, xa, xb, ya, yb = arrays(*self.tck[:2], self._table(), xa, xb, ya, yb)
        kx, ky = self.degrees
        rows: Any = BSpline.construct_fast(tx, c, kx)
        one: Any = BSpline.construct_fast(ty, rows.integrate(xa, xb, False), ky)
        return one.integrate(ya, yb, False)

    def partial_derivative(self, dx: int, dy: int) -> Any:
        """A derivative, as a surface."""
        if dx == 0 and dy == 0:
            return self
        kx, ky = self.degrees
        if not (0 <= dx < kx and 0 <= dy < ky):
            message = "order of derivative must be less than degree of spline"
            raise ValueError(message)
        tx, ty, c = arrays(*self.tck[:2], self._table())
        xp = rc.array_namespace(c)
        tx, c, kx = _derived(tx, c, kx, dx)
        ty, c, ky = _derived(ty, xp.matrix_transpose(c), ky, dy)
        made = _Derived()
        made.assign(tx, ty, xp.reshape(xp.matrix_transpose(c), (-1,)), (kx, ky))
        return made


def _derived(t: Any, c: Any, k: int, nu: int) -> Any:
    t, c, k = derivative_of(t, c, k, nu)
    return t, c[: t.shape[0] - k - 1], k


class _Derived(_Surface):
    """A derivative of a surface."""

    def get_residual(self) -> Any:
        """None of a derivative, as in SciPy."""
        message = 'method "get_residual" is unavailable for a derivative'
        raise AttributeError(message)


def _check_ordered(x: Any, y: Any) -> None:
    if is_numpy(x, y):
        _raise_unordered(x, y)


def _raise_unordered(x: Any, y: Any) -> None:
    for name, q in (("x", x), ("y", y)):
        if q.size >= 2 and not np.all(np.diff(q) >= 0.0):
            message = f"{name} must be strictly increasing when `grid` is True"
            raise ValueError(message)


rc.non_differentiable(_raise_unordered)


@covers(_sp.RectBivariateSpline)
class RectBivariateSpline(_Surface, _sp.RectBivariateSpline):
    """`scipy.interpolate.RectBivariateSpline` with `s=0`: through data on a grid.

    Points outside have the value of the nearest one inside.

    >>> import jax, numpy as np
    >>> from rules_scipy.interpolate import RectBivariateSpline
    >>> x = np.arange(4.0)
    >>> s = lambda p: RectBivariateSpline(x, x, np.outer(x**2, x)).ev(p[0], p[1])
    >>> jax.grad(s)(np.asarray([1.5, 2.5])).round(4).tolist()
    [7.5, 2.25]
    """

    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3,
        s: Any = 0, maxit: int = 20,
    ) -> None:  # fmt: skip
        bbox = list(bbox)
        check(_sp.RectBivariateSpline, x, y, z, bbox, kx, ky, s)
        if s != 0:
            refuse(
                "RectBivariateSpline with s > 0",
                "chooses knots by a search that ends at a tolerance, which has no "
                "derivative. Give s=0, and smooth the data before",
            )
        x, y, z, *ends = arrays(x, y, z, *bbox)
        xp = rc.array_namespace(z)
        tx = _knots(increasing(xp.reshape(x, (-1,))), kx, ends[:2])
        ty = _knots(increasing(xp.reshape(y, (-1,))), ky, ends[2:])
        rows = interpolated(xp.reshape(x, (-1,)), z, tx, kx)
        c = interpolated(xp.reshape(y, (-1,)), xp.matrix_transpose(rows), ty, ky)
        self.assign(tx, ty, xp.reshape(xp.matrix_transpose(c), (-1,)), (kx, ky))
        self.fp = 0.0


def _knots(x: Any, k: int, ends: Any) -> Any:
    whole = [x[i] if e is None else e for i, e in zip((0, -1), ends, strict=True)]
    return whole_knots(inner_knots(x, k), whole, k)


def own_surface(s: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    if isinstance(s, _Surface):
        return s
    made = _Surface()
    tx, ty, c = s.tck[:3]
    made.assign(tx, ty, c, s.degrees)
    made.fp = getattr(s, "fp", None)
    return made


covers_methods(_sp.BivariateSpline, own_surface, "ev integral")
covers_methods(
    defining(_sp.BivariateSpline, "get_knots"),
    own_surface,
    "__call__ get_residual get_knots get_coeffs partial_derivative",
)
