"""Instances that a program makes itself: attributes, methods, super(), aliases."""

import abc
import enum
import math

import numpy as np
import pytest

from rules_autodiff import grad, value_and_grad
from tests.engine.straight.programs import alone, check_refused, check_written

X = np.array([0.5, -1.0, 2.0])
COUNTS, NAME = (1, 2), "area"


class Shape:
    """What most classes look like."""

    factor = 2.0
    made = 0

    def __init__(self, a, b=1.0, *, name="shape"):
        if b < 0:
            message = f"negative: {b}"
            raise ValueError(message)
        self.a, self.b = a, b
        self.name = name
        self.both = (a, b)

    def area(self):
        return self.a * self.b * self.factor

    @property
    def double(self):
        return 2.0 * self.area()

    @staticmethod
    def squared(v):
        return v * v

    def grow(self, by):
        self.a = self.a * by
        self.b += by
        return self.a

    def twice(self, by):
        self.grow(by)
        self.grow(self.b)

    def moved(self, by):
        return Shape(self.a + by, self.b, name="moved")

    def compared(self, other):
        return self.area() - other.area()


class Block(Shape, abc.ABC):
    def __init__(self, a, b, depth):
        super().__init__(a, b=b, name="block")
        self.depth = depth
        self.prepare()

    def prepare(self):
        self.total = 0.0
        for i in range(self.depth):
            self.total += self.a * i

    def area(self):
        return super().area() + self.total

    def grow(self, by):
        before = super().grow(by)
        self.prepare()
        return before


class Empty:
    pass


class Field:
    def __init__(self, values):
        self.values = values * 1.0
        self.shape = Shape(values[0], 2.0)

    def __call__(self, w):
        return np.sum(self.values * w) * self.shape.area()


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Watched:
    def __setattr__(self, name, value):
        super().__setattr__(name, value)


class Made:
    def __new__(cls, *_args):
        return super().__new__(cls)


class Setter:
    @property
    def a(self):
        return self.own

    @a.setter
    def a(self, value):
        self.own = 2.0 * value


class Color(enum.Enum):
    RED = 1
    BLUE = 2


CHOSEN = Color.RED


def made(x):
    return Shape(x).area() + Shape(a=x, b=x).double


def inherited(x):
    block = Block(x, 1.5, 3)
    return block.area() * block.total + block.squared(x)


def changed(x):
    shape = Shape(x, 0.5)
    shape.a = shape.a * x
    shape.b += x
    return shape.area() * shape.grow(x) + shape.area()


def changed_twice(x):
    block = Block(x, 1.5, 3)
    block.twice(x)
    return block.area() + block.total


def changed_in_a_loop(x):
    shape = Shape(x, 0.5)
    for i in range(3):
        if shape.a > 0.1:
            shape.grow(x + i)
        else:
            shape.a = x * 2.0
    return shape.area()


def new_attributes(x):
    found = Empty()
    found.one = x
    found.other = found.one * x
    found.one = 2.0
    return found.one * found.other


def in_containers(x):
    shapes = [Shape(x), Block(x, 2.0, 2)]
    named = {"one": Shape(x, x), "rest": tuple(shapes)}
    return sum(s.area() for s in shapes) * named["one"].a + named["rest"][1].total


def passed_on(x):
    shape = Shape(x, 2.0)
    other = shape.moved(x)
    return shape.compared(other) * by_function(shape, other)


def by_function(one, other):
    return one.area() * other.double


def one_or_the_other(x):
    shape = Shape(x) if x > 0.4 else Shape(x * x)
    if x > 0.2:
        shape.a = shape.a * 3.0
    return shape.area()


def of_arrays(x):
    field = Field(x)
    return field(x) + field.values[1]


def bound_method(x):
    shape = Shape(x, 3.0)
    area = shape.area
    return area() * area()


def raised(x):
    try:
        return Shape(x, -1.0).area()
    except ValueError:
        return x * 7.0


def attribute_by_name(x):
    return getattr(Shape(x, x), NAME)() + getattr(Shape(x), "double")  # noqa: B009  read so


def asked_for_none(x):
    shape = Shape(x)
    return x if shape is None else shape.area()


def classes_asked(x):
    return x * 2.0 if isinstance(x, str | float) else x


def mapped(x):
    a, b = map(math.sin, (x, x * x))
    c, d = map(lambda v, w: v * w, (x, 2.0), (a, b))
    return a * b * c * d


def mapped_at_once(x):
    total = sum(map(abs, (x, 2.0))) + alone(*map(math.sin, (x, 3.0)), x)
    first, *rest = map(math.cos, [x, x * x, 1.0])
    return total * first + sum(list(map(abs, rest))) * x


def used_up(x):
    items = map(lambda v: v * x, (x, 2.0))  # noqa: C417  an iterator with a name
    return sum(items) * 3.0 + sum(items)


def handed_on(x):
    return gone_through(map(math.sin, (x, 2.0))) * x


def gone_through(items):
    return sum(items) + sum(items)


def in_step(x):
    total = x
    for part in map(lambda v: v * total, (1.0, 2.0, 3.0)):  # noqa: C417  in step
        total = total + part
    return total


def member(x):
    return x * 2.0 if CHOSEN == Color.RED and CHOSEN is not Color.BLUE else x * x


def nothing_returned(x):
    found = Empty()
    fill(found)
    return x * x if fill(x) is None else x


