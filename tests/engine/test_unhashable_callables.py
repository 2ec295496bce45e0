"""Callables without a hash, wherever a program calls, passes or differentiates them."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import integrate, optimize

import rules_autodiff as ad
import rules_core as rc


@dataclass
class Scaled:
    """An instance without a hash: it is compared by its fields."""

    factor: float

    def __call__(self, x):
        return self.factor * x * x

    def method(self, x):
        return self.factor * x * x

    @staticmethod
    def fixed(x):
        return 3.0 * x * x


class Listed(list):
    """A container that can be called, and counted."""

    def __call__(self, x):
        return self[0] * x * x


@dataclass
class Array:
    """One with an array, whose comparison has no truth value."""

    factors: np.ndarray

    def __call__(self, x):
        return self.factors.sum() * x * x


CALLABLES = {
    "instance": Scaled(3.0),
    "method": Scaled(3.0).method,
    "static method": Scaled(3.0).fixed,
    "partial": functools.partial(Scaled(3.0)),
    "partial of a method": functools.partial(Scaled(3.0).method),
    "list": Listed([3.0]),
    "special method": Scaled(3.0).__call__,
    "array": Array(np.array([1.0, 2.0])),
}


def order(a, b):
    return (a > b) - (a < b)


compared = functools.cmp_to_key(order)


def skipping(body):
    """The body, after a branch that was skipped because an argument is a constant."""

    def program(g, x):
        y = 0.0
        if x != 1.0:
            y = x
        return body(g, x) + 0.0 * y

    return program


BODIES = {
    "called": lambda g, x: g(x),
    "in map": lambda g, x: sum(map(g, [x, 2.0 * x])) / 5.0,
    "in filter": lambda g, x: sum(filter(g, [x])) * 3.0 * x,
    "key of max": lambda g, x: 3.0 * x * max([x, 0.5 * x], key=g),
    "key of sorted": lambda g, x: 3.0 * x * sorted([0.5 * x, x], key=g)[1],
    "reduced": lambda g, x: functools.reduce(lambda a, b: a + g(b), [x], 0.0),
    "asked": lambda g, x: g(x) if callable(g) and hasattr(g, "__call__") else x,  # noqa: B004
    "passed on": lambda g, x: functools.partial(g)(x),
    "vectorize": lambda g, x: np.vectorize(g)(np.stack([x, x])).sum() / 2.0,
    "apply_along_axis": lambda g, x: (
        np.apply_along_axis(g, 0, np.stack([x, x])).sum() / 2.0
    ),
    "in a dict": lambda g, x: {"g": g}["g"](x),
    "in a solver": lambda g, x: (
        9.0 * x**4 / optimize.brentq(lambda t: t - g(x), -100.0, 100.0)
    ),
    "integrated": lambda g, x: 3.0 * integrate.quad(g, 0.0, x)[0] / x,
}


@pytest.mark.parametrize("how", ["grad", "jvp", "linearize", "vjp"])
@pytest.mark.parametrize("name", CALLABLES)
def test_the_program_itself(name, how):
    g, x = CALLABLES[name], 1.5
    found = {
        "grad": lambda: ad.grad(g)(x),
        "jvp": lambda: ad.jvp(g, (x,), (1.0,))[1],
        "linearize": lambda: ad.linearize(g, x)[1](1.0),
        "vjp": lambda: ad.vjp(g, x)[1](1.0)[0],
    }[how]()
    assert found == pytest.approx(9.0)


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("point", [1.0, 1.5])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", CALLABLES)
def test_inside_of_a_program(name, body, point):
    g, program = CALLABLES[name], skipping(BODIES[body])
    for found in (
        ad.grad(program, 1)(g, point),
        ad.jvp(program, (g, point), (None, 1.0))[1],
        ad.vjp(program, ad.Const(g), point)[1](1.0)[1],
    ):
        assert found == pytest.approx(6.0 * point, rel=1e-6)


def test_objects_that_compare():
    def program(x):
        y = 0.0
        if x != 1.0:
            y = x
        return sorted([x, 2.0 * x], key=compared)[1] * (y + 1.0)

    assert ad.grad(program)(1.0) == 2.0
    assert ad.jvp(lambda x: max([x, 3.0 * x], key=compared), (1.0,), (1.0,))[1] == 3.0


@pytest.mark.parametrize("name", CALLABLES)
def test_in_a_solver_of_constants(name):
    """Its result is a constant; the run changes arrays, so the function is watched."""
    f = CALLABLES[name]

    def program(x):
        store = np.zeros(2)
        store[0] = x
        root = optimize.brentq(lambda t: f(t) - 3.0, 0.0, 5.0)
        integral = integrate.quad(f, 0.0, 1.0)[0]
        return store[0] * (root + integral)

    assert ad.grad(program)(0.7) == pytest.approx(2.0)


@pytest.mark.parametrize("name", [*CALLABLES, "compared"])
def test_what_answers(name):
    f = compared if name == "compared" else CALLABLES[name]
    assert not ad.is_primitive(f, 1.0)


@pytest.mark.parametrize("name", CALLABLES)
def test_given_to_torch(name):
    """A rule belongs to a function; who calls an instance is told so."""
    torch = pytest.importorskip("torch")
    rules_torch = pytest.importorskip("rules_torch")
    f, x = CALLABLES[name], torch.tensor(1.5, dtype=torch.float64)
    try:
        primitive = rules_torch.to_torch(f, host=True)
    except rc.RuleDefinitionError as error:
        assert "must be hashable" in str(error)  # noqa: PT017
    else:
        assert torch.func.grad(primitive)(x).item() == pytest.approx(9.0)


def test_where_a_zero_meets_infinity():
    """The pass is repeated with probes there, and asks what each function is."""
    g = Scaled(1.0)

    def program(x):
        return np.sqrt(g(x)) * 1.0

    with np.errstate(all="ignore"):
        assert np.isnan(ad.jvp(program, (0.0,), (1.0,))[1])
