"""What a rule is given: tangents of every argument, concrete, and `needs`."""

import pytest

import rules_core as rc
from rules_core import NoTangent, Tangent, ZeroTangent, frule


def affine(x, slope=3.0, power=1):
    return slope * x**power


@pytest.mark.parametrize(
    ("tangents", "expected"),
    [
        ((NoTangent(), 1.0), (1.0, 0.0, NoTangent())),
        ((None, 1.0), (1.0, 0.0, NoTangent())),
        ((NoTangent(), None), (0.0, 0.0, NoTangent())),
        ((NoTangent(), 1.0, ZeroTangent(), None), (1.0, 0.0, NoTangent())),
        ((NoTangent(), 1.0, NoTangent(), NoTangent()), (1.0, 0.0, NoTangent())),
    ],
    ids=["default", "None for f", "None", "zero", "NoTangent"],
)
def test_frules_receive_numbers_where_there_are_any(tangents, expected):
    @frule.define(affine)
    def affine_frule(tangents, x, slope, power):
        return affine(x, slope, power), tangents

    args = (2.0, 3.0, 1)[: len(tangents) - 1]
    assert frule(tangents, affine, *args)[1] == (NoTangent(), *expected)


def test_tangents_of_containers_are_made_concrete_throughout():
    def first(xs):
        return xs[0]

    @frule.define(first)
    def first_frule(tangents, xs):
        return xs[0], tangents[1]

    for dx in (Tangent(tuple, rc.thunk(lambda: 1.0), ZeroTangent()), (1.0, None)):
        found = frule((NoTangent(), dx), first, (2.0, 3.0))[1]
        assert rc.backing(found) == {0: 1.0, 1: 0.0}


def test_symbolic_zeros_stand_for_defaults_too():
    @frule.define(affine, symbolic_zeros=True)
    def affine_frule(tangents, x, slope, power):
        return affine(x, slope, power), tangents

    found = frule((NoTangent(), 1.0), affine, 2.0)[1]
    assert found == (NoTangent(), 1.0, ZeroTangent(), NoTangent())


@pytest.mark.parametrize(
    ("tangents", "expected"),
    [
        ((1.0, 1.0, 1.0), (True, True)),
        ((1.0, ZeroTangent(), 1.0), (False, True)),
        ((1.0, 0.0, None), (True, False)),
        ((1.0, Tangent(tuple, ZeroTangent(), NoTangent()), 1.0), (False, True)),
        ((1.0, Tangent(tuple, ZeroTangent(), 1.0), 1.0), (True, True)),
    ],
    ids=["all", "zero", "None", "container of zeros", "container"],
)
def test_needs_of_an_frule_are_the_arguments_that_move(tangents, expected):
    def pair(x, y):
        return y

    @frule.define(pair)
    def pair_frule(tangents, x, y, *, needs):
        return y, needs

    x = (1.0, 2.0) if isinstance(tangents[1], Tangent) else 1.0
    assert frule(tangents, pair, x, 2.0)[1] == expected
