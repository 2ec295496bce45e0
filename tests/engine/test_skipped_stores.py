"""Caches that are asked in any way: results of earlier calls are not read as new."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp, stop_gradient

X = np.array([0.5, -1.0, 2.0])


def cube(x):
    return np.sum(x**3)


class Last:
    """Remembers the last point and what was computed there, in the ways of the wild."""

    def __init__(self):
        self.x = self.value = self.size = self.pair = None

    def update(self, x):
        self.x, self.value = x.copy(), cube(x)

    def compute(self, x):
        self.update(x)
        return self.value

    def knows(self, x):
        return self.x is not None and np.allclose(self.x, x)

    def refresh(self, x):
        if not self.knows(x):
            self.update(x)

    def by_closeness(self, x):
        if self.x is None or not np.allclose(self.x, x):
            self.x, self.value = x.copy(), cube(x)
        return self.value + np.sum(x)

    def by_norm_of_difference(self, x):
        if self.x is not None and np.linalg.norm(x - self.x) < 1e-10:
            return self.value + np.sum(x)
        self.x, self.value = x.copy(), cube(x)
        return self.value + np.sum(x)

    def by_list(self, x):
        if self.x != x.tolist():
            self.x, self.value = x.tolist(), cube(x)
        return self.value + np.sum(x)

    def by_number(self, x):
        if self.x != x[0]:
            self.x, self.value = x[0], x[0] ** 3
        return self.value + np.sum(x)

    def by_norm(self, x):
        size = np.linalg.norm(x)
        if size != self.size:
            self.size, self.value = size, size**3
        return self.value + np.sum(x)

    def by_one_entry(self, x):
        y = x[:1]
        if self.x is None or not np.array_equal(self.x, y):
            self.x, self.value = y.copy(), y[0] ** 3
        return self.value + np.sum(x)

    def by_method(self, x):
        if self.x is None or np.max(np.abs(self.x - x)) > 1e-9:
            self.update(x)
        return self.value + np.sum(x)

    def by_other_method(self, x):
        self.refresh(x)
        return self.value + np.sum(x)

    def by_condition(self, x):
        value = self.value if self.knows(x) else self.compute(x)
        return value + np.sum(x)

    def by_variable(self, x):
        same = self.knows(x)
        if not same:
            self.update(x)
        return self.value + np.sum(x)

    def by_an_entry(self, x):
        if self.x is None or abs(self.x - x[0]) > 1e-9:
            self.x, self.value = x[0], x[0] ** 3
        return self.value + np.sum(x)

    def by_a_slice(self, x):
        if self.x is None or not np.allclose(self.x, x[:2]):
            self.x, self.value = x[:2].copy(), cube(x[:2])
        return self.value + np.sum(x)

    def by_a_loop(self, x):
        while not self.knows(x):
            self.update(x)
        return self.value + np.sum(x)

    def in_an_object(self, x):
        if self.pair is None or not np.allclose(self.pair.x, x):
            self.pair = Record(x.copy(), cube(x))
        return self.pair.value + np.sum(x)

    def in_an_array(self, x):
        if self.pair is None:
            self.pair = np.full(4, np.inf)
        if not np.allclose(self.pair[:3], x):
            self.pair[:3], self.pair[3] = x, cube(x)
        return self.pair[3] + np.sum(x)

    def in_a_dict_of_a_class(self, x):
        if self.pair is None:
            self.pair = Table(x=x + 1.0, value=0.0)
        if not np.allclose(self.pair["x"], x):
            self.pair["x"], self.pair["value"] = x.copy(), cube(x)
        return self.pair["value"] + np.sum(x)

    def in_a_tuple(self, x):
        if self.pair is None or not np.allclose(self.pair[0], x):
            self.pair = x.copy(), cube(x)
        return self.pair[1] + np.sum(x)

    def read_before(self, x):
        last, value = self.x, self.value
        if last is not None and np.allclose(last, x):
            return value + np.sum(x)
        self.x, self.value = x.copy(), cube(x)
        return self.value + np.sum(x)


@dataclass
class Record:
    x: Any
    value: Any


class Table(dict):
    """Of the user's."""


STATE: dict[str, Any] = {}
PAIRS: list[Any] = []
MODEL = Last()
LAST = RESULT = None


def in_a_dict(x):
    if "x" not in STATE or not np.allclose(STATE["x"], x):
        STATE["x"], STATE["value"] = x.copy(), cube(x)
    return STATE["value"] + np.sum(x)


def in_a_list_of_pairs(x):
    for last, value in PAIRS:
        if np.allclose(last, x):
            return value + np.sum(x)
    PAIRS.append((x.copy(), cube(x)))
    return PAIRS[-1][1] + np.sum(x)


def in_globals(x):
    global LAST, RESULT
    if LAST is None or not np.allclose(LAST, x):
        LAST, RESULT = x.copy(), cube(x)
    return RESULT + np.sum(x)


