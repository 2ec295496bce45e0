"""Calls of `scipy.spatial`, by name: a function of the module, and its arrays.

Points are in general position: ties and kinks have tests of their own.
"""

from typing import Any

import numpy as np
import scipy.spatial

import rules_core as rc

__all__ = ["CASES", "NUMPY_ONLY"]

RNG = np.random.default_rng(0)
U = np.array([0.5, 0.1, 0.3, 0.7])
V = np.array([0.2, 0.35, 0.9, 0.4])
W = np.array([0.5, 2.0, 0.3, 1.0])
A = RNG.uniform(0.1, 0.9, size=(4, 3))
B = RNG.uniform(0.1, 0.9, size=(3, 3))
W3 = W[:3]
SPARSE = np.array([[0.0, 1, 1], [0.5, 0, 1], [0, 0, 2], [0, 1, 0]])
VI = np.array([[2.0, 0.3, 0.1], [0.2, 1.0, -0.2], [0.1, -0.1, 1.5]])

CASES: dict[str, Any] = {}
# Results whose size depends on values, matrices of SciPy, and what must be written to.
NUMPY_ONLY: set[str] = set()


def case(name, args, f, *, numpy=False):
    CASES[name] = f, tuple(np.array(x, float) for x in args)
    if numpy:
        NUMPY_ONLY.add(name)


# distances of two vectors
_WEIGHTED = (
    "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean "
    "minkowski rogerstanimoto russellrao sokalsneath sqeuclidean yule"
)
for _name in _WEIGHTED.split():
    case(
        _name,
        (U, V, W),
        lambda m, u, v, w, name=_name: (
            getattr(m.distance, name)(u, v), getattr(m.distance, name)(u, v, w=w)
        ),
    )  # fmt: skip
for _name in ("hamming", "jaccard"):
    case(
        _name,
        (U, V, W),
        lambda m, u, v, w, name=_name: (
            getattr(m.distance, name)(u, v, w=w) * u.sum(),
            getattr(m.distance, name)(SPARSE[1], SPARSE[3], w=w[:3]),
        ),
    )
for _p in (1, 1.5, 3, np.inf):
    case(
        f"minkowski {_p}",
        (U, V, W),
        lambda m, u, v, w, p=_p: (
            m.distance.minkowski(u, v, p), m.distance.minkowski(u, v, p, w)
        ),
    )  # fmt: skip
case("minkowski in p", (U, V, 2.5), lambda m, u, v, p: m.distance.minkowski(u, v, p))
case("seuclidean", (U, V, W), lambda m, u, v, w: m.distance.seuclidean(u, v, w))
case("mahalanobis", (*A[:2], VI), lambda m, u, v, w: m.distance.mahalanobis(u, v, w))
case(
    "jensenshannon",
    (U, V, 3.0, np.stack([U, V]), np.stack([V, W])),
    lambda m, u, v, base, p, q: (
        m.distance.jensenshannon(u, v),
        m.distance.jensenshannon(u, v, base),
        m.distance.jensenshannon(p, q, axis=1, keepdims=True),
    ),
)
case(
    "directed_hausdorff",
    (A, B),
    lambda m, a, b: (
        m.distance.directed_hausdorff(a, b)[0], m.distance.directed_hausdorff(b, a)[0]
    ),
)  # fmt: skip

# tables
_PLAIN = (
    "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean "
    "jensenshannon mahalanobis minkowski seuclidean sqeuclidean test_euclidean js cheb"
)
for _name in _PLAIN.split():
    case(
        f"cdist {_name}",
        (A, B),
        lambda m, a, b, name=_name: m.distance.cdist(a, b, name),
    )
    case(f"pdist {_name}", (A,), lambda m, a, name=_name: m.distance.pdist(a, name))
for _name in "braycurtis cityblock correlation cosine euclidean minkowski".split():
    case(
        f"cdist {_name} weighted",
        (A, B, W3),
        lambda m, a, b, w, name=_name: (
            m.distance.cdist(a, b, name, w=w), m.distance.pdist(a, name, w=w)
        ),
    )  # fmt: skip
