"""`frule` and `rrule`: what a call gives, in which form a rule sees it."""

import functools
import inspect

import pytest

import rules_core as rc
from rules_core import NoTangent, ZeroTangent, frule, rrule
from tests.core.calls import Affine, define_power, power


def test_none_where_there_is_no_rule():
    assert rrule(power, 2.0) is None
    assert frule((NoTangent(), 1.0), power, 2.0) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: rrule(power, 2.0),
        lambda: rrule(power, 2.0, 2),
        lambda: rrule(power, 2.0, p=2),
        lambda: rrule(power, x=2.0),
        lambda: rrule(power, 2.0, verbose=True),
    ],
    ids=["default", "positional", "keyword", "all keywords", "keyword-only"],
)
def test_every_spelling_reaches_the_rule_in_normal_form(call):
    define_power()
    y, pullback = call()
    assert y == 4.0
    assert pullback(3.0) == (NoTangent(), 12.0, NoTangent())


def test_definition_returns_the_author_function_unchanged():
    power_rrule, power_frule = define_power()
    assert power_rrule(2.0, 3)[0] == 8.0
    assert power_frule((NoTangent(), 1.0), 2.0, 3) == (8.0, 12.0)


def test_types_decide():
    define_power()
    assert rrule(power, "a", 2) is None
    assert rrule(power, 2.0, 2.0) is None


def test_frule_pads_tangents_of_defaults_and_keywords():
    define_power()
    assert frule((NoTangent(), 1.0), power, 2.0) == (4.0, 4.0)
    assert frule((NoTangent(), 1.0), power, 2.0, p=3) == (8.0, 12.0)
    assert frule((NoTangent(), 1.0, NoTangent()), power, 2.0, 3) == (8.0, 12.0)


def test_frule_makes_lazy_tangents_concrete():
    define_power()
    assert frule((NoTangent(), ZeroTangent()), power, 2.0) == (4.0, 0.0)
    assert frule((NoTangent(), rc.thunk(lambda: 1.0)), power, 2.0) == (4.0, 4.0)


def test_symbolic_zeros_are_handed_on_where_asked_for():
    seen = []

    @frule.define(power, symbolic_zeros=True)
    def power_frule(tangents, x, p):
        seen.append(tangents[1])
        return power(x, p), ZeroTangent()

    frule((NoTangent(), ZeroTangent()), power, 2.0)
    assert seen == [ZeroTangent()]


def test_wrong_calls_raise_as_the_function_would():
    define_power()
    with pytest.raises(TypeError, match=r"power\(\) got an unexpected keyword .*'q'"):
        rrule(power, 2.0, q=1)
    with pytest.raises(TypeError, match=r"power\(\) is missing .* argument 'x'"):
        rrule(power, p=2)
    with pytest.raises(TypeError, match=r"power\(\) got multiple values for .*'x'"):
        rrule(power, 2.0, x=1.0)
    with pytest.raises(TypeError, match=r"power\(\) takes 2 positional .* 3 were"):
        rrule(power, 2.0, 1, 3)


def test_needs_tells_which_arguments_are_wanted():
    seen = []

    @rrule.define(power)
    def power_rrule(x, p, *, needs):
        seen.append(needs)
        return power(x, p), abs

    rrule(power, 2.0)
    rrule.resolve(power, (2.0,)).run(needs=(True, False))
    assert seen == [(True, True), (True, False)]


def test_a_rule_without_needs_is_served_all_the_same():
    define_power()
    y, _ = rrule.resolve(power, (2.0,)).run(needs=(False, False))
    assert y == 4.0


def test_keyword_only_arguments_are_passed_on():
    seen = []

    @rrule.define(power)
    def power_rrule(x, p, *, verbose=False):
        seen.append(verbose)
        return power(x, p), abs

    rrule(power, 2.0, verbose=True)
    assert seen == [True]


def test_variadic_rules():
    def total(*xs):
        return sum(xs)

    @rrule.define(total)
    def total_rrule(*xs: float):
        return sum(xs), lambda dy: (NoTangent(), *(dy for _ in xs))

    assert rrule(total, 1.0, 2.0, 3.0)[1](1.0) == (NoTangent(), 1.0, 1.0, 1.0)
    assert rrule(total)[0] == 0
    assert rrule(total, 1.0, "a") is None


def test_resolve_describes_the_call():
    power_rrule, _ = define_power()
    call = rrule.resolve(power, (2.0,), {"verbose": True})
    assert call.rule.function is power_rrule
    assert call.args == (2.0, 2)
    assert call.kwargs == {"verbose": True}
    assert (call.bound, call.method, call.cotangent_count) == (False, False, 3)


def test_normal_form():
    assert rc.normal_form(power, (2.0,), {"verbose": 1}) == ((2.0, 2), {"verbose": 1})
    a = Affine(1.0)
    assert rc.normal_form(a.scaled, (3.0,), {}) == ((a, 3.0, 1.0), {})
    held = functools.partial(power, p=5)
    assert rc.normal_form(held, (2.0,), {}) == ((2.0, 5), {})


def test_both_are_functions_with_their_names_and_signatures():
    assert str(inspect.signature(rrule)).startswith("(f: 'Any', /, *args")
    assert inspect.getdoc(frule).startswith("`frule(tangents, f, *args, **kw)`")
    assert (rrule.__name__, frule.__name__) == ("rrule", "frule")
