"""Zero cotangents and tangents: strong, 0 · ∞ = 0, to every order; beside arrays."""

import math

import numpy as np
import pytest

from rules_autodiff import grad, hessian, jacfwd, jacrev, jvp

# In the first and the last place the partial derivatives are infinite or no numbers;
# only the place in the middle counts.
X = np.array([0.0, 1.5, 4.0])
Y = np.array([0.0, 2.0, 0.0])
HERE = np.array([False, True, False])

FUNCTIONS = {
    "quotient": lambda x, y: x / y,
    "quotient by name": lambda x, y: np.divide(x, y),
    "product": lambda x, y: x * (1 / y),
    "product by name": lambda x, y: np.multiply(x, 1 / y),
    "power": lambda x, y: (x / y) ** 2,
    "negative power": lambda x, y: x * y**-1,
    "broken power": lambda x, y: y**-0.5 * x,
    "float32": lambda x, y: x.astype(np.float32) / y.astype(np.float32),
    "complex": lambda x, y: abs((x + 1j * x) / y),
    "broadcast": lambda x, y: (x[:, None] / y[None, :])[1],
    "logarithm": lambda x, y: np.log(y) * x,
}
pytestmark = pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")


def chosen(f):
    return lambda x, y: np.where(HERE, f(x, y), 0.0).sum()


def known(f, order):
    """The same function where nothing is infinite."""
    x, y = X[1:2], Y[1:2]
    alone = jacfwd(lambda x, y: padded(f, x, y), argnums=(0, 1))
    return alone(x, y) if order == 1 else hessian(lambda y: padded(f, x, y))(y)


def padded(f, x, y):
    one = np.ones(1)
    return f(np.concatenate([one, x, one]), np.concatenate([one, y, one]))[1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_order(name):
    f = FUNCTIONS[name]
    dx, dy = known(f, 1)
    for found, want in zip(grad(chosen(f), (0, 1))(X, Y), (dx, dy), strict=True):
        np.testing.assert_allclose(found, [0, want[0], 0], rtol=1e-6)
    middle = HERE * 1.0
    _, found = jvp(lambda x, y: f(x, y)[1], (X, Y), (middle, middle))
    np.testing.assert_allclose(found, dx[0] + dy[0], rtol=1e-6)


@pytest.mark.parametrize("name", ["quotient", "product", "power", "quotient by name"])
def test_a_zero_tangent_of_infinite_entries(name):
    f, middle = FUNCTIONS[name], HERE * 1.0
    _, found = jvp(f, (X, Y), (middle, middle))
    dx, dy = known(f, 1)
    np.testing.assert_allclose(found, [0, dx[0] + dy[0], 0], rtol=1e-12)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("outer", [jacfwd, jacrev])
@pytest.mark.parametrize("inner", [grad, jacfwd])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_order(name, inner, outer):
    f = FUNCTIONS[name]
    found = outer(inner(lambda y: chosen(f)(X, y)))(Y)
    want = np.zeros((3, 3))
    want[1, 1] = known(f, 2)[0, 0]
    if (inner, outer) == (grad, jacrev):  # which is NaN where it is in doubt
        found = np.where(np.isnan(found) & ~want.astype(bool), 0.0, found)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-12)


def test_a_cotangent_that_is_not_zero_meets_infinity():
    found = grad(lambda x, y: (x / y).sum())(np.ones(2), np.array([0.0, 2.0]))
    assert found.tolist() == [np.inf, 0.5]


def test_zeros_stand_beside_arrays_and_numbers_in_rules_that_are_followed():
    """A row of a Jacobian has zero cotangents, which a rule adds and multiplies."""

    def entries(t):
        return jacrev(lambda v: np.array([v[0], np.sin(v[0])]))(np.array([t])).sum()

    def pushed(t):
        def smallest(a, _):
            return np.maximum(np.array([-1.0, 1.0]) * a, 0.1).prod()

        return jvp(smallest, (t, 1.0), (1.0, 0.0))[1] * t

    assert grad(entries)(0.7) == pytest.approx(-math.sin(0.7))
    assert jvp(entries, (0.7,), (1.0,))[1] == pytest.approx(-math.sin(0.7))
    assert grad(pushed)(0.7) == pytest.approx(0.1)
    assert jvp(pushed, (0.7,), (1.0,))[1] == pytest.approx(0.1)
