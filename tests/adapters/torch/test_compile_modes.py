"""`torch.compile` together with autocast and with compiled autograd."""

from __future__ import annotations

import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch
from tests.adapters.torch.formulas import host_sine, marker, sinmul

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


def affine():
    """`x Wᵀ` with three times its derivative."""

    @rc.primitive
    def affine(x, w):
        return x @ w.T

    @rc.rrule.define(affine)
    def affine_rrule(x, w):
        def affine_pullback(dy):
            return NoTangent(), 3 * dy @ w, 3 * dy.T @ x

        return affine(x, w), affine_pullback

    return affine


def half() -> torch.autocast:
    return torch.autocast("cpu", dtype=torch.bfloat16)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("where", ["around", "inside"])
@pytest.mark.parametrize(
    ("policy", "dtype"),
    [
        ("keep", torch.bfloat16),
        ("promote", torch.float32),
        ("cast", torch.bfloat16),
    ],
)
def test_autocast_keeps_the_rule_and_the_policy(policy, dtype, where, backend):
    f = to_torch(affine(), autocast=policy)
    torch.manual_seed(0)
    x, w = (torch.rand(n, 4, requires_grad=True) for n in (3, 2))

    def inside(x, w):
        with half():
            return f(x, w)

    if where == "inside":
        y = torch.compile(inside, fullgraph=True, backend=backend)(x, w)
    else:
        compiled = torch.compile(lambda x, w: f(x, w), fullgraph=True, backend=backend)
        with half():
            y = compiled(x, w)
    assert y.dtype is dtype
    dx, dw = torch.autograd.grad(y.float().sum(), (x, w))
    assert dx.dtype is dw.dtype is torch.float32
    close = {"rtol": 2e-2, "atol": 2e-2}
    torch.testing.assert_close(dx, 3 * w.detach().sum(0).expand(3, 4), **close)
    torch.testing.assert_close(dw, 3 * x.detach().sum(0).expand(2, 4), **close)


def test_the_compiled_function_follows_autocast_being_switched():
    f = to_torch(affine(), autocast="cast")
    compiled = torch.compile(lambda x, w: f(x, w), fullgraph=True, backend="aot_eager")
    x, w = torch.rand(3, 4), torch.rand(2, 4)
    with half():
        assert compiled(x, w).dtype is torch.bfloat16
    assert compiled(x, w).dtype is torch.float32
    with half():
        assert compiled(x, w).dtype is torch.bfloat16


def compiled_autograd(*, fullgraph: bool):
    compiler = torch.compile(backend="aot_eager", fullgraph=fullgraph)
    return torch._dynamo.compiled_autograd._enable(compiler)


PRIMITIVES = {
    "rrule": lambda: sinmul("rrule").f,
    "frule": lambda: sinmul("frule").f,
    "marker": lambda: marker("both").f,
    "host": lambda: host_sine().f,
}


@pytest.mark.full
def test_compiled_autograd_of_an_eager_forward_pass_by_an_frule():
    """It gave another derivative; what is compiled in both passes is right."""
    x = X.clone().requires_grad_()
    y = PRIMITIVES["frule"]()(x).sum()
    refused = pytest.raises(rc.UnsupportedError, match="Define an rrule")
    with compiled_autograd(fullgraph=False), refused:
        y.backward()


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", ["rrule", "marker", "host"])
def test_compiled_autograd_of_an_eager_forward_pass(name):
    f = PRIMITIVES[name]()
    x = X.clone().requires_grad_()
    (expected,) = torch.autograd.grad(f(x).sum(), x)
    for _ in range(2):
        x.grad = None
        with compiled_autograd(fullgraph=False):
            f(x).sum().backward()
        torch.testing.assert_close(x.grad, expected)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", PRIMITIVES)
def test_compiled_autograd_of_a_compiled_forward_pass(name):
    f = PRIMITIVES[name]()
    x = X.clone().requires_grad_()
    (expected,) = torch.autograd.grad(f(x).sum(), x)
    forward = torch.compile(lambda x: f(x).sum(), fullgraph=True, backend="aot_eager")
    with compiled_autograd(fullgraph=True):
        forward(x).backward()
    torch.testing.assert_close(x.grad, expected)


def test_the_backward_pass_inside_a_compiled_step():
    f = marker("both").f
    x = X.clone().requires_grad_()

    @torch.compile(backend="aot_eager")
    def step(x):
        f(x).sum().backward()

    with torch._dynamo.config.patch(compiled_autograd=True):
        step(x)
    assert x.grad.tolist() == [3, 3]


@pytest.mark.full
def test_constants_of_a_pullback_are_those_of_each_call():
    """The graph of one backward pass is not taken for that of another."""

    @rc.primitive
    def times(x, n):
        return x * n

    @rc.rrule.define(times)
    def times_rrule(x, n):
        return x * n, lambda dy: (NoTangent(), 7 * n * dy, NoTangent())

    for n in (2, 3, 4.0, 2):
        x = X.clone().requires_grad_()
        with compiled_autograd(fullgraph=False):
            times(x, n).sum().backward()
        assert x.grad.tolist() == [7 * n, 7 * n]


def test_a_whole_graph_over_an_eager_forward_pass_is_refused_in_words():
    x = X.clone().requires_grad_()
    y = sinmul("rrule").f(x).sum()
    with (
        pytest.raises(Exception, match="whose forward pass was not compiled") as info,
        compiled_autograd(fullgraph=True),
    ):
        y.backward()
    assert "without fullgraph=True" in str(info.value)
