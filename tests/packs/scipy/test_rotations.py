"""Rotations where formulas are awkward: at the identity, at π, at gimbal lock."""

import pickle

import mpmath
import numpy as np
import pytest
import scipy.spatial.transform as sp

import rules_core as rc
from rules_autodiff import grad, hessian, jacobian, jvp
from rules_core.testing import check_rule
from rules_scipy.spatial import transform as own
from rules_scipy.spatial._regular import regular
from rules_scipy.spatial.transform._dominant import dominant

from .calls import assert_near, difference

R = sp.Rotation
# SciPy 1.15 checks no determinant, and its Slerp is called in C.
IS_NEW = hasattr(sp, "RigidTransform")
new = pytest.mark.skipif(not IS_NEW, reason="new in SciPy 1.16")
V = np.array([0.3, -0.5, 0.8])
W = np.array([0.7, 0.2, -0.4])
UNIT = W / np.linalg.norm(W)


def exact(f, x, order):
    """A derivative along `UNIT` by mpmath, of a function of three numbers."""
    with mpmath.workdps(60):
        at = [mpmath.mpf(float(v)) for v in x]
        along = [mpmath.mpf(float(v)) for v in UNIT]

        def line(t):
            return f([a + t * b for a, b in zip(at, along, strict=True)])

        return float(mpmath.diff(line, 0, order, h=mpmath.mpf(10) ** -12))


def slope(f):
    return lambda t: jvp(f, (t,), (1.0,))[1]


def exact_matrix_entry(r):
    """Entry (0, 1) of the matrix of a rotation vector, by Rodrigues' formula."""
    s = sum(v * v for v in r)
    angle = mpmath.sqrt(s)
    if angle == 0:
        return mpmath.mpf(0)
    one, two = mpmath.sin(angle) / angle, (1 - mpmath.cos(angle)) / s
    return -one * r[2] + two * r[0] * r[1]


SIZES = (0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.6, 0.99, 1.01, 3.0, 7.0)


@pytest.mark.covering(every=5)
@pytest.mark.parametrize("size", SIZES)
def test_rotation_vectors_are_exact_to_third_order(size):
    def entry(t):
        return R.from_rotvec(size * V + t * UNIT).as_matrix()[0, 1]

    f = entry
    for order in (1, 2, 3):
        f = slope(f)
        expected = exact(exact_matrix_entry, size * V, order)
        assert f(0.0) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def exact_first_of_rotvec(q):
    """The first entry of the rotation vector of (q, cos)."""
    s = mpmath.sqrt(sum(v * v for v in q))
    w = mpmath.mpf("0.9")
    return q[0] / w if s == 0 else q[0] * mpmath.atan2(s, w) / s


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.1, 0.2249, 0.2251, 0.5])
def test_rotation_vectors_of_quaternions_are_exact_to_third_order(size):
    x = size * V / np.linalg.norm(V)

    def entry(t):
        q = own.Rotation(np.concatenate([x + t * UNIT, [0.9]]), normalize=False)
        return 0.5 * q.as_rotvec()[0]

    f = entry
    for order in (1, 2, 3):
        f = slope(f)
        expected = exact(exact_first_of_rotvec, x, order)
        if size == 0.0 and order == 3:
            # The difference quotients go through the point where the formula is 0 / 0.
            expected = -2.0 * UNIT[0] / 0.9**3
        assert f(0.0) == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_the_way_to_a_vector_and_back_is_the_identity_at_the_identity():
    there = lambda r: R.from_rotvec(r).as_rotvec()
    np.testing.assert_allclose(jacobian(there)(np.zeros(3)), np.eye(3), atol=1e-15)
    second = hessian(lambda r: R.from_rotvec(r).as_rotvec() @ V)(np.zeros(3))
    np.testing.assert_allclose(second, 0.0, atol=1e-15)


def test_the_angle_has_a_kink_at_the_identity_and_at_a_half_turn():
    angle = lambda r: R.from_rotvec(r).magnitude()
    np.testing.assert_array_equal(grad(angle)(np.zeros(3)), 0.0)
    half = lambda w: R.from_quat(np.stack([1.0, 0.0, 0.0, w])).magnitude()
    assert grad(half)(0.0) == 0.0


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_near_a_half_turn_the_vector_is_that_of_scipys_branch(side):
    q = np.array([0.6, 0.0, 0.8, side * 1e-3])
    along = np.append(V, 0.2)
    f = lambda q: R.from_quat(q).as_rotvec() @ W
    assert_near(grad(f)(q) @ along, difference(f, [q], [along]))


# gimbal lock


LOCKED = {
    "as_euler": lambda r: R.from_rotvec(r).as_euler("xyz")[0],
    "as_davenport": lambda r: R.from_rotvec(r).as_davenport(np.eye(3), "e")[0],
}
TURN = np.array([0.0, np.pi / 2, 0.0])


