"""Compiled calls whose tensors are all in an object or a function: the rule runs.

The bodies have no derivative of their own, so a rule that is skipped shows as zero.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch

import rules_core as rc
from rules_core import NoTangent

X = torch.tensor([0.4, -0.7], dtype=torch.float64)
P = torch.tensor([1.3, 0.6], dtype=torch.float64)


class Plain:
    def __init__(self, s, t):
        self.s, self.t = s, t


class Slots:
    __slots__ = ("s", "t")

    def __init__(self, s, t):
        self.s, self.t = s, t


class Both(Slots):
    """Slots and other attributes."""

    def __init__(self, s, t):
        super().__init__(s, None)
        self.u = t


class Called(Plain):
    def both(self):
        return self.s, self.t

    __call__ = both


def filled(s, t):
    made = Plain(None, None)
    made.s, made.t = s, t
    return made


def closure(s, t):
    return lambda: (s, t)


KINDS = {
    "plain instance": (Plain, lambda c: (c.s, c.t)),
    "slots": (Slots, lambda c: (c.s, c.t)),
    "slots and attributes": (Both, lambda c: (c.s, c.u)),
    "attributes set later": (filled, lambda c: (c.s, c.t)),
    "instances in a list": (
        lambda s, t: [Plain(Plain(s, 1.0), {"a": t})],
        lambda c: (c[0].s.s, c[0].t["a"]),
    ),
    "bound method": (lambda s, t: Called(s, t).both, lambda c: c()),
    "callable instance": (Called, lambda c: c()),
    "partial": (lambda s, t: partial(closure, s, t), lambda c: c()()),
    "closure": (closure, lambda c: c()),
    "defaults": (lambda s, t: lambda s=s, *, t=t: (s, t), lambda c: c()),
    "closure in a list": (lambda s, t: [closure(s, t)], lambda c: c[0]()),
}


def product(s, t):
    return torch.sin(s) * t * t


def hidden(make, get):
    @rc.primitive
    def f(c):
        return product(*(x.detach() for x in get(c)))

    @rc.rrule.define(f, config=rc.RuleConfig[rc.HasReverseMode])
    def f_rrule(config, c):
        y, pullback = rc.rrule_via_ad(config, lambda c: product(*get(c)), c)
        return y, lambda dy: (NoTangent(), pullback(dy)[1])

    return lambda x, p: f(make(x, p))


def by_backward(f, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(f(x, P).sum(), x)[0]


RUNS = {
    "called": by_backward,
    "compiled": lambda f, x: by_backward(torch.compile(f, backend="aot_eager"), x),
    "compiled gradient": lambda f, x: torch.compile(
        torch.func.grad(lambda x: f(x, P).sum()), backend="aot_eager"
    )(x),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_runs(kind, run):
    torch.compiler.reset()
    f = hidden(*KINDS[kind])
    torch.testing.assert_close(RUNS[run](f, X), torch.cos(X) * P * P)


class Itself(Plain):
    def __init__(self, s, t):
        super().__init__(s, t)
        self.me = self


def test_an_object_that_holds_itself_is_refused_in_words():
    f = hidden(Itself, lambda c: (c.s, c.t))
    with pytest.raises(rc.UnsupportedError, match=r"type Itself must not hold itself"):
        by_backward(f, X)


def diamond(levels):
    """2 ** levels paths lead to the one number."""
    node = Plain(1.5, 2.0)
    for _ in range(levels):
        node = Plain(node, node)
    return node


def web(count):
    """Every node leads to all."""
    nodes = [Plain(None, 2.0) for _ in range(count)]
    for node in nodes:
        node.s = tuple(nodes)
    return nodes[0]


@rc.primitive
def beside(x, _node):
    return x.detach().sin()


@rc.rrule.define(beside)
def beside_rrule(x, node):
    return beside(x, node), lambda dy: (NoTangent(), x.cos() * dy, NoTangent())


MANY_PATHS = {"diamond": diamond(14), "web": web(6), "primitive": beside}


@pytest.mark.covering(every=3, start=0)
@pytest.mark.parametrize("name", MANY_PATHS)
def test_objects_that_many_paths_lead_to_are_compiled_in_time(name):
    """A search along every path would not come to an end."""
    torch.compiler.reset()
    node = MANY_PATHS[name]
    f = torch.compile(lambda x, _: beside(x, node), backend="aot_eager")
    torch.testing.assert_close(by_backward(f, X), torch.cos(X))
