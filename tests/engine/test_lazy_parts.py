"""Thunks inside what rules return for results and arguments that are containers."""

from dataclasses import dataclass

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, hvp, jacfwd, jacrev, jvp, linearize
from rules_core import MutableTangent, NoTangent, Tangent, thunk

X = np.array([0.5, -1.5])


@dataclass
class Two:
    a: object
    b: object


def pair(x):
    return x * x, [x * 3.0]


def two(x):
    return Two(x * x, x * 3.0)


LAZY = {
    "all": lambda a, b: (pair, thunk(lambda: (a(), [b()]))),
    "bare": lambda a, b: (pair, (thunk(a), [thunk(b)])),
    "entries": lambda a, b: (
        pair,
        Tangent(tuple, thunk(a), Tangent(list, thunk(b))),
    ),
    "a part that is a container": lambda a, b: (
        pair,
        Tangent(tuple, thunk(a), thunk(lambda: [b()])),
    ),
    "twice": lambda a, b: (
        pair,
        thunk(lambda: thunk(lambda: (thunk(a), thunk(lambda: [thunk(b)])))),
    ),
    "fields": lambda a, b: (two, MutableTangent(Two, a=thunk(a), b=thunk(b))),
}


def parts(y):
    return (y.a, y.b) if isinstance(y, Two | MutableTangent) else (y[0], y[1][0])


@pytest.fixture(autouse=True)
def _isolated():
    with rc.testing.isolated_rules():
        yield


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", LAZY)
def test_an_frule_serves_both_modes(name):
    make = LAZY[name]
    f = make(float, float)[0]

    @rc.frule.define(f)
    def lazy_frule(tangents, x):
        dx = tangents[1]
        return f(x), make(lambda: 2.0 * x * dx, lambda: 3.0 * dx)[1]

    def product(x):
        a, b = parts(f(x))
        return np.sum(a * b * x)

    exact = 12.0 * X**3
    np.testing.assert_allclose(jvp(product, (X,), (X,))[1], exact @ X)
    for derivative in (grad, jacrev, jacfwd):
        np.testing.assert_allclose(derivative(product)(X), exact)
    np.testing.assert_allclose(linearize(product, X)[1](X), exact @ X)
    np.testing.assert_allclose(hvp(product, (X,), (X,)), 36.0 * X**3)
    assert grad(product)(1.5) == pytest.approx(12.0 * 1.5**3)
    da, db = parts(jvp(f, (1.5,), (1.0,))[1])
    assert (da, db) == (3.0, 3.0)


def of_pair(t):
    return t[0] * t[1][0]


@pytest.mark.parametrize("name", [name for name in LAZY if name != "fields"])
def test_an_rrule_serves_both_modes(name):
    make = LAZY[name]

    @rc.rrule.define(of_pair)
    def lazy_rrule(t):
        def of_pair_pullback(dy):
            return NoTangent(), make(lambda: dy * t[1][0], lambda: dy * t[0])[1]

        return of_pair(t), of_pair_pullback

    def product(x):
        return np.sum(of_pair((x * x, [x * 3.0])))

    np.testing.assert_allclose(jvp(product, (X,), (X,))[1], 9.0 * X**2 @ X)
    for derivative in (grad, jacrev, jacfwd):
        np.testing.assert_allclose(derivative(product)(X), 9.0 * X**2)
