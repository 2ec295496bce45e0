"""Styles of instances: as arguments, as results, and as what is called."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax

import rules_core as rc
from rules_core import MutableTangent, NoTangent, Tangent
from tests.interop.catalogue.results import combined, parts, parts_pullback
from tests.interop.catalogue.style import constant, curve, never, slopes, style


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Frozen:
    s: Any
    t: Any
    name: str = field(default="pair", metadata={"static": True})


@jax.tree_util.register_dataclass
@dataclass
class Changing:
    s: Any
    t: Any


@jax.tree_util.register_dataclass
@dataclass(frozen=True, slots=True)
class Slotted:
    s: Any
    t: Any


@dataclass(frozen=True)
class Unknown:
    """A data class that nobody has told JAX of."""

    s: Any
    t: Any


class Plain:
    """No data class, of which JAX is told by functions."""

    def __init__(self, s: Any, t: Any) -> None:
        self.s, self.t = s, t


jax.tree_util.register_pytree_node(
    Plain, lambda x: ((x.s, x.t), None), lambda _, parts: Plain(*parts)
)
CLASSES = {
    "a frozen data class": Frozen,
    "a mutable data class": Changing,
    "a data class with slots": Slotted,
    "a plain class": Plain,
    "a data class unknown to JAX": Unknown,
}


def unknown_to_jax(host, word):
    """JAX takes pytrees alone for arguments and results."""
    return host == "jax"


def refusing(cls):
    return unknown_to_jax if cls is Unknown else never


def tangent(cls, **parts):
    """As an author writes it, for what can be changed and what cannot."""
    kind = MutableTangent if cls in (Changing, Plain) else Tangent
    return kind(cls, **parts)


def returned(cls, host, mode, given):
    """`parts` as an instance, whose tangent is one of `cls` or a `Tangent`."""

    @rc.primitive(host=host)
    def both_parts(a, b):
        return cls(*parts(*constant(a, b)))

    def parts_rrule(a, b):
        def pullback(dy):
            return parts_pullback(a, b, dy.s, dy.t)

        return both_parts(a, b), pullback

    def parts_frule(tangents, a, b):
        _, da, db = tangents
        xp = rc.array_namespace(a, b)
        ds = xp.cos(a) * b * da + xp.sin(a) * db
        dt = b * b * da + 2 * a * b * db
        return both_parts(a, b), given(cls, s=ds, t=dt)

    if host:
        rc.shape_rule.define(both_parts)(
            lambda a, b: cls(*[rc.ShapeDtype(a.shape, a.dtype)] * 2)
        )
    if mode == "rrule":
        rc.rrule.define(both_parts)(parts_rrule)
    else:
        rc.frule.define(both_parts)(parts_frule)

    def program(x, p):
        y = both_parts(x, p)
        assert type(y) is cls
        return y.s * y.t + y.s

    return program


def taken(cls, host, mode):
    """`curve` of the fields of an instance."""

    @rc.primitive(host=host)
    def of_fields(c):
        return curve(*constant(c.s, c.t))

    def fields_rrule(c):
        ds, dt = slopes(c.s, c.t)
        return of_fields(c), lambda dy: (
            NoTangent(),
            tangent(cls, s=ds * dy, t=dt * dy),
        )

    def fields_frule(tangents, c):
        ds, dt = slopes(c.s, c.t)
        return of_fields(c), ds * tangents[1].s + dt * tangents[1].t

    if host:
        rc.shape_rule.define(of_fields)(lambda c: rc.ShapeDtype(c.s.shape, c.s.dtype))
    if mode == "rrule":
        rc.rrule.define(of_fields)(fields_rrule)
    else:
        rc.frule.define(of_fields)(fields_frule)
    return lambda x, p: of_fields(cls(x, p))


for _name, _class in CLASSES.items():
    for _host in (False, True):
        for _mode in ("rrule", "frule"):
            _title = f"{_name}, {'host, ' if _host else ''}{_mode}"
            style(f"result {_title}", combined, may_refuse=refusing(_class))(
                partial(returned, _class, _host, _mode, tangent)
            )
            style(f"differentiated {_title}", may_refuse=refusing(_class))(
                partial(taken, _class, _host, _mode)
            )


@style("differentiated instance of which one field is told")
def one_field():
    @rc.primitive
    def of_first(c, b):
        s, t, b = constant(c.s, c.t, b)
        return curve(s, b) + 0 * t

    @rc.rrule.define(of_first)
    def first_rrule(c, b):
        ds, db = slopes(c.s, b)
        return of_first(c, b), lambda dy: (
            NoTangent(),
            Tangent(Frozen, s=ds * dy),
            db * dy,
        )

    return lambda x, p: of_first(Frozen(x, 2 * p), p)


def method_class(base, decorate, host=False):
    """A class with `curve` of its field and an argument as a method."""

    @jax.tree_util.register_dataclass
    @base
    class Wave:
        b: Any

        @decorate
        @rc.primitive(host=host)
        def at(self, a):
            return curve(*constant(a, self.b))

        @rc.primitive(host=host)
        def __call__(self, a):
            return curve(*constant(a, self.b))

    return Wave


def same(f):
    return f


BASES = {
    "a frozen data class": dataclass(frozen=True),
    "a mutable data class": dataclass,
}


def give_rules(f, mode, tangent):
    """A method's rules, whose instance comes first."""

    def wave_rrule(wave, a):
        da, db = slopes(a, wave.b)
        return f(wave, a), lambda dy: (tangent(b=db * dy), da * dy)

    def wave_frule(tangents, wave, a):
        dwave, ta = tangents
        da, db = slopes(a, wave.b)
        return f(wave, a), da * ta + db * dwave.b

    if mode == "rrule":
        rc.rrule.define(f)(wave_rrule)
    else:
        rc.frule.define(f)(wave_frule)


CALLS = {
    "bound method": lambda wave, cls, x: wave.at(x),
    "method of the class": lambda wave, cls, x: cls.at(wave, x),
    "callable instance": lambda wave, cls, x: wave(x),
}


def method(base, call, host, mode):
    wave_class = method_class(BASES[base], same, host)
    f = vars(wave_class)["__call__" if call == "callable instance" else "at"]
    kind = Tangent if "frozen" in base else MutableTangent
    if host:
        rc.shape_rule.define(f)(lambda wave, a: rc.ShapeDtype(a.shape, a.dtype))
    give_rules(f, mode, lambda **parts: kind(wave_class, **parts))
    return lambda x, p: CALLS[call](wave_class(p), wave_class, x)


for _base in BASES:
    for _call in CALLS:
        for _host in (False, True):
            for _mode in ("rrule", "frule"):
                _title = f"{_call}, {_base}, {'host, ' if _host else ''}{_mode}"
                style(_title)(partial(method, _base, _call, _host, _mode))
