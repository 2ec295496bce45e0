"""Who writes into the value of `vjp` or `linearize` does not write into the map."""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, derive_rrule, linearize, vjp
from rules_autodiff.testing._vectors import slopes

X = np.array([1.2, 0.7, 1.5])
DY = np.array([0.5, -1.0, 2.0])


def several(x):
    y = np.exp(x)
    return y, [y * y, (np.sqrt(x),)]


PROGRAMS = {
    "exp": np.exp,
    "exp of a program": lambda x: np.exp(x),
    "tanh": lambda x: np.tanh(x @ np.eye(3)),
    "sqrt": lambda x: np.sqrt(x),
    "quotient": lambda x: x / np.sum(x),
    "reciprocal": lambda x: 1.0 / x,
    "a view": lambda x: np.exp(x)[::-1],
    "loop": lambda x: np.array([np.exp(v) for v in x]),
    "itself": lambda x: x,
    "a row of itself": lambda x: (x * x, x)[1] * x,
}


def spoil(y):
    """Overwrite every array of a value."""
    if isinstance(y, np.ndarray):
        y[...] = 77.0
    else:
        for part in y:
            spoil(part)


def wanted(f, direction):
    (found,) = slopes(f, (X.copy(),), (direction,))
    return found.value


@pytest.mark.parametrize("tier", ["tape", "auto", "straight"])
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_value_of_vjp(f, tier):
    slope = float(wanted(f, X) @ DY)
    for _ in range(3):
        try:
            y, pullback = vjp(f, X.copy(), tier=tier)
        except UnsupportedProgram:
            if tier != "straight":
                raise
            return
        spoil(y)
        for _ in range(2):
            assert float(pullback(DY)[0] @ X) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_value_of_linearize(f):
    y, push = linearize(f, X.copy())
    spoil(y)
    for _ in range(2):
        np.testing.assert_allclose(push(DY), wanted(f, DY), rtol=1e-8)


def test_value_of_a_derived_rule():
    y, pullback = derive_rrule(lambda x: np.exp(x))(X.copy())
    spoil(y)
    np.testing.assert_allclose(pullback(DY)[1], np.exp(X) * DY, rtol=1e-14)


def test_values_in_containers():
    y, pullback = vjp(several, X.copy())
    first = pullback((DY, [DY, (DY,)]))[0].copy()
    spoil(y)
    np.testing.assert_array_equal(pullback((DY, [DY, (DY,)]))[0], first)


def test_inside_of_a_derivative():
    def residual(x):
        y, pullback = vjp(lambda v: np.exp(v), x)
        y -= 1.0
        return np.sum(pullback(y)[0] ** 2)

    found = vjp(residual, X)[1](1.0)[0] @ X
    (slope,) = slopes(residual, (X,), (X,))
    assert float(found) == pytest.approx(float(slope.value), rel=1e-8)


def twice(x):
    y = np.exp(x)
    return y, y


def test_what_is_one_array_twice_stays_one():
    y, _ = vjp(twice, X)
    assert y[0] is y[1]