@pytest.mark.parametrize("name", LOCKED)
@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_gimbal_lock_is_refused(name):
    with pytest.raises(
        rc.UnsupportedError, match=f"{name} has no derivative at gimbal"
    ):
        grad(LOCKED[name])(TURN)


@pytest.mark.filterwarnings("ignore:Gimbal lock")
def test_rows_that_are_not_used_may_be_locked():
    rows = np.stack([TURN, V])
    f = lambda r: R.from_rotvec(r).as_euler("xyz")[1] @ W
    expected = grad(lambda r: R.from_rotvec(r).as_euler("xyz") @ W)(V)
    np.testing.assert_allclose(grad(f)(rows), np.stack([np.zeros(3), expected]))


def test_scipy_warns_of_gimbal_lock():
    with pytest.warns(UserWarning, match="Gimbal lock"):
        R.from_rotvec(TURN).as_euler("xyz")
    with (
        pytest.warns(UserWarning, match="Gimbal lock"),
        pytest.raises(rc.UnsupportedError),
    ):
        grad(lambda r: R.from_rotvec(r).as_euler("xyz")[0])(TURN)


def test_gimbal_lock_is_not_a_number_in_traced_code():
    jax = pytest.importorskip("jax")
    angle = lambda r: own.Rotation.from_rotvec(r).as_euler("xyz")[0]
    assert np.isnan(jax.jit(jax.grad(angle))(TURN)).all()
    assert np.isfinite(jax.jit(jax.grad(angle))(V)).all()


# what is not unique


AMBIGUOUS = {
    "mean": lambda x: R.from_rotvec(np.stack([x, x + TURN[[0, 2, 1]] * 2])).mean(),
    "align": lambda x: R.align_vectors(np.outer([1.0, 2.0], x), np.eye(3)[[0, 0]])[0],
}


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.filterwarnings("ignore:Optimal rotation is not uniquely")
def test_rotations_that_are_not_unique_are_refused(name):
    x = np.array([0.0, 0.0, 0.4])
    with pytest.raises(rc.UnsupportedError, match="where it is unique"):
        grad(lambda x: AMBIGUOUS[name](x).as_rotvec()[2])(x)


def test_the_opposite_of_a_vector_is_refused():
    with pytest.raises(rc.UnsupportedError, match="opposite has no derivative"):
        grad(lambda x: R.align_vectors(x, -V)[0].as_matrix()[0, 1])(V)


def test_a_matrix_that_is_a_rotation_has_the_derivative_of_the_nearest_one():
    m = R.from_rotvec(V).as_matrix()
    f = lambda m: R.from_matrix(m).as_rotvec() @ W
    along = np.random.default_rng(0).normal(size=(3, 3))
    assert_near(np.sum(grad(f)(m) * along), difference(f, [m], [along]))


def test_the_identity_has_three_equal_other_values():
    """Of the matrix of which the quaternion is an eigenvector."""
    f = lambda m: R.from_matrix(m).as_rotvec() @ W
    along = np.random.default_rng(1).normal(size=(3, 3))
    second = np.sum(jvp(grad(f), (np.eye(3),), (along,))[1] * along)
    step = lambda t: np.sum(grad(f)(np.eye(3) + t * along) * along)
    assert_near(second, difference(step, [0.0], [1.0], 1e-4), 1e-5)


@pytest.mark.full
def test_the_rule_of_the_eigenvector():
    a = np.random.default_rng(0).normal(size=(2, 4, 4))
    k = a + np.swapaxes(a, 1, 2)

    def of_symmetric(a):
        v = dominant(0.5 * (a + rc.array_namespace(a).matrix_transpose(a)))
        return v[..., :, None] * v[..., None, :]

    assert_near(
        np.sum(jvp(of_symmetric, (k,), (a,))[1] * a),
        difference(lambda k: np.sum(of_symmetric(k) * a), [k], [a]),
    )
    good = np.array([True, True])
    assert check_rule(regular, a[0, :2], good, "nothing").failed == ()


# objects


def test_rotations_of_programs_are_instances_of_scipys_class():
    def program(r):
        rotation = R.from_rotvec(r)
        assert isinstance(rotation, R)
        assert isinstance(rotation * R.identity(), R)
        assert isinstance(R.identity() * rotation, R)
        return (R.identity() * rotation.inv()).as_matrix()[0, 1]

    assert_near(grad(program)(V) @ W, difference(program, [V], [W]))


def test_a_pickle_keeps_the_derivative_or_is_refused():
    def program(r):
        return pickle.loads(pickle.dumps(R.from_rotvec(r))).as_rotvec()[0]

    with pytest.raises(Exception, match=r"pickle|derivative"):
        grad(program)(V)
    q = own.Rotation.from_rotvec(V)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(q)).quat, q.quat)


