"""What a pullback captures: PyTorch owns it, and every order goes through it."""

from __future__ import annotations

import gc
import inspect
import weakref

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

import rules_core as rc
from rules_torch import UnconvertibleClosureError
from tests.adapters.torch import misuses
from tests.adapters.torch.formulas import cube, expo, host_sine, sinmul

KEPT = [np.sign, np.add, np.matmul, np.sum, np.linalg.solve, np.einsum]
ALL = {"sinmul": sinmul, "expo": expo, "cube": cube, "host": host_sine}


def points(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_saved_tensor_hooks_see_every_residual():
    packed = []
    x = torch.rand(50, requires_grad=True)

    def pack(t):
        packed.append(t.shape)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = sinmul("rrule").f(x)
    assert packed == [x.shape] * 3
    y.sum().backward()


def test_nothing_but_what_is_captured_is_saved():
    x = torch.rand(50, requires_grad=True)
    for made, count in ((expo("rrule"), 1), (cube("rrule"), 1)):
        packed = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t, packed=packed: packed.append(t) or t, lambda t: t
        ):
            made.f(x * 1)
        assert len(packed) == count


def test_writing_to_a_saved_tensor_is_noticed():
    x = points(0.3, 0.7)
    y = x * 1
    z = cube("rrule").f(y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_buffers_are_freed_by_backward():
    y = sinmul("rrule").f(points(0.3)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("name", ALL)
def test_no_reference_cycles(name):
    f = ALL[name]("rrule").f
    gc.collect()
    gc.disable()
    try:
        x = torch.rand(10, requires_grad=True) * 1
        y = f(x)
        nodes = [weakref.ref(t) for t in (x, y)]
        del x, y
        assert all(node() is None for node in nodes)
    finally:
        gc.enable()


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing(reentrant):
    made = sinmul()
    x = points(0.3, 0.7)
    checkpoint(lambda t: made.f(t * 2), x, use_reentrant=reentrant).sum().backward()
    (expected,) = torch.autograd.grad(made.native(x * 2).sum(), x)
    torch.testing.assert_close(x.grad, expected)


def dropout():
    """Keeps or drops each entry; the pullback must see the mask of the forward pass."""

    @rc.primitive
    def dropout(x):
        return x * (torch.rand(x.shape) < 0.5)

    @rc.rrule.define(dropout)
    def dropout_rrule(x):
        mask = torch.rand(x.shape) < 0.5

        def dropout_pullback(dy):
            return rc.NoTangent(), dy * mask

        return x * mask, dropout_pullback

    return dropout


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_stochastic_rule_sees_one_mask(create_graph):
    x = torch.ones(200, requires_grad=True)
    y = dropout()(x)
    (dx,) = torch.autograd.grad(y.sum(), x, create_graph=create_graph)
    assert torch.equal(dx != 0, y != 0)


def test_a_stochastic_rule_sees_one_mask_under_transforms():
    x = torch.ones(200)
    y, back = torch.func.vjp(dropout(), x)
    assert torch.equal(back(torch.ones(200))[0] != 0, y != 0)
    y, dy = torch.func.jvp(dropout(), (x,), (x,))
    assert torch.equal(dy != 0, y != 0)


def hidden(deterministic: bool):
    """A pullback that keeps its tensor in a generator, where nobody can look."""

    @rc.primitive
    def hidden(x):
        return x * x * x

    @rc.rrule.define(hidden, deterministic=deterministic)
    def hidden_rrule(x):
        source = (2 * x for _ in range(3))
        kept = [source]

        def hidden_pullback(dy):
            return rc.NoTangent(), 1.5 * dy * x * next(kept[0])

        return hidden(x), hidden_pullback

    return hidden


def test_a_closure_that_cannot_be_converted_is_refused():
    with pytest.raises(UnconvertibleClosureError) as info:
        hidden(deterministic=False)(points(2.0))
    assert str(info.value).startswith("rrule hidden.<locals>.hidden_rrule for ")
    assert str(info.value).endswith(
        ": its pullback must capture tensors in the open, but they are hidden in an "
        "object of type builtins.generator. Capture them directly, return "
        "Pullback(fn, *residuals), or declare the rule deterministic=True so that it "
        "may run again in the backward pass."
    )


@pytest.mark.parametrize("told", [True, False], ids=["inspected", "fresh"])
@pytest.mark.parametrize("kept", KEPT, ids=lambda f: f"{type(f).__name__}-{f.__name__}")
def test_functions_of_numpy_are_constants_whatever_was_asked_of_them(kept, told):
    """`inspect.signature` leaves the signature it made in a ufunc."""
    if told:
        inspect.signature(kept)

    @rc.primitive(host=True)
    def squared(x):
        return x * x

    @rc.rrule.define(squared, host=True)
    def squared_rrule(x):
        f = kept

        def squared_pullback(dy):
            assert f is kept
            return rc.NoTangent(), 2 * x * dy

        return x * x, squared_pullback

    x = points(2.0, 3.0)
    squared(x).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_or_run_again_where_the_rule_is_deterministic():
    f = hidden(deterministic=True)
    x = points(2.0)
    f(x).sum().backward()
    assert x.grad.item() == 12
    assert torch.func.grad(lambda t: f(t).sum())(x.detach()).item() == 12
    assert torch.func.hessian(lambda t: f(t).sum())(x.detach()).item() == 12
    assert gradgradcheck(f, (points(1.5),))


def test_a_pullback_that_keeps_a_dead_vjp_is_refused():
    kept = misuses.kept_vjp()
    with pytest.raises(UnconvertibleClosureError, match="hidden in"):
        kept(points(2.0))
    with pytest.raises(UnconvertibleClosureError, match="hidden in"):
        torch.func.grad(kept)(torch.tensor(2.0))


def test_views_and_aliases_of_the_input_may_be_captured():
    @rc.primitive
    def product(x, w):
        return x @ w

    @rc.rrule.define(product)
    def product_rrule(x, w):
        left, right, same = x.mT, w[:].mT, x.contiguous()

        def product_pullback(dy):
            return rc.NoTangent(), dy @ right, left @ dy + 0 * same.mT @ dy

        return x @ w, product_pullback

    x = torch.rand(2, 3, dtype=torch.float64, requires_grad=True)
    w = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(product, (x, w), check_batched_grad=True)
    assert gradgradcheck(product, (x, w))
    hessian = torch.func.hessian(lambda x: (product(x, w.detach()) ** 2).sum())
    expected = torch.func.hessian(lambda x: ((x @ w.detach()) ** 2).sum())
    torch.testing.assert_close(hessian(x.detach()), expected(x.detach()))
