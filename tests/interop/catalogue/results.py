"""Styles of results: every layout of arrays, numbers, and structures of them."""

from __future__ import annotations

from collections import namedtuple
from functools import partial

import numpy as np

import rules_core as rc
from rules_core import NoTangent
from tests.interop.catalogue.style import constant, curve, never, style

Two = namedtuple("Two", ["s", "t"])


def parts(a, b):
    """`sin(a) b` and `a b²`."""
    return rc.array_namespace(a, b).sin(a) * b, a * b * b


def parts_pullback(a, b, ds, dt):
    xp = rc.array_namespace(a, b)
    da = xp.cos(a) * b * ds + b * b * dt
    return NoTangent(), da, xp.sin(a) * ds + 2 * a * b * dt


def combined(x, p):
    s, t = parts(x, p)
    return s * t + s


PACKED = {
    "a tuple": (lambda s, t: (s, t), lambda y: (y[0], y[1])),
    "a list": (lambda s, t: [s, t], lambda y: (y[0], y[1])),
    "a dict": (lambda s, t: {"s": s, "t": t}, lambda y: (y["s"], y["t"])),
    "a namedtuple": (Two, lambda y: (y.s, y.t)),
    "nested": (lambda s, t: ([s], {"t": (t, 2)}), lambda y: (y[0][0], y[1]["t"][0])),
    "beside None": (lambda s, t: (s, None, t), lambda y: (y[0], y[2])),
    "beside an integer": (lambda s, t: (s, 3, t), lambda y: (y[0], y[2])),
    "beside text": (lambda s, t: (s, "text", t), lambda y: (y[0], y[2])),
    "beside itself": (
        lambda s, t: (s, s, t),
        lambda y: ((y[0] + y[1]) / 2, y[2]),
    ),
}


def structured(name, host, kinds):
    pack, unpack = PACKED[name]

    def body(a, b):
        return pack(*parts(*constant(a, b)))

    f = rc.primitive(host=host)(body)

    def two_rrule(a, b):
        def pullback(dy):
            if name == "beside itself":
                return parts_pullback(a, b, dy[0] + dy[1], dy[2])
            return parts_pullback(a, b, *unpack(dy))

        return f(a, b), pullback

    def two_frule(tangents, a, b):
        _, da, db = tangents
        xp = rc.array_namespace(a, b)
        ds = xp.cos(a) * b * da + xp.sin(a) * db
        return f(a, b), tangent_of(name, ds, b * b * da + 2 * a * b * db)

    if host:
        rc.shape_rule.define(f)(
            lambda a, b: pack(*[rc.ShapeDtype(a.shape, a.dtype)] * 2)
        )
    if "rrule" in kinds:
        rc.rrule.define(f)(two_rrule)
    if "frule" in kinds:
        rc.frule.define(f)(two_frule)

    def program(x, p):
        s, t = unpack(f(x, p))
        return s * t + s

    return program


def tangent_of(name, ds, dt):
    """As an author would write it: NoTangent for what has none."""
    nothing = NoTangent()
    return {
        "a namedtuple": (ds, dt),
        "nested": ([ds], {"t": (dt, nothing)}),
        "beside None": (ds, nothing, dt),
        "beside an integer": (ds, nothing, dt),
        "beside text": (ds, nothing, dt),
        "beside itself": (ds, ds, dt),
        "a dict": {"s": ds, "t": dt},
        "a list": [ds, dt],
    }.get(name, (ds, dt))


MIXED = ("nested", "beside an integer", "beside text")


def arrays_alone(host, word):
    """JAX's callbacks hand on arrays alone: its adapter refuses other results."""
    return host == "jax"


for _name in PACKED:
    for _host in (False, True):
        for _kinds in ("rrule", "frule"):
            _title = f"result {_name}, {'host, ' if _host else ''}{_kinds}"
            _mixed = _name in MIXED and _host
            style(_title, combined, may_refuse=arrays_alone if _mixed else never)(
                partial(structured, _name, _host, _kinds)
            )


BUFFER = np.zeros((2, 2))


def reused(y):
    BUFFER[...] = y
    return BUFFER


def read_only(y):
    y.flags.writeable = False
    return y


def strided(y):
    wide = np.zeros((4, 6))
    wide[::2, ::3] = y
    return wide[::2, ::3]


