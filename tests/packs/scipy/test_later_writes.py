"""Objects whose arrays are written to afterwards: SciPy's numbers and derivatives."""

import numpy as np
import pytest
import scipy.interpolate as si
import scipy.signal as ss
import scipy.spatial as sp
import scipy.stats as st
from scipy.spatial.transform import Rotation, Slerp

from rules_autodiff import grad, jvp

from .calls import difference

RNG = np.random.default_rng(0)
P, Y = RNG.normal(size=(8, 2)), RNG.normal(size=9)
Q = np.array([0.5, 0.6])
X, G = np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 6)
COV = np.array([[2.0, 0.3], [0.3, 1.0]])
HALVES = np.array([[-1.0, 0, 0], [0, -1.0, 0], [1.0, 2.0, -4.0], [1.0, 1.0, -3.0]])
QUATERNIONS = Rotation.from_rotvec(RNG.normal(size=(4, 3))).as_quat()
total = lambda x: np.sum(np.cos(x))


def sphere(a):
    points = a / np.sqrt(np.sum(a * a, axis=1, keepdims=True))
    return sp.SphericalVoronoi(points), points


# A class, what is read of the object, and the arrays.
OBJECTS = {
    "ConvexHull": (sp.ConvexHull, lambda h: h.volume * h.area, [P]),
    "ConvexHull.equations": (sp.ConvexHull, lambda h: total(h.equations), [P]),
    "ConvexHull.points": (sp.ConvexHull, lambda h: total(h.points), [P]),
    "ConvexHull.min_bound": (sp.ConvexHull, lambda h: total(h.min_bound), [P]),
    "Delaunay": (sp.Delaunay, lambda h: total(h.transform), [P]),
    "Voronoi": (sp.Voronoi, lambda h: total(h.vertices), [P]),
    "HalfspaceIntersection": (
        sp.HalfspaceIntersection,
        lambda h: total(h.intersections) + total(h.dual_points),
        [HALVES, Q],
    ),
    "KDTree": (sp.KDTree, lambda h: total(h.query(Q, 3)[0]), [P]),
    "KDTree of a copy": (
        lambda a: sp.KDTree(a, copy_data=True),
        lambda h: total(h.query(Q, 3)[0]),
        [P],
    ),
    "cKDTree of columns": (
        lambda a: sp.cKDTree(a.T),
        lambda h: total(h.query(Q, 3)[0]) + total(h.data),
        [np.ascontiguousarray(P.T)],
    ),
    "KDTree.maxes": (sp.KDTree, lambda h: total(h.maxes) * h.mins[0], [P]),
    "Slerp": (
        lambda t, q: Slerp(t, Rotation.from_quat(q)),
        lambda h: total(h(0.6).as_quat()) + total(h.times),
        [np.array([0.0, 1.0, 2.0, 3.5]), QUATERNIONS],
    ),
    "lti": (
        ss.lti,
        lambda h: total(h.bode([1.0, 2.0])[1]) + total(h.num) * h.den[1],
        [np.array([1.0, 2.0]), np.array([2.0, 0.9, 0.3])],
    ),
    "TransferFunction": (
        lambda b, a: ss.TransferFunction(b, a, dt=0.1),
        lambda h: total(h.step(n=4)[1][0]),
        [np.array([1.0, 2.0]), np.array([2.0, 0.9, 0.3])],
    ),
    "ZerosPolesGain": (
        lambda z, p: ss.ZerosPolesGain(z, p, 2.0),
        lambda h: total(h.bode([1.0, 2.0])[1]),
        [np.array([-1.0]), np.array([-1.0, -0.9])],
    ),
    "CubicSpline": (si.CubicSpline, lambda h: h(0.33) + total(h.x), [X, Y]),
    "PchipInterpolator": (si.PchipInterpolator, lambda h: h(0.33), [X, Y]),
    "Akima1DInterpolator": (si.Akima1DInterpolator, lambda h: h(0.33), [X, Y]),
    "CubicHermiteSpline": (si.CubicHermiteSpline, lambda h: h(0.33), [X, Y, Y**2]),
    "PPoly": (si.PPoly, lambda h: h(0.33), [RNG.normal(size=(3, 8)), X]),
    "interp1d": (si.interp1d, lambda h: h(0.33), [X, Y]),
    "NdBSpline": (
        lambda t, c: si.NdBSpline((t, t), c, 3),
        lambda h: h([[0.43, 0.44]])[0],
        [X, RNG.normal(size=(5, 5))],
    ),
    "RegularGridInterpolator": (
        lambda x, z: si.RegularGridInterpolator((x, x), z),
        lambda h: h([[0.33, 0.44]])[0],
        [G, RNG.normal(size=(6, 6))],
    ),
    "multivariate_normal": (
        st.multivariate_normal,
        lambda h: h.logpdf([0.3, 0.2]) * h.entropy() + total(h.cov),
        [Q, COV],
    ),
    "multivariate_t": (
        st.multivariate_t,
        lambda h: h.logpdf([0.3, 0.2]) * h.entropy(),
        [Q, COV],
    ),
    "wishart": (lambda c: st.wishart(3, c), lambda h: h.logpdf(np.eye(2)), [COV]),
    "wishart.mean": (lambda c: st.wishart(3, c), lambda h: total(h.mean()), [COV]),
    "matrix_normal": (
        st.matrix_normal,
        lambda h: h.logpdf(np.eye(2)),
        [P[:2], COV, COV],
    ),
    "multinomial": (
        lambda p: st.multinomial(3, p),
        lambda h: h.logpmf([1, 1, 1]) + total(h.cov()),
        [np.array([0.2, 0.3, 0.5])],
    ),
}
EVERYDAY = {"ConvexHull", "KDTree", "lti", "CubicSpline", "multivariate_normal"}


