"""Styles of arguments: every kind of value under every style of annotation."""

from __future__ import annotations

import numbers
import typing
from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np

import rules_core as rc
from rules_core import NoTangent, Tangent, ZeroTangent
from tests.interop.catalogue.style import constant, curve, slopes, style


class Held:
    """An object that no library knows."""

    scale = 1.7


KINDS = {
    "array": lambda: np.array([0.2, 1.1]),
    "NumPy scalar": lambda: np.float64(1.7),
    "float": lambda: 1.7,
    "int": lambda: 3,
    "bool": lambda: True,
    "list": lambda: [1.7, 2.0],
    "tuple": lambda: (1.7, "text"),
    "dict": lambda: {"scale": 1.7},
    "None": lambda: None,
    "text": lambda: "abc",
    "function": lambda: len,
    "dtype": lambda: np.dtype("float32"),
    "slice": lambda: slice(0, 2),
    "object": Held,
}
NUMBERS = ["float", "int", "bool"]
ANNOTATIONS = {
    "no annotation": (object, list(KINDS)),
    "Any": (typing.Any, list(KINDS)),
    "Array": (rc.Array, ["array", "NumPy scalar", *NUMBERS]),
    "text": ("rc.Array", ["array", "NumPy scalar", *NUMBERS]),
    "float": (float, NUMBERS),
    "union": (rc.Array | float | None, ["array", "NumPy scalar", *NUMBERS, "None"]),
    "Real": (numbers.Real, NUMBERS),
    "list": (list, ["list"]),
    "str": (str, ["text"]),
    "its class": (Held, ["object"]),
    "annotated": (typing.Annotated[float, "m"], NUMBERS),
}


def scale_of(c: Any, like: Any) -> Any:
    """A number, or an array of them, for an argument of any kind."""
    if isinstance(c, list | tuple):
        return c[0]
    if isinstance(c, dict):
        return c["scale"]
    if isinstance(c, bool | int | float):
        return 1.0 * c
    if isinstance(c, str):
        return float(len(c))
    if isinstance(c, Held):
        return c.scale
    return c if rc.is_array(c) else 0.7


def scaled(annotation, kind, mode):
    @rc.primitive
    def scaled_sine(a, c):
        (a,) = constant(a)
        return rc.array_namespace(a).sin(a) * scale_of(c, a)

    def sine_rrule(a, c):
        xp, by = rc.array_namespace(a), scale_of(c, a)
        y = scaled_sine(a, c)
        return y, lambda dy: (NoTangent(), xp.cos(a) * by * dy, ZeroTangent())

    def sine_frule(tangents, a, c):
        xp, by = rc.array_namespace(a), scale_of(c, a)
        return scaled_sine(a, c), xp.cos(a) * by * tangents[1]

    rule = sine_rrule if mode == "rrule" else sine_frule
    rule.__annotations__["c"] = annotation
    (rc.rrule if mode == "rrule" else rc.frule).define(scaled_sine)(rule)
    c = KINDS[kind]()
    return lambda x, p: scaled_sine(x, c) * p


def scaled_plain(x, p, *, kind):
    xp = rc.array_namespace(x, p)
    by = scale_of(KINDS[kind](), x)
    if rc.is_array(by) and by.shape:
        by = xp.stack([x[0] * 0 + v for v in by.tolist()])
    return xp.sin(x) * by * p


PLAIN = {kind: partial(scaled_plain, kind=kind) for kind in KINDS}
for _annotation, (_class, _kinds) in ANNOTATIONS.items():
    for _kind in _kinds:
        for _mode in ("rrule", "frule"):
            _title = f"{_kind} under {_annotation}, {_mode}"
            style(_title, PLAIN[_kind])(partial(scaled, _class, _kind, _mode))


Pair = namedtuple("Pair", ["a", "b"])


CONTAINERS = {
    "tuple": (lambda a, b: (a, b), lambda c: c, lambda da, db: (da, db)),
    "list": (lambda a, b: [a, b], lambda c: c, lambda da, db: [da, db]),
    "dict": (
        lambda a, b: {"a": a, "b": b},
        lambda c: (c["a"], c["b"]),
        lambda da, db: Tangent(dict, {"a": da, "b": db}),
    ),
    "namedtuple": (
        Pair,
        lambda c: (c.a, c.b),
        lambda da, db: Tangent(Pair, a=da, b=db),
    ),
    "with text and numbers": (
        lambda a, b: ("text", a, 3, None, b),
        lambda c: (c[1], c[4]),
        lambda da, db: Tangent(tuple, NoTangent(), da, NoTangent(), NoTangent(), db),
    ),
}


def contained(pack, unpack, tangent, host):
    def body(c):
        return curve(*constant(*unpack(c)))

    f = rc.primitive(host=host)(body)
    if host:
        rc.shape_rule.define(f)(
            lambda c: rc.ShapeDtype(unpack(c)[0].shape, unpack(c)[0].dtype)
        )

    @rc.rrule.define(f)
    def contained_rrule(c):
        da, db = slopes(*unpack(c))
        return f(c), lambda dy: (NoTangent(), tangent(da * dy, db * dy))

    return lambda x, p: f(pack(x, p))


for _name, _parts in CONTAINERS.items():
    for _host in (False, True):
        _title = f"differentiated {_name}{', host' if _host else ''}"
        style(_title)(partial(contained, *_parts, _host))


@style("keyword-only argument", lambda x, p: 3 * curve(x, p))
def keyword_only():
    @rc.primitive
    def times(a, b=None, *, by=1.0):
        return by * curve(*constant(a, b))

    @rc.rrule.define(times)
    def times_rrule(a, b, *, by):
        da, db = slopes(a, b)
        return times(a, b, by=by), lambda dy: (NoTangent(), by * da * dy, by * db * dy)

    return lambda x, p: times(x, b=p, by=3)


@style("variadic arguments", lambda x, p: curve(x, p) + curve(p, x))
def variadic():
    @rc.primitive
    def total(*xs):
        xs = constant(*xs)
        return sum(curve(a, b) for a, b in zip(xs[::2], xs[1::2], strict=True))

    @rc.rrule.define(total)
    def total_rrule(*xs):
        pairs = list(zip(xs[::2], xs[1::2], strict=True))

        def pullback(dy):
            terms = [d * dy for a, b in pairs for d in slopes(a, b)]
            return (NoTangent(), *terms)

        return total(*xs), pullback

    return lambda x, p: total(x, p, p, x)


@style("one array given twice", lambda x, p: curve(x, x) * p)
def given_twice():
    @rc.primitive
    def f(a, b):
        return curve(*constant(a, b))

    @rc.rrule.define(f)
    def f_rrule(a, b):
        da, db = slopes(a, b)
        return f(a, b), lambda dy: (NoTangent(), da * dy, db * dy)

    return lambda x, p: f(x, x) * p


@style("broadcast arguments", lambda x, p: curve(x[0], p) + curve(x, p[1]))
def broadcast():
    @rc.primitive
    def f(a, b):
        return curve(*constant(a, b))

    rc.scalar_rule(f, lambda y, a, b: slopes(a, b))
    return lambda x, p: f(x[0], p) + f(x, p[1])