def fill(_found):
    pass


PROGRAMS = [
    made, inherited, changed, changed_twice, changed_in_a_loop, new_attributes,
    in_containers, passed_on, one_or_the_other, bound_method, attribute_by_name,
    asked_for_none, classes_asked, mapped, mapped_at_once, member, nothing_returned,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(f):
    check_written(f, 0.7)
    for _ in range(3):
        assert grad(f)(0.7) == pytest.approx(grad(f, tier="tape")(0.7), rel=1e-12)


def test_arrays_in_instances():
    check_written(of_arrays, X)


def test_a_constructor_raises():
    for _ in range(3):
        assert grad(raised)(0.5) == 7.0


# aliases: an instance that changes has one name


def second_name(x):
    one = Shape(x)
    other = one
    one.a = x * 5.0
    return one.a * other.a


def in_a_tuple(x):
    one = Shape(x)
    held = (one, 1.0)
    one.grow(x)
    return held[0].a * one.a


def in_a_loop(x):
    one, total = Shape(x), 0.0
    for part in (one, Shape(2.0)):
        one.a = one.a * 3.0
        total = total + part.a
    return total


def by_itself(x):
    one = itself(Shape(x))
    other = itself(one)
    other.a = 5.0 * x
    return one.a * other.a


def itself(shape):
    return shape


def kept_by_another(x):
    one, other = Shape(x), Empty()
    other.held = one
    one.a = x * x
    return other.held.a


def by_argument(x):
    one = Shape(x)
    enlarged(one)
    return one.a


def enlarged(shape):
    shape.a = shape.a * 4.0


def in_a_method(x):
    one = Shape(x)
    method = one.area
    one.a = x * x
    return method()


def in_a_closure(x):
    one = Shape(x)

    def inner():
        return one.a * 2.0

    one.a = x * x
    return inner()


def late_name(x):
    one = Shape(x)
    for i in range(2):
        if i:
            one.a = x * 3.0
        other = one
    return other.a * one.a


def inner_instance(x):
    field = Empty()
    field.shape = Shape(x)
    field.shape.a = x * 3.0
    return field.shape.a * x


def on_one_way(x):
    found = Empty()
    if x > 0.1:
        found.one = x
    else:
        found.other = x
    return found.one * x


ALIASES = [
    used_up, handed_on, in_step,
    second_name, in_a_tuple, in_a_loop, by_itself, kept_by_another, by_argument,
    in_a_method, in_a_closure, late_name, inner_instance, on_one_way,
]  # fmt: skip


@pytest.mark.parametrize("f", ALIASES, ids=lambda f: f.__name__)
def test_aliases(f):
    """By written code or by the tape: the derivative is that of the program."""
    for _ in range(4):
        value, slope = value_and_grad(f)(0.7)
        assert value == pytest.approx(f(0.7), rel=1e-12)
        step = 1e-6
        difference = (f(0.7 + step) - f(0.7 - step)) / (2 * step)
        assert slope == pytest.approx(difference, rel=1e-6)


def slotted(x):
    return Slotted(x).a * x


def watched(x):
    found = Watched()
    found.a = x
    return found.a


def made_anew(x):
    return Made(x) is not None and x


def by_setter(x):
    found = Setter()
    found.a = x
    return found.a * x


REFUSED = [
    (slotted, "of a kind of their own"), (watched, "of a kind of their own"),
    (made_anew, "of a kind of their own"), (by_setter, "is computed"),
    (second_name, "a second name"), (in_a_tuple, "a second name"),
    (kept_by_another, "other way|a second name"),
    (by_argument, "assigned, is not made|other way"), (used_up, "an iterator is kept"),
    (handed_on, "an iterator is kept"), (in_step, "an iterator is kept"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "reason"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_what_is_refused(f, reason):
    check_refused(f, 0.7, reason=reason)


# what may change between calls


def test_classes_that_change():
    class Own:
        rate = 2.0

        def __init__(self, x):
            self.x = x

        def value(self):
            return self.x * self.rate

    def program(x):
        return Own(x).value() * x

    def slope():
        found = grad(program)(3.0)
        assert found == grad(program, tier="tape")(3.0)
        return found

    assert [slope() for _ in range(3)] == [12.0] * 3
    Own.rate = 3.0
    assert [slope() for _ in range(3)] == [18.0] * 3
    Own.value = lambda self: self.x * 10.0
    assert [slope() for _ in range(3)] == [60.0] * 3
    Own.x = property(lambda self: self.own, lambda self, v: setattr(self, "own", 2 * v))
    assert [slope() for _ in range(3)] == [120.0] * 3
    del Own.x
    Own.__getattr__ = lambda self, name: 1.0
    assert [slope() for _ in range(3)] == [60.0] * 3


def test_other_members_and_names():
    held = {"member": Color.RED}

    def made_of(member, name, count):
        def program(x, y):
            if member is Color.RED:
                return getattr(Shape(x, y), name)
            return (x, y)[count] * 3.0

        return program

    del held
    for _ in range(3):
        for member in Color:
            for name in ("a", "b", "double"):
                for count in (0, 1):
                    program = made_of(member, name, count)
                    found = grad(program, (0, 1))(2.0, 5.0)
                    assert found == grad(program, (0, 1), tier="tape")(2.0, 5.0)