@pytest.mark.filterwarnings("ignore:Some rows of `p`")
@pytest.mark.parametrize(
    ("name", "written"),
    [
        pytest.param(name, i, marks=() if name in EVERYDAY else pytest.mark.full)
        for name, (_, _, arrays) in OBJECTS.items()
        for i in range(len(arrays))
    ],
)
def test_writes_after_construction_are_seen_as_scipy_sees_them(name, written):
    make, read, arrays = OBJECTS[name]

    def f(*xs):
        own = [x.copy() for x in xs]
        made = make(*own)
        x = own[written]
        x *= 1.0 + 0.2 * np.cos(np.arange(x.size)).reshape(x.shape)
        return read(made)

    along = [0.1 * np.random.default_rng(5).normal(size=x.shape) for x in arrays]
    expected = difference(f, arrays, along, 1e-4)
    y, dy = jvp(f, tuple(arrays), tuple(along))
    assert float(y) == pytest.approx(float(f(*arrays)), rel=1e-7)
    assert float(dy) == pytest.approx(float(expected), rel=1e-5, abs=1e-8)
    found = grad(f, argnums=tuple(range(len(arrays))))(*arrays)
    dots = sum(np.sum(g * v) for g, v in zip(found, along, strict=True))
    assert dots == pytest.approx(float(expected), rel=1e-5, abs=1e-8)


def test_a_spherical_mesh_copies_its_points():
    def f(a):
        mesh, points = sphere(a)
        points *= 1.3
        return total(mesh.calculate_areas()) + total(mesh.vertices)

    a = RNG.normal(size=(8, 3))
    v = RNG.normal(size=(8, 3))
    assert jvp(f, (a,), (v,))[1] == pytest.approx(difference(f, [a], [v]), rel=1e-5)


def test_a_spline_on_a_grid_is_solved_for_once():
    def f(z, later):
        made = si.RegularGridInterpolator((G, G), z, method="cubic")
        if later:
            z *= 1.3
        return made([[0.33, 0.44]])[0]

    z = RNG.normal(size=(6, 6))
    once = grad(lambda z: f(z.copy(), False))(z)
    np.testing.assert_allclose(grad(lambda z: f(z.copy(), True))(z), once)


def test_tensors_of_a_hull_may_be_written_to():
    torch = pytest.importorskip("torch")
    from rules_scipy.spatial import ConvexHull

    x = torch.tensor(P, requires_grad=True)
    own = x * 1.0
    hull = ConvexHull(own)
    own.mul_(2.0)
    hull.volume.backward()
    expected = grad(lambda x: sp.ConvexHull(x).volume)(P)
    np.testing.assert_allclose(x.grad.numpy(), expected)