def test_methods_agree_with_scipys_in_shape_and_value():
    several = R.from_rotvec(np.stack([V, W]))
    for name in ("as_quat", "as_matrix", "as_rotvec", "as_mrp", "magnitude"):
        for r in (several, several[0], several[:1]):
            mine = getattr(own.Rotation(r.as_quat()), name)()
            np.testing.assert_allclose(mine, getattr(r, name)(), atol=1e-14)
    mine = own.Rotation(several.as_quat())
    assert len(mine) == 2
    assert not mine.single
    assert mine[0].single
    assert mine.shape == (2,)
    assert "Rotation.from_matrix" in repr(mine)
    assert mine.approx_equal(several).all()
    with pytest.raises(TypeError, match="no len"):
        len(mine[0])


ERRORS = {
    "zero": lambda x: R.from_quat(np.zeros(4) * x),
    "determinant": lambda x: R.from_matrix(-np.eye(3) * x),
    "consecutive": lambda x: R.from_euler("xxy", np.ones(3) * x),
    "non-negative": lambda x: R.from_rotvec(np.ones((2, 3)) * x).mean([1.0, -1.0]),
    "within the range": lambda x: sp.Slerp([0, 1], R.identity(2))(2.0 * x),
    "increasing": lambda x: sp.Slerp(np.array([1, 0]) * x, R.identity(2)),
    "orthogonal": lambda x: R.from_davenport(np.ones((2, 3)) * x, "e", [1.0, 2.0]),
}


@pytest.mark.parametrize(
    "name",
    [n for n in ERRORS if IS_NEW or n not in ("determinant", "within the range")],
)
def test_scipys_errors_are_raised(name):
    with pytest.raises(ValueError, match=name):
        grad(lambda x: ERRORS[name](x).as_quat().sum())(1.0)


@new
def test_a_knot_of_slerp_belongs_to_the_piece_before():
    r = R.from_euler("z", np.array([[0.0], [1.0], [3.0]]))
    angle = lambda t: sp.Slerp([0, 1, 2], r)(t).as_rotvec()[2]
    assert grad(angle)(1.0) == pytest.approx(1.0)
    assert grad(angle)(0.0) == pytest.approx(1.0)
    assert grad(angle)(2.0) == pytest.approx(2.0)


@pytest.mark.full
def test_leading_shapes_in_frameworks():
    jax = pytest.importorskip("jax")
    q = np.random.default_rng(0).normal(size=(2, 3, 4))
    found = jax.jacobian(lambda q: own.Rotation(q).as_matrix())(q)
    one = jax.jacobian(lambda q: own.Rotation(q).as_matrix())(q[1, 2])
    np.testing.assert_allclose(found[1, 2, :, :, 1, 2], one)
    several = own.Rotation(q)
    assert several.mean(axis=1).shape == (2,)
    assert (several * several[0, 0]).apply(V).shape == (2, 3, 3)


@pytest.mark.full
def test_single_precision_is_kept():
    jnp = pytest.importorskip("jax.numpy")
    r = own.Rotation.from_rotvec(jnp.asarray(V, jnp.float32))
    assert (r * R.identity()).apply(W).dtype == np.float32
    assert r.as_euler("xyz").dtype == np.float32


# rigid transforms


def exact_power(x, n):
    """The matrix of a power of a screw, by mpmath's exponential."""
    a = mpmath.matrix(4, 4)
    r, shift = x[:3], x[3:]
    rows = [[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]]
    for i in range(3):
        for j in range(3):
            a[i, j] = rows[i][j]
        a[i, 3] = shift[i]
    return mpmath.expm(a * n)


@pytest.mark.parametrize("size", [0.0, 1e-5, 1.0])
def test_powers_of_screws_are_exact(size):
    """SciPy rounds the exponent to single precision: it is no reference."""
    x = np.concatenate([size * V, W])

    def entry(n):
        power = own.RigidTransform.from_exp_coords(x) ** n
        return power.as_matrix()[0, 3]

    with mpmath.workdps(40):
        exact_entry = lambda n: exact_power(x, n)[0, 3]
        expected = [float(mpmath.diff(exact_entry, 1.7, k)) for k in range(3)]
    found = [entry(1.7), grad(entry)(1.7), grad(grad(entry))(1.7)]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@new
def test_transforms_of_programs_are_instances_of_scipys_class():
    T = sp.RigidTransform

    def program(x):
        move = T.from_exp_coords(x)
        assert type(move) is T
        assert isinstance(T.identity() * move, T)
        return (T.identity() * move.inv()).apply(V)[0]

    x, along = np.concatenate([V, W]), np.arange(6.0)
    assert_near(grad(program)(x) @ along, difference(program, [x], [along]))
