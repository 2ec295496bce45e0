"""`scipy.spatial` for every framework.

`distance` and `transform` are array-API code. What Qhull or a tree finds (facets,
simplices, neighbours) is a constant; volumes, weights and distances are functions of
the points there.

>>> import numpy as np
>>> from rules_autodiff import grad
>>> from scipy.spatial.transform import Rotation
>>> tip = lambda angles: Rotation.from_euler("xyz", angles).apply([0.0, 0.0, 1.0])[0]
>>> grad(tip)(np.zeros(3))
array([0., 1., 0.])
"""

from . import distance as distance, transform as transform
from ._hulls import ConvexHull as ConvexHull
from ._meshes import (
    Delaunay as Delaunay,
    HalfspaceIntersection as HalfspaceIntersection,
    Voronoi as Voronoi,
    tsearch as tsearch,
)
from ._shapes import (
    Rectangle as Rectangle,
    distance_matrix as distance_matrix,
    geometric_slerp as geometric_slerp,
    minkowski_distance as minkowski_distance,
    minkowski_distance_p as minkowski_distance_p,
    procrustes as procrustes,
)
from ._sphere import SphericalVoronoi as SphericalVoronoi
from ._trees import KDTree as KDTree, cKDTree as cKDTree