for _name in "hamming jaccard dice yule rogerstanimoto russellrao sokalsneath".split():
    if not np.any(scipy.spatial.distance.pdist(SPARSE, _name, w=W3)):
        continue  # yule in SciPy 1.15, which forgets the weights
    case(
        f"counted {_name}",
        (W3,),
        lambda m, w, name=_name: (
            m.distance.cdist(SPARSE, SPARSE[::-1], name, w=w),
            m.distance.pdist(SPARSE, name, w=w),
        ),
    )
case(
    "cdist with options",
    (A, B, W3, VI),
    lambda m, a, b, v, vi: (
        m.distance.cdist(a, b, "seuclidean", V=v),
        m.distance.cdist(a, b, "mahalanobis", VI=vi),
        m.distance.cdist(a, b, "minkowski", p=3, w=v),
    ),
)
case(
    "cdist by a function",
    (A, B, W3),
    lambda m, a, b, w: (
        m.distance.cdist(a, b, lambda x, y: (w * (x - y) ** 2).sum()),
        m.distance.pdist(a, lambda x, y: (x * y).sum()),
        m.distance.cdist(a, b, m.distance.cityblock, w=w),
    ),
)


def _out(m, a, b):
    table, vector = np.zeros((4, 3)), np.zeros(6)
    m.distance.cdist(a, b, out=table)
    return table, m.distance.pdist(a, out=vector), vector


case("cdist to out", (A, B), _out, numpy=True)
case(
    "squareform",
    (U[:3], U[:1]),
    lambda m, v, one: (
        m.distance.squareform(v),
        m.distance.squareform(one),
        m.distance.squareform(m.distance.squareform(v) + 0.0),
    ),
)
case(
    "squareform unchecked",
    (VI,),
    lambda m, x: m.distance.squareform(x, force="tovector", checks=False),
)

# rotations
R1 = np.array([0.3, -0.2, 0.4])
R2 = np.array([[0.3, -0.2, 0.4], [1.0, 2.0, -0.5], [-0.1, 0.2, 0.9]])
Q2 = np.array([[0.3, -0.2, 0.4, 0.6], [1.0, 2.0, -0.5, -0.7]])
P = np.array([[0.1, 0.2, 0.9], [-0.3, 0.8, 0.4], [1.0, 0.5, 0.2]])
WEIGHTS = np.array([1.0, 2.0, 0.7])
HAS_RIGID = hasattr(scipy.spatial.transform, "RigidTransform")


def turn(m, r):
    return m.transform.Rotation.from_rotvec(r)


for _name, _options in (
    ("as_quat", {}), ("as_matrix", {}), ("as_rotvec", {}), ("as_mrp", {}),
    ("as_rotvec degrees", {"degrees": True}), ("magnitude", {}),
    ("as_quat canonical", {"canonical": True, "scalar_first": True}),
):  # fmt: skip
    for _shape, _q in (("one", Q2[0]), ("several", Q2)):
        case(
            f"Rotation {_name} of {_shape}",
            (_q,),
            lambda m, q, name=_name, options=_options: getattr(
                m.transform.Rotation.from_quat(q), name.partition(" ")[0]
            )(**options),
        )
case(
    "Rotation from_quat",
    (Q2,),
    lambda m, q: (
        m.transform.Rotation.from_quat(q, scalar_first=True).as_quat(),
        m.transform.Rotation(q, normalize=False).as_matrix(),
    ),
)
case(
    "Rotation from_matrix",
    (P[[1, 0, 2]] + np.diag([0, 0.1, 0]), np.stack([VI, P[::-1]])),
    lambda m, a, b: (
        m.transform.Rotation.from_matrix(a).as_quat(),
        m.transform.Rotation.from_matrix(b).as_matrix(),
    ),
)
case(
    "Rotation from_matrix of rotations",
    (R2,),
    lambda m, r: m.transform.Rotation.from_matrix(turn(m, r).as_matrix()).as_quat(),
)
case(
    "Rotation from_rotvec",
    (R1, R2 * 60.0),
    lambda m, r, d: (
        turn(m, r).as_quat(),
        m.transform.Rotation.from_rotvec(d, degrees=True).as_matrix(),
    ),
)
case(
    "Rotation from_mrp",
    (R1, R2),
    lambda m, r, s: (
        m.transform.Rotation.from_mrp(r).as_quat(),
        m.transform.Rotation.from_mrp(s).as_quat(),
    ),
)
for _seq in ("xyz", "ZYX", "zxz", "YXY", "xy", "Z"):
    case(
        f"Rotation from_euler {_seq}",
        (R2[:, : len(_seq)],),
        lambda m, a, seq=_seq: (
            m.transform.Rotation.from_euler(seq, a).as_quat(),
            m.transform.Rotation.from_euler(seq, a[0], degrees=True).as_quat(),
        ),
    )
