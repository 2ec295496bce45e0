"""`explain` and `RuleNotFound`: whole texts."""

import sys

import numpy as np
import pytest

import rules_core as rc
from rules_core import HasReverseMode, RuleConfig, explain, frule, opt_out, rrule
from rules_core._rules.in_frameworks import in_hosts
from rules_core.testing import FiniteDifferenceConfig


class Reverse(RuleConfig, HasReverseMode):
    pass


class Other(RuleConfig, HasReverseMode):
    pass


def scale(x, factor=2.0):
    return factor * x


def line_of(function):
    return function.__code__.co_firstlineno


def define():
    @rrule.define(scale)
    def any_rrule(x, factor):
        return 0.0, None

    @rrule.define(scale)
    def float_rrule(x: float, factor):
        return 0.0, None

    @rrule.define(scale)
    def array_rrule(x: np.ndarray, factor: float):
        return 0.0, None

    return [line_of(f) for f in (any_rrule, float_rrule, array_rrule)]


def named(name, signature, line):
    return f"define.<locals>.{name}({signature}) at test_explain.py:{line}"


def test_the_winner_the_losers_and_those_that_do_not_fit():
    first, second, third = define()
    assert explain(scale, 1.0).splitlines() == [
        f"rrule for scale(float, float): "
        f"{named('float_rrule', 'float, any', second)} runs.",
        f"  {named('any_rrule', 'any, any', first)} applies too, but it is less "
        "specific.",
        f"  {named('array_rrule', 'ndarray, float', third)} does not apply: "
        "argument 1 (x) is float, not ndarray.",
        "frule for scale(float, float): no rule applies; none is defined.",
        "JAX and PyTorch do not use rules of scale, for it is no primitive: decorate "
        "it with rules_core.primitive, or call to_jax(scale) or to_torch(scale).",
    ]


def test_opted_out():
    define()
    opt_out(rrule, scale, float, float)
    text = explain(scale, 1.0).splitlines()
    assert text[0].startswith(
        "rrule for scale(float, float): opted out at test_explain.py:"
    )
    assert text[0].endswith(", so no rule applies.")


def test_with_a_config():
    @rrule.define(scale, config=RuleConfig[HasReverseMode])
    def config_rrule(config, x, factor):
        return 0.0, None

    text = explain(Reverse(), scale, 1.0)
    assert text.startswith("rrule for scale(float, float) with Reverse(): test_with_a_")


def solve(a):
    return a**0.5


def misfit(x, a):
    return x * x - a


def by_implicit():
    rc.implicit(solve, misfit)
    return "implicit function theorem of misfit"


def by_trait():
    for kind, trait in ((rrule, HasReverseMode), (frule, rc.HasForwardsMode)):

        @kind.define(solve, config=RuleConfig[trait])
        def written(config, *args):
            return args[-1], None

    return "written"


def by_both_traits():
    for kind in (rrule, frule):

        @kind.define(solve, config=RuleConfig[rc.HasForwardsMode, HasReverseMode])
        def written(config, *args):
            return args[-1], None

    return "written"


@pytest.mark.parametrize("define", [by_implicit, by_trait, by_both_traits])
@pytest.mark.parametrize("kind", ["rrule", "frule"])
def test_a_rule_that_needs_a_config_and_what_calls_it(define, kind):
    name = define()
    text = str(explain(solve, 4.0))
    assert f"{kind} for solve(float): a rule applies if a config is given.\n" in text
    call = f"{kind}(config, {'tangents, ' if kind == 'frule' else ''}solve, …)"
    assert "in vjp and jvp of rules_core, in rules_autodiff, JAX" in text
    assert f"or in {call}, with rules_core.testing.FiniteDifferenceConfig()" in text
    head, *notes = str(rc.RuleNotFound.build(kind, solve, (4.0,))).splitlines()
    assert head == f"no {kind} applies to solve(float) without a config."
    assert len(notes) == 1
    assert f"{name}(config: " in notes[0]
    assert call in notes[0]
    text = str(explain(FiniteDifferenceConfig(), solve, 4.0))
    assert "without a config" not in text
    assert f"{name}(config: " in text


def test_a_rule_for_one_system_names_its_config():
    @rrule.define(scale, config=Reverse)
    def own_rrule(config, x, factor):
        return 0.0, None

    error = str(rc.RuleNotFound.build("rrule", scale, (1.0,)))
    assert error.endswith(" applies in rrule(config, scale, …) with a Reverse.")
    error = str(rc.RuleNotFound.build("rrule", scale, (1.0,), config=Other()))
    assert "no rrule applies to scale(float, float).\n" in error
    assert error.endswith("it needs Reverse, but Other is not.")


