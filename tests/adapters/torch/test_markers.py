"""Which rule ran: frules that scale by 2 and rrules that scale by 3 on purpose."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap

import rules_core as rc
from tests.adapters.torch.formulas import marker

# What a derivative in reverse and in forward mode must be for each kind of rules.
SCALES = {"both": (3, 2), "rrule": (3, 3), "frule": (2, 2)}


@pytest.fixture(params=[False, True], ids=["generic", "host"])
def host(request):
    return request.param


@pytest.fixture(params=SCALES)
def kind(request):
    return request.param


def test_each_mode_uses_its_own_rule_or_the_transpose_of_the_other(kind, host):
    reverse, forward = SCALES[kind]
    mark = marker(kind, host=host).f
    x = torch.tensor(0.5, dtype=torch.float64)
    leaf = x.clone().requires_grad_()
    mark(leaf).backward()
    assert leaf.grad == reverse
    assert grad(mark)(x) == reverse
    assert jacrev(mark)(x) == reverse
    assert vjp(mark, x)[1](torch.ones_like(x))[0] == reverse
    assert jvp(mark, (x,), (torch.ones_like(x),))[1] == forward
    assert jacfwd(mark)(x) == forward
    assert vmap(grad(mark))(x[None]) == reverse
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        _, tangent = torch.autograd.forward_ad.unpack_dual(mark(dual))
        assert tangent == forward


def test_second_order_uses_the_rule_of_each_mode(kind, host):
    """`q(x) = m(x)²` has `q' = 2 m m'` and `q'' = 2 a b`, one factor per mode."""
    reverse, forward = SCALES[kind]
    mark = marker(kind, host=host).f
    x = torch.tensor(0.5, dtype=torch.float64)

    def square(x):
        return mark(x) ** 2

    assert grad(grad(square))(x) == 2 * reverse * reverse
    assert jacfwd(jacrev(square))(x) == 2 * reverse * forward
    assert jacrev(jacfwd(square))(x) == 2 * reverse * forward
    assert jacfwd(jacfwd(square))(x) == 2 * forward * forward
    leaf = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(square(leaf), leaf, create_graph=True)
    assert torch.autograd.grad(first, leaf)[0] == 2 * reverse * reverse


def test_a_mode_that_is_not_asked_for_never_runs_its_rule():
    made = marker("both")
    x = torch.tensor(0.5, dtype=torch.float64)
    jvp(made.f, (x,), (x,))
    assert made.calls["rrule"] == made.calls["pullback"] == 0
    made = marker("both")
    grad(made.f)(x)
    assert made.calls == {"primal": 1, "frule": 0, "rrule": 1, "pullback": 1}


def test_no_rule_runs_where_no_derivative_is_wanted():
    made = marker("both")
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    with torch.no_grad():
        assert not made.f(x).requires_grad
    made.f(x.detach())
    vmap(made.f)(x.detach())
    assert made.calls["rrule"] == made.calls["frule"] == 0


def test_a_constant_inside_a_transform_needs_no_rule():
    made = marker("both")
    constant = torch.tensor(2.0)
    assert grad(lambda x: x * made.f(constant))(torch.tensor(1.0)) == 2
    assert made.calls["rrule"] == 0


def test_a_generic_primal_without_rules_is_differentiated_by_torch():
    @rc.primitive
    def plain(x):
        return x * x

    x = torch.tensor(3.0)
    assert grad(plain)(x) == 6
    assert jvp(plain, (x,), (torch.ones(()),))[1] == 6
    assert grad(grad(plain))(x) == 2


def test_the_primal_runs_once_per_first_derivative():
    made = marker("both")
    leaf = torch.tensor([0.5], requires_grad=True)
    made.f(leaf).sum().backward()
    assert made.calls == {"primal": 1, "frule": 0, "rrule": 1, "pullback": 1}
    made = marker("both")
    vmap(grad(made.f))(torch.ones(3))
    assert made.calls == {"primal": 1, "frule": 0, "rrule": 1, "pullback": 1}