for _seq in ("xyz", "zyx", "yxz", "ZYX", "XZY", "zxz", "YXY", "XZX"):
    case(
        f"Rotation as_euler {_seq}",
        (R2,),
        lambda m, r, seq=_seq: (
            turn(m, r).as_euler(seq), turn(m, r[0]).as_euler(seq, degrees=True)
        ),
    )  # fmt: skip
AXES = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0], [0.8, -0.6, 0.0]])
TILTED = np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0], [0.6, 0.8, 0.0]])
for _order in ("e", "intrinsic"):
    for _name, _axes in (("", AXES), (" of equal axes", TILTED)):
        case(
            f"Rotation davenport {_order}{_name}",
            (R2,),
            lambda m, r, order=_order, axes=_axes: (
                m.transform.Rotation.from_davenport(axes, order, r).as_quat(),
                turn(m, r).as_davenport(axes, order),
            ),
        )
case(
    "Rotation davenport in the axis",
    (R1, P[:2]),
    lambda m, n, a: (
        m.transform.Rotation.from_davenport(n, "e", a[0, :1]).as_quat() * 1.0,
        m.transform.Rotation.from_davenport(
            n, "i", a[:, :1] * 50.0, degrees=True
        ).as_quat(),
    ),
)
case(
    "Rotation apply",
    (R1, R2, P),
    lambda m, r, s, v: (
        turn(m, r).apply(v),
        turn(m, s).apply(v, inverse=True),
        turn(m, s).apply(v[0]),
        turn(m, r).apply(v[1]),
    ),
)
case(
    "Rotation products",
    (R1, R2),
    lambda m, r, s: (
        (turn(m, r) * turn(m, s)).as_quat(),
        (turn(m, s) * turn(m, s[np.array([2, 1, 0])]).inv()).as_matrix(),
        (turn(m, r) * turn(m, s[0])).as_rotvec(),
    ),
)
case(
    "Rotation products with constants",
    (R1, R2),
    lambda m, r, s: (
        (m.transform.Rotation.from_rotvec(P) * turn(m, r)).as_quat(),
        (turn(m, s) * m.transform.Rotation.from_rotvec(P[0])).as_matrix(),
        m.transform.Rotation.from_rotvec(P).apply(s),
    ),
)
case(
    "Rotation powers",
    (R2, 1.7),
    lambda m, r, n: (
        (turn(m, r) ** 0.5).as_quat(),
        # SciPy 1.15 rounds exponents to single precision.
        (turn(m, r) ** n).as_quat() if HAS_RIGID else n,
        (turn(m, P) ** (n - 2.0)).as_quat() if HAS_RIGID else n,
    ),
)
case(
    "Rotation whole powers",
    (Q2,),
    lambda m, q: tuple(
        (m.transform.Rotation.from_quat(q) ** n).as_quat() for n in (-2, -1, 0, 1, 2)
    ),
)
case(
    "Rotation mean",
    (R2, WEIGHTS),
    lambda m, r, w: (
        turn(m, r).mean().as_matrix(),
        turn(m, r).mean(w).as_matrix(),
        m.transform.Rotation.from_rotvec(P).mean(w).as_rotvec(),
    ),
)
case(
    "Rotation align_vectors",
    (P, R2, WEIGHTS),
    lambda m, a, b, w: (
        m.transform.Rotation.align_vectors(a, b)[0].as_quat()
        + 0.0 * m.transform.Rotation.align_vectors(a, b)[1]
    ),
)
case(
    "Rotation align_vectors weighted",
    (P, R2, WEIGHTS),
    lambda m, a, b, w: (
        m.transform.Rotation.align_vectors(a, b, w)[0].as_matrix(),
        *m.transform.Rotation.align_vectors(a, b, w, True)[1:],
    ),
)
case(
    "Rotation align_vectors of one",
    (P, R2),
    lambda m, a, b: (
        m.transform.Rotation.align_vectors(a[0], b[0])[0].as_quat(),
        m.transform.Rotation.align_vectors(a[0], b[0])[1],
    ),
)
case(
    "Rotation align_vectors exactly",
    (P, R2),
    lambda m, a, b: (
        m.transform.Rotation.align_vectors(a, b, [1.0, np.inf, 2.0])[0].as_matrix(),
        m.transform.Rotation.align_vectors(a, b, [1.0, np.inf, 2.0])[1],
    ),
)
case(
    "Rotation sequence",
    (R1, R2),
    lambda m, r, s: (
        m.transform.Rotation.concatenate([turn(m, r), turn(m, s)]).as_quat(),
        turn(m, s)[1:].as_matrix(),
        turn(m, s)[1].as_rotvec(),
        sum(part.as_rotvec() for part in turn(m, s)),
    ),
)


