"""Variables that a solver's function captures, bound to other values after the call."""

# ruff: noqa: B023, F821  (variables that are bound again are what is tested)

from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp, vjp

X, H = 1.5, 1e-5


def slope(f, x):
    return (f(x + H) - f(x - H)) / (2 * H)


def times(k, t):
    return k * t


class Holder:
    """An instance with a number, which can be called."""

    k = 2.0

    def __init__(self):
        self.rate = 3.0

    def __call__(self, t):
        return self.rate * t


# What a variable is bound to first, and what later: any two of them.
VALUES = {
    "lambda": lambda: lambda t: 2.0 * t,
    "other lambda": lambda: lambda t: 3.0 * t * t,
    "partial": lambda: partial(times, 4.0),
    "ufunc": lambda: np.sin,
    "instance": Holder,
    "method": lambda: Holder().__call__,
}


def called(bound, x):
    f = bound[0]
    y = quad(lambda t: f(t) * x, 0, 1)[0]
    f = bound[1]
    return y + f(x) * 0.0


def called_as_a_constant(bound, x):
    """What the solver calls holds nothing that moves: only a limit does."""
    f = bound[0]
    y = quad(lambda t: f(t), 0, x)[0]
    f = bound[1]
    return y + f(x) * 0.0


def called_by_a_constant(bound, x):
    f = bound[0]

    def constant(t):
        return f(t)

    y = quad(lambda t: constant(t) * x, 0, 1)[0]
    f = bound[1]
    return y + f(x) * 0.0


CALLS = called, called_as_a_constant, called_by_a_constant


@pytest.mark.covering(every=9)
@pytest.mark.parametrize("after", VALUES)
@pytest.mark.parametrize("before", VALUES)
@pytest.mark.parametrize(
    "call",
    [called, called_as_a_constant, called_by_a_constant],
    ids=lambda f: f.__name__,
)
def test_functions(call, before, after):
    def program(x):
        return call([VALUES[before](), VALUES[after]()], x)

    wanted = slope(program, X)
    found = vjp(program, X)[1](1.0)[0], jvp(program, (X,), (1.0,))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def by_loop(x):
    total = 0.0
    for k in (1, 2, 3):
        total = total + quad(lambda t: k * t, 0, x)[0]
    return total


def by_loop_over_functions(x):
    total = 0.0
    for f in (np.sin, lambda t: t * t, partial(times, 2.0), lambda t: 3 * t):
        total = (
            total + quad(lambda t: f(t) * x, 0, 1)[0] + quad(lambda t: f(t), 0, x)[0]
        )
    return total


def by_loop_over_texts(x):
    total = 0.0
    for kind in ("square", "line"):
        total = total + quad(lambda t: t * t if kind == "square" else t, 0, x)[0]
    return total


def by_loop_over_roots(x):
    total = 0.0
    for n in (1, 2, 3):
        total = total + brentq(lambda t: t**n - x, 0.1, 4.0)
    return total


def from_none(x):
    extra = None
    y = quad(lambda t: t if extra is None else extra(t), 0, x)[0]
    extra = np.exp
    return y + 0.0 * extra(x)


def then_deleted(x):
    k = 2
    y = quad(lambda t: k * t, 0, x)[0]
    del k
    return y


LOOPS = (
    by_loop, by_loop_over_functions, by_loop_over_texts, by_loop_over_roots, from_none,
    then_deleted,
)  # fmt: skip


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("program", LOOPS, ids=lambda f: f.__name__)
def test_loops(program):
    wanted = slope(program, X)
    found = [grad(program)(X), grad(program)(X), vjp(program, X)[1](1.0)[0]]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("program", LOOPS[:4], ids=lambda f: f.__name__)
def test_second_derivatives(program):
    wanted = slope(grad(program), X)
    found = grad(grad(program))(X), jvp(grad(program), (X,), (1.0,))[1]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


def test_a_variable_of_the_caller_stays_bound():
    k = 2

    def program(x):
        return quad(lambda t: k * t, 0, x)[0]

    _, pullback = vjp(program, X)
    k = 3
    assert pullback(1.0) == (2 * X,)
    assert k == 3
    assert grad(program)(X) == 3 * X


def applied(f, x):
    return f(x)


@rc.frule.define(applied)
def applied_frule(tangents, f, x):
    return f(x), (f(x + H) - f(x - H)) / (2 * H) * tangents[2]


def by_an_frule(x):
    total = 0.0
    for k in (1, 2, 3):
        total = total + applied(lambda t: k * t, x)
    return total


SCALE = 2.0


def of_a_global(x):
    return applied(lambda t: SCALE * t, x)


def test_an_frule_is_asked_again(monkeypatch):
    np.testing.assert_allclose(grad(by_an_frule, tier="tape")(X), 6.0, rtol=1e-6)
    _, pullback = vjp(of_a_global, X, tier="tape")
    monkeypatch.setattr("tests.engine.test_rebound_captures.SCALE", 3.0)
    with pytest.raises(UnsupportedProgram, match="reads SCALE, which was changed"):
        pullback(1.0)
