"""Constructors and methods in C that keep another form of a number, not the number."""

import array
import ctypes
import datetime
import types
from collections import OrderedDict, deque
from decimal import Decimal

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_autodiff.testing import check_program


class Tag(str):
    __slots__ = ("x",)

    def __new__(cls, x):
        return super().__new__(cls, x)


class Whole(int):
    pass


class Stamp(datetime.datetime):
    pass


class Exact(Decimal):
    pass


def made_of_memory(x):
    a = np.ones(2) * x
    return (ctypes.c_double * 2).from_buffer(a)[0]


def memory_that_is_written_later(x):
    a = np.zeros(2)
    view = (ctypes.c_double * 2).from_buffer(a)
    a[0] = x
    return view[0]


def item_by_slot(x):
    a = array.array("d", [0.0])
    a.__setitem__(0, x)
    return a[0]


def sum_by_slot(x):
    a = array.array("d", [0.0])
    a.__iadd__(array.array("d", [x]))
    return a[1]


def item_of_memory(x):
    a = (ctypes.c_double * 1)()
    a.__setitem__(0, x)
    return a[0]


LOST = {
    "Decimal.from_float": lambda x: float(Decimal.from_float(x)),  # noqa: FURB164
    "Decimal.__new__": lambda x: float(Decimal.__new__(Decimal, x)),
    "subclass of Decimal": lambda x: float(Exact.from_float(x)),
    "fromtimestamp": lambda x: datetime.datetime.fromtimestamp(x).timestamp(),
    "subclass of datetime": lambda x: Stamp.fromtimestamp(x).timestamp(),
    "from_buffer": made_of_memory,
    "from_buffer, later": memory_that_is_written_later,
    "from_buffer_copy": lambda x: (
        ctypes.c_double.from_buffer_copy(np.float64(x).tobytes()).value
    ),
    "frombuffer": lambda x: np.frombuffer(np.float64(x).tobytes())[0],
    "buffer=": lambda x: np.ndarray(1, buffer=np.float64(x).tobytes())[0],
    "data": lambda x: np.frombuffer(np.float64(x).data)[0],
    "data of an array": lambda x: np.frombuffer((np.ones(1) * x).data)[0],
    "__array_interface__": lambda x: np.float64(x).__array_interface__["data"][0] * x,
    "from_bytes": lambda x: int.from_bytes(np.float64(x).tobytes(), "little") * 1e-18,
    "str.__new__": lambda x: float(str.__new__(str, x)),
    "subclass of str": lambda x: float(Tag(x)),
    "bytes.fromhex": lambda x: np.frombuffer(
        bytes.fromhex(np.float64(x).tobytes().hex())
    )[0],
    "memoryview of bytes": lambda x: memoryview(np.float64(x).tobytes()).cast("d")[0],
    "array of bytes": lambda x: array.array("d", np.float64(x).tobytes())[0],
    "array.__setitem__": item_by_slot,
    "array.__iadd__": sum_by_slot,
    "ctypes.__setitem__": item_of_memory,
    "fromisoformat": lambda x: float(
        datetime.datetime.fromtimestamp(x).isoformat().split(".")[1]
    ),
}


@pytest.mark.parametrize("f", LOST.values(), ids=LOST)
def test_lost_numbers_are_an_error(f):
    for run in (lambda: grad(f)(1.3), lambda: jvp(f, (1.3,), (1.0,))):
        with pytest.raises(UnsupportedProgram, match="test_class_methods.py, line"):
            run()


class Pair(tuple):
    __slots__ = ()

    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))


class Numbers(list):
    def __init__(self, x):
        super().__init__([x, x])


class Named(dict):
    pass


class Failure(Exception):
    pass


def thrown(x):
    try:
        raise Failure.__new__(Failure, x)
    except Failure as error:
        return error.args[0] * 2.0


def made_class(x):
    cls = type.__new__(type, "Made", (), {"x": x})
    return cls.x * cls().x


def from_keys(kind, x):
    return kind.fromkeys("ab", x)


KEPT = {
    "tuple.__new__": lambda x: tuple.__new__(tuple, [x, 2.0])[0] * 3.0,
    "subclass of tuple": lambda x: Pair(x, 2.0)[0] * 3.0,
    "subclass of list": lambda x: Numbers(x)[1] * 3.0,
    "dict.fromkeys": lambda x: from_keys(dict, x)["b"] * 3.0,
    "subclass of dict": lambda x: from_keys(Named, x)["b"] * 3.0,
    "OrderedDict.fromkeys": lambda x: from_keys(OrderedDict, x)["b"] * 3.0,
    "deque": lambda x: deque([x, x])[1] * 3.0,
    "error": thrown,
    "class": made_class,
    "namespace": lambda x: types.SimpleNamespace(x=x).x * 3.0,
    "whole": lambda x: int.__new__(Whole, 3) * x,
}


@pytest.mark.parametrize("f", KEPT.values(), ids=KEPT)
def test_what_only_holds_numbers_is_followed(f):
    check_program(f, 1.3)


def test_constants_go_anywhere():
    def f(x):
        c = float(Exact.from_float(2.5)) + np.frombuffer(np.float64(2.0).tobytes())[0]
        return x * c * int.from_bytes(b"\x02", "little") * len(str.__new__(str, 12))

    check_program(f, 1.3)
