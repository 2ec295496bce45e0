"""Solvers with names of their own, blocks and permutations: closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import torch

import rules_core as rc
from rules_autodiff import grad, jacfwd, jacrev, jvp
from rules_scipy import optimize

SYSTEMS = {
    "anderson": {}, "broyden1": {}, "broyden2": {}, "diagbroyden": {},
    "excitingmixing": {"alpha": 0.5}, "linearmixing": {"alpha": 0.7},
    "newton_krylov": {},
}  # fmt: skip
A = np.array([1.2, 0.8])


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def steady(module, name, a, xp, **options):
    """a = x + tanh(x) / 5, a matrix with one equation for each entry."""
    given = {"f_tol": 1e-11, **SYSTEMS[name], **options}
    start = np.zeros((1, 2))
    return getattr(module, name)(lambda x: a - x - 0.2 * xp.tanh(x), start, **given)


def steady_slope(a):
    x = scipy.optimize.newton(lambda x: x + 0.2 * np.tanh(x) - a, a)
    return np.diag(1.0 / (1.0 + 0.2 / np.cosh(x) ** 2))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_in_the_engine(name):
    def f(a):
        return steady(scipy.optimize, name, a, np)

    assert f(A).shape == (1, 2)
    np.testing.assert_allclose(jacrev(f)(A)[0], steady_slope(A), atol=1e-8)
    np.testing.assert_allclose(jvp(f, (A,), (A,))[1][0], steady_slope(A) @ A, atol=1e-8)


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("host", ["jax", "torch"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_systems_in_frameworks(name, host):
    xp = {"jax": jnp, "torch": torch}[host]
    module = {"jax": jax, "torch": torch.func}[host]

    def f(a):
        return steady(optimize, name, a, xp)[0]

    found = module.jacrev(f)(xp.asarray(A))
    np.testing.assert_allclose(found, steady_slope(A), atol=1e-8)


def test_systems_twice():
    def f(a):
        return steady(scipy.optimize, "broyden1", np.stack([a, a]), np)[0, 0]

    x, h = 0.7, 1e-4
    want = (grad(f)(x + h) - grad(f)(x - h)) / (2 * h)
    np.testing.assert_allclose(grad(grad(f))(x), want, rtol=1e-5)


def test_a_system_without_convergence():
    """SciPy raises an error; after so many steps it does not, and there is no root."""
    with pytest.raises(scipy.optimize.NoConvergence):
        grad(lambda a: steady(scipy.optimize, "broyden1", a, np, maxiter=1)[0, 0])(A)
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        grad(lambda a: steady(scipy.optimize, "broyden1", a, np, iter=1)[0, 0])(A)
    enough = {"iter": 6, "f_tol": 1e-5}
    found = grad(lambda a: steady(scipy.optimize, "broyden1", a, np, **enough)[0, 0])(A)
    np.testing.assert_allclose(found, steady_slope(A)[0], atol=1e-4)


def test_complex_systems_are_an_error():
    with pytest.raises(rc.UnsupportedError, match="no rule for complex roots"):
        optimize.broyden1(lambda x: x**2 + 1.0, np.array([1j]))


# the nearest point to (3, 4) in a circle of radius r, and on a line: x₀ + x₁ = r


def in_circle(module, r, args=()):
    def room(x, *_):
        return r * r - x[0] ** 2 - x[1] ** 2

    return module.fmin_slsqp(
        far, np.ones(2), ieqcons=[room], args=args, iprint=0, acc=1e-12
    )


def in_circle_by_vector(module, r):
    def room(x, r):
        return rc.array_namespace(x).stack([r * r - x[0] ** 2 - x[1] ** 2])

    return module.fmin_slsqp(
        lambda x, r: far(x), np.ones(2), f_ieqcons=room, args=(r,), iprint=0, acc=1e-12
    )


def in_circle_by_cobyla(module, r):
    return module.fmin_cobyla(
        far, [1.0, 1.0], lambda x: r * r - x[0] ** 2 - x[1] ** 2, rhoend=1e-6,
        catol=1e-7,
    )  # fmt: skip


def on_line(module, r):
    return module.fmin_slsqp(
        far, np.ones(2), eqcons=[lambda x: x[0] + x[1] - r], iprint=0, acc=1e-12
    )


def bounded(module, r):
    return module.fmin_slsqp(far, np.ones(2), bounds=[(0, r), (0, 9)], iprint=0)


def far(x):
    return (x[0] - 3.0) ** 2 + (x[1] - 4.0) ** 2


NEAREST = {
    "a circle": (in_circle, [0.6, 0.8]),
    "a circle by a vector": (in_circle_by_vector, [0.6, 0.8]),
    "a circle by COBYLA": (in_circle_by_cobyla, [0.6, 0.8]),
    "a line": (on_line, [0.5, 0.5]),
    "bounds": (bounded, [1.0, 0.0]),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", NEAREST)
def test_the_nearest_point(name):
    f, slope = NEAREST[name]

    def of_scipy(r):
        return f(scipy.optimize, r)

    np.testing.assert_allclose(optimum := of_scipy(2.0), f(optimize, 2.0), atol=1e-12)
    assert optimum.shape == (2,)
    np.testing.assert_allclose(jacrev(of_scipy)(2.0), slope, atol=1e-4)
    np.testing.assert_allclose(jvp(of_scipy, (2.0,), (1.0,))[1], slope, atol=1e-4)


EVERY_HOST = [(name, host) for name in NEAREST for host in ("torch", "jax")]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        EVERY_HOST[0],
        *[pytest.param(*p, marks=pytest.mark.full) for p in EVERY_HOST[1:]],
    ],
)
def test_the_nearest_point_in_frameworks(name, host):
    f, slope = NEAREST[name]
    xp, module = {"jax": (jnp, jax), "torch": (torch, torch.func)}[host]
    found = module.jacrev(lambda r: f(optimize, r))(xp.asarray(2.0, dtype=xp.float64))
    np.testing.assert_allclose(found, slope, atol=1e-4)


def test_what_slsqp_returns_in_full():
    given = {"full_output": True, "iprint": 0}
    own, other = (
        m.fmin_slsqp(far, [1.0, 1.0], **given) for m in (optimize, scipy.optimize)
    )
    np.testing.assert_allclose(own[0], other[0])
    assert own[1:] == pytest.approx(other[1:4], abs=1e-12) or own[3:] == other[3:]

    def value(r):
        return scipy.optimize.fmin_slsqp(
            far, np.ones(2), eqcons=[lambda x: x[0] + x[1] - r], **given
        )[1]

    assert grad(value)(2.0) == pytest.approx(-5.0, rel=1e-4)  # of (7 - r)² / 2


def test_a_minimum_without_convergence():
    with pytest.raises(rc.UnsupportedError, match="did not converge"):
        jacrev(
            lambda r: scipy.optimize.fmin_slsqp(
                far, np.ones(2), eqcons=[lambda x: x[0] ** 3 + x[1] - r], iprint=0,
                iter=1,
            )
        )(2.0)  # fmt: skip


# isotonic regression

Y = np.array([1.0, 3.0, 2.0, 2.5, 5.0, 4.5, 6.0])
W = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 1.0])


def isotonic(y, w, increasing=True, module=optimize):
    return module.isotonic_regression(y, weights=w, increasing=increasing).x


def differences(f, x, h=1e-6):
    return np.stack([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(len(x))], -1)


@pytest.mark.parametrize("increasing", [True, False])
def test_isotonic_regression(increasing):
    y = Y if increasing else -Y

    def of_y(y):
        return isotonic(y, W, increasing)

    def of_w(w):
        return isotonic(y, w, increasing)

    np.testing.assert_allclose(
        of_y(y), isotonic(y, W, increasing, scipy.optimize), rtol=1e-15
    )
    for jacobian in (jacfwd, jacrev, jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(jacobian(of_y)(y), differences(of_y, y), atol=1e-8)
        np.testing.assert_allclose(jacobian(of_w)(W), differences(of_w, W), atol=1e-8)
    found = torch.func.jacrev(of_w)(torch.tensor(W))
    np.testing.assert_allclose(found, differences(of_w, W), atol=1e-8)


def test_isotonic_regression_of_scipy_and_its_fields():
    def of_scipy(y):
        return scipy.optimize.isotonic_regression(y, weights=W).x

    np.testing.assert_allclose(jacrev(of_scipy)(Y), differences(of_scipy, Y), atol=1e-8)
    own, other = (
        m.isotonic_regression(Y, weights=W) for m in (optimize, scipy.optimize)
    )
    for name in ("x", "weights", "blocks"):
        np.testing.assert_allclose(own[name], other[name], rtol=1e-15)
    assert optimize.isotonic_regression(np.zeros(0)).x.shape == (0,)


def test_isotonic_regression_of_a_number_is_one_of_a_row():
    for weights in (None, 2.0):
        found = jacrev(lambda y, w=weights: isotonic(y, w))(0.75)
        np.testing.assert_array_equal(found, [1.0])
        assert isotonic(0.75, weights).shape == (1,)


def test_large_numbers_elsewhere_do_not_round_a_mean():
    y = np.array([1.0, 0.5, 1e17, 1e16])
    np.testing.assert_array_equal(optimize.isotonic_regression(y).x[:2], [0.75, 0.75])


# quadratic assignment


def test_quadratic_assignment():
    rng = np.random.default_rng(0)
    A, B, dA = (rng.uniform(size=(4, 4)) for _ in range(3))

    def value(A, B, module=scipy.optimize, **options):
        return module.quadratic_assignment(
            A, B, options={"rng": np.random.default_rng(0), **options}
        ).fun

    found = scipy.optimize.quadratic_assignment(
        A, B, options={"rng": np.random.default_rng(0)}
    )
    P = np.eye(4)[found.col_ind]
    np.testing.assert_allclose(value(A, B, optimize), found.fun, rtol=1e-14)
    for module, differentiate in ((scipy.optimize, grad), (optimize, jax.grad)):
        dA_found = differentiate(lambda A, m=module: value(A, B, m))(A)
        np.testing.assert_allclose(dA_found, P @ B @ P.T, rtol=1e-12)
        dB_found = differentiate(lambda B, m=module: value(A, B, m))(B)
        np.testing.assert_allclose(dB_found, P.T @ A @ P, rtol=1e-12)
    along = jvp(lambda A: value(A, B, maximize=True), (A,), (dA,))[1]
    order = scipy.optimize.quadratic_assignment(
        A, B, options={"maximize": True, "rng": np.random.default_rng(0)}
    ).col_ind
    np.testing.assert_allclose(along, (dA * B[np.ix_(order, order)]).sum(), rtol=1e-12)
