"""Containers, dataclasses and named tuples, into a call and out of it."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent
from rules_jax import to_jax


class Pair(NamedTuple):
    a: object
    b: object


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Line:
    slope: object
    offset: object


@jax.tree_util.register_dataclass
@dataclass
class Box:
    value: object


def line_function(returned):
    """slope * x + offset, whose pullback returns what `returned` makes of the pair."""

    @rc.primitive
    def line(p, x):
        return p.slope * x + p.offset

    @rc.rrule.define(line)
    def line_rrule(p, x):
        def line_pullback(dy):
            return NoTangent(), returned(dy * x, dy), dy * p.slope

        return line(p, x), line_pullback

    return line


@pytest.mark.parametrize(
    "returned",
    [
        lambda ds, do: Tangent(Line, slope=ds, offset=do),
        lambda ds, do: {"slope": ds, "offset": do},
        Line,
        lambda ds, do: rc.thunk(
            lambda: Tangent(Line, slope=rc.thunk(lambda: ds), offset=do)
        ),
    ],
    ids=["Tangent", "dict", "instance", "thunk"],
)
def test_dataclass(returned):
    line = line_function(returned)
    p, x = Line(jnp.asarray(2.0), jnp.asarray(3.0)), jnp.asarray(5.0)
    dp, dx = jax.grad(line, argnums=(0, 1))(p, x)
    assert isinstance(dp, Line)
    assert (dp.slope, dp.offset, dx) == (5, 1, 2)
    _, moved = jax.jvp(line, (p, x), (Line(jnp.asarray(1.0), jnp.asarray(10.0)), x))
    assert moved == 5 + 10 + 10


def test_absent_field_is_zero():
    line = line_function(lambda ds, do: Tangent(Line, slope=ds))
    p, x = Line(jnp.asarray(2.0), jnp.asarray(3.0)), jnp.asarray(5.0)
    assert jax.grad(line)(p, x) == Line(5.0, 0.0)


def test_mutable_dataclass_has_a_mutable_tangent():
    seen = []

    @rc.primitive
    def square(b):
        return Box(b.value**2)

    @rc.frule.define(square)
    def square_frule(tangents, b):
        seen.append(type(tangents[1]))
        return square(b), rc.MutableTangent(Box, value=2 * b.value * tangents[1].value)

    b = Box(jnp.asarray(3.0))
    _, moved = jax.jvp(square, (b,), (b,))
    assert moved.value == 18
    assert seen == [rc.MutableTangent]


def test_containers_in_and_out():
    seen = []

    @rc.primitive
    def mix(d, seq):
        return {"sum": d["x"] + seq[0], "pair": Pair(seq[1] * d["y"], None)}

    @rc.rrule.define(mix)
    def mix_rrule(d, seq):
        def mix_pullback(dy):
            seen.append(dy)
            ds, dp = dy["sum"], dy["pair"].a
            return NoTangent(), {"x": ds, "y": dp * seq[1]}, [ds, dp * d["y"]]

        return mix(d, seq), mix_pullback

    d = {"x": jnp.asarray(1.0), "y": jnp.asarray(2.0), "n": None}
    seq = [jnp.asarray(3.0), jnp.asarray(4.0)]
    out, pullback = jax.vjp(mix, d, seq)
    assert out == {"sum": 4.0, "pair": Pair(8.0, None)}
    found = pullback({"sum": jnp.asarray(10.0), "pair": Pair(jnp.asarray(1.0), None)})
    assert found == ({"x": 10.0, "y": 4.0, "n": None}, [10.0, 2.0])
    assert type(seen[0]) is Tangent
    assert type(seen[0]["pair"]) is Tangent


def test_pullbacks_of_ad_as_residuals():
    """What `rrule_via_ad` returns is a pytree: it may be kept in a `Pullback`."""

    @rc.primitive
    def apply(f, x):
        return f(x)

    def apply_pullback(inner, dy):
        df, dx = inner(dy)
        return NoTangent(), df, dx

    @rc.rrule.define(apply, config=rc.RuleConfig[rc.HasReverseMode])
    def apply_rrule(config, f, x):
        y, inner = rc.rrule_via_ad(config, f, x)
        return y, rc.Pullback(apply_pullback, inner)

    def total(c, x):
        return apply(lambda x: jnp.sin(c * x), x)

    c, x = jnp.asarray(0.3), jnp.asarray(0.7)
    want = jax.grad(lambda c, x: jnp.sin(c * x), (0, 1))(c, x)
    for run in (
        jax.grad(total, (0, 1)),
        jax.jit(jax.grad(total, (0, 1))),
        jax.grad(jax.jit(total), (0, 1)),
        jax.grad(jax.checkpoint(total), (0, 1)),
    ):
        np.testing.assert_allclose(run(c, x), want)


@jax.tree_util.register_pytree_node_class
class ByPlace:
    """A node whose children JAX knows by place, with an attribute that is no child."""

    def __init__(self, array, tag="tag"):
        self.array, self.tag = array, tag

    def tree_flatten(self):
        return (self.array,), self.tag

    @classmethod
    def tree_unflatten(cls, tag, children):
        return cls(*children, tag)


@jax.tree_util.register_pytree_node_class
class Unnamed(ByPlace):
    """One whose children are no attributes either."""

    def __init__(self, array, tag="tag"):
        self.held, self.tag = [array], tag

    @property
    def array(self):
        return self.held[0]


def derived_of_nodes(cls, where, mode):
    """The derivative of `sin` by a derived rule, of or to a node."""
    body, call = {
        "argument": (lambda node: np.sin(node.array), lambda f, x: f(cls(x))),
        "in a list": (lambda nodes: np.sin(nodes[0].array), lambda f, x: f([cls(x)])),
        "result": (lambda x: cls(np.sin(x)), lambda f, x: f(x).array),
    }[where]
    x = jnp.asarray([0.3, 0.2])
    out = rc.ShapeDtype((2,), np.asarray(x).dtype)
    f = to_jax(body, host=True, out=cls(out) if where == "result" else out)
    if mode == "forward":
        return jax.jvp(lambda x: call(f, x), (x,), (jnp.ones(2),))[1]
    return jax.grad(lambda x: call(f, x).sum())(x)


WHERE = ["argument", "in a list", "result"]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("where", WHERE)
def test_derived_rules_call_children_by_their_attributes(where, mode):
    found = derived_of_nodes(ByPlace, where, mode)
    np.testing.assert_allclose(found, np.cos([0.3, 0.2]), rtol=1e-6)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("where", WHERE)
def test_derived_rules_refuse_nodes_without_names(where, mode):
    """The engine knows attributes: a tangent by place would count as none."""
    with pytest.raises(rc.UnsupportedError, match=r"Unnamed, whose .* by their places"):
        derived_of_nodes(Unnamed, where, mode)