def _set(m, r, s):
    rotations = m.transform.Rotation.concatenate([turn(m, s), turn(m, r)])
    rotations[1] = turn(m, 2.0 * r)
    return rotations.as_matrix()


case("Rotation set", (R1, R2), _set)


def _reduced(m, r):
    group = m.transform.Rotation.create_group("O")
    return turn(m, r).reduce(group).as_quat(), turn(m, r).reduce(right=group).as_quat()


case("Rotation reduce", (R2,), _reduced)

# rigid transforms
SCREW = np.array([0.3, -0.2, 0.4, 1.0, 0.5, -0.7])
SCREWS = np.stack([SCREW, 0.7 * SCREW[::-1], SCREW**2])
DUAL = np.array([0.3, -0.2, 0.4, 0.6, 1.0, 2.0, -0.5, -0.7])


def screw(m, x):
    return m.transform.RigidTransform.from_exp_coords(x)


RIGID: dict[str, Any] = {
    "from components": (
        (R1, P[0], P),
        lambda m, r, t, s: (
            m.transform.RigidTransform.from_components(t, turn(m, r)).as_matrix(),
            m.transform.RigidTransform.from_translation(s).as_matrix(),
            m.transform.RigidTransform.from_rotation(turn(m, s)).as_matrix(),
        ),
    ),
    "from matrix": (
        (VI, P[0]),
        lambda m, a, t: m.transform.RigidTransform.from_matrix(
            bordered(a, t)
        ).as_matrix(),
    ),
    "screws": (
        (SCREW, SCREWS),
        lambda m, x, y: (
            screw(m, x).as_matrix(),
            screw(m, y).as_exp_coords(),
            screw(m, y).translation,
        ),
    ),
    "dual quaternions": (
        (DUAL, SCREWS),
        lambda m, d, x: (
            m.transform.RigidTransform.from_dual_quat(d).as_matrix(),
            m.transform.RigidTransform.from_dual_quat(
                d, scalar_first=True
            ).as_dual_quat(),
            screw(m, x).as_dual_quat(scalar_first=True),
        ),
    ),
    "algebra": (
        (SCREW, SCREWS, P),
        lambda m, x, y, v: (
            (screw(m, x) * screw(m, y)).as_matrix(),
            (screw(m, y).inv() * screw(m, x)).as_exp_coords(),
            screw(m, y).apply(v),
            screw(m, x).apply(v[0], inverse=True),
            screw(m, y).rotation.as_quat(),
        ),
    ),
    "powers": (
        (SCREWS, 1.7),
        lambda m, y, n: (
            n * (screw(m, y) ** 0.5).as_matrix(),
            (screw(m, y[0]) ** -1).as_matrix(),
            (screw(m, y) ** 3).as_matrix(),
        ),
    ),
    "sequence": (
        (SCREW, SCREWS),
        lambda m, x, y: (
            m.transform.RigidTransform.concatenate([screw(m, x), screw(m, y)])
            .as_matrix(),
            screw(m, y)[1:].as_matrix(),
            sum(t.as_matrix() for t in screw(m, y)),
        ),
    ),
}  # fmt: skip


def bordered(a, t):
    xp = rc.array_namespace(a, t)
    top = xp.concat([a, t[:, None]], axis=1)
    return xp.concat([top, 0.0 * top[:1] + xp.eye(4)[3]])


