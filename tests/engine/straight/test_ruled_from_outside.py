"""Rules in written code: what programs from outside found, each with its relatives."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, overlay, value_and_grad
from rules_core import NoTangent, rrule
from tests.engine.straight.ruled import X, by_partials, by_rrule, fresh, settled

pytestmark = pytest.mark.usefixtures("alone")


def agree(f, *args):
    """All calls do what the tape does, to the value and to the error."""
    expected = outcome(f, args, tier="tape")
    for _ in range(12):
        assert outcome(f, args) == expected


def outcome(f, args, **options):
    rng.bit_generator.state = STATE
    try:
        value, found = value_and_grad(f, **options)(*args)
    except Exception as error:
        return type(error), str(error)
    return np.asarray(value).tolist(), np.asarray(found).tolist()


rng = np.random.default_rng(3)
STATE = rng.bit_generator.state


@pytest.mark.parametrize("make", [by_partials, by_rrule])
@pytest.mark.parametrize("late", [False, True])
def test_an_overlay_of_a_primitive_goes_first(make, late):
    function, _ = make()
    if late:
        assert settled(lambda x: function(x) * 1.0, 2.0) != 100.0

    @overlay(function)
    def other(x):
        return 100.0 * x

    program = fresh(lambda x: function(x) * 1.0)
    for _ in range(4):
        assert grad(program)(2.0) == 100.0


def test_rules_see_no_other_errors_of_numpy():
    @rc.primitive
    def logarithm(x):
        try:
            return np.log(x)
        except FloatingPointError:
            return -5.0 * np.ones_like(x)

    @rrule.define(logarithm)
    def logarithm_rrule(x):
        return logarithm.fun(x), lambda dy: (NoTangent(), dy / np.maximum(x, 1.0))

    with np.errstate(all="ignore"):
        agree(lambda x: np.sum(np.exp(logarithm(x))), np.array([0.0, 2.0]))


def test_partials_see_no_other_errors_of_numpy():
    @rc.primitive
    def root(x):
        return np.sqrt(x)

    def partials(y, x):
        try:
            return (0.5 / np.sqrt(x),)
        except FloatingPointError:
            return (x * 0.0,)

    rc.scalar_rule(root, partials)
    with np.errstate(all="ignore"):
        agree(lambda x: np.sum(root(x)), np.array([0.0, 2.0]))


TESTS = {
    "if": lambda p: lambda x: x if p(x) > 7.0 else x * x,
    "range": lambda p: lambda x: sum(x * i for i in range(int(p(x)))),
    "index": lambda p: lambda x: np.arange(20.0)[int(p(x))] * x,
    "assert": lambda p: lambda x: x if not p(x) > 7.0 else x / 0.0,
}


@pytest.mark.parametrize("name", TESTS)
def test_tests_ask_the_value_of_the_rule(name):
    @rc.primitive
    def doubled(x):
        return 2.0 * x

    @rrule.define(doubled)
    def doubled_rrule(x):
        return 5.0 * x, lambda dy: (NoTangent(), 5.0 * dy)

    agree(TESTS[name](doubled), 2.0)


def test_what_draws_random_numbers_draws_them_once():
    def noise(x):
        return rng.normal()

    rc.non_differentiable(noise)
    agree(lambda x: noise(x) * x, 2.0)


def test_an_impure_primitive_is_called_once():
    @rc.primitive(pure=False)
    def noisy(x):
        return x * rng.normal()

    @rrule.define(noisy)
    def noisy_rrule(x):
        by = rng.normal()
        return x * by, lambda dy: (NoTangent(), by * dy)

    agree(lambda x: np.sum(np.sqrt(noisy(x) ** 2)), np.array([0.0, 4.0]))


def test_a_pullback_is_not_asked_about_nothing():
    calls = []

    @rc.primitive
    def seen(x):
        return 1.0 * x

    @rrule.define(seen)
    def seen_rrule(x):
        def seen_pullback(dy):
            calls.append(dy)
            return NoTangent(), dy

        return 1.0 * x, seen_pullback

    def program(x):
        both = [seen(x), seen(x)]
        return both[0]

    settled(program, 2.0)
    calls.clear()
    assert grad(program)(2.0) == 1.0
    assert len(calls) == 1


MALFORMED = {
    "list": lambda z, x, y: [y, x],
    "text": lambda z, x, y: (y, "text"),
    "none": lambda z, x, y: (y, None),
    "one": lambda z, x, y: (y,),
    "three": lambda z, x, y: (y, x, x),
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("x", [2.0, X], ids=["number", "array"])
def test_malformed_partials_are_errors(name, x):
    @rc.primitive
    def product(x, y):
        return x * y

    rc.scalar_rule(product, MALFORMED[name])
    agree(lambda x: np.sum(product(x, 3.0)), x)


@pytest.mark.parametrize("x", [2.0, X], ids=["number", "array"])
def test_too_many_cotangents_are_an_error(x):
    @rc.primitive
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        return x * x, lambda dy: (NoTangent(), 2.0 * x * dy, dy)

    agree(lambda x: np.sum(square(x)), x)