LAYOUTS = {
    "in Fortran order": np.asfortranarray,
    "transposed twice": lambda y: np.ascontiguousarray(y.T).T,
    "strided": strided,
    "reversed": lambda y: np.ascontiguousarray(y[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "in a reused buffer": reused,
    "a view of a reused buffer": lambda y: reused(y.T).T,
    "of the other byte order": lambda y: y.astype(">f8"),
}
M = ((1.0, -0.5), (0.3, 2.0))


def outer_plain(x, p):
    xp = rc.array_namespace(x, p)
    return sum(
        (xp.sin(x)[i] * p[j] * p[j] * xp.stack([x[j] * 0 + m for m in M[i]]))
        for i in (0, 1)
        for j in (0, 1)
    )


def laid_out(layout):
    @rc.primitive(host=True)
    def host_outer(a, b):
        return layout(np.outer(np.sin(a), b * b))

    @rc.shape_rule.define(host_outer)
    def outer_shape(a, b):
        return rc.ShapeDtype((2, 2), a.dtype)

    @rc.rrule.define(host_outer)
    def outer_rrule(a, b):
        xp = rc.array_namespace(a, b)

        def pullback(dy):
            da = xp.cos(a) * (dy @ (b * b))
            return NoTangent(), da, 2 * b * (xp.sin(a) @ dy)

        return host_outer(a, b), pullback

    def program(x, p):
        y = host_outer(x, p)
        xp = rc.array_namespace(x, p)
        rows = [xp.stack([x[0] * 0 + m for m in row]) for row in M]
        return sum((y[i, j] * rows[i] for i in (0, 1) for j in (0, 1)), 0 * x)

    return program


for _name, _layout in LAYOUTS.items():
    style(f"host result {_name}", outer_plain)(partial(laid_out, _layout))


def sum_plain(x, p):
    return rc.array_namespace(x, p).sum(curve(x, p)) * p


NUMBERS = {
    "a Python float": float,
    "a NumPy scalar": np.float64,
    "an array without axes": np.asarray,
}


def number(convert, beside):
    @rc.primitive(host=True)
    def host_total(a, b):
        y = convert(np.sum(np.sin(a) * b * b))
        return (y, 2) if beside else y

    @rc.shape_rule.define(host_total)
    def total_shape(a, b):
        y = rc.ShapeDtype((), a.dtype)
        return (y, 2) if beside else y

    @rc.rrule.define(host_total)
    def total_rrule(a, b):
        xp = rc.array_namespace(a, b)

        def pullback(dy):
            dy = dy[0] if beside else dy
            return NoTangent(), xp.cos(a) * b * b * dy, 2 * xp.sin(a) * b * dy

        return host_total(a, b), pullback

    def program(x, p):
        y = host_total(x, p)
        return (y[0] if beside else y) * p

    return program


for _name, _convert in NUMBERS.items():
    for _beside in (False, True):
        _title = f"host result {_name}{' beside an integer' if _beside else ''}"
        _may = arrays_alone if _beside else never
        style(_title, sum_plain, may_refuse=_may)(partial(number, _convert, _beside))


def viewed(view, unview):
    """A generic function whose result is a view of something."""

    @rc.primitive
    def seen(a, b):
        return view(curve(*constant(a, b)))

    @rc.rrule.define(seen)
    def seen_rrule(a, b):
        xp = rc.array_namespace(a, b)

        def pullback(dy):
            dy = unview(dy)
            return NoTangent(), xp.cos(a) * b * b * dy, 2 * xp.sin(a) * b * dy

        return seen(a, b), pullback

    return lambda x, p: unview(seen(x, p))


VIEWS = {
    "reversed": (lambda y: rc.array_namespace(y).flip(y),) * 2,
    "of one more axis": (lambda y: y[:, None], lambda y: y[:, 0]),
    "transposed": (
        lambda y: rc.array_namespace(y).stack([y, 0 * y]).T,
        lambda y: y[:, 0],
    ),
}
for _name, (_view, _unview) in VIEWS.items():
    style(f"result {_name}")(partial(viewed, _view, _unview))


@style("result is the argument", lambda x, p: curve(x, p) + x)
def the_argument():
    @rc.primitive
    def same(a):
        return a

    rc.linear_rule(same, lambda dy, a: (dy,), argnums=(0,))
    return lambda x, p: curve(same(x), same(same(p))) + same(x)
