"""What `type` tells of objects inside a derivative: what it tells in the program."""

import numpy as np
import pytest
import scipy.integrate
import scipy.interpolate as si
import scipy.signal
import scipy.sparse as sp
import scipy.spatial as space
import scipy.stats as st

from rules_autodiff import grad, jvp, value_and_grad

X = np.linspace(0.0, 1.0, 8)
T = np.array([0.0, 0.0, 0.0, 0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 1.0])
R = space.transform.Rotation
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def wave(a):
    return np.sin(3 * X) * a


def decay(a, **options):
    return scipy.integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0], **options)


OBJECTS = {
    "hermite": lambda a: si.CubicHermiteSpline(X, wave(a), wave(a)),
    "cubic": lambda a: si.CubicSpline(X, wave(a)),
    "its derivative": lambda a: si.CubicSpline(X, wave(a)).derivative(),
    "pchip": lambda a: si.PchipInterpolator(X, wave(a)),
    "akima": lambda a: si.Akima1DInterpolator(X, wave(a)),
    "pieces": lambda a: si.PPoly(np.ones((3, 7)) * a, X),
    "of a spline": lambda a: si.PPoly.from_spline(si.make_interp_spline(X, wave(a))),
    "bernstein": lambda a: si.BPoly(np.ones((3, 7)) * a, X),
    "basis": lambda a: si.BSpline(T, np.ones(6) * a, 3),
    "through data": lambda a: si.make_interp_spline(X, wave(a)),
    "line": lambda a: si.interp1d(X, wave(a)),
    "fitpack": lambda a: si.InterpolatedUnivariateSpline(X, wave(a)),
    "changed": lambda a: si.UnivariateSpline(X, wave(a), s=0),
    "changed to least squares": lambda a: si.UnivariateSpline(X, wave(a), s=1e3),
    "least squares": lambda a: si.LSQUnivariateSpline(X, wave(a), [0.5]),
    "surface": lambda a: si.RectBivariateSpline(X, X, np.outer(wave(a), X)),
    "splines": lambda a: si.NdBSpline((T,), np.ones(6) * a, 3),
    "pieces of n": lambda a: si.NdPPoly(np.ones((3, 7)) * a, (X,)),
    "grid": lambda a: si.RegularGridInterpolator((X,), wave(a)),
    "radial": lambda a: si.RBFInterpolator(X[:, None], wave(a)),
    "old radial": lambda a: si.Rbf(X, wave(a)),
    "triangles": lambda a: si.LinearNDInterpolator(CORNERS, np.ones(4) * a),
    "nearest": lambda a: si.NearestNDInterpolator(CORNERS, np.ones(4) * a),
    "krogh": lambda a: si.KroghInterpolator(X, wave(a)),
    "barycentric": lambda a: si.BarycentricInterpolator(X, wave(a)),
    "polynomial": lambda a: si.lagrange(X[:4], wave(a)[:4]),
    "normal": lambda a: st.norm(a, 1.0),
    "poisson": lambda a: st.poisson(a),
    "vector": lambda a: st.multivariate_normal(np.ones(2) * a, np.eye(2)),
    "student": lambda a: st.multivariate_t(np.ones(2) * a, np.eye(2)),
    "dirichlet": lambda a: st.dirichlet(np.ones(2) * a),
    "wishart": lambda a: st.wishart(3, np.eye(2) * a),
    "multinomial": lambda a: st.multinomial(3, [a / 9, 1 - a / 9]),
    "estimate": lambda a: st.gaussian_kde(wave(a)),
    "t test": lambda a: st.ttest_1samp(wave(a), 0.3),
    "two means": lambda a: st.ttest_ind_from_stats(a, 1.0, 3, 1.0, 2.0, 4),
    "variances": lambda a: st.f_oneway(wave(a), X),
    "counts": lambda a: st.chisquare(np.array([1.0, 2.0]), np.array([a, 3.0 - a])),
    "correlation": lambda a: st.pearsonr(X, wave(a) + X**2),
    "fitted line": lambda a: st.linregress(X, wave(a)),
    "solution": lambda a: decay(a),
    "interpolant": lambda a: decay(a, dense_output=True).sol,
    "system": lambda a: scipy.signal.lti([a], [1.0, 2.0]),
    "in discrete time": lambda a: scipy.signal.dlti([a], [1.0, 0.5], dt=0.1),
    "states": lambda a: scipy.signal.StateSpace([[-a]], [[1.0]], [[1.0]], [[0.0]]),
    "poles": lambda a: scipy.signal.ZerosPolesGain([], [-1.0], a),
    "sparse": lambda a: sp.csr_array((np.ones(2) * a, ([0, 1], [1, 0]))).T,
    "diagonals": lambda a: sp.diags([a, a]),
    "rotation": lambda a: R.from_euler("x", a),
    "its power": lambda a: R.from_euler("x", a) ** 2.0,
    "between": lambda a: space.transform.Slerp([0, a], R.identity(2)),
    "curve": lambda a: space.transform.RotationSpline([0, a], R.identity(2)),
    "hull": lambda a: space.ConvexHull(CORNERS * a),
    "mesh": lambda a: space.Delaunay(CORNERS * a),
    "regions": lambda a: space.Voronoi(CORNERS * a),
    "tree": lambda a: space.KDTree(CORNERS * a),
    "old tree": lambda a: space.cKDTree(CORNERS * a),
    "rectangle": lambda a: space.Rectangle(X * a, X),
}  # fmt: skip
if hasattr(st, "Normal"):
    OBJECTS["variable"] = lambda a: st.Normal(mu=a)
    OBJECTS["moved"] = lambda a: st.Normal(mu=a) + 1.0


def told(x):
    """All that a program may ask of a class."""
    cls = type(x)
    names = cls.__name__, cls.__module__, x.__class__.__qualname__, f"{type(x)!r}"
    return *names, [type(y).__name__ for y in (x,)], next(map(type, [x])).__name__


@pytest.mark.parametrize("name", OBJECTS)
def test_the_class_of_an_object_is_that_of_the_program(name):
    make = OBJECTS[name]
    plain = type(make(1.3))

    def f(a):
        x = make(a)
        same = type(x) is plain, x.__class__ is plain, isinstance(x, plain)
        return a * a, (told(x), same)

    expected = told(make(1.3)), (True, True, True)
    assert value_and_grad(f, has_aux=True)(1.3) == ((1.3 * 1.3, expected), 2.6)
    assert jvp(f, (1.3,), (1.0,), has_aux=True)[2] == expected


def test_a_branch_on_the_class_is_that_of_the_program():
    def f(a):
        curve = si.interp1d(X, wave(a))
        scale = {si.interp1d: 3.0}.get(type(curve), 1.0)
        dist = st.norm(a)
        if type(dist).__module__.startswith("scipy."):
            scale *= 5.0
        return scale * curve(0.5) * dist.mean()

    slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert np.isclose(grad(f)(1.3), slope)
    assert np.isclose(jvp(f, (1.3,), (1.0,))[1], slope)


def test_an_object_may_be_made_of_the_class_of_another():
    def f(a):
        first = si.CubicSpline(X, wave(a))
        again = type(first)(X, wave(a * a))
        return (
            again(0.3) + again.derivative()(0.4) + type(st.norm(a)).__name__.count("_")
        )

    slope = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert np.isclose(grad(f)(1.3), slope)
