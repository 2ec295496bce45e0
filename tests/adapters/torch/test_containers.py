"""Containers and static values as arguments and results, in both modes."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch.func import grad, jacfwd, jvp, vmap

import rules_core as rc
from rules_core import NoTangent, ZeroTangent
from rules_torch import KeywordDerivativeError
from tests.adapters.torch import misuses

Pair = namedtuple("Pair", "w b")


@dataclass(frozen=True)
class Params:
    w: Any
    name: str = "p"


@dataclass
class Mutable:
    w: Any


class Plain:
    def __init__(self, w):
        self.w = w


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


CONTAINERS = {
    "tuple": lambda w: (w, "a"),
    "list": lambda w: [None, w],
    "dict": lambda w: {"w": w, "n": 3},
    "named": lambda w: Pair(w, 1),
    "frozen": Params,
    "mutable": Mutable,
    "instance": Plain,
    "nested": lambda w: {"a": [(w, {"b": None})]},
    "partial": lambda w: __import__("functools").partial(max, w),
}


def tensors(value):
    found = []

    def visit(v):
        if isinstance(v, torch.Tensor):
            found.append(v)
        elif (level := rc.structure(v)) is not None:
            for item in level.values:
                visit(item)

    visit(value)
    return found


def like(value, new):
    """A bare container of the same kind with the tensor replaced."""
    if isinstance(value, torch.Tensor):
        return new
    level = rc.structure(value)
    if level is None:
        return NoTangent()
    items = [like(item, new) for item in level.values]
    if level.keyed == "field":
        return rc.Tangent(level.primal, **dict(zip(level.names, items, strict=True)))
    if level.keyed == "key":
        return dict(zip(level.names, items, strict=True))
    return tuple(items)


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_in_both_modes(name):
    """`5 w²` with a rule that says 10 w exactly, by any spelling of the tangent."""
    make = CONTAINERS[name]

    @rc.primitive
    def square(box):
        (w,) = tensors(box)
        return w * w

    @rc.rrule.define(square)
    def square_rrule(box):
        (w,) = tensors(box)

        def square_pullback(dy):
            return NoTangent(), like(box, 10 * w * dy)

        return w * w, square_pullback

    @rc.frule.define(square)
    def square_frule(dxs, box):
        (w,) = tensors(box)
        (dw,) = tensors(dxs[1])
        return w * w, 10 * w * dw

    w = leaf(2.0)
    square(make(w)).backward(torch.ones(1, dtype=torch.float64))
    assert w.grad.item() == 20
    x = w.detach()
    assert grad(lambda w: square(make(w)).sum())(x).item() == 20
    assert jvp(lambda w: square(make(w)), (x,), (x,))[1].item() == 40
    assert vmap(grad(lambda w: square(make(w))))(x).item() == 20


def test_keywords_defaults_and_positions_reach_the_rule_in_one_form():
    seen = []

    @rc.primitive
    def scale(x, factor=2.0, *, mode="plain"):
        return x * factor

    @rc.rrule.define(scale)
    def scale_rrule(x, factor, *, mode="plain"):
        seen.append((factor, mode))

        def scale_pullback(dy):
            return NoTangent(), dy * factor, NoTangent()

        return x * factor, scale_pullback

    x = leaf(1.0)
    for call in (
        lambda: scale(x),
        lambda: scale(x=x, factor=3.0),
        lambda: scale(x, 3.0, mode="b"),
    ):
        x.grad = None
        call().sum().backward()
        assert x.grad.item() == seen[-1][0]
    assert seen == [(2.0, "plain"), (3.0, "plain"), (3.0, "b")]


def test_a_keyword_that_is_differentiated_is_an_error():
    shifted = misuses.shifted()
    x, by = leaf(1.0), leaf(2.0)
    shifted(x, by=by.detach()).sum().backward()
    assert x.grad.item() == 1
    with pytest.raises(KeywordDerivativeError) as info:
        shifted(x, by=by).sum().backward()
    assert str(info.value) == (
        f"{shifted.table.label}: the derivative with respect to the keyword-only "
        "argument 'by' is wanted, but rules have no cotangent for keywords. Pass "
        "by.detach(), or make 'by' a positional argument."
    )
    with pytest.raises(KeywordDerivativeError):
        jvp(lambda by: shifted(x.detach(), by=by), (by.detach(),), (by.detach(),))


def test_integer_and_boolean_tensors_strings_and_none_have_no_tangent():
    @rc.primitive
    def pick(x, index, mask, name, nothing):
        return x[index] * mask

    @rc.rrule.define(pick)
    def pick_rrule(x, index, mask, name, nothing):
        assert (name, nothing) == ("n", None)

        def pick_pullback(dy):
            dx = torch.zeros_like(x).index_add(0, index, dy * mask)
            return NoTangent(), dx, NoTangent(), NoTangent(), NoTangent(), NoTangent()

        return pick(x, index, mask, name, nothing), pick_pullback

    @rc.frule.define(pick)
    def pick_frule(dxs, x, index, mask, name, nothing):
        assert all(isinstance(dx, NoTangent) for dx in dxs[2:])
        return pick(x, index, mask, name, nothing), dxs[1][index] * mask

    x, index = leaf(1.0, 2.0, 3.0), torch.tensor([0, 0, 2])
    mask = torch.tensor([True, True, False])
    pick(x, index, mask, "n", None).sum().backward()
    assert x.grad.tolist() == [2, 0, 0]

    def f(x):
        return pick(x, index, mask, "n", None)

    torch.testing.assert_close(jacfwd(f)(x.detach()), torch.func.jacrev(f)(x.detach()))
    rows = torch.stack([index, index.flip(0)])
    batched = vmap(
        lambda i: grad(lambda x: pick(x, i, mask, "n", None).sum())(x.detach())
    )
    assert batched(rows).shape == (2, 3)


def several():
    """Two floats, an integer, a string; the integer output has no derivative."""

    @rc.primitive
    def several(x):
        return {"a": x * 2, "n": x.argmax(), "b": (x.sum(), "text")}

    @rc.rrule.define(several)
    def several_rrule(x):
        def several_pullback(dy):
            assert isinstance(dy["n"], NoTangent)
            return NoTangent(), 2 * dy["a"] + dy["b"][0]

        return several(x), several_pullback

    @rc.frule.define(several)
    def several_frule(tangents, x):
        dx = tangents[1]
        return several(x), {"a": 2 * dx, "n": NoTangent(), "b": (dx.sum(), None)}

    return several


def test_several_outputs_some_unused_some_integer():
    f = several()
    x = leaf(1.0, 2.0)
    y = f(x)
    assert (y["n"].item(), y["n"].requires_grad, y["b"][1]) == (1, False, "text")
    y["b"][0].backward()
    assert x.grad.tolist() == [1, 1]
    assert grad(lambda x: f(x)["a"].sum())(x.detach()).tolist() == [2, 2]
    _, dy = jvp(lambda x: (f(x)["a"], f(x)["b"][0]), (x.detach(),), (x.detach(),))
    assert (dy[0].tolist(), dy[1].item()) == ([2, 4], 3)
    assert vmap(lambda x: f(x)["n"])(torch.rand(3, 2)).shape == (3,)


def test_symbolic_zeros_are_handed_on_to_rules_that_ask():
    seen = []

    @rc.primitive
    def two(x):
        return x * 1, x * 2

    @rc.rrule.define(two, symbolic_zeros=True)
    def two_rrule(x):
        def two_pullback(dy):
            seen.append(tuple(dy))
            return NoTangent(), dy[0] * 1 + dy[1] * 2

        return two(x), two_pullback

    x = leaf(1.0)
    two(x)[1].sum().backward()
    assert isinstance(seen[0][0], ZeroTangent)
    assert x.grad.item() == 2


def test_an_input_that_is_returned_and_the_same_tensor_twice():
    @rc.primitive
    def same(x, y):
        return x, y, x

    @rc.rrule.define(same)
    def same_rrule(x, y):
        def same_pullback(dy):
            return NoTangent(), dy[0] + 10 * dy[2], dy[1]

        return (x, y, x), same_pullback

    x = leaf(1.0)
    a, b, c = same(x, x)
    (a + 2 * b + 3 * c).sum().backward()
    assert x.grad.item() == 1 + 30 + 2

    def total(x):
        a, b, c = same(x, x)
        return (a + 2 * b + 3 * c).sum()

    assert grad(total)(x.detach()).item() == 33


def test_tensors_hidden_in_an_argument_are_refused():
    @rc.primitive
    def first(box, x):
        return next(box) * x

    x = leaf(2.0)
    with pytest.raises(rc.UnsupportedError, match="of type generator holds tensors"):
        first((t for t in [x]), x)
