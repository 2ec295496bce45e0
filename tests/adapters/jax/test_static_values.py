"""A static value that compares equal to another one is not taken for it.

`==` of Python's containers and of JAX's structures finds 1, 1.0 and True equal, and 0.0
and -0.0. A rule tells them apart, and so must what is kept between its calls.
"""

from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
import rules_jax
from rules_core import NoTangent, ShapeDtype, frule, rrule

X = jnp.asarray([0.3, -0.7])
FAMILIES = {
    "ones": (1, True, 1.0, 1 + 0j, Fraction(1), Decimal(1), np.int32(1), np.float32(1)),
    "zeros": (
        0.0,
        -0.0,
        np.float32(0.0),
        np.float32(-0.0),
        Decimal(0),
        Decimal("-0"),
    ),
    "complex": (0j, complex(0.0, -0.0), complex(-0.0, 0.0)),
}
Pair = namedtuple("Pair", "value rest")


@dataclass(frozen=True)
class Record:
    value: Any


@dataclass(frozen=True)
class Partly:
    value: Any
    note: Any = field(compare=False, default=None)


class Own:
    """A class that says itself what is equal."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 0


@jax.tree_util.register_dataclass
@dataclass
class Node:
    array: Any
    value: Any = field(metadata={"static": True})


@jax.tree_util.register_pytree_node_class
class Noted:
    """A node with an unhashable dict for its static part."""

    def __init__(self, array: Any, value: Any) -> None:
        self.array, self.value = array, value

    def tree_flatten(self) -> Any:
        return (self.array,), {"values": [self.value]}

    @classmethod
    def tree_unflatten(cls, static: Any, children: Any) -> Any:
        return cls(*children, *static["values"])


HELD = {
    "tuple": lambda value: (value,),
    "nested": lambda value: ("a", (2, (value,))),
    "named": lambda value: Pair(value, 1),
    "frozenset": lambda value: frozenset([value]),
    "dataclass": Record,
    "deep": lambda value: Record((Record(value), "b")),
}
NODES = {
    "dataclass": Node,
    "dict": Noted,
    "inner": lambda array, value: [Node({"a": array}, (value,))],
    "keys": lambda array, value: {value: array},
}


def spelt(value: Any) -> str:
    """Everything that tells a value from another one."""
    parts: Any = ()
    if isinstance(value, (tuple, frozenset, list)):
        parts = value
    elif isinstance(value, (Record, Node, Noted)):
        parts = [value.value]
    elif isinstance(value, dict):
        parts = value
    if type(parts) is not tuple or parts:
        return f"{type(value).__name__}({','.join(map(spelt, parts))})"
    return f"{type(value).__name__} {value!r}"


class Weights:
    """A number for each value that the rule can tell apart."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}

    def __call__(self, value: Any) -> float:
        return self.of.setdefault(spelt(value), 2.0 + len(self.of))


def leaf_of(tree: Any) -> Any:
    return jax.tree.leaves(tree)[0]


def made(kind: str, weight: Any, *, static: bool) -> Any:
    """A primitive whose slope tells what it saw in its second or first argument."""

    def function(x, held):
        return leaf_of(x) * weight(held if static else x)

    host = kind == "host"
    names = ("held",) if static else ()
    handle = rc.primitive(function, host=host or None, static_argnames=names)
    if host:
        rc.shape_rule.define(handle)(lambda x, held: promise(leaf_of(x)))

    if kind == "frule":

        @frule.define(handle)
        def forward(tangents, x, held):
            factor = weight(held if static else x)
            return handle(x, held), factor * tangent_of(tangents[1], x)

    if kind in ("rrule", "host"):

        @rrule.define(handle)
        def reverse(x, held):
            def pullback(dy):
                factor = weight(held if static else x)
                return NoTangent(), like(x, factor * dy), NoTangent()

            return handle(x, held), pullback

    return handle


def promise(x: Any) -> ShapeDtype:
    return ShapeDtype(x.shape, x.dtype)


def like(x: Any, value: Any) -> Any:
    """The cotangent of a container with one array, as the container's own class."""
    if isinstance(x, list):
        return [like(x[0], value)]
    if isinstance(x, dict):
        return {next(iter(x)): value}
    if isinstance(x, Node):
        return rc.MutableTangent(type(x), array=like(x.array, value))
    if isinstance(x, Noted):
        return rc.MutableTangent(type(x), array=value)
    return value


def tangent_of(tangent: Any, x: Any) -> Any:
    """The array in a tangent."""
    if isinstance(x, list):
        return tangent_of(tangent[0], x[0])
    if isinstance(x, dict):
        return tangent[next(iter(x))]
    if isinstance(x, Node):
        return tangent_of(tangent.array, x.array)
    return tangent[0] if isinstance(x, Noted) else tangent


MODES = {
    "grad": lambda f: jax.grad(lambda x: f(x).sum())(X),
    "jit": lambda f: jax.jit(f)(X) / X,
    "jvp": lambda f: jax.jvp(f, (X,), (jnp.ones(2),))[1],
    "vmap of grad": lambda f: jax.vmap(jax.grad(f))(X),
    "jit of vjp": lambda f: jax.jit(lambda x: jax.vjp(f, x)[1](jnp.ones(2))[0])(X),
    "hessian": lambda f: jnp.diag(jax.hessian(lambda x: f(x * x).sum())(X)) / 2,
}


