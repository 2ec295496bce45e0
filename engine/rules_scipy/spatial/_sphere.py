"""Voronoi's mesh on a sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.spatial as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, kept
from rules_scipy._lists import constant_like

from ._declare import covers
from ._facts import Facts, fact, found, points_of, rows
from ._hulls import planes
from ._lengths import cross, size

__all__ = ["SphericalVoronoi"]


@covers(_sp.SphericalVoronoi)
class SphericalVoronoi(_sp.SphericalVoronoi):
    """`scipy.spatial.SphericalVoronoi`: vertices and areas in the points.

    A vertex is above the plane of the points around it. More than d of them in a plane
    have the derivative of the facet that Qhull finds. Not for code that is compiled or
    batched.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial import SphericalVoronoi
    >>> x = np.asarray([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [-0.6, -0.8, 0]])
    >>> slope = jax.grad(lambda x: SphericalVoronoi(x).calculate_areas()[0])(x)
    >>> slope[3].round(3).tolist()
    [-0.352, 0.704, 0.51]
    """

    def __init__(
        self, points: Any, radius: Any = 1, center: Any = None, threshold: float = 1e-06
    ) -> None:
        self.points = points_of(points)
        self._dim = self.points.shape[1]
        center = np.zeros(self._dim) if center is None else center
        given = arrays(self.points, radius, center)
        self.points, self.radius, self.center = map(kept, given)
        numbers = [
            np.asarray(rc.ignore_derivatives(x)) for x in (self.radius, self.center)
        ]
        self.facts = found(
            _sp.SphericalVoronoi, self.points, float(numbers[0]), numbers[1], threshold
        )

    regions = fact("regions")
    _simplices = fact("_simplices")

    @property
    def vertices(self) -> Any:
        """The vertices, on the sphere."""
        inner = _inner(self.facts)
        normals = planes(self.points, self._simplices, inner)[:, :-1]
        return self.radius * normals + self.center

    def sort_vertices_of_regions(self) -> None:
        """Regions in the order of their borders."""
        _sort(self.facts)

    def calculate_areas(self) -> Any:
        """The areas of the regions; of points on a circle the lengths of arcs."""
        if self._dim == 2:
            return self._lengths()
        if self._dim != 3:
            message = "Only supported for 2D and 3D point sets"
            raise TypeError(message)
        self.sort_vertices_of_regions()
        own, one, two, totals = _triangles(self.facts)
        points, vertices = self.points - self.center, self.vertices - self.center
        angles = _solid_angle(*[
            x / self.radius
            for x in (rows(points, own), rows(vertices, one), rows(vertices, two))
        ])  # fmt: skip
        return constant_like(totals, angles) @ angles * self.radius**2

    def _lengths(self) -> Any:
        arcs = rows(self.points, self._simplices) - self.center
        xp = rc.array_namespace(arcs)
        between = arcs[:, 1] - arcs[:, 0]
        d = xp.sum(between * between, axis=1)
        lengths = self.radius * xp.acos(1.0 - d / (2.0 * self.radius**2))
        back = constant_like(_turned(self.facts), lengths)
        return xp.where(back, 2.0 * np.pi * self.radius - lengths, lengths)


def _solid_angle(a: Any, b: Any, c: Any) -> Any:
    xp = rc.array_namespace(a, b, c)
    volume = xp.sum(a * cross(b, c), axis=-1)
    rest = (
        1.0 + xp.sum(a * b, axis=-1) + xp.sum(b * c, axis=-1) + xp.sum(c * a, axis=-1)
    )
    return size(2.0 * xp.atan2(volume, rest))


# what SciPy knows


def _inner(facts: Facts) -> Any:
    """A point inside of the hull, which the centre may not be."""
    return facts.look_up("points").mean(axis=0)


def _sort(facts: Facts) -> None:
    facts.look_up("sort_vertices_of_regions")()


def _triangles(facts: Facts) -> tuple[Any, Any, Any, Any]:
    """Of each side of a region its point and two vertices; a table of the regions."""
    regions = facts.look_up("regions")
    own = np.repeat(np.arange(len(regions)), [len(r) for r in regions])
    one = np.concatenate([np.asarray(r) for r in regions])
    two = np.concatenate([np.roll(r, 1) for r in regions])
    return own, one, two, (own == np.arange(len(regions))[:, None]).astype(float)


def _turned(facts: Facts) -> Any:
    """Which arcs go the other way round."""
    arcs = facts.look_up("points")[facts.look_up("_simplices")] - facts.look_up(
        "center"
    )
    out = facts.look_up("vertices") - facts.look_up("center")
    return np.einsum("ij,ij->i", arcs[:, 0], out) < 0


for _f in (_inner, _sort, _triangles, _turned):
    rc.non_differentiable(_f)
