"""Rules that call NumPy or `math` on tensors: right, or an error in words."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import torch
from torch import func
from torch.autograd import forward_ad

import rules_core as rc
from rules_core import NoTangent
from rules_torch import NotGenericError, ResultShapeError

POINT = torch.tensor([0.3, 0.4]).double()

SINES = {
    "NumPy": (np.sin, np.cos),
    "math": (math.sin, math.cos),
    "float": (lambda x: math.sin(float(x)), lambda x: math.cos(float(x))),
    "math, elements": (
        lambda x: torch.tensor([math.sin(a) for a in x]),
        lambda x: torch.tensor([math.cos(a) for a in x]),
    ),
}


def with_rrule(sin, cos):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.rrule.define(sine)
    def sine_rrule(x):
        return sin(x), lambda dy: (NoTangent(), dy * cos(x))

    return sine, "rrule with_rrule.<locals>.sine_rrule for "


def with_frule(sin, cos):
    @rc.primitive
    def sine(x):
        return torch.sin(x)

    @rc.frule.define(sine)
    def sine_frule(tangents, x):
        return sin(x), tangents[1] * cos(x)

    return sine, "frule with_frule.<locals>.sine_frule for "


def part(make, which):
    """A function of which the rule's forward half, other half, or both do wrong."""

    def made(sin, cos):
        halves = (sin, torch.cos), (torch.sin, cos), (sin, cos)
        return make(*halves[which])

    return made


MAKERS = {
    "rrule": part(with_rrule, 0),
    "pullback": part(with_rrule, 1),
    "whole rrule": part(with_rrule, 2),
    "frule": part(with_frule, 0),
    "pushforward": part(with_frule, 1),
}


def duals(f, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, x))).tangent


def backward(f, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


TRANSFORMS = {
    "backward": backward,
    "grad": lambda f, x: func.grad(lambda x: f(x).sum())(x),
    "vmap(grad)": lambda f, x: func.vmap(func.grad(lambda x: f(x).sum()))(
        x.expand(2, *x.shape)
    ),
    "jvp": lambda f, x: func.jvp(f, (x,), (x,))[1],
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "dual numbers": duals,
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("sines", SINES)
def test_numpy_and_math_in_a_rule_give_the_derivative_or_a_named_error(
    sines, maker, transform
):
    f, label = MAKERS[maker](*SINES[sines])
    run = TRANSFORMS[transform]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own about conversions
        try:
            found = run(f, POINT)
        except (NotGenericError, ResultShapeError) as error:
            said = str(error)
        else:
            torch.testing.assert_close(found, run(torch.sin, POINT), check_dtype=False)
            return
    assert f"{label}{f.table.label}" in said
    assert "array_namespace(x)" in said or "Return what the function returns" in said


def test_an_inner_rule_is_named_and_not_the_outer_one():
    inner, _ = with_rrule(torch.sin, np.cos)

    @rc.primitive
    def outer(x):
        return inner(x)

    @rc.rrule.define(outer)
    def outer_rrule(x):
        return outer(x), lambda dy: (NoTangent(), func.vjp(inner, x)[1](dy)[0])

    with pytest.raises(NotGenericError, match="pullback of rrule with_rrule"):
        func.grad(lambda x: outer(x).sum())(POINT)


def test_other_errors_of_a_rule_stay_as_they_are():
    f, _ = with_rrule(lambda x: x.reshape(7), torch.cos)
    with pytest.raises(RuntimeError, match="shape '.7.' is invalid"):
        backward(f, POINT)


def test_a_body_without_rules_is_named():
    f = rc.primitive(lambda x: np.sin(x))
    with pytest.raises(NotGenericError, match="^the body of .*lambda"):
        backward(f, POINT)
    with pytest.raises(NotGenericError, match="^the body of .*lambda"):
        func.grad(lambda x: f(x).sum())(POINT)


def test_a_result_without_tensors_is_an_error_where_the_function_has_one():
    f, _ = with_rrule(lambda x: math.sin(x[0]), torch.cos)
    for run in (backward, TRANSFORMS["grad"], TRANSFORMS["jvp"]):
        with pytest.raises(ResultShapeError, match="1 tensors here, but got 0"):
            run(f, POINT)
