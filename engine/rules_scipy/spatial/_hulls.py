"""Convex hulls: volume, area and planes as functions of the corners.

Which points are the corners of each facet is a constant. Where it changes (points on a
facet, more than d corners in a plane) volume and area have kinks: their derivatives are
those of the facets that Qhull finds.
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np
import scipy.spatial as _sp

import rules_core as rc
from rules_scipy._lists import constant_like
from rules_scipy.linalg._systems import det, solution

from ._declare import covers
from ._facts import Bounded, fact, found, points_of, rows
from ._lengths import cross, root

__all__ = ["ConvexHull", "oriented", "planes"]


def oriented(points: Any, simplices: Any) -> Any:
    """The facets with their corners in the order of a positive determinant."""
    simplices = np.array(simplices, np.int64)
    inner = points[np.unique(simplices)].mean(axis=0)
    negative = np.linalg.det(points[simplices] - inner) < 0
    simplices[negative, :2] = simplices[negative, 1::-1]
    return simplices


def _most(n: int, d: int) -> int:
    """The number of facets that a simplicial polytope may have (McMullen 1970)."""
    m = d // 2
    return 2 * comb(n - m - 1, m) if d % 2 else n * comb(n - m, m) // (n - m)


def _facets_shape(points: Any, options: Any) -> Any:
    n, d = points.shape
    return rc.ShapeDtype((_most(n, d), d), np.int64)


def _facets(points: Any, options: Any) -> Any:
    points = np.asarray(points, float)
    own = oriented(points, _sp.ConvexHull(points, qhull_options=options).simplices)
    found = np.full((_most(*points.shape), points.shape[1]), -1, np.int64)
    found[: len(own)] = own
    return found


# The corners of each facet; -1 in rows that are not needed.
facets: rc.Primitive = rc.primitive(
    _facets, host=True, out=_facets_shape, static_argnames="options"
)
rc.non_differentiable(facets)


def _corners(points: Any, index: Any) -> tuple[Any, Any]:
    """`(f, d, d)`, and which facets there are."""
    if isinstance(index, np.ndarray):
        return rows(points, index), None
    xp = rc.array_namespace(points)
    there = index[:, 0] >= 0
    return points[xp.where(there[:, None], index, xp.zeros_like(index))], there


def _total(x: Any, there: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.sum(x if there is None else xp.where(there, x, xp.zeros_like(x)))


def _volume(points: Any, index: Any) -> Any:
    """The sum of the pyramids over the facets, from any point."""
    corners, there = _corners(points, index)
    xp = rc.array_namespace(points)
    d = points.shape[1]
    edges = corners - rc.ignore_derivatives(xp.mean(points, axis=0))
    if there is not None:
        eye = xp.eye(d, dtype=edges.dtype, device=getattr(edges, "device", None))
        edges = xp.where(there[:, None, None], edges, eye)
    return _total(det(edges), there) / factorial(d)


def _area(points: Any, index: Any) -> Any:
    """The sum of the facets' sizes."""
    corners, there = _corners(points, index)
    xp = rc.array_namespace(points)
    d = points.shape[1]
    edges = corners[:, 1:, :] - corners[:, :1, :]
    if d == 2:
        return _total(root(xp.sum(edges * edges, axis=(1, 2))), there)
    if d == 3:
        normal = cross(edges[:, 0], edges[:, 1])
        return _total(root(xp.sum(normal * normal, axis=-1)), there) / 2.0
    gram = edges @ xp.matrix_transpose(edges)
    if there is not None:
        eye = xp.eye(d - 1, dtype=gram.dtype, device=getattr(gram, "device", None))
        gram = xp.where(there[:, None, None], gram, eye)
    return _total(root(det(gram)), there) / factorial(d - 1)


def planes(points: Any, simplices: Any, inner: Any) -> Any:
    """Outward unit normals and offsets of facets, `(f, d + 1)`.

    Args:
        points: `(n, d)`.
        simplices: The corners of each facet, constants of NumPy.
        inner: A constant point inside, of NumPy.
    """
    xp = rc.array_namespace(points)
    inner = constant_like(np.asarray(inner), points)
    edges = rows(points, simplices) - inner
    normal = solution(edges, xp.ones_like(edges[..., :1]))[..., 0]
    size = xp.sqrt(xp.sum(normal * normal, axis=-1, keepdims=True))
    normal = normal / size
    offset = -1.0 / size - xp.sum(normal * inner, axis=-1, keepdims=True)
    return xp.concat([normal, offset], axis=-1)


@covers(_sp.ConvexHull)
class ConvexHull(Bounded, _sp.ConvexHull):
    """`scipy.spatial.ConvexHull`: volume, area and planes in the points.

    In code that is compiled or batched only `volume` and `area` exist.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import ConvexHull
    >>> x = np.asarray([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.5, 0.5]])
    >>> jax.jit(jax.grad(lambda x: ConvexHull(x).volume))(x).tolist()
    [[-1.5, -1.0], [1.5, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """

    def __init__(
        self, points: Any, incremental: bool = False, qhull_options: Any = None
    ) -> None:
        first = self.hold(points)
        self.options = qhull_options
        self.facts = found(_sp.ConvexHull, first, qhull_options=qhull_options)

    simplices = fact("simplices")
    neighbors = fact("neighbors")
    vertices = fact("vertices")
    coplanar = fact("coplanar")
    good = fact("good")
    nsimplex = fact("nsimplex")
    ndim = fact("ndim")
    npoints = fact("npoints")

    def _index(self) -> Any:
        if self.facts.value is None:
            return facets(rc.ignore_derivatives(self.first), self.options)
        return _oriented(self.facts)

    @property
    def volume(self) -> Any:
        """The volume; in the plane the area."""
        return _volume(self.first, self._index())

    @property
    def area(self) -> Any:
        """The size of the surface; in the plane the perimeter."""
        return _area(self.first, self._index())

    @property
    def equations(self) -> Any:
        """Outward unit normals and offsets of the facets."""
        simplices = self.simplices
        inner = _inner(self.facts)
        return planes(self.first, simplices, inner)

    def add_points(self, points: Any, restart: bool = False) -> None:
        """The hull of more points."""
        more = points_of(points)
        xp = rc.array_namespace(self.points, more)
        every = more if restart else xp.concat([self.points, more])
        ConvexHull.__init__(self, every, qhull_options=self.options)

    def __reduce__(self) -> Any:
        return ConvexHull, (self.points, False, self.options)


def _oriented(facts: Any) -> Any:
    hull = facts.value
    return oriented(hull.points, hull.simplices)


def _inner(facts: Any) -> Any:
    hull = facts.value
    return hull.points[hull.vertices].mean(axis=0)


rc.non_differentiable(_oriented)
rc.non_differentiable(_inner)
