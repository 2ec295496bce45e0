"""Containers that C code fills, reads or asks: with classes of the user's own."""

import math
import operator
from collections import (
    ChainMap,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
    namedtuple,
)

import numpy as np
import pytest

from rules_autodiff.testing import check_program

X = np.array([1.2, 0.7, 1.5])


class Tripled(list):
    def __iter__(self):
        return (v * 3 for v in list.__iter__(self))


class Squares(tuple):
    __slots__ = ()

    def __iter__(self):
        return (v * v for v in tuple.__iter__(self))


class Items(list):
    def __getitem__(self, i):
        return list.__getitem__(self, i) * 2


class Short(list):
    def __len__(self):
        return 1


class Initialised(list):
    def __init__(self, items):
        super().__init__(items)
        self.append(2.0)


class Made(tuple):
    __slots__ = ()

    def __new__(cls, items):
        return super().__new__(cls, items)


class Own(UserList):
    def __iter__(self):
        return (v * 2 for v in self.data)


class Doubled(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2


class Stored(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, value * 3)


Point = namedtuple("Point", "a b c")


def numbered(f):
    """The name of a program: lambdas go by their line."""
    return f"{f.__name__}-{f.__code__.co_firstlineno}"


# filled by C code


FILLED = [
    lambda x: sum(dict.fromkeys(x)),
    lambda x: sum({}.fromkeys(x, 0)),
    lambda x: sum(OrderedDict.fromkeys(x)),
    lambda x: sum(defaultdict.fromkeys(x)),
    lambda x: sum(Doubled.fromkeys(x)),
    lambda x: sum(Stored.fromkeys([0, 1], x[0]).values()),
    lambda x: sum(dict.fromkeys(x.flat)),
    lambda x: sum(dict.fromkeys(x[:, None].ravel())),
    lambda x: sum(dict.fromkeys(list(x))),
    lambda x: sum(dict.fromkeys(Tripled(x))),
    lambda x: sum(dict.fromkeys([0, 1], x[0]).values()),
    lambda x: sum(UserDict.fromkeys(x)),
    lambda x: sum(ChainMap.fromkeys(x)),
    lambda x: sum(tuple.__new__(tuple, x)),
    lambda x: sum(Made(x)) + sum(Made(x.flat)),
    lambda x: sum(Initialised(x)) + sum(Initialised(x.flat)),
    lambda x: sum(list.__iter__(Tripled(Tripled(x)))),
    lambda x: Point._make(x).a * Point._make(x).b,
    lambda x: sum(deque(x.flat)) + sum(deque(Tripled(x))),
    lambda x: sum(OrderedDict(enumerate(x)).values()),
    lambda x: sum(dict.fromkeys(UserList(x))),
]


def initialised_anew(x):
    items = []
    items.__init__(x)
    other = deque()
    other.__init__(x * x)
    pairs = {}
    pairs.__init__(enumerate(x))
    return sum(items) * sum(other) * pairs[1]


@pytest.mark.parametrize("f", [*FILLED, initialised_anew], ids=numbered)
def test_filled_by_c_code(f):
    check_program(f, X)


# read by C code


def into_an_array(a, x):
    b = np.zeros(len(x))
    b[:] = a
    np.copyto(b, a, where=[True, False, True])
    return b.sum()


READ = {
    "array": lambda a, _: np.array(a).sum(),
    "asarray": lambda a, _: np.asarray(a)[0],
    "keyword": lambda a, _: np.sum(a=a),
    "max": lambda a, _: np.max(a),
    "dot": lambda a, _: np.dot(a, a),
    "interp": lambda a, _: np.interp(0.6, [0, 1, 2], a),
    "interp by keyword": lambda a, _: np.interp(0.6, [0, 1, 2], fp=a),
    "where": lambda a, _: np.where([True, False, True], a, 0.0).sum(),
    "sin": lambda a, _: np.sin(a).sum(),
    "stack": lambda a, _: np.stack([a, a]).sum(),
    "concatenate": lambda a, _: np.concatenate([a, a]).sum(),
    "fsum": lambda a, _: math.fsum(a),
    "prod": lambda a, _: math.prod(a),
    "dist": lambda a, _: math.dist(a, [0, 0, 0]),
    "nested": lambda a, _: np.array([a, [1, 2, 3.0]]).sum(),
    "right operand": lambda a, x: (x * a).sum(),
    "left operand": lambda a, x: np.sum(a * x),
    "matmul": lambda a, x: x @ a,
    "norm": lambda a, _: np.linalg.norm(a),
    "written": into_an_array,
    "fromiter": lambda a, _: np.fromiter(a, float).sum(),
    "append": lambda a, _: np.append(a, 1.0).sum(),
}
CLASSES = [UserList, Own, Tripled, Squares, Items, Short, deque, Initialised]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
@pytest.mark.parametrize("read", READ)
def test_read_by_c_code(read, cls):
    entries = 2 if cls is Initialised else 3  # that adds one itself

    def f(x):
        return READ[read](cls(list(x[:entries])), x)

    check_program(f, X)


# dicts that answer otherwise


def set_default(x):
    d = Doubled(a=x[0])
    return d.setdefault("a") * d.setdefault("b", x[1]) * d["b"]


def updated(x):
    d = Doubled()
    d.update(a=x[0], b=x[1])
    return d["a"] * d.get("b")


ASKED = [
    lambda x: Doubled(a=x[0])["a"],
    lambda x: Doubled({"a": x[0]}, b=x[1])["b"],
    lambda x: Doubled({"a": x[0]})["a"],
    lambda x: Doubled(a=x[0]).get("a"),
    lambda x: Doubled(a=x[0]).pop("a"),
    lambda x: sum(Doubled(a=x[0], b=x[1]).values()),
    lambda x: {**Doubled(a=x[0])}["a"],
    lambda x: operator.itemgetter("a")(Doubled(a=x[0])),
    set_default,
    updated,
]


@pytest.mark.parametrize("f", ASKED, ids=numbered)
def test_a_dict_with_its_own_getitem(f):
    check_program(f, X)