if HAS_RIGID:
    for _name, (_args, _f) in RIGID.items():
        case(f"RigidTransform {_name}", _args, _f)
    if hasattr(scipy.spatial.transform.RigidTransform, "mean"):
        case(
            "RigidTransform mean",
            (SCREWS, WEIGHTS),
            lambda m, x, w: (
                screw(m, x).mean().as_matrix(), screw(m, x).mean(w).as_matrix()
            ),
        )  # fmt: skip

# curves
TIMES = np.array([0.0, 1.0, 2.5])
AT = np.array([0.3, 0.9, 1.6, 2.4])
case(
    "Slerp",
    (TIMES, R2, AT),
    lambda m, t, r, x: (
        m.transform.Slerp(t, turn(m, r))(x).as_quat(),
        m.transform.Slerp(t, turn(m, r))(x[1]).as_rotvec(),
    ),
)
case(
    "Slerp attributes",
    (TIMES, R2),
    lambda m, t, r: (
        m.transform.Slerp(t, turn(m, r)).rotvecs,
        m.transform.Slerp(t, turn(m, r)).timedelta,
    ),
)
CURVE = np.array([[0.3, -0.2, 0.4], [0.5, 0.1, 0.4], [0.9, 0.1, -0.2], [0.2, 0.2, 0.1]])
for _n in (2, 3, 4):
    case(
        f"RotationSpline of {_n}",
        (np.append(TIMES, 3.0)[:_n], CURVE[:_n], AT[:2]),
        lambda m, t, r, x: (
            m.transform.RotationSpline(t, turn(m, r))(x).as_quat(),
            m.transform.RotationSpline(t, turn(m, r))(x, 1),
            m.transform.RotationSpline(t, turn(m, r))(x[0], 2),
        ),
    )

# hulls and meshes
FLAT = RNG.normal(size=(8, 2))
SOLID = RNG.normal(size=(9, 3))
WIDE = RNG.normal(size=(8, 4))
PLACES = FLAT.mean(0) + 0.2 * RNG.normal(size=(3, 2))
for _name, _points in (("2", FLAT), ("3", SOLID), ("4", WIDE)):
    case(
        f"ConvexHull in {_name}",
        (_points,),
        lambda m, x: (m.ConvexHull(x).volume, m.ConvexHull(x).area),
    )
    case(
        f"ConvexHull equations in {_name}",
        (_points,),
        lambda m, x: (m.ConvexHull(x).equations, m.ConvexHull(x).min_bound),
        numpy=True,
    )


def _weights(m, x, q):
    mesh = m.Delaunay(x)
    i = mesh.find_simplex(q)
    t = mesh.transform[i]
    b = np.einsum("nij,nj->ni", t[:, :-1], q - t[:, -1])
    return b, mesh.points[mesh.simplices[i]].sum(1)


case("Delaunay weights", (FLAT, PLACES), _weights, numpy=True)
case(
    "Delaunay transform",
    (SOLID,),
    lambda m, x: m.Delaunay(x).transform / 10.0,
    numpy=True,
)
case(
    "Voronoi vertices",
    (FLAT, SOLID),
    lambda m, x, y: (m.Voronoi(x).vertices / 3.0, m.Voronoi(y).vertices / 9.0),
    numpy=True,
)
HALVES = np.array(
    [[-1.0, 0.1, 0], [0.0, -1.0, 0.1], [2.0, 1.0, -4.0], [-0.5, 1.0, -2.0]]
)
case(
    "HalfspaceIntersection",
    (HALVES, [0.5, 0.5]),
    lambda m, h, x: (
        m.HalfspaceIntersection(h, x).intersections,
        m.HalfspaceIntersection(h, x).dual_points,
    ),
    numpy=True,
)
BALL = SOLID / np.linalg.norm(SOLID, axis=1, keepdims=True)
RING = FLAT / np.linalg.norm(FLAT, axis=1, keepdims=True)


def _sphere(m, x, radius, center):
    mesh = m.SphericalVoronoi(radius * x + center, radius, center, threshold=1e-3)
    return mesh.vertices, mesh.calculate_areas()


