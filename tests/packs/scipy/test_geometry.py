"""Distances, hulls, meshes and trees at kinks and ties, as objects, and in errors."""

import pickle
from operator import attrgetter

import numpy as np
import pytest
import scipy.spatial as sp
from scipy.spatial.distance import cdist, pdist

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, hessian, jvp
from rules_scipy import spatial as own
from rules_scipy.spatial.distance import cdist as own_cdist

from .calls import assert_near, difference

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 2))
Y = RNG.normal(size=(6, 2))
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])

# kinks of distances

SMOOTH_ELSEWHERE = (
    "euclidean minkowski seuclidean mahalanobis cityblock chebyshev braycurtis "
    "canberra jensenshannon"
).split()


@pytest.mark.parametrize("metric", SMOOTH_ELSEWHERE)
def test_equal_vectors_have_derivative_zero_at_every_order(metric):
    u = np.array([0.2, 0.5, 0.7])
    options = {"seuclidean": {"V": u}, "mahalanobis": {"VI": np.eye(3)}}.get(metric, {})
    f = lambda v: cdist(u[None], v[None], metric, **options)[0, 0]
    np.testing.assert_allclose(grad(f)(u), 0.0, atol=1e-12)
    np.testing.assert_allclose(hessian(f)(u), 0.0, atol=1e-12)


def test_kinks_are_alike_in_jax():
    jax = pytest.importorskip("jax")
    u = np.array([0.2, 0.5, 0.7])
    for metric in ("euclidean", "cityblock", "chebyshev", "canberra"):
        f = lambda v, metric=metric: own_cdist(u[None], v[None], metric)[0, 0]
        np.testing.assert_array_equal(jax.grad(f)(u), 0.0)


def test_a_table_of_a_set_with_itself_has_a_finite_hessian():
    """On the diagonal the distance is constant."""
    loss = lambda x: np.exp(-cdist(x, x)).sum()
    expected = difference(grad(loss), [X], [Y], 1e-4)
    assert_near(jvp(grad(loss), (X,), (Y,))[1], expected, 1e-5)


def test_equal_largest_entries_share():
    f = lambda u: sp.distance.chebyshev(u, np.zeros(3))
    np.testing.assert_array_equal(grad(f)(np.array([1.0, -1.0, 0.5])), [0.5, -0.5, 0])


def test_the_second_derivative_of_an_order_below_two_is_infinite():
    f = lambda u: sp.distance.minkowski(u, np.array([0.0, 1.0]), 1.5)
    assert np.isfinite(grad(f)(np.zeros(2))).all()
    second = hessian(f)(np.zeros(2))
    assert second[0, 0] == np.inf
    assert np.isfinite(second[1]).all()


def test_the_rounding_to_zero_of_equal_directions_is_no_kink():
    """SciPy clips the value; its second derivative is not zero there."""
    u = np.array([0.3, 0.4, 0.5])
    f = lambda v: sp.distance.cosine(u, v)
    along = np.array([1.0, -0.5, 0.2])
    expected = difference(lambda v: grad(f)(v) @ along, [3.0 * u], [along], 1e-4)
    assert_near(along @ hessian(f)(3.0 * u) @ along, expected, 1e-5)
    assert expected > 1e-3


def test_zero_vectors_have_no_direction():
    with np.errstate(all="ignore"):
        slope = grad(lambda u: cdist(u[None], X[:1], "cosine")[0, 0])(np.zeros(2))
    assert np.isnan(slope).all()


def test_entries_that_are_zero_in_both_are_left_out():
    u, v = np.array([0.0, 1.0]), np.array([0.0, 3.0])
    f = lambda u: sp.distance.canberra(u, v)
    np.testing.assert_allclose(grad(f)(u), [0.0, -6.0 / 16.0])


def test_probabilities_at_zero():
    """Infinite in an entry that is zero in one, one-sided if it is in both."""
    p, q = np.array([0.0, 0.5, 0.5, 0.0]), np.array([0.3, 0.3, 0.4, 0.0])
    with np.errstate(divide="ignore"):
        slope = grad(lambda p: sp.distance.jensenshannon(p, q))(p)
    f = lambda h, i: sp.distance.jensenshannon(p + h * np.eye(4)[i], q)
    assert slope[0] == -np.inf
    for i in (1, 2):
        assert slope[i] == pytest.approx((f(1e-6, i) - f(-1e-6, i)) / 2e-6, rel=1e-6)
    assert slope[3] == pytest.approx((f(1e-7, 3) - f(0.0, 3)) / 1e-7, rel=1e-5)


