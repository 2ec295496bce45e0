"""Modes derived by transposing: where it cannot end, and where hooks are active."""

from __future__ import annotations

import pytest
import torch
from torch import func
from torch.autograd import forward_ad, graph
from torch.utils.checkpoint import checkpoint

import rules_core as rc
from rules_core import NoTangent
from rules_torch import SelfTransposeError
from tests.adapters.torch.misuses import applies_itself

POINT = torch.tensor([0.3, -0.4, 0.5]).double()


def apply_each_other():
    @rc.primitive
    def forth(x):
        return 2 * x

    @rc.primitive
    def twice(x):
        return 2 * x

    rc.frule.define(forth)(lambda tangents, x: (forth(x), twice(tangents[1])))
    rc.frule.define(twice)(lambda tangents, x: (twice(x), forth(tangents[1])))
    return forth


def backward(f):
    x = POINT.clone().requires_grad_()
    f(x).sum().backward()


REVERSE = {
    "backward": backward,
    "grad": lambda f: func.grad(lambda x: f(x)[0])(POINT),
    "vmap(grad)": lambda f: func.vmap(func.grad(lambda x: f(x)[0]))(POINT[None]),
    "hessian": lambda f: func.hessian(lambda x: (f(x) ** 2).sum())(POINT),
}


@pytest.mark.parametrize("transform", REVERSE)
@pytest.mark.parametrize("make", [applies_itself, apply_each_other])
def test_an_frule_that_applies_its_own_function_has_no_transpose(make, transform):
    f = make()
    with pytest.raises(SelfTransposeError, match="Add an rrule"):
        REVERSE[transform](f)
    dx = torch.arange(3.0).double()
    assert torch.equal(func.jvp(f, (POINT,), (dx,))[1], f(dx))


@pytest.mark.parametrize("host", [False, True])
def test_an_frule_that_doubles_its_problem_has_no_transpose(host):
    """The derivative of a function of matrices, from that of a block matrix."""

    @rc.primitive(host=host)
    def square(a):
        return a @ a

    rc.shape_rule.define(square)(lambda a: a)

    @rc.frule.define(square)
    def square_frule(tangents, a):
        xp, n = rc.array_namespace(a), a.shape[0]
        above = xp.concat([a, tangents[1]], axis=1)
        below = xp.concat([xp.zeros_like(a), a], axis=1)
        y = square(xp.concat([above, below], axis=0))
        return y[:n, :n], y[:n, n:]

    a = torch.arange(4.0).double().reshape(2, 2)
    assert torch.equal(func.jvp(square, (a,), (a,))[1], 2 * a @ a)
    for transform in (func.grad, func.hessian):
        with pytest.raises(SelfTransposeError, match="Add an rrule"):
            transform(lambda x: square(x).sum())(a)


def test_a_checkpoint_that_runs_again_may_transpose_the_frule_again():
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.frule.define(sine)
    def sine_frule(tangents, x):
        return torch.sin(x), torch.cos(x) * tangents[1]

    def slope(f):
        def run(x):
            return torch.autograd.grad(f(x).sum(), x, create_graph=True)[0]

        return run

    def kept(f):
        return lambda x: checkpoint(f, x, use_reentrant=False)

    x = POINT.clone().requires_grad_()
    for first in (kept(slope(sine)), slope(kept(sine)), kept(slope(kept(sine)))):
        torch.testing.assert_close(first(x), torch.cos(x))
        torch.testing.assert_close(slope(first)(x), -torch.sin(x))
        torch.testing.assert_close(slope(kept(slope(first)))(x), -torch.cos(x))


def test_an_frule_that_halves_its_problem_ends():
    @rc.primitive
    def total(x):
        return x.sum()

    @rc.frule.define(total)
    def total_frule(tangents, x):
        _, dx = tangents
        half = len(dx) // 2
        whole = dx[0] if len(dx) == 1 else total(dx[:half]) + total(dx[half:])
        return total(x), whole

    assert func.grad(total)(POINT).tolist() == [1, 1, 1]


@rc.primitive
def sine(x):
    return torch.sin(x)


@rc.rrule.define(sine)
def sine_rrule(x):
    slope = torch.cos(x)
    return sine(x), lambda dy: (NoTangent(), dy * slope)


@rc.primitive
def sine_forwards(x):
    return torch.sin(x)


@rc.frule.define(sine_forwards)
def sine_forwards_frule(tangents, x):
    return sine_forwards(x), tangents[1] * torch.cos(x)


def saved_on_cpu(f, *args):
    with graph.save_on_cpu():
        return f(*args)


def checkpointed(f, *args):
    return checkpoint(f, *args, use_reentrant=False)


def checkpointed_twice(f, *args):
    return checkpointed(lambda *own: checkpointed(f, *own), *args)


def dual(f, under):
    x = POINT.clone().requires_grad_()
    with forward_ad.dual_level():
        y = under(f, forward_ad.make_dual(x, torch.ones_like(x)))
        dy = forward_ad.unpack_dual(y).tangent
        return dy.detach(), torch.autograd.grad(dy.sum(), x)[0]


def pushed_inside(f, under):
    x = POINT.clone().requires_grad_()
    dy = under(lambda x: func.jvp(f, (x,), (torch.ones_like(x),))[1], x)
    return dy.detach(), torch.autograd.grad(dy.sum(), x)[0]


def pulled(f, under):
    x = POINT.clone().requires_grad_()
    (dx,) = torch.autograd.grad(under(f, x).sum(), x, create_graph=True)
    return dx.detach(), torch.autograd.grad(dx.sum(), x)[0]


@pytest.mark.parametrize("under", [checkpointed, checkpointed_twice, saved_on_cpu])
@pytest.mark.parametrize("order", [dual, pushed_inside, pulled])
@pytest.mark.parametrize("f", [sine, sine_forwards], ids=["rrule", "frule"])
def test_a_derived_mode_may_meet_hooks_of_saved_tensors(f, order, under):
    dx, ddx = order(f, under)
    torch.testing.assert_close(dx, torch.cos(POINT))
    torch.testing.assert_close(ddx, -torch.sin(POINT))
