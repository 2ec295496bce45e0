"""Python code that a subclass of a container runs for its items, asked by C code.

`super()`, constructors, `update`, `setdefault`, `copy`, `|` and `dict(…)` ask some of a
subclass's methods and not others; the plain program shows which.
"""

from collections import OrderedDict, UserDict, defaultdict, deque

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_autodiff.testing import check_program
from rules_core import NoTangent


def ordered(name, method):
    return type(f"Ordered{name}", (OrderedDict,), {name: method})


def plain(name, method):
    return type(f"Plain{name}", (dict,), {name: method})


def stored_twice(self, key, value):
    type(self).__mro__[1].__setitem__(self, key, value * 2.0)


def read_thrice(self, key):
    return type(self).__mro__[1].__getitem__(self, key) * 3.0


class Listed(dict):
    """A dict that says itself which keys it has, and what they hold."""

    def __getitem__(self, key):
        return super().__getitem__(key) * 3.0

    def __iter__(self):
        return iter(["a"])

    def keys(self):
        return ["a"]


CLASSES = (
    ordered("__setitem__", stored_twice),
    ordered("__getitem__", read_thrice),
    plain("__setitem__", stored_twice),
    plain("__getitem__", read_thrice),
    Listed,
    OrderedDict,
    dict,
)


def updated(d, _cls):
    made = {}
    made.update(d)
    return made["a"]


def itself_updated(d, _cls):
    d.update({"a": d["a"] * 0.5}, b=1.0)
    return d["a"]


def merged_in_place(d, _cls):
    d |= {"a": d["a"] * 0.5}
    return d["a"]


def by_keywords(**given):
    return given["a"]


def defaults(d, _cls):
    return d.setdefault("b", d["a"]) * d["b"] * d.setdefault("a", 1.0)


WAYS = {
    "item": lambda d, _cls: d["a"],
    "dict": lambda d, _cls: dict(d)["a"],
    "stars": lambda d, _cls: {**d}["a"],
    "keywords": lambda d, _cls: by_keywords(**d),
    "ordered": lambda d, _cls: OrderedDict(d)["a"],
    "user": lambda d, _cls: UserDict(d)["a"],
    "right": lambda d, _cls: ({} | d)["a"],
    "left": lambda d, _cls: (d | {"b": 1.0})["a"],
    "copy": lambda d, _cls: d.copy()["a"],
    "get": lambda d, _cls: d.get("a", 1.0),
    "values": lambda d, _cls: sum(d.values()),
    "default": defaults,
    "pairs": lambda d, cls: cls([("a", d["a"])])["a"],
    "fromkeys": lambda d, cls: cls.fromkeys(["a"], d["a"])["a"],
    "pop": lambda d, _cls: d.pop("a"),
    "update": updated,
    "itself": itself_updated,
    "in place": merged_in_place,
}  # fmt: skip


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_items_are_asked_as_python_asks(cls, way):
    check_program(lambda x: WAYS[way](cls(a=x), cls), 1.3)


class Missing(dict):
    def __missing__(self, key):
        return self["a"] * len(key)


class Asked(Missing):
    def __getitem__(self, key):
        return super().__getitem__(key)


class Factory(defaultdict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2.0)


class Doubling(list):
    def append(self, item):
        super().append(item * 2.0)
        super().extend([item])


def by_super_of_a_list(x):
    items = Doubling([x])
    items.append(x * x)
    items[0] = items[1] * items[2]
    return items[0] * items.pop()


class Known(defaultdict):
    def __missing__(self, key):
        value = super().__missing__(key)
        self[key] = value * 2.0
        return value


def by_missing_of_super(x):
    table = Known(lambda: x * x)
    return table["a"] * table["a"] * x


def by_factory(x):
    table = Factory(lambda: x * x)
    return table["a"] * table["a"] * x


@pytest.mark.parametrize("cls", [Missing, Asked])
def test_missing_entries_are_asked_for(cls):
    check_program(lambda x: cls(a=x)["abc"] * dict.__getitem__(cls(a=x), "ab"), 1.3)


@pytest.mark.parametrize(
    "program", [by_super_of_a_list, by_factory, by_missing_of_super]
)
def test_methods_of_super_are_followed(program):
    check_program(program, 1.3)


# `super().name(…)` in a method `name` of one's own


def overriding(name):
    def method(self, *args):
        found = getattr(super(type(self), self), name)(*args)
        self.count += 1
        return found

    return method


# How often C code asks for a length, to reserve memory, is its own affair.
LEFT_OUT = ("__new__", "__init__", "__getattribute__", "__class_getitem__", "__len__")
NAMES = {
    base: [
        name
        for name, f in vars(base).items()
        if hasattr(type(f), "__get__")
        and callable(f)
        and name not in LEFT_OUT
        and not name.startswith(("__init_sub", "__reduce", "__sizeof"))
    ]
    for base in (list, dict, tuple, deque, OrderedDict, defaultdict)
}
CASES = [(base, name) for base, names in NAMES.items() for name in names]
GIVEN = (
    (),
    (0,),
    ("a",),
    ("a", 2.0),
    (0, 2.0),
    ([5.0],),
    ({"b": 3.0},),
    ([("b", 3.0)],),
)


def filled(cls, x):
    if issubclass(cls, dict):
        first = () if cls.__mro__[1] is not defaultdict else (float,)
        made = cls(*first, a=x * x)
    else:
        made = cls([x * x, 2.0])
    made.count = 0
    return made


def outcome(run, cls, name, args, x):
    """What a call gives, leaves and counts, or the class of its error."""

    def program(x):
        made = filled(cls, x)
        found = getattr(made, name)(*args)
        kept = dict.values(made) if isinstance(made, dict) else list(made)
        total = found if isinstance(found, float) else 0.0
        counts.append(made.count)
        return total * 2.0 + sum(v for v in kept if type(v) is float)

    counts = []
    try:
        return run(program, x), counts[-1]
    except Exception as error:
        return type(error)


def slope(program, x):
    gradient = grad(program)(x)
    pushed = jvp(program, (x,), (1.0,))[1]
    assert gradient == pushed or isinstance(pushed, NoTangent)
    return gradient


def difference(program, x):
    h = 1e-6
    return (program(x + h) - program(x - h)) / (2 * h)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(("base", "name"), CASES)
def test_a_method_of_its_own_may_ask_that_of_the_base(base, name):
    cls = type("Own", (base,), {name: overriding(name)})
    for args in GIVEN:
        plain = outcome(difference, cls, name, args, 1.3)
        found = outcome(slope, cls, name, args, 1.3)
        if found is UnsupportedProgram:
            continue
        if isinstance(plain, type) or isinstance(found, type):
            assert found is plain
        else:
            assert np.isclose(found[0], plain[0], rtol=1e-6)
            assert found[1] == plain[1]