def test_the_variances_of_the_data_have_their_part():
    f = lambda x: pdist(x, "seuclidean").sum() + pdist(x, "mahalanobis").sum()
    assert_near(np.sum(grad(f)(X) * Y), difference(f, [X], [Y]))


@pytest.mark.parametrize("metric", ["nothing", 3])
def test_unknown_metrics_are_scipys_errors(metric):
    with pytest.raises((ValueError, TypeError), match=r"Metric|metric"):
        grad(lambda x: pdist(x, metric).sum())(X)


def test_complex_vectors_are_refused():
    with pytest.raises(rc.UnsupportedError, match="real arrays only"):
        grad(lambda x: abs(sp.distance.euclidean(x * (1 + 1j), x)))(X[0])


# hulls and meshes


def test_a_square_has_the_derivative_of_qhulls_facets():
    f = lambda x: sp.ConvexHull(x).volume
    np.testing.assert_allclose(np.sum(grad(f)(SQUARE) * SQUARE), 2.0)
    np.testing.assert_allclose(grad(f)(SQUARE).sum(0), 0.0, atol=1e-15)


def test_coplanar_facets_are_counted_once():
    cube = np.stack(np.meshgrid([0, 1.0], [0, 1.0], [0, 1.0]), -1).reshape(-1, 3)
    f = lambda x: sp.ConvexHull(x).volume
    g = lambda x: sp.ConvexHull(x).area
    assert np.sum(grad(f)(cube) * cube) == pytest.approx(3.0)
    assert np.sum(grad(g)(cube) * cube) == pytest.approx(12.0)


def test_more_points_may_be_added():
    def program(x, y):
        hull = sp.ConvexHull(x, incremental=True)
        hull.add_points(y)
        return hull.volume + hull.points.sum()

    expected = difference(program, [X, Y], [Y, X])
    slopes = grad(program, (0, 1))(X, Y)
    assert_near(np.sum(slopes[0] * Y) + np.sum(slopes[1] * X), expected)


def test_regions_of_a_grid_have_no_corners_with_a_derivative():
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), -1).reshape(-1, 2)
    with pytest.raises(rc.UnsupportedError, match="more regions than needed"):
        grad(lambda x: sp.Voronoi(x).vertices.sum())(grid)


MISSING = {
    "Delaunay.equations": lambda x: sp.Delaunay(x).equations.sum(),
    "Delaunay.lift_points": lambda x: sp.Delaunay(x).lift_points(x).sum(),
    "Delaunay.paraboloid_scale": lambda x: sp.Delaunay(x).paraboloid_scale,
}


@pytest.mark.parametrize("name", MISSING)
def test_fields_without_a_rule_are_refused(name):
    assert np.isfinite(MISSING[name](X))
    with pytest.raises(rc.UnsupportedError, match=f"{name} has no rule"):
        grad(MISSING[name])(X)


def weight(module, x, q):
    mesh = module.Delaunay(x)
    t = mesh.transform[mesh.find_simplex(q)]
    return ((t[:2] @ (q - t[2])) ** 2).sum()


@pytest.mark.full
def test_eager_gradients_of_frameworks_know_the_mesh():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    q = X.mean(0)
    expected = grad(lambda x: weight(sp, x, q))(X)
    np.testing.assert_allclose(jax.grad(lambda x: weight(own, x, q))(X), expected)
    x = torch.tensor(X, requires_grad=True)
    weight(own, x, torch.tensor(q)).backward()
    np.testing.assert_allclose(x.grad, expected)


TRACED = {
    "Delaunay.simplices": lambda x: own.Delaunay(x).transform.sum(),
    "ConvexHull.simplices": lambda x: own.ConvexHull(x).equations.sum(),
    "Voronoi": lambda x: own.Voronoi(x).vertices.sum(),
    "KDTree.query_ball_point": lambda x: own.KDTree(x).query_ball_point(X, 0.5),
}


@pytest.mark.full
@pytest.mark.parametrize("name", TRACED)
def test_sizes_that_are_not_known_are_refused(name):
    jax = pytest.importorskip("jax")
    with pytest.raises(rc.UnsupportedError, match=f"{name}.* outside of jit"):
        jax.jit(TRACED[name])(X)


# trees


def test_neighbours_that_are_equally_near_have_scipys_choice():
    f = lambda q: sp.KDTree(SQUARE).query(q)[0]
    q = np.array([0.5, 0.5])
    found = grad(f)(q)
    corner = SQUARE[sp.KDTree(SQUARE).query(q)[1]]
    np.testing.assert_allclose(found, (q - corner) / np.linalg.norm(q - corner))


