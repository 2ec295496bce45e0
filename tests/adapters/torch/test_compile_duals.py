"""Dual numbers given to compiled code, whose graphs know nothing of rules."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad

from tests.adapters.torch.formulas import KINDS, marker

X = torch.tensor([0.5, 2.0])
WHY = (
    "marker.<locals>.mark cannot be compiled by torch: it is called inside "
    "forward_ad.dual_level(), where a compiled graph takes the derivatives of its "
    "operations instead of rules. Use torch.func.jvp."
)


def pushed(f, x, dx):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, dx))).tangent


def compiled(f, **options):
    return torch.compile(f, backend="aot_eager", **options)


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_call_leaves_the_graph_and_keeps_its_rule(kind, host, fresh):
    f = marker(kind, host=host).f
    program = compiled(lambda x: f(x * 2) * 1)
    scale = 3 if kind == "rrule" else 2
    assert torch.equal(program(X), 2 * X)  # in a graph, which duals must not enter
    assert torch.equal(pushed(program, X, X), 2 * scale * X)
    x = X.clone().requires_grad_()
    program(x).sum().backward()
    assert torch.equal(x.grad, torch.full((2,), 4.0 if kind == "frule" else 6.0))
    assert torch.equal(pushed(program, X, X + 1), 2 * scale * (X + 1))


def test_or_is_refused_in_words_where_it_must_not_leave(fresh):
    program = compiled(marker().f, fullgraph=True)
    program(X)
    with pytest.raises(torch._dynamo.exc.Unsupported) as info:
        pushed(program, X, X)
    said = str(info.value)  # torch 2.15 refuses such arguments before it asks us
    assert f"(reason: {WHY})" in said or "wrap a dual tensor input" in said


def test_a_transform_cannot_be_left(fresh):
    f = marker().f
    program = compiled(grad(lambda x: f(x).sum()))
    program(X)
    with pytest.raises(torch._dynamo.exc.InternalTorchDynamoError) as info:
        pushed(program, X, X)
    assert WHY in str(info.value)
