"""What functions of solvers read and a program changes before the pullback."""

from collections import OrderedDict, deque, namedtuple
from enum import Enum
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from rules_scipy import integrate, optimize

number, whole, flag, text = 2.0, 2, True, "two"
listed, held, table = [2.0], np.array([2.0, 1.0]), {"k": 2.0}
module, thing = ModuleType("settings"), SimpleNamespace(k=2.0)
vars(module)["k"] = 2.0
VALUES = {"two": 2.0, "half": 0.5}


class Class:
    k = 2.0

    @classmethod
    def told(cls):
        return cls.k


class Slotted:
    __slots__ = ("k",)
    k: float


class Kind(Enum):
    two, half = 2.0, 0.5


class Thing:
    def __init__(self):
        self.k, self.inner = 2.0, SimpleNamespace(k=2.0)

    @property
    def shown(self):
        return self.k

    def told(self):
        return self.k

    def __call__(self):
        return self.k


thing_of_class, slotted, kind = Thing(), Slotted(), Kind.two
ordered, ended = OrderedDict(k=2.0), deque([2.0])
Pair = namedtuple("Pair", "first second")
pair = Pair([2.0], 0.0)


def constant(k):
    return lambda: k


chosen, operation = constant(2.0), np.add


def helper():
    return number


holders = [SimpleNamespace(read=helper)]
holder = SimpleNamespace(inner=holders[0])


def setter(name, convert=float):
    def change(k):
        globals()[name] = convert(k)

    return change


def set_thing(k):
    thing_of_class.k = k


READS = {
    "number": (lambda: number, setter("number")),
    "whole number": (lambda: whole if whole == 2 else 0.5, setter("whole", int)),
    "flag": (lambda: 2.0 if flag else 0.5, setter("flag", lambda k: k == 2.0)),
    "text": (
        lambda: VALUES[text],
        setter("text", lambda k: "two" if k == 2.0 else "half"),
    ),
    "member": (lambda: kind.value, setter("kind", Kind)),
    "helper": (lambda: helper(), setter("number")),
    "list": (lambda: listed[0], lambda k: listed.__setitem__(0, k)),
    "array": (lambda: float(held[0]), lambda k: held.__setitem__(0, k)),
    "dict": (lambda: table["k"], lambda k: table.__setitem__("k", k)),
    "ordered": (lambda: ordered["k"], lambda k: ordered.__setitem__("k", k)),
    "deque": (lambda: ended[0], lambda k: ended.__setitem__(0, k)),
    "named tuple": (lambda: pair.first[0], lambda k: pair.first.__setitem__(0, k)),
    "module": (lambda: module.k, lambda k: setattr(module, "k", k)),
    "class": (lambda: Class.k, lambda k: setattr(Class, "k", k)),
    "slot": (lambda: slotted.k, lambda k: setattr(slotted, "k", k)),
    "namespace": (lambda: thing.k, lambda k: setattr(thing, "k", k)),
    "function": (lambda: chosen(), setter("chosen", constant)),
    "operation": (
        lambda: 2.0 if operation is np.add else 0.5,
        setter("operation", lambda k: np.add if k == 2.0 else np.subtract),
    ),
    "property": (lambda: thing_of_class.shown, set_thing),
    "method": (lambda: thing_of_class.told(), set_thing),
    "call": (lambda: thing_of_class(), set_thing),
    "getattr": (lambda: getattr(thing_of_class, "k"), set_thing),  # noqa: B009
    "two steps": (
        lambda: thing_of_class.inner.k,
        lambda k: setattr(thing_of_class.inner, "k", k),
    ),
    "bound method": (thing_of_class.told, set_thing),
    "instance": (thing_of_class, set_thing),
    "partial": (
        partial(lambda k: k[0], listed),
        lambda k: listed.__setitem__(0, k),
    ),
    "held function": (lambda: holder.inner.read(), setter("number")),
    "held in a list": (lambda: holders[0].read(), setter("number")),
    "generator": (lambda: sum(number for _ in range(1)), setter("number")),
    "class method": (Class.told, lambda k: setattr(Class, "k", k)),
}


def as_before():
    for _, change in READS.values():
        change(2.0)


as_before()


def solved(xp, read, p):
    def f(t, y):
        return read() * p * y

    start = xp.ones(1) + 0 * p
    return integrate.solve_ivp(f, (0, 0.5), start, t_eval=[0.5], rtol=1e-8).y[0, -1]


# Each calls the function again in its pullback.
SOLVERS = {
    "quad": lambda xp, read, p: integrate.quad(
        lambda x: xp.exp(-read() * p * x), 0.0, 1.0
    )[0],
    "solve_ivp": solved,
    "root": lambda xp, read, p: optimize.root(
        lambda x: x**3 + read() * x - p, np.ones(1)
    ).x[0],
    "brentq": lambda xp, read, p: optimize.brentq(
        lambda x: x**3 + read() * x - p, -5.0, 5.0
    ),
    "minimize": lambda xp, read, p: optimize.minimize(
        lambda x: (read() * x[0] - p) ** 2 + x[0] ** 4, np.ones(1), tol=1e-9
    ).x[0],
    "args": lambda xp, read, p: integrate.quad(
        lambda x, q: xp.exp(-read() * q * x), 0.0, 1.0, args=(p,)
    )[0],
}


CHOSEN = [
    name if name == "root" else pytest.param(name, marks=pytest.mark.full)
    for name in SOLVERS
]

# Loops that change what the function of a step captures.


def root_of(f, *args):
    return optimize.brentq(f, 0.0, 2.0, args)


def by_variable(xp, p):
    total = 0.0
    for i in range(1, 4):
        total = total + root_of(lambda x: x**3 + i * x - p)  # noqa: B023
    return total


def by_variable_given(xp, p):
    total = 0.0
    for i in range(1, 4):
        total = total + root_of(lambda x, p: x**3 + i * x - p, p)  # noqa: B023
    return total


def by_function(xp, p):
    total = 0.0
    for i in range(1, 4):

        def scaled(x):
            return x * i  # noqa: B023

        total = total + root_of(lambda x: x**3 + scaled(x) - p)
    return total


def by_own_variable(xp, p):
    total, q = 0.0, p
    for _ in range(3):
        q = q * p
        total = total + root_of(lambda x: x**3 + x - q)  # noqa: B023
    return total


def by_list(xp, p):
    total, scale = 0.0, [0.0]
    for i in range(1, 4):
        scale[0] = i
        total = total + root_of(lambda x: x**3 + scale[0] * x - p)
    return total


def by_array(xp, p):
    total, scale = 0.0, np.ones(1)
    for i in range(1, 4):
        scale[0] = i
        total = total + root_of(lambda x: x**3 + scale[0] * x - p)
    return total


RIGHT = (by_variable, by_variable_given, by_function, by_own_variable)
WRITTEN = (by_list, by_array)


def slope(f, x, h=1e-5):
    return (float(f(x + h)) - float(f(x - h))) / (2 * h)