def test_where_there_is_no_neighbour_the_distance_is_infinite_and_constant():
    def near(x):
        d, i = sp.KDTree(x).query(x[:2], k=4, distance_upper_bound=1.5)
        return d, i

    d, i = near(X)
    assert np.isinf(d).any()
    total = lambda x: np.where(np.isinf(near(x)[0]), 0.0, near(x)[0]).sum()
    assert_near(np.sum(grad(total)(X) * Y), difference(total, [X], [Y]))
    mine = own.KDTree(X).query(X[:2], k=4, distance_upper_bound=1.5)
    np.testing.assert_allclose(mine[0], d)
    np.testing.assert_array_equal(mine[1], i)


def test_a_trees_fields_carry_the_derivative():
    def program(x):
        tree = sp.cKDTree(x)
        assert tree.n == 6
        assert tree.m == 2
        return tree.data[0].sum() + tree.maxes[0] + tree.mins @ np.ones(2)

    assert_near(np.sum(grad(program)(X) * Y), difference(program, [X], [Y]))


def test_trees_in_c_see_the_numbers_of_this_packs_trees():
    def program(x):
        tree, other = sp.KDTree(x), sp.KDTree(SQUARE)
        near = other.query_ball_tree(tree, 1.0)
        return sum(x[i].sum() for row in near for i in row)

    assert_near(np.sum(grad(program)(X) * Y), difference(program, [X], [Y]))


OBJECTS = {
    "tree": lambda x: own.KDTree(x),
    "hull": lambda x: own.ConvexHull(x),
    "mesh": lambda x: own.Delaunay(x),
    "regions": lambda x: own.Voronoi(x),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_pickles(name):
    made = OBJECTS[name](X)
    again = pickle.loads(pickle.dumps(made))
    points = "data" if name == "tree" else "points"
    np.testing.assert_array_equal(getattr(again, points), X)
    with pytest.raises(UnsupportedProgram):
        grad(lambda x: len(pickle.dumps(OBJECTS[name](x))) * x.sum())(X)


# Fields that SciPy's instances may keep: they hold no number with a derivative.
HARMLESS = frozenset({
    "MAX_ITER", "TOL", "leafsize", "node", "innernode", "leafnode", "furthest_site",
    "interior_point", "m", "maxes", "mins", "times", "timedelta", "rotations",
    "rotvecs", "interpolator", "points", "radius", "center",
})  # fmt: skip
INSTANCES = {
    "ConvexHull": sp.ConvexHull(X),
    "Delaunay": sp.Delaunay(X),
    "Voronoi": sp.Voronoi(X),
    "HalfspaceIntersection": sp.HalfspaceIntersection(
        np.array([[-1.0, 0, 0], [0, -1, 0], [1, 2, -4]]), np.array([0.5, 0.5])
    ),
    "SphericalVoronoi": sp.SphericalVoronoi(np.vstack([np.eye(3), -np.eye(3)[0]])),
    "KDTree": sp.KDTree(X),
    "cKDTree": sp.cKDTree(X),
    "Rectangle": sp.Rectangle(X[0], X[1]),
    "transform.Rotation": sp.transform.Rotation.identity(2),
    "transform.Slerp": sp.transform.Slerp([0, 1], sp.transform.Rotation.identity(2)),
    "transform.RotationSpline": sp.transform.RotationSpline(
        [0, 1], sp.transform.Rotation.identity(2)
    ),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_everything_that_scipys_objects_have_is_this_packs(name):
    """What came from SciPy's class would be a number without its derivative."""
    cls = attrgetter(name)(own)
    classes = [c for c in cls.__mro__ if c.__module__.startswith("rules_scipy")]
    mine = {key for c in classes for key in vars(c)}
    theirs = {key for key in dir(INSTANCES[name]) if not key.startswith("_")}
    assert theirs - mine <= HARMLESS


# arcs


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-4, 0.3])
def test_arcs_are_exact_for_near_ends(gap):
    """On a circle: the derivative in the angle of the end is t times the tangent."""
    point = lambda a: np.stack([np.cos(a), np.sin(a)])
    f = lambda a: own.geometric_slerp(point(0.2), point(a), 0.3)
    angle = 0.2 + 0.3 * gap
    slope = jvp(f, (0.2 + gap,), (1.0,))[1]
    np.testing.assert_allclose(slope, 0.3 * np.array([-np.sin(angle), np.cos(angle)]))
    second = jvp(lambda a: jvp(f, (a,), (1.0,))[1], (0.2 + gap,), (1.0,))[1]
    np.testing.assert_allclose(second, -0.09 * point(angle), rtol=1e-7)
