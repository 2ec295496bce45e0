"""The language: classes and their protocols."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: SIM201, TRY301

import abc
import dataclasses
import enum
import functools
import typing


class Mode(enum.Enum):
    DOUBLE = 2.0
    SQUARE = "square"

    def apply(self, x):
        return x * 2 if self is Mode.DOUBLE else x * x


class Shape(abc.ABC):
    count = 0

    def __init__(self, scale):
        type(self).count += 1
        self.scale = scale

    @abc.abstractmethod
    def area(self): ...

    def __mul__(self, c):
        return type(self)(self.scale * c)

    def __eq__(self, other):
        return self.area() == other.area()

    __hash__ = None  # type: ignore[assignment]  # how Python spells: no hash


class Square(Shape):
    def __init__(self, scale, *, extra=0.0):
        super().__init__(scale)
        self.extra = extra

    def area(self):
        return self.scale**2 + self.extra


class Slotted:
    __slots__ = ("_x", "y")

    def __init__(self, x, y):
        self._x, self.y = x, y

    x = property(lambda self: self._x * 2)

    @x.setter
    def x(self, value):
        self._x = value / 2


class Celsius:
    """A descriptor written in Python."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return self if instance is None else instance.__dict__[self.name] - 273.15

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value + 273.15


class Room:
    temperature = Celsius()


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: float
    y: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "y", self.y * self.x)

    def __add__(self, other):
        return Frozen(self.x + other.x, self.y)


class Tally(dict):
    def __missing__(self, key):
        self[key] = value = len(key) * 0.5
        return value


class Stack(list):
    def push(self, x):
        self.append(x)
        return self

    def total(self):
        return sum(self)


class Pair(typing.NamedTuple):
    a: float
    b: float = 2.0

    @property
    def product(self):
        return self.a * self.b

    def swap(self):
        return Pair(self.b, self.a)


class Failure(Exception):
    def __init__(self, value):
        super().__init__("failed")
        self.value = value * 2


class Everything:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        return value * 2 if name == "x" else value

    def __iadd__(self, other):
        self.x = self.x / 2 + other
        return self

    def __matmul__(self, other):
        return self.x * other.x

    def __rsub__(self, other):
        return other - self.x

    def __neg__(self):
        return Everything(-self.x)

    def __pow__(self, n, mod=None):
        return self.x**n

    def __bool__(self):
        return self.x > 0

    def __contains__(self, v):
        return v == self.x

    def __float__(self):
        return self.x * 1.0

    def __round__(self, n=0):
        return self.x * 3

    def __reversed__(self):
        yield self.x
        yield self.x * self.x


class Tower:
    @functools.singledispatchmethod
    def show(self, x):
        return x * 2

    @functools.partialmethod
    def scaled(self, c, x):
        return c * x

    triple = functools.partialmethod(lambda self, c, x: c * x, 3.0)


def enums(x):
    return Mode.DOUBLE.apply(x) * Mode["SQUARE"].apply(x) * Mode.DOUBLE.value


def inheritance(x):
    s = Square(x, extra=x * 2)
    t = s * 3.0
    assert not s == t
    return s.area() * t.area() + isinstance(t, Shape) * x


def slots_and_properties(x):
    s = Slotted(x, x * 2)
    s.x = s.x * s.y
    s.y += s.x
    return s.x * s.y


def descriptors(x):
    room = Room()
    room.temperature = x * 2
    room.temperature *= x
    return room.temperature**2


def frozen_dataclass(x):
    a = Frozen(x)
    b = a + Frozen(x * x, 3.0)
    c = dataclasses.replace(a, x=2.0)
    return b.x * b.y + c.y + sum(dataclasses.astuple(a)) + dataclasses.asdict(b)["x"]


def builtin_subclasses(x):
    t = Tally(a=x)
    value = t["a"] * t["bcd"] + t["bcd"]
    s = Stack([x]).push(x * x)
    s.push(value)
    copied = Stack(s)
    return s.total() * len(t) + copied[1] + s[-1]


def named_tuples(x):
    p = Pair(x)
    q = p.swap()._replace(b=x * 3)
    a, b = q
    return p.product * q.product + a * b + Pair._make([x, x])[1]


def custom_exceptions(x):
    try:
        try:
            raise Failure(x)
        except Failure as error:
            raise ValueError(error.value * x) from error
    except ValueError as error:
        return error.args[0] + error.__cause__.value


def every_operator(x):
    e = Everything(x)
    e += x
    total = (e @ e) + (1.0 - e) + (-e).x + e**2
    total += float(e) + round(e) + sum(reversed(e))
    return total * (2.0 if e and e.x in e else 1.0)


def dispatched_methods(x):
    return Tower().show(x) + Tower().triple(x)


ONE = [
    enums,
    inheritance,
    slots_and_properties,
    descriptors,
    frozen_dataclass,
    builtin_subclasses,
    named_tuples,
    custom_exceptions,
    every_operator,
    dispatched_methods,
]
PROGRAMS = [
    *((f, (0.8,)) for f in ONE),
]
