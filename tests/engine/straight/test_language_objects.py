"""Objects that a program reads: attributes, methods, properties."""

import dataclasses
import types

import numpy as np
import pytest

from rules_autodiff import grad
from tests.engine.straight.programs import check_refused, check_written

X = np.array([0.5, -1.0, 2.0])


class Base:
    factor = 3.0

    def scaled(self, x):
        return x * self.factor

    @staticmethod
    def squared(x, power=2):
        return x**power

    @property
    def double(self):
        return 2.0 * self.dt

    def __call__(self, x, y=1.0):
        return self.scaled(x) * self.dt + y


class Model(Base):
    def __init__(self, dt, weights):
        self.dt = dt
        self.weights = weights
        self.layers = [(weights, 1.0), (2.0 * weights, 0.5)]
        self.inner = types.SimpleNamespace(n=3, rate=0.25, mode="fast", bias=None)
        self.act = np.tanh

    def rhs(self, x):
        return -x * self.weights + self.inner.rate

    def run(self, x):
        for _ in range(self.inner.n):
            x = x + self.dt * self.rhs(x)
        return x

    def network(self, x):
        for w, b in self.layers:
            x = self.act(w * x + b)
        if self.inner.bias is not None:
            x = x + self.inner.bias
        return x


@dataclasses.dataclass(frozen=True)
class Config:
    dt: float
    n: int = 4
    mode: str = "fast"


MODEL = Model(0.1, np.array([1.0, 0.5, -0.3]))
CONFIG, OTHER = Config(0.2), Config(0.3)


def attributes(x):
    total = 0.0
    for i in range(CONFIG.n):
        total += CONFIG.dt * x[0] ** i
    return total * MODEL.double if CONFIG.mode == "fast" else total


def methods(x):
    return np.sum(MODEL.run(x)) + np.sum(MODEL.scaled(x)) + np.sum(Base.squared(x))


def static(x):
    return np.sum(MODEL.squared(x, power=3) * MODEL.factor)


def called(x):
    step = MODEL.rhs
    return np.sum(MODEL(x, y=2.0) * step(x))


def networks(x):
    return np.sum(MODEL.network(x))


def passed(x):
    return np.sum(advanced(MODEL, x))


def advanced(model, x):
    return model.rhs(x) * model.inner.rate


@pytest.mark.parametrize(
    "f",
    [attributes, methods, static, called, networks, passed],
    ids=lambda f: f.__name__,
)
def test_programs(f):
    check_written(f, X)


def test_objects_in_cells():
    model = Model(0.3, X)
    check_written(lambda x: np.sum(model.run(x)), X)


def test_attributes_that_change():
    config = types.SimpleNamespace(rate=2.0)

    def program(x):
        return x * config.rate

    gradient = grad(program, tier="straight")
    assert gradient(3.0) == 2.0
    config.rate = 5.0
    assert gradient(3.0) == 5.0
    config.rate = X
    with pytest.raises(TypeError):
        grad(program)(3.0)
    config.rate = 7
    assert gradient(3.0) == 7.0
    del config.rate
    with pytest.raises(AttributeError, match="rate"):
        grad(program)(3.0)


def test_methods_that_change(monkeypatch):
    model = Model(0.3, X)

    def program(x):
        return np.sum(model.rhs(x))

    gradient = grad(program, tier="straight")
    np.testing.assert_allclose(gradient(X), -X)
    monkeypatch.setattr(Model, "rhs", lambda self, x: x * 4.0)
    np.testing.assert_allclose(gradient(X), [4.0, 4.0, 4.0])
    model.rhs = lambda x: x * 6.0
    np.testing.assert_allclose(gradient(X), [6.0, 6.0, 6.0])


def test_objects_of_another_class():
    class Other(Model):
        def rhs(self, x):
            return 9.0 * x

    held = [Model(0.3, X), Other(0.3, X)]

    def made(model):
        return lambda x: np.sum(model.rhs(x))

    for model in (*held, *held):
        expected = -X if type(model) is Model else [9.0, 9.0, 9.0]
        np.testing.assert_allclose(grad(made(model), tier="straight")(X), expected)


class Guessing:
    def __getattr__(self, name):
        return 2.0


class Counting:
    count = 0

    def next(self):
        self.count += 1
        return self.count


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate


class Computed:
    class Rate:
        def __get__(self, owner, cls):
            return 2.0

        def __set__(self, owner, value):
            raise AttributeError

    rate = Rate()


GUESSING, COUNTING, SLOTTED, COMPUTED = Guessing(), Counting(), Slotted(2.0), Computed()


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (lambda x: x * GUESSING.rate, "class Guessing"),
        (lambda x: x * COUNTING.next(), "."),
        (lambda x: x * SLOTTED.rate, "class Slotted"),
        (lambda x: x * COMPUTED.rate, "the attribute rate is computed"),
        (lambda x: x if CONFIG == OTHER else 2.0 * x, "used as a value"),
    ],
)
def test_what_is_refused(f, reason):
    check_refused(f, 1.5, reason=reason)
