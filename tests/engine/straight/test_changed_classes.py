"""Written code sees what is changed on a class, or a base, after it was written."""

from collections.abc import Callable
from typing import Any

import pytest

from rules_autodiff import UnsupportedProgram, grad
from tests.engine.cache_programs import Program, made

TEXT = """
import numpy as np
class Top:
    inherited = 3.0
    def far(self, x):
        return x**3
    def near(self, x):
        return x * 2.0
class Base(Top):
    pass
class Model(Base):
    default = 2.0
    plain = 5.0
    def __init__(self, x=1.5):
        self.own = 1.5
        self.default = x
    @property
    def computed(self):
        return self.own * 2.0
    def method(self, x):
        return x * x * self.own
    @staticmethod
    def static(x):
        return x * 4.0
    def far(self, x):
        return super().far(x) * 2.0
kept = Model()
def program(x):
    m = {model}
    return {read} + np.sin(x) * np.exp(x) * np.cos(x) * x
"""


class Data:
    """A descriptor that answers before the instance, also for the class."""

    def __init__(self, value: Any):
        self.value = value

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.value

    def __set__(self, instance: Any, value: Any) -> None:
        pass


class Plain:
    """A descriptor that answers after the instance."""

    def __init__(self, value: Any):
        self.value = value

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.value if instance is not None else 2.0


READS = {
    "own": "m.own * x * x",
    "default": "m.default * x * x",
    "plain": "m.plain * x * x",
    "inherited": "m.inherited * x * x",
    "computed": "m.computed * x * x",
    "method": "m.method(x)",
    "static": "m.static(x) * x",
    "near": "m.near(x) * x",
    "far": "m.far(x)",
}
CALLED = {"method", "static", "near", "far"}


def value_of(name: str) -> Any:
    return (lambda *args: args[-1] * 7.0) if name in CALLED else 7.0


def set_property(cls: type, name: str) -> None:
    setattr(cls, name, property(lambda _self: value_of(name)))


def set_data(cls: type, name: str) -> None:
    setattr(cls, name, Data(value_of(name)))


def set_plain(cls: type, name: str) -> None:
    setattr(cls, name, Plain(value_of(name)))


def set_value(cls: type, name: str) -> None:
    setattr(cls, name, value_of(name))


def set_static(cls: type, name: str) -> None:
    setattr(cls, name, staticmethod(lambda x, y=0.0: x * 11.0 + y))


def set_bound(cls: type, name: str) -> None:
    """The function as it is, bound in another way."""
    raw = next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)
    f: Any = getattr(raw, "__func__", raw)
    setattr(cls, name, f if isinstance(raw, staticmethod) else staticmethod(f))


def set_getattribute(cls: Any, name: str) -> None:
    def look(self: Any, key: str) -> Any:
        return value_of(name) if key == name else object.__getattribute__(self, key)

    cls.__getattribute__ = look


def set_getattr(cls: Any, name: str) -> None:
    cls.__getattr__ = lambda _self, _key: value_of(name)


def remove(cls: type, name: str) -> None:
    if name in vars(cls):
        delattr(cls, name)


CHANGES = [
    set_property, set_data, set_plain, set_value, set_static, set_bound,
    set_getattribute, set_getattr, remove,
]  # fmt: skip


def outcome(run: Callable[[], Any]) -> Any:
    """A number, or the class of the error."""
    try:
        return run()
    except Exception as error:
        return type(error)


@pytest.mark.covering(every=15)
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("model", ["kept", "Model()"])
@pytest.mark.parametrize("of", ["Model", "Base"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda f: f.__name__)
def test_a_changed_class_is_seen(change, of, model, name):
    f = made(Program(TEXT.format(model=model, read=READS[name]), ""))
    for _ in range(4):
        grad(f)(0.7)
    change(f.__globals__[of], name)
    found = outcome(lambda: grad(f)(0.7))
    wanted = outcome(lambda: (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)
    if found is not UnsupportedProgram:
        same = isinstance(wanted, type) and found == wanted
        assert same or found == pytest.approx(wanted, rel=1e-6), name