def told_apart(kind: str, family: str, call: Any, mode: str, *, static: bool) -> None:
    weight = Weights()
    function = made(kind, weight, static=static)
    again = FAMILIES[family] + FAMILIES[family][:1]
    for value in again:
        held, run = call(function, value)
        slope = MODES[mode](run)
        assert slope.tolist() == pytest.approx([weight(held)] * 2, rel=1e-5), value
    assert len(weight.of) >= len(FAMILIES[family])


def as_argument(holder: Any) -> Any:
    def call(function, value):
        held = holder(value)
        return held, lambda x: function(x, held)

    return call


def as_structure(node: Any) -> Any:
    def call(function, value):
        return node(X, value), lambda x: function(node(x, value), 1)

    return call


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("holder", HELD)
@pytest.mark.parametrize("kind", ["rrule", "frule", "host", "none"])
def test_static_arguments(kind, holder, family, mode):
    told_apart(kind, family, as_argument(HELD[holder]), mode, static=True)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("kind", ["rrule", "frule", "none"])
def test_static_fields_of_structures(kind, node, family, mode):
    told_apart(kind, family, as_structure(NODES[node]), mode, static=False)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("holder", ["bare", *HELD])
def test_pullbacks_that_hold_a_static_value(holder):
    """Also where the pullback goes through `jax.jit` as an argument."""
    weight = Weights()
    hold = HELD.get(holder, lambda value: value)

    @rc.primitive(static_argnames=("held",))
    def function(x, held):
        return x * 1.0

    @rrule.define(function)
    def reverse(x, held):
        return function(x, held), rc.Pullback(scaled, weight, held)

    apply = jax.jit(lambda pullback, dy: pullback(dy)[0])
    for value in (0.0, -0.0, 1, True, 1.0):
        held = hold(value)
        _, pullback = jax.vjp(lambda x, held=held: function(x, held), X)
        assert apply(pullback, jnp.ones(2)).tolist() == [weight(held)] * 2


def scaled(weight, held, dy):
    return NoTangent(), weight(held) * dy, NoTangent()


def test_captured_values():
    """Functions that are passed as arguments are known by what they capture, too."""

    @rc.primitive
    def applied(f, x):
        return f(x)

    @rrule.define(applied, config=rc.RuleConfig[rc.HasReverseMode])
    def reverse(config, f, x):
        y, pullback = rc.rrule_via_ad(config, f, x)
        return y, lambda dy: (NoTangent(), *pullback(dy))

    weight = Weights()

    def loss(c, held):
        return applied(lambda x: c * x * weight(held), 2.0)

    for value in (0.0, -0.0, 1, True, 1.0):
        assert jax.grad(loss)(3.0, (value,)) == 2.0 * weight((value,))


@pytest.mark.parametrize(
    "value",
    [
        (1, "a", None),
        Pair(2.0, np.float32(3)),
        Record({"a": 1}.__class__),
        frozenset([1, 2.0, "c"]),
        (float("nan"), Decimal("NaN")),
        Partly(1),
        Own(1),
        np.dtype("float32"),
    ],
    ids="tuple named record frozenset nan partly own dtype".split(),
)
def test_equal_values_share_a_trace(value):
    """Nor is everything made anew: what is equal in every part is one trace."""
    traced = []

    @rc.primitive(static_argnames=("held",))
    def function(x, held):
        traced.append(held)
        return x * 1.0

    rrule.define(function)(lambda x, held: (function(x, held), pulled))
    for other in (value, rebuilt(value)):
        jax.grad(lambda x, held=other: function(x, held).sum())(X)
    first = len(traced)
    jax.grad(lambda x: function(x, rebuilt(value)).sum())(X)
    again = len(traced) - first
    assert again <= first // 2


def pulled(dy):
    return NoTangent(), dy, NoTangent()


def rebuilt(value: Any) -> Any:
    """An equal value that is another object, with another note where that is free."""
    if isinstance(value, Partly):
        return Partly(value.value, note=object())
    if isinstance(value, Own):
        return Own(value.value + 1)
    if isinstance(value, tuple):
        return type(value)(*value) if isinstance(value, Pair) else tuple(iter(value))
    return frozenset(list(value)) if isinstance(value, frozenset) else value


@pytest.mark.parametrize("x", [2.0, 2.0 + 1.0j])
def test_a_python_number_given_to_ad_is_a_constant_whose_derivative_is_an_error(x):
    config, a = rules_jax.JaxConfig(), jnp.ones(3)
    _, pullback = rc.rrule_via_ad(config, lambda x, a: jnp.real(x * a.sum()), x, a)
    dx, da = pullback(jnp.asarray(1.0))[1:]
    np.testing.assert_allclose(da, np.full(3, np.real(x)))
    with pytest.raises(rc.DerivativeNotImplemented, match="a constant in JAX"):
        dx.throw("a rule needs it")
    with pytest.raises(rc.UnsupportedError, match="give frule_via_ad an array"):
        rc.frule_via_ad(config, (None, 1.0, a), lambda x, a: x * a, x, a)
    _, dy = rc.frule_via_ad(config, (None, 0.0, a), lambda x, a: x * a, x, a)
    np.testing.assert_allclose(dy, x * np.ones(3))
