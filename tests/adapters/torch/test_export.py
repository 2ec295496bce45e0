"""torch.export: the rule survives, and differentiates the exported module."""

from __future__ import annotations

import io

import pytest
import torch

import rules_core as rc
from tests.adapters.torch.formulas import host_sine, marker, sinmul

pytestmark = pytest.mark.filterwarnings("ignore")
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


class Net(torch.nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f
        self.w = torch.nn.Parameter(torch.tensor([2.0, 3.0], dtype=torch.float64))

    def forward(self, x):
        return self.f(self.w * x).cos()


def gradient(module):
    module.zero_grad()
    module(X).sum().backward()
    return next(iter(module.parameters())).grad.clone()


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("strict", [False, True])
def test_the_exported_module_is_differentiated_by_the_rule(strict, host):
    net = Net(marker("both", host=host).f)
    program = torch.export.export(net, (X,), strict=strict)
    module = program.module()
    torch.testing.assert_close(module(X), net(X))
    torch.testing.assert_close(gradient(module), gradient(net))
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    loaded = torch.export.load(buffer).module()
    torch.testing.assert_close(gradient(loaded), gradient(net))


@pytest.mark.parametrize("make", [sinmul, host_sine])
def test_second_derivatives_through_an_exported_module(make):
    made = make("rrule")
    module = torch.export.export(Net(made.f), (X,), strict=False).module()
    assert torch.autograd.gradcheck(module, (X.clone().requires_grad_(),))
    assert torch.autograd.gradgradcheck(module, (X.clone().requires_grad_(),))


def test_several_outputs_and_static_arguments():
    @rc.primitive
    def pair(x, n, *, name="a"):
        return {"y": x * n, "s": (x.sum(), name)}

    @rc.rrule.define(pair)
    def pair_rrule(x, n, *, name="a"):
        def pair_pullback(dy):
            return rc.NoTangent(), 5 * dy["y"] * n + dy["s"][0], rc.NoTangent()

        return pair(x, n, name=name), pair_pullback

    class Both(torch.nn.Module):
        def forward(self, x):
            out = pair(x, 2, name="b")
            return out["y"] * out["s"][0]

    module = torch.export.export(Both(), (X,), strict=False).module()
    x = X.clone().requires_grad_()
    module(x).sum().backward()
    mine = x.grad.clone()
    x.grad = None
    Both()(x).sum().backward()
    torch.testing.assert_close(mine, x.grad)


def test_a_primitive_without_rules_is_exported_as_what_it_does():
    plain = rc.primitive(lambda x: x * 2)
    program = torch.export.export(Net(plain), (X,), strict=False)
    assert "rules_torch" not in str(program.graph)


def test_the_operator_of_an_exported_primitive_passes_opcheck():
    made = sinmul()
    torch.export.export(Net(made.f), (X,), strict=False)
    from rules_torch._op import _OPERATORS

    operator = next(op for key, op in _OPERATORS.items() if key[1] is made.f)
    torch.library.opcheck(operator, (X.clone().requires_grad_(),))
