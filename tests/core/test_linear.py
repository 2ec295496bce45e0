"""`linear_rule`."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    NoTangent,
    RuleDefinitionError,
    Tangent,
    ZeroTangent,
    frule,
    linear_rule,
    rrule,
)
from rules_core.testing import check_rule
from tests.specimens.honest import CONTAINERS, cutting, joining


def apply(A, x):
    return A @ x


def difference(x, y):
    return x - y


A = np.array([[1.0, 2.0], [3.0, 4.0]])


def test_adjoint_and_derivative():
    linear_rule(apply, lambda dy, A, x: A.T @ dy, argnums=1)
    _, pullback = rrule(apply, A, np.array([1.0, 1.0]))
    dself, dA, dx = pullback(np.array([1.0, 0.0]))
    np.testing.assert_array_equal(dx, [1.0, 2.0])
    assert dself == NoTangent()
    assert isinstance(dA, rc.NotImplementedTangent)
    assert "not declared linear in argument 0" in str(dA)
    tangents = (NoTangent(), ZeroTangent(), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(frule(tangents, apply, A, np.ones(2))[1], [2.0, 4.0])


def test_a_tangent_of_another_argument_is_not_implemented_and_never_zero():
    linear_rule(apply, lambda dy, A, x: A.T @ dy, argnums=1)
    tangents = (NoTangent(), np.ones((2, 2)), np.ones(2))
    _, dy = frule(tangents, apply, A, np.ones(2))
    assert isinstance(dy, rc.NotImplementedTangent)


def test_jointly_linear():
    linear_rule(difference, lambda dy, x, y: (dy, -dy), argnums=(0, 1))
    assert rrule(difference, 3.0, 1.0)[1](2.0) == (NoTangent(), 2.0, -2.0)
    assert frule((NoTangent(), 1.0, 3.0), difference, 3.0, 1.0) == (2.0, -2.0)
    half = (NoTangent(), ZeroTangent(), 3.0)
    assert rc.frule.resolve(difference, (3.0, 1.0)).run(half) == (2.0, -3.0)


def test_an_integer_among_the_linear_arguments_does_not_move():
    linear_rule(difference, lambda dy, x, y: (dy, -dy), argnums=(0, 1))
    tangents = (NoTangent(), 3.0, NoTangent())
    assert frule(tangents, difference, 5.0, 2) == (3.0, 3.0)


def test_arguments_without_tangent_get_none():
    def pick(x, i):
        return x[i]

    def pick_adjoint(dy, x, i):
        out = np.zeros_like(x)
        out[i] = dy
        return out

    linear_rule(pick, pick_adjoint)
    assert rrule(pick, np.ones(2), 1)[1](2.0)[2] == NoTangent()


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return self.factor * x


def test_methods():
    linear_rule(Scale.apply, lambda dy, self, x: self.factor * dy, argnums=1)
    scale = Scale(3.0)
    dself, dx = rrule(scale.apply, 2.0)[1](1.0)
    assert isinstance(dself, rc.NotImplementedTangent)
    assert dself.file == __file__
    assert dx == 3.0
    assert frule((ZeroTangent(), 5.0), scale.apply, 2.0) == (6.0, 15.0)
    moved = rc.MutableTangent(Scale, factor=1.0)
    _, dy = frule((moved, 5.0), scale.apply, 2.0)
    assert isinstance(dy, rc.NotImplementedTangent)


def test_symbolic_zeros_pass():
    linear_rule(difference, lambda dy, x, y: (dy, -dy), argnums=(0, 1))
    zero = ZeroTangent()
    assert rrule(difference, 3.0, 1.0)[1](zero) == (NoTangent(), zero, zero)


def test_the_cotangent_is_projected():
    linear_rule(difference, lambda dy, x, y: (dy, -dy), argnums=(0, 1))
    _, _, dy = rrule(difference, np.ones((2, 3)), np.ones(3))[1](np.ones((2, 3)))
    np.testing.assert_array_equal(dy, [-2.0, -2.0, -2.0])


def test_misuse():
    with pytest.raises(RuleDefinitionError) as caught:
        linear_rule(difference, lambda dy, x, y: dy, argnums=2)
    assert str(caught.value) == (
        "linear_rule for difference: argnums must be distinct positions of its 2 "
        "arguments, but got (2,)."
    )
    linear_rule(difference, lambda dy, x, y: dy, argnums=(0, 1))
    with pytest.raises(RuleDefinitionError) as caught:
        rrule(difference, 1.0, 2.0)[1](1.0)
    text = str(caught.value)
    assert text.startswith("linear_rule test_misuse.<locals>.<lambda> for difference ")
    assert text.endswith(
        "the adjoint must return a tuple of 2 cotangents, one per argnum, but got "
        "float."
    )


def test_a_tuple_for_a_single_argnum():
    def thrice(x):
        return 3.0 * x

    linear_rule(thrice, lambda dy, x: (3.0 * dy,), argnums=0)
    _, pullback = rrule(thrice, 1.0)
    with pytest.raises(RuleDefinitionError) as caught:
        pullback(1.0)
    assert str(caught.value).endswith(
        ": the adjoint must return the cotangent of argument 0 itself, as argnums is a "
        "number, but got a tuple of 1. Return it bare, or write argnums=(0,)."
    )


def test_the_cotangent_of_a_single_argument_that_is_a_tuple():
    def first(pair):
        return pair[0] * 1.0

    linear_rule(first, lambda dy, pair: (dy, 0.0 * dy), argnums=0)
    y, pullback = rrule(first, (2.0, 3.0))
    assert (y, pullback(1.0)[1]) == (2.0, Tangent(tuple, 1.0, 0.0))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("make", [joining, cutting])
def test_containers_go_in_and_out(make, kind):
    call = make(kind)
    assert check_rule(call.f, *call.args, hosts=())


def test_a_result_that_nobody_uses_is_an_array_of_zeros():
    call = cutting("list")
    x = call.args[0]
    _, pullback = rrule(call.f, x)
    dy = Tangent(list, ZeroTangent(), np.ones(1))
    np.testing.assert_array_equal(pullback(dy)[1], [0.0, 0.0, 2.0])


def test_whole_numbers_in_a_container_do_not_move():
    def total(parts):
        return parts["x"] * 2.0 + parts["n"] + sum(parts["ks"])

    linear_rule(total, lambda dy, parts: {"x": 2.0 * dy})
    report = check_rule(total, {"x": 3.0, "n": 4, "ks": [1, 2]}, hosts=())
    assert report["frule.derivative"].status == "passed"
