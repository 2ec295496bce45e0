"""The short way of primitives on tensors alone: what it must not miss."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import forward_ad

import rules_core as rc


def tripled():
    """`x` with the derivative 3, and a call behind it that chose the short way."""

    @rc.primitive
    def f(x, power=1):
        return x**power

    @rc.rrule.define(f)
    def rule(x: rc.Array, power):
        return f(x, power), lambda dy: (rc.NoTangent(), 3 * dy, rc.NoTangent())

    @rc.primitive
    def g(x):
        return x * 1

    @rc.rrule.define(g)
    def rule_of_one(x: rc.Array):
        return x * 1, lambda dy: (rc.NoTangent(), 3 * dy)

    g(torch.ones(2, requires_grad=True))
    assert g.shortcut is not None
    return f, g


def slope(f, x):
    (dx,) = torch.autograd.grad(f(x).sum(), x)
    return dx.tolist()


X = torch.ones(2, requires_grad=True)


def test_the_rule_is_used_and_seen_by_every_transform():
    _, g = tripled()
    assert slope(g, X) == [3, 3]
    assert slope(g, torch.nn.Parameter(torch.ones(2))) == [3, 3]
    grad = torch.func.grad(lambda x: g(x).sum())
    assert grad(torch.ones(2)).tolist() == [3, 3]
    assert torch.vmap(torch.func.grad(g))(torch.ones(2)).tolist() == [3, 3]
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        assert forward_ad.unpack_dual(g(dual)).tangent.tolist() == [3, 3]
    assert slope(torch.compile(g, backend="aot_eager", fullgraph=True), X) == [3, 3]


def test_nothing_is_recorded_where_nothing_is_wanted():
    _, g = tripled()
    assert not g(torch.ones(2)).requires_grad
    with torch.no_grad():
        assert not g(X).requires_grad


def test_defaults_and_keywords_go_the_general_way():
    f, _ = tripled()
    for _ in range(2):
        assert slope(f, X) == [3, 3]
        assert slope(lambda x: f(x, power=2), X) == [3, 3]
        assert slope(lambda x: f(x, 2), X) == [3, 3]


def test_subclasses_and_numbers_go_the_general_way():
    class Named(torch.Tensor):
        """A tensor of another class."""

    _, g = tripled()
    x = torch.ones(2).as_subclass(Named).requires_grad_()
    assert slope(g, x) == [3, 3]
    assert g(2.0) == 2.0
    with pytest.raises(TypeError):
        g(X, X)


def test_rules_that_are_defined_later_count():
    @rc.primitive
    def f(x):
        return x * 1

    assert slope(f, X) == [1, 1]
    rc.rrule.define(f)(lambda x: (x * 1, lambda dy: (rc.NoTangent(), 5 * dy)))
    assert slope(f, X) == [5, 5]
    rc.opt_out(rc.rrule, f, rc.Array)
    assert slope(f, X) == [1, 1]


def test_needs_and_containers_are_as_in_the_general_way():
    seen = []

    @rc.primitive
    def f(x, y):
        return x * y, [x + y]

    @rc.rrule.define(f)
    def rule(x, y, *, needs):
        seen.append(needs)
        return f(x, y), lambda dy: (rc.NoTangent(), dy[0] * y, dy[0] * x)

    for _ in range(2):
        product, [total] = f(X, torch.full((2,), 4.0))
        assert (product.tolist(), total.tolist()) == ([4, 4], [5, 5])
        (dx,) = torch.autograd.grad(product.sum(), X)
        assert dx.tolist() == [4, 4]
    assert seen == [(True, False)] * 2
