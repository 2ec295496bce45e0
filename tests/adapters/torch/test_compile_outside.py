"""What a primitive reads from outside: compiled code follows it, as eager code does."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np
import pytest
import torch
from torch.func import grad

import rules_core as rc
from rules_core import NoTangent

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


class Mode(enum.Enum):
    TWICE = 2
    THRICE = 3


class Class:
    value = 2.0
    inner = types.SimpleNamespace(value=2.0)


class Base:
    value = 2.0


class Child(Base):
    def __init__(self, other):
        self.other = other

    def scale(self, x):
        return x * self.value * self.other


module: Any = types.ModuleType("some_settings")
module.value = 2.0
number, mode = 2.0, Mode.TWICE
table, values = {"value": 2.0, "log": []}, [1.0, 2.0]
settings = types.SimpleNamespace(value=2.0, deep=types.SimpleNamespace(value=2.0))
child = Child(1.0)


def helper(x):
    return x * number


def uses_helper(x):
    return helper(x) * 1


def set_global(name, value):
    globals()[name] = value


def in_a_closure():
    value = 2.0

    def body(x):
        return x * value

    def change(new):
        nonlocal value
        value = new

    return body, change


def nested(x):
    def inside(u):
        return sum(u * number for _ in range(1))

    return inside(x)


def by_method(x):
    return child.scale(x)


def attribute(owner):
    return lambda new: setattr(owner, "value", new)


closed, change_closed = in_a_closure()
# The body, and what changes the 2 that it multiplies by into another number.
READS = {
    "global": (lambda x: x * number, lambda new: set_global("number", new)),
    "class attribute": (lambda x: x * Class.value, attribute(Class)),
    "attribute of a class's object": (
        lambda x: x * Class.inner.value, attribute(Class.inner)
    ),
    "module": (lambda x: x * module.value, attribute(module)),
    "object": (lambda x: x * settings.value, attribute(settings)),
    "object in an object": (
        lambda x: x * settings.deep.value, attribute(settings.deep)
    ),
    "object that is passed on": (
        lambda x: x * getattr(settings, "val" + "ue"), attribute(settings)
    ),
    "dict": (lambda x: x * table["value"], lambda new: table.update(value=new)),
    "list": (lambda x: x * values[-1], lambda new: values.__setitem__(1, new)),
    "enum": (
        lambda x: x * mode.value,
        lambda new: set_global("mode", Mode.TWICE if new == 2.0 else Mode.THRICE),
    ),
    "closure": (closed, change_closed),
    "helper": (uses_helper, lambda new: set_global("number", new)),
    "nested function": (nested, lambda new: set_global("number", new)),
    "inherited class attribute": (by_method, attribute(Base)),
    "attribute in a method": (
        by_method, lambda new: setattr(child, "other", new / 2)
    ),
}  # fmt: skip


def only_body(body):
    return rc.primitive(lambda x: body(x))


def only_rule(body):
    @rc.primitive
    def f(x):
        return x * 1

    @rc.rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), body(dy))

    return f


def only_partials(body):
    f = rc.primitive(lambda x: x * 1)
    rc.scalar_rule(f, lambda y, x: (body(x),))
    return f


@pytest.mark.covering(every=26)
@pytest.mark.parametrize("make", [only_body, only_rule, only_partials])
@pytest.mark.parametrize("name", READS)
def test_a_change_is_followed(compiled, name, make):
    body, change = READS[name]
    f = make(body)
    fast = compiled(lambda x: f(x) * 1)
    try:
        for new in (2.0, 3.0, 5.0, 7.0, 2.0):
            change(new)
            x, z = X.clone().requires_grad_(), X.clone().requires_grad_()
            y, w = fast(x), f(z)
            torch.testing.assert_close(y, w)
            torch.testing.assert_close(
                torch.autograd.grad(y.sum(), x)[0], torch.autograd.grad(w.sum(), z)[0]
            )
    finally:
        change(2.0)


def test_a_class_attribute_of_an_argument(compiled):
    @rc.primitive
    def scaled(box, x):
        return x * box.value * box.other

    fast = compiled(lambda x: scaled(child, x))
    try:
        for new in (2.0, 3.0, 5.0):
            Base.value = new
            torch.testing.assert_close(fast(X), new * X)
    finally:
        Base.value = 2.0


def test_a_helper_that_is_another_one(compiled):
    f = rc.primitive(lambda x: uses_helper(x))
    fast, old = compiled(lambda x: f(x) * 1), helper
    try:
        for new in (lambda x: x * 3, lambda x: x * 5, rc.primitive(lambda x: x * 7)):
            set_global("helper", new)
            torch.testing.assert_close(fast(X), new(X))
    finally:
        set_global("helper", old)


def test_a_rule_that_is_added(compiled):
    f = rc.primitive(lambda x: x * 2)
    fast = compiled(grad(lambda x: f(x).sum()))
    assert fast(X).tolist() == [2, 2]
    rc.rrule.define(f)(lambda x: (f(x), lambda dy: (NoTangent(), 7 * dy)))
    assert fast(X).tolist() == [7, 7]


def test_a_rule_that_is_defined_again(compiled):
    f = rc.primitive(lambda x: x * 2)
    fast = compiled(grad(lambda x: f(x).sum()))
    for factor in (3, 5, 7):
        code = f"def again(x): return f(x), lambda dy: (NoTangent(), {factor} * dy)"
        scope = {"f": f, "NoTangent": NoTangent, "__name__": "a_notebook"}
        exec(compile(code, f"cell {factor}", "exec"), scope)
        rc.rrule.define(f)(scope["again"])
        assert fast(X).tolist() == [factor, factor]


def test_the_shape_rule_of_a_host_function(compiled):
    f = rc.primitive(lambda x: np.repeat(np.asarray(x), int(number)), host=True)
    rc.shape_rule.define(f)(
        lambda x: rc.ShapeDtype((x.shape[0] * int(number),), x.dtype)
    )
    fast = compiled(lambda x: f(x) * 1)
    try:
        for new in (2.0, 3.0, 5.0):
            set_global("number", new)
            torch.testing.assert_close(fast(X), X.repeat_interleave(int(new)))
    finally:
        set_global("number", 2.0)


def test_what_the_compiled_function_has_changed_is_not_followed_in_its_graph():
    f = rc.primitive(lambda x: x * settings.value)

    def program(x):
        settings.value = settings.value + 1
        return f(x)

    try:
        settings.value = 2.0
        fast = torch.compile(program, backend="aot_eager")
        for expected in (3.0, 4.0):
            torch.testing.assert_close(fast(X), expected * X)
    finally:
        settings.value = 2.0


def test_counters_and_logs_are_left_alone(compiled):
    """A call changes them itself, so that no graph could ever be used again."""
    counts, log = {"n": 0}, []

    @rc.primitive
    def f(x):
        counts["n"] += 1
        log.append(counts["n"])
        return x * 2

    @rc.rrule.define(f)
    def f_rrule(x):
        def f_pullback(dy):
            counts["n"] += 10
            return NoTangent(), 7 * dy

        return f(x), f_pullback

    fast = compiled(lambda x: f(x) * 1)
    for _ in range(2):
        x = X.clone().requires_grad_()
        assert torch.autograd.grad(fast(x).sum(), x)[0].tolist() == [7, 7]
