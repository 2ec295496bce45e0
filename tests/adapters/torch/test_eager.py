"""Plain eager code: backward to any order, and who owns the residuals."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

import rules_core as rc
from rules_torch import CotangentError, UnconvertibleClosureError
from tests.adapters.torch.formulas import KINDS, cube, expo, host_sine, sinmul, weighted

ALL = {"sinmul": sinmul, "expo": expo, "cube": cube, "host": host_sine}


def points(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_gradcheck_in_every_variant(name, kind):
    f = ALL[name](kind).f
    assert gradcheck(
        f,
        (points(0.3, 0.7),),
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        check_undefined_grad=True,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_gradgradcheck_in_every_variant(name, kind):
    f = ALL[name](kind).f
    assert gradgradcheck(
        f,
        (points(0.3, 0.7),),
        check_batched_grad=True,
        check_fwd_over_rev=True,
        check_rev_over_rev=True,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_gradchecks_of_two_broadcast_arguments(kind):
    f = weighted(kind).f
    a, b = points(0.3, 0.7), points(0.5)
    assert gradcheck(f, (a, b), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(f, (a, b), check_fwd_over_rev=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_create_graph_to_fourth_order(name, kind):
    made = ALL[name](kind)
    x = points(0.3, 0.7)
    ours, theirs = made.f(x), made.native(x)
    for _ in range(4):
        (ours,) = torch.autograd.grad(ours.sum(), x, create_graph=True)
        (theirs,) = torch.autograd.grad(theirs.sum(), x, create_graph=True)
        torch.testing.assert_close(ours, theirs)
        if not theirs.requires_grad:  # the cube has run out of derivatives
            break


def test_a_gradient_penalty():
    """`y + (dy/dx)²` differentiates the first derivative and the function at once."""
    made = sinmul()
    x = points(0.3, 0.7)

    def penalty(f):
        y = f(x).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        return torch.autograd.grad(y + (g * g).sum(), x)[0]

    torch.testing.assert_close(penalty(made.f), penalty(made.native))


def counted():
    """`x exp(x)` with a thunk per argument, counting what is computed."""
    seen = {"a": 0, "b": 0, "needs": []}

    @rc.primitive
    def times(a, b):
        return a * b

    @rc.rrule.define(times)
    def times_rrule(a, b, *, needs):
        seen["needs"].append(needs)

        def times_pullback(dy):
            def da():
                seen["a"] += 1
                return dy * b

            def db():
                seen["b"] += 1
                return dy * a

            return rc.NoTangent(), rc.thunk(da), rc.thunk(db)

        return times(a, b), times_pullback

    return times, seen


def test_thunks_of_arguments_without_grad_are_not_forced():
    times, seen = counted()
    a, b = points(1.0, 2.0), points(3.0, 4.0)
    times(a, b.detach()).sum().backward()
    assert (seen["a"], seen["b"], seen["needs"]) == (1, 0, [(True, False)])
    times(a.detach(), b).sum().backward()
    assert (seen["a"], seen["b"], seen["needs"][1]) == (1, 1, (False, True))


@pytest.mark.parametrize("leaf", [True, False])
def test_thunks_that_the_backward_pass_drops_are_not_forced(leaf):
    """`autograd.grad(out, a)` and `backward(inputs=[a])` do not want `b`."""
    times, seen = counted()
    a = torch.ones(5000, requires_grad=True)
    b = torch.ones(5000, requires_grad=True)
    c = b if leaf else b * 1
    y = times(a, c).sum()
    torch.autograd.grad(y, a, retain_graph=True)
    y.backward(inputs=[a])
    assert (seen["a"], seen["b"]) == (2, 0)


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


def test_or_run_again_where_the_rule_is_deterministic():
    f = hidden(deterministic=True)
    x = points(2.0)
    f(x).sum().backward()
    assert x.grad.item() == 12
    assert torch.func.grad(lambda t: f(t).sum())(x.detach()).item() == 12
    assert torch.func.hessian(lambda t: f(t).sum())(x.detach()).item() == 12
    assert gradgradcheck(f, (points(1.5),))


def test_a_pullback_that_keeps_a_dead_vjp_is_refused():
    @rc.primitive
    def kept(x):
        return torch.sin(x)

    @rc.rrule.define(kept)
    def kept_rrule(x):
        y, back = torch.func.vjp(torch.sin, x)

        def kept_pullback(dy):
            return rc.NoTangent(), back(dy)[0]

        return y, kept_pullback

    with pytest.raises(UnconvertibleClosureError, match="hidden in"):
        kept(points(2.0))
    with pytest.raises(UnconvertibleClosureError, match="hidden in"):
        torch.func.grad(kept)(torch.tensor(2.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_backward_through_vmap_to_second_order(name, kind):
    """A batch of a function of leaves: plain autograd outside, vmap inside."""
    made = ALL[name](kind)
    x = points(0.3, 0.7)

    def second(f):
        (g,) = torch.autograd.grad(torch.vmap(f)(x).sum(), x, create_graph=True)
        return torch.autograd.grad((g * g).sum(), x)[0]

    torch.testing.assert_close(second(made.f), second(made.native))


@pytest.mark.parametrize("kind", KINDS)
def test_autograd_functional(kind):
    made = sinmul(kind)
    x = points(0.3, 0.7).detach()
    functional = torch.autograd.functional

    def total(f):
        return lambda x: f(x).sum()

    for options in ({}, {"vectorize": True}):
        ours = functional.hessian(total(made.f), x, **options)
        torch.testing.assert_close(ours, functional.hessian(total(made.native), x))
    forward = functional.jacobian(made.f, x, vectorize=True, strategy="forward-mode")
    torch.testing.assert_close(forward, functional.jacobian(made.native, x))
    ours = functional.jvp(made.f, x, x)[1]
    torch.testing.assert_close(ours, functional.jvp(made.native, x, x)[1])


def test_detached_inference_and_no_grad_modes():
    f = sinmul().f
    x = points(0.3, 0.7)
    with torch.inference_mode():
        assert not f(x).requires_grad
    with torch.no_grad():
        y = f(x)
    assert not y.requires_grad
    assert f(x).requires_grad


def test_parameters_that_require_grad_beside_a_transform():
    """`jvp` and `vmap` of a function of leaves keep the graph of the leaves."""
    made = weighted()
    w = points(0.5, 1.5)
    x = points(0.3, 0.7).detach()

    def pushed(f):
        _, dy = torch.func.jvp(lambda x: f(w, x), (x,), (x,))
        return torch.autograd.grad(dy.sum(), w)[0]

    torch.testing.assert_close(pushed(made.f), pushed(made.native))


def test_wrong_tangents_of_an_frule_are_named():
    @rc.primitive
    def bad(x):
        return x * 2

    @rc.frule.define(bad)
    def bad_frule(tangents, x):
        return bad(x), torch.ones(5, 3)

    x = torch.ones(2)
    with pytest.raises(CotangentError, match=r"bad_frule .*tangent of the result does"):
        torch.func.jvp(bad, (x,), (x,))

    @rc.primitive
    def unknown(x):
        return x * 2

    @rc.frule.define(unknown)
    def unknown_frule(tangents, x):
        return unknown(x), rc.not_implemented("nobody knows")

    with pytest.raises(rc.DerivativeNotImplemented, match="unknown_frule"):
        torch.func.jvp(unknown, (x,), (x,))


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


def test_a_result_without_tensors():
    @rc.primitive
    def constant(x):
        return 3.0, "a"

    @rc.rrule.define(constant)
    def constant_rrule(x):
        return (3.0, "a"), lambda dy: (rc.NoTangent(), rc.ZeroTangent())

    assert constant(points(1.0)) == (3.0, "a")
    x = torch.ones(2)
    assert torch.func.grad(lambda x: constant(x)[0] * x.sum())(x).tolist() == [3, 3]


def test_a_host_function_of_the_cotangent_is_batched():
    """`is_grads_batched` hands a batched cotangent to the pullback."""

    @rc.primitive(host=True, elementwise=True)
    def double(x):
        return 2 * np.asarray(x)

    @rc.rrule.define(double)
    def double_rrule(x):
        return double(x), lambda dy: (rc.NoTangent(), double(dy))

    x = points(0.3, 0.7)
    assert gradcheck(
        double,
        (x,),
        check_batched_grad=True,
        check_forward_ad=True,
        check_batched_forward_grad=True,
    )
    assert gradgradcheck(double, (x,), check_batched_grad=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ALL)
def test_debug_mode_lets_right_rules_pass(name, kind):
    made = ALL[name](kind)
    with rc.debug_mode():
        assert gradgradcheck(made.f, (points(0.3, 0.7),))
        x = points(0.3, 0.7).detach()
        torch.vmap(torch.func.grad(made.f))(x)
        torch.func.jvp(made.f, (x,), (x,))


def test_debug_mode_sees_a_cotangent_that_is_written_to():
    @rc.primitive
    def writes(x):
        return x * 2

    @rc.rrule.define(writes)
    def writes_rrule(x):
        return x * 2, lambda dy: (rc.NoTangent(), dy.mul_(2))

    with rc.debug_mode(), pytest.raises(rc.DebugError, match="cotangent was written"):
        writes(points(0.3)).backward(torch.ones(1, dtype=torch.float64))