for _name, _points in (("sphere", BALL), ("circle", RING)):
    case(
        f"SphericalVoronoi of a {_name}",
        (_points, 1.3, 0.1 * np.arange(_points.shape[1])),
        _sphere,
        numpy=True,
    )

# trees
for _name in ("KDTree", "cKDTree"):
    for _p in (1, 2, 3, np.inf):
        case(
            f"{_name} query {_p}",
            (SOLID, P),
            lambda m, x, q, name=_name, p=_p: (
                getattr(m, name)(x).query(q, k=3, p=p)[0],
                getattr(m, name)(x).query(q[0], p=p)[0],
            ),
        )
case(
    "KDTree far",
    (SOLID, P),
    lambda m, x, q: (
        np.nan_to_num(m.KDTree(x).query(q, k=[2, 4])[0], posinf=0.0),
        m.KDTree(x).query(q, k=1)[0],
        np.where(
            np.isinf(m.KDTree(x).query(q, k=5, distance_upper_bound=1.0)[0]),
            0.0,
            m.KDTree(x).query(q, k=5, distance_upper_bound=1.0)[0],
        ),
    ),
    numpy=True,
)
case(
    "KDTree periodic",
    (A, B),
    lambda m, x, q: m.KDTree(x, boxsize=[1.0, 1.0, 2.0]).query(q, k=2)[0],
)
case(
    "KDTree matrix",
    (SOLID, P),
    lambda m, x, y: (
        m.KDTree(x)
        .sparse_distance_matrix(m.KDTree(y), 2.0, output_type="coo_matrix")
        .toarray(),
        m.KDTree(x).count_neighbors(m.KDTree(y), 2.0) * x[0],
    ),
    numpy=True,
)


def _counts(m, w, v):
    tree, other = m.KDTree(P), m.KDTree(SOLID)
    apart = [0.1, 0.5, 3.0]
    return (
        other.count_neighbors(tree, 2.0, weights=(v, w)),
        tree.count_neighbors(tree, apart, weights=w, cumulative=False),
    )


case("KDTree counts", (WEIGHTS, np.arange(9.0)), _counts, numpy=True)
case(
    "KDTree of constants",
    (P,),
    lambda m, q: (
        m.KDTree(SOLID).query(q, k=2)[0],
        m.cKDTree(SOLID).query(q)[0],
        len(m.KDTree(SOLID).query_ball_point(q, 2.0)[0]) * q,
    ),
    numpy=True,
)

# shapes
case(
    "distance_matrix",
    (A, B),
    lambda m, x, y: (
        m.distance_matrix(x, y),
        m.distance_matrix(x, y, 1),
        m.distance_matrix(x, y, 3.5),
    ),
)
case(
    "minkowski_distance",
    (A, B),
    lambda m, x, y: (
        m.minkowski_distance(x[:3], y),
        m.minkowski_distance_p(x[:3], y[0], 3),
        m.minkowski_distance(x[0], y, np.inf),
        m.minkowski_distance(x[:3], y, 2.5),
    ),
)
case(
    "Rectangle",
    ([1.0, 2.0, 3.0], [0.2, 0.1, -0.3], P * 3.0, 0.7),
    lambda m, a, b, x, cut: (
        m.Rectangle(a, b).volume(),
        m.Rectangle(b, a).min_distance_point(x[0]),
        m.Rectangle(a, b).max_distance_point(x[0], 3.0),
        m.Rectangle(a, b).split(0, cut)[1].volume(),
        m.Rectangle(a, b).min_distance_rectangle(m.Rectangle(a + 2.0, 3.0 + a * b), 1),
        m.Rectangle(a, b).max_distance_rectangle(m.Rectangle(a + 2.0, 3.0 + a * b)),
        m.Rectangle(a, b).maxes,
    ),
)
case("procrustes", (A, RNG.normal(size=(4, 3))), lambda m, a, b: m.procrustes(a, b))
case(
    "geometric_slerp",
    ([0.4, -0.3, 0.2], [0.1, 0.2, 0.7], AT / 2.0),
    lambda m, a, b, t: (
        m.geometric_slerp(unit(a), unit(b), t / 1.3),
        m.geometric_slerp(unit(b), unit(a), t[1]),
    ),
)


def unit(x):
    return x / (x * x).sum() ** 0.5
