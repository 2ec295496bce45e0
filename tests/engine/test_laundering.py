"""Nothing launders a derivative: the standard library, NumPy, and ways out and back."""

import array
import collections
import contextvars
import ctypes
import datetime
import functools
import hashlib
import io
import itertools
import json
import pickle
import struct
import threading
import types
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rules_autodiff._hooks import bytes as hooks_of_bytes, calls, texts
from tests.engine.laundering import SHAPES, callables, finding, number, program_of

CALLABLES = list(callables())
EACH = 40  # of the callables, one of so many is asked every day
# Rules that raise NumPy's error in forward mode where they are given a list.
CRASHING = frozenset({"numpy.frexp"})


def findings(chosen):
    """What the oracle finds, by callable and shape; and how many programs counted."""
    found, counted = {}, 0
    for (path, f), shape in itertools.product(chosen, SHAPES):
        said = finding(program_of(f, shape))
        counted += said is not None
        if said and not (path in CRASHING and "raises" in said):
            found[path, shape] = said
    return found, counted


def test_some_callables():
    found, counted = findings(CALLABLES[::EACH])
    assert found == {}
    assert counted > 20


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(8))
def test_all_callables(start):
    found, counted = findings(CALLABLES[start::8])
    assert found == {}
    assert counted > 200


# ways out of the program, and back


class Number(float):
    pass


class Descriptor:
    def __init__(self, x):
        self.x = x

    def __get__(self, owner, cls=None):
        return self.x


class Money:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return float(self.x)


def described(x):
    return type("Owner", (), {"value": Descriptor(x)})()


VARIABLE = contextvars.ContextVar("VARIABLE", default=1.0)
TABLE: dict[Any, Any] = {}


def in_context(x):
    token = VARIABLE.set(x)
    y = VARIABLE.get()
    VARIABLE.reset(token)
    return y


def in_thread(x):
    kept = []
    thread = threading.Thread(target=lambda: kept.append(x))
    thread.start()
    thread.join()
    return kept[0]


def digested(x):
    key = hashlib.sha1(np.float64(x).tobytes()).hexdigest()
    if key not in TABLE:
        TABLE[key] = float(str(x * 1.0)) if type(x) is str else x * 1.0
    return TABLE[key]


def keyed(x):
    key = repr(x)
    if key not in TABLE:
        TABLE[key] = x * 1.0
    return TABLE[key]


def generated(x):
    def items():
        yield x

    return next(items())


def saved(x):
    file = io.BytesIO()
    np.save(file, np.ones(1) * x)
    file.seek(0)
    return np.load(file)[0]


def raised(x):
    try:
        raise ValueError(x)  # noqa: TRY301  here it is caught
    except ValueError as error:
        return error.args[0]


OUT = {
    "number": lambda x: x,
    "bytes": lambda x: np.float64(x).tobytes(),
    "struct": lambda x: struct.pack("d", x),
    "pickle": lambda x: pickle.dumps(x),
    "json": lambda x: json.dumps(x),
    "repr": lambda x: repr(x),
    "f-string": lambda x: f"{x!r}",
    "hex": lambda x: float(x).hex(),
    "array": lambda x: array.array("d", [x]),
    "memoryview": lambda x: memoryview(np.ones(1) * x),
    "ctypes": lambda x: ctypes.c_double(x),
    "ctypes array": lambda x: (ctypes.c_double * 1)(x),
    "Decimal": lambda x: Decimal(x),
    "from_float": lambda x: Decimal.from_float(x),  # noqa: FURB164
    "Fraction": lambda x: Fraction(x),
    "ratio": lambda x: float(x).as_integer_ratio(),
    "datetime": lambda x: datetime.datetime.fromtimestamp(x),
    "timedelta": lambda x: datetime.timedelta(seconds=x),
    "subclass": lambda x: Number(x),
    "descriptor": lambda x: described(x).value,
    "context": in_context,
    "thread": in_thread,
    "digest": digested,
    "key": keyed,
    "generator": generated,
    "callback": lambda x: max([x, 0.5], key=lambda v: v * x),
    "map": lambda x: next(map(lambda v: v * x, [1.0])),  # noqa: C417
    "reduce": lambda x: functools.reduce(lambda a, b: a * b, [x, 1.0]),
    "save": saved,
    "error": raised,
    "class": lambda x: Money(x),
    "namespace": lambda x: types.SimpleNamespace(value=x).value,
    "deque": lambda x: collections.deque([x]),
    "complex": lambda x: complex(x, 0.0),
    "text of NumPy": lambda x: np.str_(x),
    "single": lambda x: np.float32(x),
    "set": lambda x: {x},
    "dict": lambda x: {"a": x},
}
BACK = {
    "number": number,
    "float": float,
    "item": lambda y: y[0] * 1.0,
    "sum": sum,
    "asarray": lambda y: np.sum(np.asarray(y, float)),
    "frombuffer": lambda y: np.sum(np.frombuffer(y)),
    "unpack": lambda y: struct.unpack("d", y)[0],
    "loads": lambda y: pickle.loads(y),
    "json": lambda y: json.loads(y),
    "fromhex": lambda y: float.fromhex(y),
    "text": lambda y: float(str(y)),
    "pickled": lambda y: float(pickle.loads(pickle.dumps(y))),
    "array": lambda y: array.array("d", y)[0],
    "copy_buffer": lambda y: ctypes.c_double.from_buffer_copy(y).value,
    "value": lambda y: y.value,
    "method": lambda y: (y.timestamp if hasattr(y, "timestamp") else y.total_seconds)(),
    "divided": lambda y: y[0] / y[1],
    "numpy number": lambda y: np.float64(y),
    "single": lambda y: float(np.float32(y)),
    "next": lambda y: next(iter(y)),
}
WAYS = list(itertools.product(OUT, BACK))


def way(out, back):
    leave, come = OUT[out], BACK[back]

    def program(x):
        return come(leave(x)) * 1.0

    return program


def findings_on_ways(ways):
    said = {name: finding(way(*name)) for name in ways}
    return {name: text for name, text in said.items() if text}, sum(
        text is not None for text in said.values()
    )


def test_ways_out_and_back():
    found, counted = findings_on_ways(WAYS)
    assert found == {}
    assert counted > 200


# the oracle itself


def moves_anything(f):
    """What let class methods of C pass: an instance of `type` is a mover."""
    owner = getattr(f, "__self__", None)
    return isinstance(owner, type | bytes) or transparent(f)


transparent = vars(calls)["is_transparent"]


def test_the_oracle_finds_class_methods(monkeypatch):
    monkeypatch.setattr(calls, "is_transparent", moves_anything)
    found, _ = findings([
        (path, f) for path, f in CALLABLES if path.endswith(("from_float", "timestamp"))
    ])  # fmt: skip
    paths = {path for path, _ in found}
    assert "decimal.Decimal.from_float" in paths
    assert "datetime.datetime.fromtimestamp" in paths
    assert ("from_float", "float") in findings_on_ways([("from_float", "float")])[0]


def test_the_oracle_finds_bytes(monkeypatch):
    for module in (hooks_of_bytes, texts):
        monkeypatch.setattr(module, "mark", lambda _run, x: x)
    ways = [("bytes", back) for back in ("copy_buffer", "array")]
    assert set(findings_on_ways(ways)[0]) == set(ways)
