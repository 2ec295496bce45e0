"""Plain eager code: backward to any order."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import rules_core as rc
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


@pytest.mark.covering(strength=1)
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


@pytest.mark.covering(strength=1)
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


@pytest.mark.parametrize("host", [False, True], ids=["generic", "host"])
@pytest.mark.parametrize("first", [0.3, 1.5])
def test_a_function_without_derivative_has_zeros_as_those_of_torch_have(host, first):
    def rounded(x):
        return x.round()

    f = rc.primitive(rounded, host=host)
    rc.non_differentiable(f)
    x = torch.tensor([first, 2.7], requires_grad=True)
    weight = torch.ones(2, requires_grad=True)

    def found(f):
        y = f(x)
        y.sum().backward()
        dx, x.grad = x.grad, None
        first = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return (
            y.requires_grad,
            dx,
            first,
            torch.autograd.grad((f(x) * weight).sum(), (x, weight)),
        )

    torch.testing.assert_close(found(f), found(torch.round))
