"""Mixed precision: forward and backward under `torch.autocast`, and the policies."""

from __future__ import annotations

import pytest
import torch

import rules_core as rc
from rules_core import NoTangent
from rules_torch import to_torch


def affine():
    """`x Wᵀ` whose pullback multiplies the cotangent by residuals."""

    @rc.primitive
    def affine(x, w):
        return x @ w.T

    @rc.rrule.define(affine)
    def affine_rrule(x, w):
        def affine_pullback(dy):
            return NoTangent(), dy @ w, dy.T @ x

        return affine(x, w), affine_pullback

    return affine


def leaves():
    torch.manual_seed(0)
    return (torch.rand(3, 4, requires_grad=True), torch.rand(2, 4, requires_grad=True))


@pytest.mark.parametrize("inside", [False, True])
def test_backward_after_or_inside_autocast(inside):
    f = affine()
    x, w = leaves()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = f(x, w)
        assert y.dtype is torch.bfloat16
        if inside:
            y.float().sum().backward()
    if not inside:
        y.float().sum().backward()
    assert x.grad.dtype is w.grad.dtype is torch.float32
    mine = x.grad.clone()
    x.grad = None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        native = x @ w.T
    native.float().sum().backward()
    torch.testing.assert_close(mine, x.grad, rtol=2e-2, atol=1e-2)


def test_a_forward_pass_outside_keeps_full_precision_inside():
    f = affine()
    x, w = leaves()
    y = f(x, w)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y.sum().backward()
    torch.testing.assert_close(x.grad, w.detach().sum(0).expand(3, 4))


def test_transforms_under_autocast():
    f = affine()
    x, w = (t.detach() for t in leaves())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        dx = torch.func.grad(lambda x: f(x, w).float().sum())(x)
    assert dx.dtype is torch.float32


@pytest.mark.parametrize(
    ("policy", "dtype"), [("promote", torch.float32), ("cast", torch.bfloat16)]
)
def test_policies(policy, dtype):
    f = to_torch(affine(), autocast=policy)
    x, w = leaves()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = f(x, w)
    assert y.dtype is dtype
    y.float().sum().backward()
    assert x.grad.dtype is torch.float32
    assert f(x, w).dtype is torch.float32


def test_an_unknown_policy_is_refused():
    with pytest.raises(rc.UnsupportedError) as info:
        to_torch(affine(), autocast="half")
    assert str(info.value) == (
        "to_torch: autocast must be one of ('keep', 'promote', 'cast'), but got 'half'."
    )
