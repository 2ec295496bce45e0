"""Python code that a subclass of a container runs for its items, asked by C code.

`super()`, constructors, `update`, `setdefault`, `copy`, `|` and `dict(…)` ask some of a
subclass's methods and not others; the plain program shows which.
"""

from collections import OrderedDict, UserDict, defaultdict

import pytest

from rules_autodiff.testing import check_program


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


def by_factory(x):
    table = Factory(lambda: x * x)
    return table["a"] * table["a"] * x


@pytest.mark.parametrize("cls", [Missing, Asked])
def test_missing_entries_are_asked_for(cls):
    check_program(lambda x: cls(a=x)["abc"] * dict.__getitem__(cls(a=x), "ab"), 1.3)


@pytest.mark.parametrize("program", [by_super_of_a_list, by_factory])
def test_methods_of_super_are_followed(program):
    check_program(program, 1.3)
