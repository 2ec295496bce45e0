"""A zero that moves, before an infinite slope in a rule of several results."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, hessian, jvp
from rules_core.extend import strong_product

POINTS = {"float": 0.0, "np.float64": np.float64(0.0), "array": np.zeros(2)}


def both(x):
    return np.sqrt(x), 2.0 * x


rc.scalar_rule(both, lambda y, x: ((0.5 / np.sqrt(x),), (2.0,)))


def named(x):
    return {"root": np.sqrt(x), "inner": (2.0 * x, 3.0)}


@rc.rrule.define(named)
def named_rrule(x):
    def named_pullback(dy):
        root, twice = dy["root"], dy["inner"][0]
        return rc.NoTangent(), strong_product(0.5 / np.sqrt(x), root) + 2.0 * twice

    return named(x), named_pullback


@rc.frule.define(named)
def named_frule(tangents, x):
    dx = tangents[1]
    root = strong_product(0.5 / np.sqrt(x), dx)
    dy = rc.Tangent(dict, {"root": root, "inner": rc.Tangent(tuple, 2.0 * dx, 0.0)})
    return named(x), dy


def first(pair, x):
    """A rule whose argument is a tuple."""
    return pair[0] * x


@rc.rrule.define(first)
def first_rrule(pair, x):
    def first_pullback(dy):
        return rc.NoTangent(), rc.Tangent(tuple, dy * x, rc.ZeroTangent()), dy * pair[0]

    return first(pair, x), first_pullback


@rc.frule.define(first)
def first_frule(tangents, pair, x):
    _, dpair, dx = tangents
    d = 0.0 if isinstance(dpair, rc.AbstractZero) else dpair[0]
    return first(pair, x), rc.unthunk(d * x + pair[0] * dx)


MOVING = {
    "tuple": lambda x: np.sum(np.cos(both(x)[0])),
    "dict": lambda x: np.sum(np.cos(named(x)["root"])),
    "cos of a squared root": lambda x: np.sum(np.cos(both(x)[0]) * both(x)[1]),
    "argument": lambda x: np.sum(first((np.cos(both(x)[0]), 1.0), 1.0)),
}
# These stay where they are: a constant, a mask.
STAYING = {
    "constant": lambda x: np.sum(0.0 * both(x)[0] + both(x)[1]),
    "mask": lambda x: np.sum(np.where(x > 0.0, both(x)[0], both(x)[1])),
    "dict": lambda x: np.sum(0.0 * named(x)["root"] + named(x)["inner"][0]),
    "argument": lambda x: np.sum(first((0.0 * both(x)[0], both(x)[1]), 1.0) + 2.0 * x),
}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("x", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("f", MOVING.values(), ids=MOVING)
def test_a_zero_that_moves(f, x):
    assert np.all(np.isnan(grad(f)(x)))
    assert np.isnan(jvp(f, (x,), (x + 1.0,))[1])


@pytest.mark.parametrize("x", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("f", STAYING.values(), ids=STAYING)
def test_a_zero_that_stays(f, x):
    np.testing.assert_array_equal(grad(f)(x), np.full(np.shape(x), 2.0))
    assert jvp(f, (x,), (x + 1.0,))[1] == 2.0 * np.size(x)


@pytest.mark.parametrize("f", MOVING.values(), ids=MOVING)
def test_away_from_zero(f):
    h, x = 1e-6, 0.7
    np.testing.assert_allclose(grad(f)(x), (f(x + h) - f(x - h)) / (2.0 * h), rtol=1e-7)
    slope = grad(f)
    want = (slope(x + h) - slope(x - h)) / (2.0 * h)
    np.testing.assert_allclose(hessian(f)(x), want, rtol=1e-6)
