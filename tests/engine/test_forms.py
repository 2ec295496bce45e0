"""Arrays that are given another form where they lie: `a.shape = …`."""

import warnings

import numpy as np
import pytest

from rules_autodiff import (
    UnsupportedProgram,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
)
from rules_autodiff._python.leaves import inner, mapped
from rules_autodiff.testing import check_program

X = np.cos(np.arange(12.0) * 1.3).reshape(2, 6)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from NumPy 2.5 on
        yield


def between_writes(x):
    a = x * 2.0
    a[0, 1] = a[1, 2] * 3.0
    a.shape = (3, 4)
    a[1] *= a[0]
    b = a[2] * a[0, 1]
    a.shape = 12
    a[3] = a[4]
    return a * a, b


def views(x):
    a = x * 2.0
    left, row = a[:, :3], a[0]
    row.shape = (2, 3)
    row[1] *= 2.0
    y = row * row[0]
    a[0, 0] = 5.0
    return y, left * left, a


def other_order(x):
    a = np.asfortranarray(x * 2.0)
    a.shape = (2, 6, 1)
    a[0, 1, 0] = a[1, 0, 0]
    return a[..., 0].T * 3.0, a


def residual(x):
    """What is kept for the way back was computed in the old form."""
    a = x * 2.0
    b, c = a + 1.0, np.exp(a)
    a.shape = (12,)
    return (b * c).ravel() * a


def loop(x):
    a, total = x * 2.0, 0.0
    for i in range(3):
        a.shape = (-1,)
        total += a[i] * a[-1]
        a[i] = total
        a.shape = (4, 3)
        total += np.sum(a[1] * a[2])
    return total


def of_rules(x):
    a = np.cumsum(x, axis=1)
    a.shape = (3, 4)
    b = np.sort(a, axis=0)
    b.shape = (4, 3)
    return b @ b.T


def fits_not(x):
    a = x * 2.0
    try:
        a.shape = (5, 5)
    except ValueError:
        a.shape = (6, 2)
    return a * a[0]


PROGRAMS = [between_writes, views, other_order, residual, loop, of_rules, fits_not]


@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_forms(f):
    check_program(f, X)


@pytest.mark.parametrize("f", [residual, loop, of_rules])
def test_again(f):
    value, pullback = vjp(f, X)
    seed = value
    first, second = pullback(seed), pullback(seed)
    np.testing.assert_array_equal(first, second)


def test_jacobians():
    np.testing.assert_allclose(
        jacrev(of_rules)(X) @ np.ones(6) @ np.ones(2),
        jvp(of_rules, (X,), (np.ones_like(X),))[1],
        atol=1e-12,
    )


def argument(x):
    x.shape = (12,)
    return np.sum(x * x)


def second(x):
    a = x * x
    a.shape = (12,)
    return np.sum(a * a)


@pytest.mark.parametrize("call", [grad(argument), hessian(second), grad(grad(loop))])
def test_what_cannot_be_followed_is_refused(call):
    with pytest.raises(UnsupportedProgram, match="must keep its form"):
        call(X.copy())


def filled_and_scaled(x):
    u = np.zeros(12)
    u[:] = x.ravel()
    u.shape = (3, 4)
    u *= 2.0
    return u


def seen_in_both_forms(x):
    u = x * 2.0
    v = u[:1]
    u.shape = (3, 4)
    return [u @ u.T, v * v, {"u": u}]


WAYS = {
    "jvp": lambda f, dx, dy: inner(jvp(f, (X,), (dx,))[1], dy),
    "linearize": lambda f, dx, dy: inner(linearize(f, X)[1](dx), dy),
    "linearize, again": lambda f, dx, dy: inner(again(linearize(f, X)[1], dx), dy),
    "vjp": lambda f, dx, dy: inner(vjp(f, X)[1](dy)[0], dx),
    "vjp, again": lambda f, dx, dy: inner(again(vjp(f, X)[1], dy)[0], dx),
    "jacrev": lambda f, dx, dy: inner(applied(jacrev(f)(X), dx), dy),
    "jacfwd": lambda f, dx, dy: inner(applied(jacfwd(f)(X), dx), dy),
}


def again(linear, seed):
    linear(seed)
    return linear(seed)


def applied(jacobian, dx):
    return mapped(jacobian, lambda j: np.tensordot(j, dx, 2), {})


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [*PROGRAMS, filled_and_scaled, seen_in_both_forms])
def test_every_derivative(f, way):
    """Against finite differences, the product with one cotangent."""
    dx = np.sin(np.arange(12.0) + 0.3).reshape(X.shape)
    h = 1e-6
    dy = mapped(f(X.copy()), np.cos, {})
    expected = (inner(f(X + h * dx), dy) - inner(f(X - h * dx), dy)) / (2 * h)
    assert WAYS[way](f, dx, dy) == pytest.approx(expected, rel=1e-6)
