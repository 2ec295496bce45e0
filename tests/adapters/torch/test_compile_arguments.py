"""What compiled code may pass to a primitive, and what makes it leave the graph."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from tests.adapters.torch.formulas import sinmul

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]
W = torch.tensor([0.5, 1.5], dtype=torch.float64)
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


@dataclass
class Mutable:
    w: Any
    name: str = "m"


@dataclass(frozen=True)
class Frozen:
    w: Any


class Named(NamedTuple):
    w: Any
    n: int


class Plain:
    def __init__(self, w):
        self.w = w

    def times(self, x):
        return self.w * x

    def __call__(self, x):
        return self.w * x


def weight(box):
    if isinstance(box, dict):
        return box["w"]
    return box[0] if isinstance(box, (tuple, list)) else box.w


@rc.primitive
def scaled(box, x):
    """`w x`, with seven times its derivatives."""
    return weight(box) * x


@rc.rrule.define(scaled)
def scaled_rrule(box, x):
    w = weight(box)

    def scaled_pullback(dy):
        dw = 7 * dy * x
        if isinstance(box, dict):
            return NoTangent(), {"w": dw}, 7 * dy * w
        if isinstance(box, (tuple, list)):
            rest = [rc.ZeroTangent() for _ in box[1:]]
            return NoTangent(), (dw, *rest), 7 * dy * w
        kind = rc.MutableTangent if isinstance(box, (Mutable, Plain)) else rc.Tangent
        return NoTangent(), kind(type(box), w=dw), 7 * dy * w

    return w * x, scaled_pullback


@rc.primitive
def applied(f, x):
    """`f(x)`, with three times the derivative with respect to `x`."""
    return f(x)


@rc.rrule.define(applied, config=rc.RuleConfig[rc.HasReverseMode])
def applied_rrule(config, f, x):
    y, pullback = rc.rrule_via_ad(config, f, x)

    def applied_pullback(dy):
        df, dx = pullback(dy)
        return NoTangent(), df, 3 * dx

    return y, applied_pullback


def top(x):
    return x.sin()


def local(w, x):
    def inside(u):
        return u * w

    return applied(inside, x)


def counted(w, x):
    k = 2
    return applied(lambda u: u * k, x) * w


OUTSIDE = Frozen(W), Mutable(W), Plain(W), torch.nn.Linear(2, 2).double()
INNER = sinmul().f
KEPT = {
    "dataclass": lambda w, x: scaled(Mutable(w), x),
    "frozen": lambda w, x: scaled(Frozen(w), x),
    "instance": lambda w, x: scaled(Plain(w), x),
    "named": lambda w, x: scaled(Named(w, 2), x),
    "nested": lambda w, x: scaled([w, {"a": (Frozen(w), None, 2.5)}], x),
    "dataclass from outside": lambda w, x: (
        scaled(OUTSIDE[0], x) + scaled(OUTSIDE[1], x)
    ),
    "function": lambda w, x: applied(top, x),
    "function of torch": lambda w, x: applied(torch.nn.functional.relu, x),
    "builtin": lambda w, x: applied(torch.sin, x),
    "method of tensors": lambda w, x: applied(torch.Tensor.sin, x),
    "primitive": lambda w, x: applied(INNER, x),
    "lambda": lambda w, x: applied(lambda u: u.sin(), x),
    "lambda with a default": lambda w, x: applied(lambda u, k=2: u * k, x),
    "bound method": lambda w, x: applied(Plain(w).times, x),
    "bound method from outside": lambda w, x: applied(OUTSIDE[2].times, x),
    "callable instance": lambda w, x: applied(Plain(w), x),
    "partial": lambda w, x: applied(functools.partial(torch.mul, w), x),
    "partial with a keyword": lambda w, x: applied(
        functools.partial(torch.mul, other=2.0), x
    ),
}
LEFT = {
    "closure": (
        lambda w, x: applied(lambda u: u * w, x),
        "a function that closes over variables",
    ),
    "local function": (local, "a function that closes over variables"),
    "closure over a number": (counted, "a function that closes over variables"),
    "transform": (
        lambda w, x: applied(torch.vmap(top), x),
        "a function that closes over variables",
    ),
    "module": (lambda w, x: applied(OUTSIDE[3], x), "an object of type Linear"),
    "method of a module": (
        lambda w, x: applied(OUTSIDE[3].forward, x),
        "an object of type Linear",
    ),
}


def gradients(f):
    w, x = W.clone().requires_grad_(), X.clone().requires_grad_()
    return torch.autograd.grad(f(w, x).sum(), (w, x), allow_unused=True)


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("name", KEPT)
def test_what_is_taken_into_the_graph(name):
    fast = torch.compile(KEPT[name], fullgraph=True, backend="aot_eager")
    assert_same(gradients(fast), gradients(KEPT[name]))


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", LEFT)
def test_a_call_that_leaves_the_graph_keeps_its_rule(name):
    f, _ = LEFT[name]
    assert_same(gradients(torch.compile(f, backend="aot_eager")), gradients(f))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", LEFT)
def test_or_is_refused_in_words_where_it_must_not_leave(name):
    f, what = LEFT[name]
    with pytest.raises(torch._dynamo.exc.Unsupported) as info:
        torch.compile(f, fullgraph=True, backend="aot_eager")(W, X)
    assert (
        f"(reason: applied is given {what}, whose tensors a compiler does not see. "
        "Pass the tensors as arguments, or in a tuple, list, dict, dataclass or bound "
        "method, or compile without fullgraph=True.)"
    ) in str(info.value)


def test_a_closure_inside_a_transform_leaves_the_graph_with_it():
    w = W.clone()

    def total(x):
        return applied(lambda u: u * w, x).sum()

    fast = torch.compile(torch.func.grad(total), backend="aot_eager")
    torch.testing.assert_close(fast(X), 3 * W)


def reads_a_global():
    @rc.primitive
    def reads(x):
        return x * W

    @rc.rrule.define(reads)
    def reads_rrule(x):
        return x * W, lambda dy: (NoTangent(), 7 * dy * W)

    return reads


def asks_for_memory():
    @rc.primitive
    def asks(x):
        return x * 2

    @rc.rrule.define(asks)
    def asks_rrule(x):
        c = torch.from_numpy(x.detach().numpy() * 1)
        return x * 2, lambda dy: (NoTangent(), 7 * dy * c)

    return asks


def without_shapes():
    @rc.primitive(host=True)
    def ordered(x):
        return np.sort(x)

    @rc.rrule.define(ordered)
    def ordered_rrule(x):
        return ordered(x), lambda dy: (NoTangent(), 7 * dy)

    return ordered


def branches():
    @rc.primitive
    def branches(x):
        return x * 2 if bool(x.sum() > 0) else x * 3

    @rc.rrule.define(branches)
    def branches_rrule(x):
        return branches(x), lambda dy: (NoTangent(), 7 * dy)

    return branches


def makes_a_number():
    @rc.primitive
    def counts(x):
        return x * 2

    @rc.rrule.define(counts)
    def counts_rrule(x):
        number = float(x.sum() * 0)
        return x * 2, lambda dy: (NoTangent(), (7 + number) * dy)

    return counts


LOOKS = (
    "cannot be compiled by torch: its body or a rule of it makes a Python number or a "
    "branch of a tensor's values. Use array_namespace(x).where(…) there, or declare "
    "the primitive host=True."
)
CANNOT = {
    branches: f"branches.<locals>.branches {LOOKS}",
    makes_a_number: f"makes_a_number.<locals>.counts {LOOKS}",
    reads_a_global: (
        "reads_a_global.<locals>.reads cannot be compiled by torch: its body or a rule "
        "of it reads a tensor that is none of its arguments. Pass the tensor as an "
        "argument, or make it there by array_namespace(x)."
    ),
    asks_for_memory: (
        "asks_for_memory.<locals>.asks cannot be compiled by torch: its body or a rule "
        "of it asks for the memory of a tensor. Declare the primitive host=True, or "
        "call array-API functions in its rules."
    ),
    without_shapes: (
        "without_shapes.<locals>.ordered cannot be compiled by torch: it runs in "
        "NumPy, and the shape of its result is not known beforehand. Register it with "
        "@shape_rule.define, or give to_torch(f, out=…)."
    ),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("make", CANNOT)
def test_a_primitive_that_cannot_be_compiled_leaves_the_graph_or_is_an_error(make):
    f = make()
    x = X.clone().requires_grad_()
    (dx,) = torch.autograd.grad(
        torch.compile(lambda x: f(x).sum(), backend="aot_eager")(x), x
    )
    assert_same([dx], torch.autograd.grad(f(x).sum(), x))
    torch.compiler.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported) as info:
        torch.compile(lambda x: f(x).sum(), fullgraph=True, backend="aot_eager")(x)
    assert str(info.value).startswith(CANNOT[make])


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ("backward", torch._dynamo.exc.BackendCompilerFailed),
        ("grad", torch._dynamo.exc.TorchDynamoException),
    ],
)
def test_a_pullback_that_branches_is_an_error_in_words(way, error):
    @rc.primitive
    def double(x):
        return x * 2

    @rc.rrule.define(double)
    def double_rrule(x):
        def double_pullback(dy):
            return NoTangent(), 7 * dy if bool(dy.sum() > 0) else dy

        return x * 2, double_pullback

    def total(x):
        return double(x).sum()

    program = torch.func.grad(total) if way == "grad" else total
    torch.compiler.reset()
    with pytest.raises(error) as info:
        torch.compile(program, fullgraph=True, backend="aot_eager")(
            X.clone().requires_grad_(way != "grad")
        )
    assert f".<locals>.double {LOOKS}" in str(info.value)


def test_an_object_that_changes_is_read_at_every_call():
    box = Mutable(W)
    fast = torch.compile(lambda x: scaled(box, x), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(fast(X), W * X)
    box.w = 2 * W
    torch.testing.assert_close(fast(X), 2 * W * X)


def test_tensors_that_only_an_object_holds_find_their_host():
    @rc.primitive
    def squared(box):
        return box.w * box.w

    @rc.rrule.define(squared)
    def squared_rrule(box):
        def squared_pullback(dy):
            return NoTangent(), rc.Tangent(Frozen, w=5 * dy * box.w)

        return box.w * box.w, squared_pullback

    w = W.clone().requires_grad_()
    fast = torch.compile(
        lambda w: squared(Frozen(w)), fullgraph=True, backend="aot_eager"
    )
    (dw,) = torch.autograd.grad(fast(w).sum(), w)
    torch.testing.assert_close(dw, 5 * W)


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            torch.testing.assert_close(mine, other)