def test_a_rule_for_a_config_and_other_types_does_not_apply():
    @rrule.define(scale, config=RuleConfig[HasReverseMode])
    def text_rrule(config, x: str, factor):
        return 0.0, None

    assert "rrule for scale(float, float): no rule applies.\n" in str(
        explain(scale, 1.0)
    )
    error = str(rc.RuleNotFound.build("rrule", scale, (1.0,)))
    assert "without a config" not in error
    assert "is float, not str." in error


def test_frameworks_whose_adapter_is_not_imported_run_rules_that_need_a_config(
    monkeypatch,
):
    for adapter in ("rules_jax", "rules_torch"):
        monkeypatch.delitem(sys.modules, adapter, raising=False)
    handle = rc.implicit(solve, misfit)
    name = "implicit function theorem of misfit"
    assert list(in_hosts(handle.table, (float,))) == [
        f"In JAX and PyTorch rrule {name} and frule {name} run."
    ]


def test_a_config_rule_over_a_plain_one():
    def config_rrule(config, x, factor):
        return 0.0, None

    define()
    with pytest.warns(UserWarning, match="hides"):
        rrule.define(scale, config=RuleConfig[HasReverseMode])(config_rrule)

    text = explain(Reverse(), scale, 1.0)
    assert "applies too, but a rule with a config wins over any without." in text


def test_an_ambiguity_is_told_not_raised():
    @rrule.define(scale)
    def left(x: float, factor):
        return 0.0, None

    @rrule.define(scale)
    def right(x, factor: float):
        return 0.0, None

    text = explain(scale, 1.0, 2.0)
    assert "ambiguous, the call would raise. rrule for scale(float, float)" in text
    assert "so does another, and neither is more specific" in text


def test_rule_not_found_lists_the_nearest_candidates():
    _, second, third = define()
    opt_out(rrule, scale, str, object)
    error = rc.RuleNotFound.build("rrule", scale, ("a",))
    head, *notes = str(error).splitlines()
    assert head == "no rrule applies to scale(str, float)."
    assert notes[0].endswith("would apply, but the call is opted out.")
    assert "the opt-out(str, any) at test_explain.py:" in notes[1]
    assert notes[1].endswith(" declines this call.")
    assert notes[2] == (
        f"  {named('float_rrule', 'float, any', second)} does not apply: "
        "argument 1 (x) is str, not float."
    )
    assert third > second


def test_rule_not_found_without_any():
    assert str(rc.RuleNotFound.build("frule", scale, (1.0,))) == (
        "no frule applies to scale(float, float).\n"
        "  None is defined. Write one with @frule.define(scale)."
    )


def test_frule_too():
    @frule.define(scale)
    def scale_frule(tangents, x, factor):
        return 0.0, 0.0

    assert "scale_frule(any, any) at" in explain(scale, 1.0)


@pytest.mark.parametrize(
    ("args", "got"),
    [((), "nothing"), ((3.0,), "3.0"), ((Reverse(),), "nothing")],
    ids=["nothing", "number", "config"],
)
def test_misuse(args, got):
    with pytest.raises(TypeError) as caught:
        explain(*args)
    assert str(caught.value) == (
        f"explain(f, *args): f must be callable, but got {got}."
    )


def test_rules_of_another_length_are_counted():
    @rrule.define(total)
    def several_rrule(first, second, *rest: float):
        return 0.0, None

    @rrule.define(total)
    def two_or_three_rrule(first, second, third=0.0):
        return 0.0, None

    @rrule.define(total)
    def one_rrule(x: str):
        return 0.0, None

    assert [line.rpartition("does not apply: ")[2] for line in not_fitting(1.0)] == [
        "it takes at least 2 arguments, but the call has 1.",
        "it takes 2 to 3 arguments, but the call has 1.",
        "argument 1 is float, not str.",
    ]
    assert not_fitting(1.0, 2.0, 3.0, 4.0)[-1].endswith(
        "it takes 1 argument, but the call has 4."
    )


def total(*xs):
    return sum(xs)


def not_fitting(*xs):
    lines = explain(total, *xs).splitlines()
    return [line for line in lines if "does not apply" in line]


def test_a_required_rule_that_was_opted_out():
    @rrule.define(scale)
    def scale_rrule(x, factor):
        return 0.0, None

    opt_out(rrule, scale, float, float)
    error = rc.RuleNotFound.build("rrule", scale, (1.0,))
    applies, declines = error.notes
    assert applies.endswith("would apply, but the call is opted out.")
    assert declines.startswith("the opt-out(float, float) at test_explain.py:")
    assert declines.endswith(" declines this call.")
