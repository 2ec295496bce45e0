"""Rectangles, tables of distances, Procrustes' analysis and arcs on spheres."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, check
from rules_scipy._methods import covers_methods
from rules_scipy.linalg import orthogonal_procrustes

from ._declare import covers
from ._lengths import entry_power, is_order, root, size, with_order
from .transform._quaternions import arc, half_angle

__all__ = [
    "Rectangle",
    "distance_matrix",
    "geometric_slerp",
    "minkowski_distance",
    "minkowski_distance_p",
    "procrustes",
]


@covers(_sp.minkowski_distance_p)
def minkowski_distance_p(x: Any, y: Any, p: Any = 2) -> Any:
    """`scipy.spatial.minkowski_distance_p`: without the root."""
    p, x, y = with_order(p, x, y)
    xp = rc.array_namespace(x, y)
    if is_order(p, np.inf):
        return xp.max(size(y - x), axis=-1)
    return xp.sum(entry_power(y - x, p), axis=-1)


@covers(_sp.minkowski_distance)
def minkowski_distance(x: Any, y: Any, p: Any = 2) -> Any:
    """`scipy.spatial.minkowski_distance`, with derivative zero at zero."""
    p, x, y = with_order(p, x, y)
    found = minkowski_distance_p(x, y, p)
    is_sum = is_order(p, np.inf) or is_order(p, 1)
    return found if is_sum else root(found, p)


@covers(_sp.distance_matrix)
def distance_matrix(x: Any, y: Any, p: Any = 2, threshold: int = 1000000) -> Any:
    """`scipy.spatial.distance_matrix`.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import distance_matrix
    >>> x = np.asarray([[0.0], [2.0]])
    >>> jax.grad(lambda x: distance_matrix(x, x)[0].sum())(x).tolist()
    [[-1.0], [1.0]]
    """
    check(_sp.distance_matrix, x, y, p, threshold)
    x, y = arrays(x, y)
    return minkowski_distance(x[:, None, :], y[None, :, :], p)


@covers(_sp.Rectangle)
class Rectangle(_sp.Rectangle):
    """`scipy.spatial.Rectangle`: volume and distances in the bounds.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import Rectangle
    >>> low = np.zeros(2)
    >>> jax.grad(lambda high: Rectangle(high, low).volume())(np.asarray([2.0, 3.0]))
    Array([3., 2.], dtype=float64)
    """

    def __init__(self, maxes: Any, mins: Any) -> None:
        a, b = arrays(maxes, mins)
        xp = rc.array_namespace(a, b)
        self.maxes, self.mins = xp.maximum(a, b), xp.minimum(a, b)
        [self.m] = self.maxes.shape

    def volume(self) -> Any:
        """The volume."""
        return rc.array_namespace(self.maxes).prod(self.maxes - self.mins)

    def split(self, d: int, split: Any) -> Any:
        """Both parts, cut across the axis `d`."""
        high, low, cut = arrays(self.maxes, self.mins, split)
        xp = rc.array_namespace(high, low)
        at = xp.arange(self.m, device=getattr(high, "device", None)) == d
        less = Rectangle(low, xp.where(at, cut, high))
        return less, Rectangle(xp.where(at, cut, low), high)

    def _beside(self, low: Any, high: Any) -> Any:
        """How far this rectangle is from another one along each axis."""
        a, b, c, d = arrays(self.mins, self.maxes, low, high)
        xp = rc.array_namespace(a, c)
        gap = xp.maximum(a - d, c - b)
        return xp.maximum(xp.zeros_like(gap), gap), xp.maximum(b - c, d - a)

    def min_distance_point(self, x: Any, p: Any = 2) -> Any:
        """The distance of the nearest point from points."""
        near, _ = self._beside(x, x)
        return minkowski_distance(0.0 * near, near, p)

    def max_distance_point(self, x: Any, p: Any = 2) -> Any:
        """The distance of the farthest point from points."""
        _, far = self._beside(x, x)
        return minkowski_distance(0.0 * far, far, p)

    def min_distance_rectangle(self, other: Any, p: Any = 2) -> Any:
        """The least distance of two points."""
        near, _ = self._beside(other.mins, other.maxes)
        return minkowski_distance(0.0 * near, near, p)

    def max_distance_rectangle(self, other: Any, p: Any = 2) -> Any:
        """The greatest distance of two points."""
        _, far = self._beside(other.mins, other.maxes)
        return minkowski_distance(0.0 * far, far, p)


def _own(rectangle: Any) -> Any:
    """This pack's rectangle of SciPy's, which may be one already."""
    if isinstance(rectangle, Rectangle):
        return rectangle
    return Rectangle(rectangle.maxes, rectangle.mins)


covers_methods(
    _sp.Rectangle,
    _own,
    "split min_distance_point max_distance_point min_distance_rectangle "
    "max_distance_rectangle",
)


@covers(_sp.procrustes)
def procrustes(data1: Any, data2: Any) -> Any:
    """`scipy.spatial.procrustes`: both data in standard form, and their disparity.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import procrustes
    >>> a = np.asarray([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> slope = jax.grad(lambda a, b: procrustes(a, b)[2])(a, 3.0 * a)
    >>> bool(abs(slope).max() < 1e-12)
    True
    """
    check(_sp.procrustes, data1, data2)
    a, b = arrays(data1, data2)
    a, b = _standard(a), _standard(b)
    xp = rc.array_namespace(a, b)
    turn, scale = orthogonal_procrustes(a, b)
    b = b @ xp.matrix_transpose(turn) * scale
    return a, b, xp.sum((a - b) ** 2)


def _standard(x: Any) -> Any:
    """Data with mean zero and norm one."""
    xp = rc.array_namespace(x)
    x = x - xp.mean(x, axis=0, keepdims=True)
    return x / xp.sqrt(xp.sum(x * x))


@covers(_sp.geometric_slerp)
def geometric_slerp(start: Any, end: Any, t: Any, tol: float = 1e-7) -> Any:
    """`scipy.spatial.geometric_slerp`, in both ends and the parameter.

    At equal ends it has the derivatives of its limit; opposite ones determine no arc
    and give NaN.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import geometric_slerp
    >>> a, b = np.asarray([1.0, 0.0]), np.asarray([0.0, 1.0])
    >>> jax.jacobian(lambda t: geometric_slerp(a, b, t))(0.0).round(4).tolist()
    [0.0, 1.5708]
    """
    check(_sp.geometric_slerp, start, end, t, tol)
    a, b, t = arrays(start, end, t)
    xp = rc.array_namespace(a, b)
    norm = xp.sqrt(xp.sum(a * a))
    a = a / norm
    along = xp.sum(a * b)
    across = b - along * a
    # ω / |across| for the angle ω, of vectors whose lengths may not be one.
    square = xp.sum(across * across)
    scale = arc(square, along)
    angle2 = (2.0 * t) ** 2 * square * scale * scale
    sine, cosine = half_angle(angle2)
    share = 2.0 * t * scale * sine
    return a * cosine[..., None] + across * share[..., None]
