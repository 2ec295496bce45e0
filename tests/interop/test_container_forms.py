"""Tangents of containers, in each form that an author may choose: right or refused."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import jax
import pytest
import torch

import rules_autodiff as ad
import rules_core as rc
from rules_core import MutableTangent, NoTangent, Tangent


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


class Plain:
    """An object whose arrays JAX is told by place."""

    def __init__(self, s, t):
        self.s, self.t = s, t


jax.tree_util.register_pytree_node(
    Plain, lambda x: ((x.t, x.s), None), lambda _, parts: Plain(*reversed(parts))
)
Named = namedtuple("Named", "s t")
CONTAINERS = {
    "frozen": Frozen,
    "changing": Changing,
    "plain": Plain,
    "named": Named,
    "dict": lambda s, t: {"s": s, "t": t},
    "list": lambda s, t: [s, t],
    "tuple": lambda s, t: (s, t),
}
FIELDS = ["changing", "plain", "named"]


def parts(c):
    if isinstance(c, dict):
        return c["s"], c["t"]
    return tuple(c) if isinstance(c, (list, tuple)) else (c.s, c.t)


# What an author returns of a container and the tangents of its parts, and for which
# containers that is the tangent.
FORMS = {
    "bare tuple": (lambda c, a, b: (a, b), [*FIELDS, "list", "tuple"]),
    "bare list": (lambda c, a, b: [a, b], [*FIELDS, "list", "tuple"]),
    "bare dict": (lambda c, a, b: {"s": a, "t": b}, ["frozen", *FIELDS, "dict"]),
    "tuple of every field": (lambda c, a, b: (a, b, None), ["frozen"]),
    "Tangent of a tuple": (
        lambda c, a, b: Tangent(tuple, a, b),
        [*FIELDS, "list", "tuple"],
    ),
    "Tangent of a dict": (
        lambda c, a, b: Tangent(dict, {"s": a, "t": b}),
        ["frozen", *FIELDS, "dict"],
    ),
    "entries of its class": (
        lambda c, a, b: Tangent(type(c), a, b, *[NoTangent()] * (type(c) is Frozen)),
        ["frozen", *FIELDS],
    ),
    "fields of its class": (
        lambda c, a, b: Tangent(type(c), s=a, t=b),
        ["frozen", *FIELDS],
    ),
    "fields of it, mutable": (
        lambda c, a, b: MutableTangent(type(c), t=b, s=a),
        ["frozen", *FIELDS],
    ),
    "all its fields": (
        lambda c, a, b: Tangent(type(c), s=a, t=b, name=NoTangent()),
        ["frozen"],
    ),
    "one of its own": (
        lambda c, a, b: type(c)(a, b),
        ["frozen", "changing", "plain", "named"],
    ),
    "a thunk": (lambda c, a, b: rc.thunk(lambda: (a, b)), [*FIELDS, "list", "tuple"]),
    "a number": (lambda c, a, b: 3.0, []),
    "one part": (lambda c, a, b: a, []),
    "fewer": (lambda c, a, b: (a,), []),
    "more": (lambda c, a, b: (a, b, a, b), []),
    "other fields": (lambda c, a, b: Tangent(type(c), u=a, v=b), []),
    "other keys": (lambda c, a, b: {"u": a, "v": b}, []),
    "another class": (lambda c, a, b: Other(a, b), []),
}


OF_CLASSES = (
    "entries of its class",
    "fields of its class",
    "fields of it, mutable",
    "all its fields",
    "one of its own",
    "other fields",
)


class Other:
    def __init__(self, s, t):
        self.s, self.t = s, t


def in_jax(f, mode):
    x = tuple(map(jax.numpy.asarray, (2.0, 3.0)))
    if mode == "frule":
        return jax.jvp(f, x, x)[1]
    return sum(jax.grad(f, (0, 1))(*x))


def in_torch(f, mode):
    x = tuple(torch.tensor(v, dtype=torch.float64) for v in (2.0, 3.0))
    if mode == "frule":
        return torch.func.jvp(f, x, x)[1]
    return sum(torch.func.grad(f, (0, 1))(*x))


def in_engine(f, mode):
    if mode == "frule":
        return ad.jvp(f, (2.0, 3.0), (2.0, 3.0))[1]
    return sum(ad.grad(f, (0, 1))(2.0, 3.0))


HOSTS = {
    "jax": in_jax,
    "jit": lambda f, mode: in_jax(jax.jit(f), mode),
    "torch": in_torch,
    "engine": in_engine,
}


def of_argument(pack, form):
    """`s t`, whose pullback returns the cotangent of a container in a form."""

    @rc.primitive
    def product(c):
        s, t = map(rc.ignore_derivatives, parts(c))
        return s * t

    @rc.rrule.define(product)
    def product_rrule(c):
        s, t = parts(c)
        return product(c), lambda dy: (NoTangent(), form(c, t * dy, s * dy))

    return lambda s, t: product(pack(s, t))


def of_result(pack, form):
    """`2 s` and `3 t`, of which the tangent is given in a form; then their product."""

    @rc.primitive
    def scaled(s, t):
        return pack(2 * rc.ignore_derivatives(s), 3 * rc.ignore_derivatives(t))

    @rc.frule.define(scaled)
    def scaled_frule(tangents, s, t):
        y = scaled(s, t)
        return y, form(y, 2 * tangents[1], 3 * tangents[2])

    def program(s, t):
        u, v = parts(scaled(s, t))
        return u * v

    return program


TRUE = {"rrule": 5.0, "frule": 6 * (2.0 * 3.0 + 3.0 * 2.0)}
BARE = ("dict", "list", "tuple")
CASES = [
    pytest.param(name, form, id=f"{name}, {form}")
    for name in CONTAINERS
    for form in FORMS
    if not (name in BARE and form in OF_CLASSES)  # there is no such thing
]


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("mode", TRUE)
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("name", "form"), CASES)
def test_right_or_refused(name, form, host, mode):
    make, fitting = FORMS[form]
    kind = of_argument if mode == "rrule" else of_result
    program = kind(CONTAINERS[name], make)
    if name in fitting:
        assert float(HOSTS[host](program, mode)) == TRUE[mode]
        return
    with pytest.raises((rc.RulesCoreError, TypeError)) as caught:
        HOSTS[host](program, mode)
    notes = getattr(caught.value, "__notes__", ())
    told = f"{caught.value} {notes}"
    assert "product" in told or "scaled" in told
