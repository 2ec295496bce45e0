"""Traced values inside objects that JAX takes for constants: refused, never lost."""

import dataclasses
import functools

import jax
import pytest

import rules_core as rc


class Model:
    def __init__(self, w):
        self.w = w

    def apply(self, x):
        return self.w * x


@dataclasses.dataclass
class Plain:
    w: object


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Known:
    w: object


@rc.primitive
def scaled(model, x):
    return model.w * x


@rc.rrule.define(scaled)
def scaled_rrule(model, x):
    def scaled_pullback(dy):
        return rc.NoTangent(), {"w": 100.0 * x * dy}, 100.0 * model.w * dy

    return scaled(model, x), scaled_pullback


def closing_over(model):
    return lambda x: model.w * x


@rc.primitive
def called(f, x):
    return f(x)


@rc.rrule.define(called)
def called_rrule(f, x):
    return called(f, x), lambda dy: (rc.NoTangent(), rc.ZeroTangent(), dy)


@pytest.mark.parametrize("make", [Model, Plain], ids=lambda cls: cls.__name__)
@pytest.mark.parametrize(
    "loss",
    [
        lambda model: scaled(model, 3.0),
        lambda model: scaled(model, model.w),
        lambda model: scaled([model][0], 3.0),
    ],
    ids=["alone", "beside a tracer", "in a list"],
)
def test_unregistered_instances(make, loss):
    with pytest.raises(rc.UnsupportedError) as caught:
        jax.grad(lambda w: loss(make(w)))(2.0)
    assert str(caught.value) == (
        "an argument of scaled holds a traced value in an object of type "
        f"{make.__name__}, which JAX takes for a constant, so that its derivative "
        "would be lost. Register the class with jax.tree_util.register_dataclass or "
        "register_pytree_node_class, or pass the array itself."
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda w: Model(w).apply,
        lambda w: functools.partial(Model.apply, Model(w)),
        lambda w: closing_over(Model(w)),
    ],
    ids=["bound method", "partial", "closure"],
)
def test_functions_that_hold_unregistered_instances(make):
    with pytest.raises(rc.UnsupportedError, match="in an object of type Model, which"):
        jax.grad(lambda w: called(make(w), 3.0))(2.0)


def test_registered_instances_have_their_derivative():
    assert jax.grad(lambda w: scaled(Known(w), 3.0))(2.0) == 300.0


def test_instances_without_traced_values_are_constants():
    assert jax.grad(lambda x: scaled(Model(2.0), x))(3.0) == 200.0