def in_a_closure():
    last = result = None

    def f(x):
        nonlocal last, result
        if last is None or not np.allclose(last, x):
            last, result = x.copy(), cube(x)
        return result + np.sum(x)

    return f


def behind_other_work(x):
    """Long enough to be written out, were it not for the cache."""
    y = np.sin(x) * 2 + x
    z = np.exp(-y * y) + np.tanh(y)
    w = z * y + np.sqrt(z * z + 1)
    MODEL.refresh(x)
    return MODEL.value + np.sum(w * z * y)


@pytest.fixture(autouse=True)
def _empty_state():
    STATE.clear()
    PAIRS.clear()


METHODS = [name for name in vars(Last) if name.startswith(("by_", "in_", "read_"))]
FUNCTIONS = [in_a_dict, in_a_list_of_pairs, in_globals, behind_other_work]
CACHES = {
    **{name: lambda name=name: getattr(Last(), name) for name in METHODS},
    **{f.__name__: lambda f=f: f for f in FUNCTIONS},
    "in_a_closure": in_a_closure,
}


@pytest.mark.parametrize("name", CACHES)
def test_a_warm_cache_is_refused(name):
    """At every call, not only at the first, which the tape runs."""
    f = CACHES[name]()
    f(X)
    gradient = grad(f)
    for run in (*[lambda: gradient(X)] * 3, lambda: jvp(f, (X,), (X,))):
        with pytest.raises(UnsupportedProgram, match="a cache does|stored in the same"):
            run()


@pytest.mark.parametrize("name", CACHES)
def test_a_cold_cache_gives_the_derivative(name):
    """Elsewhere the branch is taken, and what it stores carries a derivative."""
    f = CACHES[name]()
    f(X + 3.0)
    steps = 0.01 * np.eye(3)  # beyond what the caches' tests allow
    expected = [(f(X + h) - f(X - h)) / 0.02 for h in steps]
    f(X + 3.0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-3, atol=1e-3)
    f(X + 3.0)
    value = jvp(f, (X,), (np.ones(3),))[1]
    np.testing.assert_allclose(value, np.sum(expected), rtol=1e-3, atol=1e-3)


# programs with state that are no caches


class Best:
    """Keeps the best point, and a log."""

    def __init__(self):
        self.f, self.x, self.log = np.inf, None, []

    def __call__(self, x):
        f = cube(x)
        if f < self.f:
            self.f, self.x = float(f), x.copy()
        if f > -1e9:
            self.log.append(float(f))
        return f


class Points:
    """Logs the values at new points; nothing reads the log but its length."""

    def __init__(self):
        self.x, self.log = None, []

    def __call__(self, x):
        f = cube(x)
        if self.x is None or not np.allclose(self.x, x):
            self.x = x.copy()
            self.log.append(float(f))
        return f + 0.0 * len(self.log)


class Grid:
    """Makes its grid when it is first needed."""

    grid = None

    def __call__(self, x):
        if self.grid is None or len(self.grid) != len(x):
            self.grid = np.linspace(1.0, 2.0, len(x))
        return np.sum(self.grid * x**3)


class Walker:
    """Is made in the call: its attributes are the call's own."""

    def __init__(self, x):
        self.x, self.best = x, 0.0

    def step(self, v):
        if v > self.best:  # noqa: PLR1730  (a branch that stores)
            self.best = v
        return v * self.x


def walk(x):
    walker = Walker(x[0])
    return walker.step(x[1]) + walker.best + walker.step(x[2]) + walker.best


def repel(x):
    force = np.zeros(3)
    for i in range(3):
        for j in range(3):
            r = abs(x[i] - x[j])
            if r > 1.0:
                force[i] += 1 / r
    return np.sum(force) + force[0]


SCALE = Last()


def scaled(x):
    """The test says that the stored value is meant as a constant."""
    if SCALE.x is None or not np.allclose(stop_gradient(x), SCALE.x):
        SCALE.x, SCALE.value = np.copy(stop_gradient(x)), float(cube(stop_gradient(x)))
    return SCALE.value * np.sum(x)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (Best(), 3 * X**2),
        (Points(), 3 * X**2),
        (Grid(), 3 * np.linspace(1.0, 2.0, 3) * X**2),
        (walk, [1.0, 0.5, 1.5]),
        (repel, [0.0, 14 / 9, -14 / 9]),
        (scaled, np.full(3, cube(X))),
    ],
    ids=["best", "points", "grid", "walk", "repel", "scaled"],
)
def test_state_that_is_no_cache_is_allowed(f, expected):
    f(X)
    for _ in range(3):
        np.testing.assert_allclose(grad(f)(X), expected)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(3),))[1], np.sum(expected))


LISTS = np.empty(2, object)
LISTS[:] = [[1, 2], [3]]


def test_an_entry_of_an_array_of_objects_is_read_in_a_higher_derivative():
    """A list has no memory to compare."""

    def slope(x):
        return grad(lambda y: len(LISTS[0]) * y * y)(x)

    assert jvp(slope, (3.0,), (1.0,))[1] == 4.0
