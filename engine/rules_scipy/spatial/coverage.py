"""Coverage of `scipy.spatial`; run as a module it prints its page."""

from __future__ import annotations

import sys
from types import ModuleType

import scipy.spatial

from rules_scipy._module_coverage import ModuleCoverage

from ._declare import DECLARED

__all__ = ["COVERAGE"]

# ruff: noqa: E501  rows of a table

_HEAD = """# The SciPy pack: distances, rotations and meshes

<!-- Made by `python -m rules_scipy.spatial.coverage`; do not edit. -->

Of the {total} public functions and classes of `scipy.spatial`, `scipy.spatial.distance` and
`scipy.spatial.transform`, {covered} have rules, {constant} have no derivative, and {missing} have
no rule, for the reasons below: each raises an error where its derivative is asked for.
`rules_scipy.spatial` contains them for NumPy, JAX and PyTorch:

```python
>>> import jax, numpy as np
>>> from rules_scipy.spatial.transform import Rotation
>>> def tip(angles):
...     return Rotation.from_euler("xyz", angles).apply(np.asarray([0.0, 0.0, 1.0]))
>>> jax.jit(jax.jacobian(tip))(np.zeros(3)).tolist()
[[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
```

Derivatives exist at every order, in both modes, in data, weights, options that are numbers (`p`,
`V`, `VI`, `w`, `base`), quaternions, angles, axes, times and radii.

## Distances

| what | the derivative |
|---|---|
| `euclidean`, `minkowski`, `jensenshannon` and their kin at equal vectors | is zero, at every order ([](../explanation/conventions-at-kinks.md)); `sqeuclidean` is smooth |
| `cityblock`, `chebyshev`, `braycurtis`, `canberra` | has kinks where entries are equal: zero there. Equal largest entries share |
| `minkowski`, `distance_matrix` and others in `p` | is that for a float, or an array; a whole number is a constant |
| `minkowski` with 1 < p < 2, where an entry of both is equal | is zero; the second one is infinite |
| `canberra` where an entry of both is zero | leaves the term out, as SciPy does: the distance jumps there |
| `cosine`, `correlation` of a zero, or constant, vector | NaN, as the value |
| `jensenshannon` where an entry of one is zero | is minus infinity in this entry; where both are, it is that from above |
| `seuclidean`, `mahalanobis` without `V`, `VI` | has the part of the variances, or covariance, of the data |
| `hamming`, `jaccard` | is zero in the vectors, of which they count entries, and exists in the weights |
| `dice`, `yule` and their kin | is that of SciPy's formula for numbers from zero to one; `cdist` and `pdist` ask whether entries are zero, except `dice` without weights |
| `metric=` | is a name, an alias, or a function, which is called for each pair |
| `out=` | is written to in NumPy programs; elsewhere it is an error |
| `directed_hausdorff` | is that of the pair of points that SciPy finds |
| `squareform` of a matrix | reads the upper triangle, as SciPy does |

Tables of distances compute all differences, for which they need memory: n · m · d numbers.

## Rotations

| what | the derivative |
|---|---|
| `Rotation` | is that of the quaternion of length one; rotations may have any shape |
| at the identity | is exact at every order, by series, for `from_rotvec`, `as_rotvec`, powers, `Slerp` |
| at an angle of π | `as_rotvec`, `as_mrp`, `as_quat(canonical=True)` jump: the derivative is that of SciPy's branch |
| `magnitude` at zero and π | has kinks: zero |
| `as_euler`, `as_davenport` at gimbal lock | an error, NaN in traced code; SciPy warns |
| `from_matrix` | is that of the nearest rotation, also where the matrix is a rotation; `assume_valid=True` is SciPy's formula |
| `mean`, `align_vectors` | is in the weights too. Where several rotations fit equally well, an error, NaN in traced code |
| `align_vectors` with an infinite weight, or of one vector | needs a weight that is known in traced code; opposite vectors have no derivative |
| `reduce` | keeps the elements of the groups that SciPy chooses |
| `Slerp` at a time of the data | is that of the piece before; times outside are an error, NaN in traced code |
| `RigidTransform` | is that of the matrix; exact at the identity for screws (`from_exp_coords`, powers) |
| `RotationSpline` | is that of ten steps of SciPy's iteration for the rates |
| `random`, `create_group`, `identity`, `approx_equal` | constants |

## Hulls, meshes and trees

What Qhull or a tree finds (facets, simplices, neighbours, their order) is a constant. Where it
changes, volume, area and distances have kinks; the derivative is that of what SciPy found. In code
that is compiled or batched, in which the points are traced, sizes must be known:

| what | in NumPy, JAX's and PyTorch's eager gradients | compiled or batched |
|---|---|---|
| `ConvexHull` | `volume`, `area`, `equations`, bounds | `volume`, `area` |
| `Delaunay` | `transform`, and weights by it; `find_simplex` is a constant | of constant points |
| `Voronoi`, `SphericalVoronoi` | `vertices`, `calculate_areas` | error |
| `HalfspaceIntersection` | `intersections`, `dual_points` | error |
| `KDTree`, `cKDTree` | distances of `query`, `sparse_distance_matrix`, `count_neighbors` in the weights | distances of `query` |
| `distance_matrix`, `Rectangle`, `procrustes`, `geometric_slerp` | all | all |

After the points are written to, an object has SciPy's numbers and their derivatives: hulls and meshes keep what
was found, `Delaunay.transform` and a tree of points that it does not copy follow.

A corner in which more than the needed regions or half-spaces meet has no derivative: an error.
Other attributes of these classes are constants, or an error that names them.

## Functions and classes with rules
"""

_DRAWS = "draws: call it outside of what is differentiated"
_LEFT = "is not in later versions of SciPy: use yule, or dice"


def _all_modules() -> ModuleType:
    """The public names of the three modules."""
    together = ModuleType("scipy.spatial")
    for module in (
        scipy.spatial, scipy.spatial.distance, scipy.spatial.transform,
    ):  # fmt: skip
        vars(together).update({name: getattr(module, name) for name in module.__all__})
    return together


COVERAGE = ModuleCoverage(
    _all_modules(),
    DECLARED,
    {
        "convex_hull_plot_2d": _DRAWS,
        "delaunay_plot_2d": _DRAWS,
        "kulczynski1": _LEFT,
        "sokalmichener": _LEFT,
        "voronoi_plot_2d": _DRAWS,
    },
    _HEAD,
    "Tests of tables, numbers of simplices, and an exception:",
    classes=True,
)

if __name__ == "__main__":
    sys.stdout.write(COVERAGE.page())
