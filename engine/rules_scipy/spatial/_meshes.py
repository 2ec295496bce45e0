"""Delaunay's and Voronoi's meshes, and intersections of half-spaces.

Which points belong together is a constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, concrete, kept
from rules_scipy._lists import constant_like
from rules_scipy.linalg._systems import solution

from ._declare import DECLARED, OWN, covers
from ._facts import Bounded, Facts, fact, found, missing, points_of, rows
from ._regular import regular

__all__ = ["Delaunay", "HalfspaceIntersection", "Voronoi", "tsearch"]

_SEVERAL = (
    "has no derivative where more {} than needed meet in one point, which parts when "
    "they move. Move them a little, or leave the point out."
)


def _simplex_shape(facts: Any, q: Any, options: Any) -> Any:
    return rc.ShapeDtype(tuple(q.shape[:-1]), np.int64)


def _simplex(facts: Facts, q: Any, options: Any) -> Any:
    i = facts.look_up("find_simplex")(np.asarray(q, float), **dict(options))
    return np.asarray(i, np.int64)


# The number of the simplex around each point; -1 outside.
simplex: rc.Primitive = rc.primitive(
    _simplex, host=True, out=_simplex_shape, static_argnames=("facts", "options")
)
rc.non_differentiable(simplex)


@covers(_sp.Delaunay)
class Delaunay(Bounded, _sp.Delaunay):
    """`scipy.spatial.Delaunay`: barycentric transforms in the points.

    In code that is compiled or batched the points must be constants; places need not.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import Delaunay
    >>> mesh = Delaunay(np.asarray([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
    >>> transforms = jax.numpy.asarray(mesh.transform)
    >>> @jax.jit
    ... def first_weight(q):
    ...     t = transforms[mesh.find_simplex(q)]
    ...     return (t[:2] @ (q - t[2]))[0]
    >>> jax.grad(first_weight)(np.asarray([0.2, 0.3])).shape
    (2,)
    """

    def __init__(
        self, points: Any, furthest_site: bool = False, incremental: bool = False,
        qhull_options: Any = None,
    ) -> None:  # fmt: skip
        first = self.hold(points)
        self.furthest_site, self.options = furthest_site, qhull_options
        self.facts = found(
            _sp.Delaunay, first, furthest_site, qhull_options=qhull_options
        )

    simplices = fact("simplices")
    neighbors = fact("neighbors")
    convex_hull = fact("convex_hull")
    coplanar = fact("coplanar")
    good = fact("good")
    nsimplex = fact("nsimplex")
    ndim = fact("ndim")
    npoints = fact("npoints")
    vertex_to_simplex = fact("vertex_to_simplex")
    vertex_neighbor_vertices = fact("vertex_neighbor_vertices")
    equations = missing("Delaunay.equations")
    paraboloid_scale = missing("Delaunay.paraboloid_scale")
    paraboloid_shift = missing("Delaunay.paraboloid_shift")
    lift_points = missing("Delaunay.lift_points")
    plane_distance = missing("Delaunay.plane_distance")

    @property
    def transform(self) -> Any:
        """The inverse of the edges from the last corner, and this corner."""
        corners = rows(self.points, self.simplices)
        xp = rc.array_namespace(corners)
        edges = xp.matrix_transpose(corners[:, :-1] - corners[:, -1:])
        flat = _flat(self.facts)
        eye = constant_like(np.eye(edges.shape[-1]), edges)
        inverse = xp.linalg.inv(xp.where(constant_like(flat, edges), eye, edges))
        bad = constant_like(np.where(flat, np.nan, 1.0), edges)
        return xp.concat([inverse * bad, corners[:, -1:]], axis=1)

    def find_simplex(self, xi: Any, bruteforce: bool = False, tol: Any = None) -> Any:
        """The simplex around each point: a constant."""
        q = rc.ignore_derivatives(arrays(xi)[0])
        options = (("bruteforce", bruteforce), ("tol", tol))
        known = concrete(q)
        if known is None:
            return simplex(self.facts, q, options)
        return constant_like(_simplex(self.facts, known, options), q)

    def add_points(self, points: Any, restart: bool = False) -> None:
        """The mesh of more points."""
        every = _more(self.points, points, restart=restart)
        Delaunay.__init__(self, every, self.furthest_site, qhull_options=self.options)

    def __reduce__(self) -> Any:
        return Delaunay, (self.points, self.furthest_site, False, self.options)


def _flat(facts: Facts) -> Any:
    return np.isnan(facts.look_up("transform")[:, :1, :1])


rc.non_differentiable(_flat)


def _more(points: Any, others: Any, *, restart: bool) -> Any:
    others = points_of(others)
    if restart:
        return others
    xp = rc.array_namespace(points, others)
    return xp.concat(arrays(points, others))


@covers(_sp.tsearch)
def tsearch(tri: Any, xi: Any) -> Any:
    """`scipy.spatial.tsearch`: a constant."""
    return tri.find_simplex(xi)


DECLARED[_sp.tsearch] = "constant"
rc.non_differentiable(_sp.Delaunay.find_simplex)


# points that are determined by several objects


def _together(groups: Any, count: int) -> tuple[Any, Any]:
    """The first `count` of each group of numbers, and whether these are all."""
    index = np.array([(sorted(g) + [0] * count)[:count] for g in groups], np.int64)
    return index.reshape(-1, count), np.array([len(g) == count for g in groups], bool)


def _met(edges: Any, b: Any, groups: Any, known: Any, name: str) -> Any:
    """Solutions of `edges @ x = b`; of more equations than unknowns SciPy's value."""
    xp = rc.array_namespace(edges)
    good = constant_like(groups, edges)
    eye = constant_like(np.eye(edges.shape[-1]), edges)
    x = solution(xp.where(good[:, None, None], edges, eye), b[..., None])[..., 0]
    x = xp.where(good[:, None], x, constant_like(known, edges))
    return regular(x, good, name)


@covers(_sp.Voronoi)
class Voronoi(Bounded, _sp.Voronoi):
    """`scipy.spatial.Voronoi`: vertices in the points.

    A vertex is the centre of the sphere through the points whose regions meet there.
    More than d + 1 of them have no derivative. Not for compiled or batched code.

    >>> import numpy as np
    >>> from rules_autodiff import grad
    >>> import scipy.spatial
    >>> x = np.asarray([[0.0, 0.0], [2.0, 0.0], [0.0, 4.0]])
    >>> grad(lambda x: scipy.spatial.Voronoi(x).vertices[0, 0])(x).round(3).tolist()
    [[0.5, 1.0], [0.5, -1.0], [0.0, 0.0]]
    """

    def __init__(
        self, points: Any, furthest_site: bool = False, incremental: bool = False,
        qhull_options: Any = None,
    ) -> None:  # fmt: skip
        first = self.hold(points)
        self.furthest_site, self.options = furthest_site, qhull_options
        self.facts = found(
            _sp.Voronoi, first, furthest_site, qhull_options=qhull_options
        )

    ridge_points = fact("ridge_points")
    ridge_vertices = fact("ridge_vertices")
    ridge_dict = fact("ridge_dict")
    regions = fact("regions")
    point_region = fact("point_region")
    ndim = fact("ndim")
    npoints = fact("npoints")

    @property
    def vertices(self) -> Any:
        """The vertices, by the points around each."""
        index, good, known = _generators(self.facts)
        xp = rc.array_namespace(self.first)
        own = rows(self.first, index)
        edges = own[:, 1:] - own[:, :1]
        half = 0.5 * xp.sum(edges * edges, axis=-1)
        name = f"Voronoi.vertices {_SEVERAL.format('regions')}"
        first = own[:, 0]
        from_first = constant_like(known, first) - rc.ignore_derivatives(first)
        return first + _met(edges, half, good, from_first, name)

    def add_points(self, points: Any, restart: bool = False) -> None:
        """The mesh of more points."""
        every = _more(self.points, points, restart=restart)
        Voronoi.__init__(self, every, self.furthest_site, qhull_options=self.options)

    def __reduce__(self) -> Any:
        return Voronoi, (self.points, self.furthest_site, False, self.options)


def _generators(facts: Facts) -> tuple[Any, Any, Any]:
    """The points around each vertex, whether they are d + 1, and SciPy's vertices."""
    regions, vertices = facts.look_up("regions"), facts.look_up("vertices")
    around: list[list[int]] = [[] for _ in vertices]
    for point, region in enumerate(facts.look_up("point_region")):
        for vertex in regions[region] if region >= 0 else ():
            if vertex >= 0:
                around[vertex].append(point)
    return *_together(around, vertices.shape[1] + 1), vertices


rc.non_differentiable(_generators)


@covers(_sp.HalfspaceIntersection)
class HalfspaceIntersection(_sp.HalfspaceIntersection):
    """`scipy.spatial.HalfspaceIntersection`: its corners in the half-spaces.

    Not for code that is compiled or batched.

    >>> import numpy as np
    >>> from rules_autodiff import grad
    >>> import scipy.spatial
    >>> h = np.asarray([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 2.0, -4.0]])
    >>> inside = np.asarray([0.5, 0.5])
    >>> meet = scipy.spatial.HalfspaceIntersection
    >>> grad(lambda h: meet(h, inside).intersections.max())(h)[2].tolist()
    [-4.0, 0.0, -1.0]
    """

    halfspaces: Any = None

    def __init__(
        self, halfspaces: Any, interior_point: Any, incremental: bool = False,
        qhull_options: Any = None,
    ) -> None:  # fmt: skip
        self.halfspaces, self.interior_point = arrays(halfspaces, interior_point)
        self.options = qhull_options
        self.first = kept(self.halfspaces), kept(self.interior_point)
        inner = concrete(rc.ignore_derivatives(interior_point))
        if inner is None:
            message = (
                "HalfspaceIntersection depends on an interior point that is not known "
                "in traced code: make the object outside of jit, vmap and torch.func."
            )
            raise rc.UnsupportedError(message)
        self.facts = found(
            _sp.HalfspaceIntersection, self.first[0], inner,
            qhull_options=qhull_options,
        )  # fmt: skip

    dual_facets = fact("dual_facets")
    dual_vertices = fact("dual_vertices")
    ndim = fact("ndim")
    nineq = fact("nineq")
    npoints = fact("npoints")
    min_bound = missing("HalfspaceIntersection.min_bound")
    max_bound = missing("HalfspaceIntersection.max_bound")
    dual_equations = missing("HalfspaceIntersection.dual_equations")
    dual_volume = missing("HalfspaceIntersection.dual_volume")
    dual_area = missing("HalfspaceIntersection.dual_area")

    @property
    def intersections(self) -> Any:
        """The corners, by the half-spaces that meet there."""
        index, good, known = _corners(self.facts)
        own = rows(self.first[0], index)
        name = f"HalfspaceIntersection.intersections {_SEVERAL.format('half-spaces')}"
        return _met(own[..., :-1], -own[..., -1], good, known, name)

    @property
    def dual_points(self) -> Any:
        """The points of the dual polytope."""
        halfspaces, interior_point = self.first
        xp = rc.array_namespace(halfspaces)
        normal, offset = halfspaces[:, :-1], halfspaces[:, -1:]
        inner = xp.sum(normal * interior_point, axis=-1, keepdims=True)
        return -normal / (inner + offset)

    def add_halfspaces(self, halfspaces: Any, restart: bool = False) -> None:
        """The intersection of more half-spaces."""
        every = _more(self.halfspaces, halfspaces, restart=restart)
        HalfspaceIntersection.__init__(
            self, every, self.interior_point, qhull_options=self.options
        )

    def close(self) -> None:
        """Nothing: the intersection is made anew at each change."""

    def __reduce__(self) -> Any:
        given = self.halfspaces, self.interior_point, False, self.options
        return HalfspaceIntersection, given


def _corners(facts: Facts) -> tuple[Any, Any, Any]:
    known = facts.look_up("intersections")
    return *_together(facts.look_up("dual_facets"), known.shape[1]), known


rc.non_differentiable(_corners)

DECLARED[_sp.QhullError] = "constant"
OWN[_sp.QhullError] = _sp.QhullError
