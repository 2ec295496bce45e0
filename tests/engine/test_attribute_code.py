"""Python code that runs where an attribute is read, set or deleted, in every way.

Python itself asks a property, a descriptor, `__setattr__` or `__getattr__`; so do
`super()`, the slots of `object` and `property`, the `__init__` that `dataclass` writes,
and subclasses of arrays and numbers. Each way is crossed with each kind of code.
"""

import dataclasses
import functools
import operator
from typing import Any

import numpy as np
import pytest

from rules_autodiff.testing import check_program


def read(self):
    return self.__dict__["kept"] * 3.0


def keep(self, value):
    self.__dict__["kept"] = value * value


def drop(self):
    self.__dict__["kept"] = self.__dict__["kept"] ** 3


class Data:
    def __get__(self, owner, cls=None):
        return 1.0 if owner is None else read(owner)

    def __set__(self, owner, value):
        keep(owner, value)

    def __delete__(self, owner):
        drop(owner)


class OwnProperty(property):
    """A property with a meaning of its own."""

    def __get__(self, owner, cls=None):
        return self if owner is None else super().__get__(owner, cls) * 2.0

    def __set__(self, owner, value):
        super().__set__(owner, value + 1.0)

    def __delete__(self, owner):
        super().__delete__(owner)


KINDS = {
    "property": property(read, keep, drop),
    "partial": property(
        functools.partial(read), functools.partial(keep), functools.partial(drop)
    ),
    "cached function": property(functools.lru_cache(read), keep, drop),
    "own property": OwnProperty(read, keep, drop),
    "descriptor": Data(),
}


def class_with(kind):
    return type("Base", (), {"value": KINDS[kind]})


def by_statement(cls, x):
    made = cls()
    made.value = x
    first = made.value
    del made.value
    return first * made.value


def by_function(cls, x):
    made = cls()
    setattr(made, "value", x)  # noqa: B010  it is what is tested
    first = getattr(made, "value")  # noqa: B009  as above
    delattr(made, "value")
    return first * operator.attrgetter("value")(made)


def by_slot_of_object(cls, x):
    made = cls()
    object.__setattr__(made, "value", x)
    first = object.__getattribute__(made, "value")
    object.__delattr__(made, "value")
    return first * object.__getattribute__(made, "value")


def by_descriptor(cls, x):
    made, found = cls(), vars(cls)["value"]
    found.__set__(made, x)
    first = found.__get__(made, cls)
    found.__delete__(made)
    return first * found.__get__(made, cls)


def by_super(cls, x):
    class_of = type("Derived", (cls,), {"value": None})
    made = class_of()
    super(class_of, made).__setattr__("other", x)
    keep(made, made.other)
    first = super(class_of, made).value
    return first * getattr(super(class_of, made), "value")  # noqa: B009  as above


class Setting:
    def __setattr__(self, name, value):
        super().__setattr__(name, value)

    def __delattr__(self, name):
        super().__delattr__(name)

    def __getattribute__(self, name):
        return super().__getattribute__(name)


def by_slots_of_super(cls, x):
    return by_statement(type("Both", (Setting, cls), {}), x)


WAYS = (
    by_statement, by_function, by_slot_of_object, by_descriptor, by_super,
    by_slots_of_super,
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_code_of_an_attribute_is_followed(way, kind):
    cls = class_with(kind)
    check_program(lambda x: way(cls, x), 1.3)


# what `dataclass` writes


def doubling(cls):
    def set_twice(self, name, value):
        object.__setattr__(self, name, value * 2.0)

    cls.__setattr__ = set_twice
    return cls


@doubling
@dataclasses.dataclass
class Doubled:
    a: float
    b: float = 2.0


@dataclasses.dataclass
class Inherited(Doubled):
    c: float = 0.5


@doubling
@dataclasses.dataclass(slots=True)
class Slotted:
    a: float
    b: float = 2.0


@dataclasses.dataclass
class Described:
    a: Any = Data()
    b: float = 2.0


@dataclasses.dataclass
class WithProperty:
    a: Any
    b: float = 2.0


WithProperty.a = property(read, keep)


@dataclasses.dataclass
class Made:
    a: float
    b: float = dataclasses.field(default_factory=lambda: 2.0)

    def __new__(cls, *_args, **_kwargs):
        return super().__new__(cls)


@dataclasses.dataclass
class Left:
    a: float
    b: float = dataclasses.field(default=2.0, init=False)

    def __post_init__(self):
        self.a = self.a * self.a * len(vars(self))


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: float = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "b", self.a * self.a)


CLASSES = (Doubled, Inherited, Slotted, Described, WithProperty, Made, Left, Frozen)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_constructor_of_a_dataclass_sets_as_python_does(cls):
    check_program(lambda x: cls(x).a * cls(a=x * x).b, 1.3)


# subclasses of arrays and numbers


class Named(np.ndarray):
    first = property(lambda self: self[0], lambda self, value: self.fill(value))

    def __getattr__(self, name):
        if name == "second":
            return self[1] * 2.0
        raise AttributeError(name)


def property_of_an_array(x):
    return x.view(Named).first * x.view(Named)[1:].first


def asked_attribute_of_an_array(x):
    return x.view(Named).second * getattr(x.view(Named), "third", 2.0)


def setter_of_an_array(x):
    a = x.copy().view(Named)
    a.first = x[1]
    return a.first * x[0]


@pytest.mark.parametrize(
    "program", [property_of_an_array, asked_attribute_of_an_array, setter_of_an_array]
)
def test_attributes_of_a_class_of_arrays_are_followed(program):
    check_program(program, np.array([1.3, 0.4, 2.0]))


class Whole(int):
    """A whole number that knows more, with operators of its own."""

    def __new__(cls, value, part):
        made = super().__new__(cls, value)
        made.part = part
        return made

    def __add__(self, other):
        return self.part + other

    def __rsub__(self, other):
        return other - self.part * 2.0

    def __mul__(self, other):
        return self.part * other

    def __pow__(self, other):
        return self.part**other

    def __neg__(self):
        return self.part * 5.0

    def __abs__(self):
        return self.part * 7.0

    def __iadd__(self, other):
        return self.part * other


class Unit(float):
    def __mul__(self, other):
        return other * 5.0


class Exponent(int):
    """Rules calculate with exponents: not by these operators."""

    def __mul__(self, other):
        return other * 5.0

    def __sub__(self, other):
        return 9.0

    __rmul__ = __rsub__ = __sub__


def added_in_place(n, x):
    n += x
    return n


OPERATORS = (
    lambda n, x: n + x, lambda n, _x: n + 2.0, lambda n, _x: n + n,
    lambda n, x: x - n, lambda n, _x: 2 - n, lambda n, x: n * x, lambda n, _x: n**2,
    lambda n, _x: -n, lambda n, _x: abs(n), lambda n, x: x * n, lambda n, x: x / n,
    lambda n, x: sum([x * 2.0, n * 1.0]), lambda n, x: Unit(2.0) * x + n * 0.0,
    lambda n, x: operator.add(n, x), lambda n, x: np.sum(n * np.array([x, 1.0])),
    lambda n, x: functools.reduce(operator.mul, [n, x]), added_in_place,
    lambda n, x: (x + n * 0.0) ** Exponent(3), lambda n, x: x / Exponent(3) + n * 0.0,
)  # fmt: skip


@pytest.mark.parametrize("program", OPERATORS, ids=range(len(OPERATORS)))
def test_operators_of_a_class_of_numbers_are_followed(program):
    check_program(lambda x: program(Whole(3, x * x), x), 1.3)
