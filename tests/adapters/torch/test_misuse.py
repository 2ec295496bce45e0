"""What rules must not do, and the error that says so."""

from __future__ import annotations

import pytest
import torch
from torch.func import grad, vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import CotangentError, ResultShapeError


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def wrong(answer):
    @rc.primitive
    def wrong(x, y):
        return x * y

    @rc.rrule.define(wrong)
    def wrong_rrule(x, y):
        return x * y, lambda dy: answer(dy, x, y)

    return wrong


@pytest.mark.parametrize("transform", ["backward", "grad"])
def test_wrong_answers_of_a_pullback_are_named(transform):
    def run(answer):
        f, x = wrong(answer), leaf(1.0, 2.0)
        if transform == "backward":
            f(x, x * 1).sum().backward()
        else:
            grad(lambda x: f(x, x).sum())(x.detach())

    with pytest.raises(rc.CotangentCountError, match="tuple of 3 cotangents"):
        run(lambda dy, x, y: (NoTangent(), dy))
    with pytest.raises(
        CotangentError, match=r"wrong_rrule .* argument 'y' does not fit"
    ):
        run(lambda dy, x, y: (NoTangent(), dy, torch.ones(3, 5)))
    with pytest.raises(
        rc.DerivativeNotImplemented, match=r"wrong_rrule .*argument 'y'"
    ):
        run(lambda dy, x, y: (NoTangent(), dy, rc.not_implemented("nobody knows")))


def test_a_not_implemented_cotangent_that_nobody_wants_is_dropped():
    f = wrong(lambda dy, x, y: (NoTangent(), dy, rc.not_implemented("nobody knows")))
    x = leaf(1.0, 2.0)
    f(x, x.detach()).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_rule_that_returns_no_pair_is_named():
    @rc.primitive
    def single(x):
        return x

    @rc.rrule.define(single)
    def single_rrule(x):
        return x * 1

    with pytest.raises(Exception, match="must return the pair"):
        single(leaf(1.0))


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


@pytest.mark.parametrize(
    "run",
    [
        lambda f, x: f(x.requires_grad_()).sum().backward(),
        lambda f, x: grad(lambda x: f(x).sum())(x),
        lambda f, x: vmap(grad(lambda x: f(x).sum()))(x[None]),
        lambda f, x: grad(lambda x: f((x, "a")).sum())(x),
    ],
    ids=["backward", "grad", "vmap(grad)", "container"],
)
def test_a_result_of_another_shape_is_blamed_on_the_result(run):
    @rc.primitive
    def double(x):
        return 2 * (x[0] if isinstance(x, tuple) else x)

    @rc.rrule.define(double)
    def double_rrule(x):
        def double_pullback(dy):
            return NoTangent(), (2 * dy, "a") if isinstance(x, tuple) else 2 * dy

        return torch.ones(5) * double(x).sum(), double_pullback

    with pytest.raises(ResultShapeError) as info:
        run(double, torch.ones(3))
    assert str(info.value).endswith(
        f": it must return the result of {double.table.label}, which has shape (3,) "
        "here, but got shape (5,), so that its cotangents do not fit either. Return "
        "what the function returns."
    )
