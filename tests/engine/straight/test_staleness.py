"""Rules that come, or go, after code was written."""

import numpy as np
import pytest

from rules_autodiff import (
    CoDual,
    EngineConfig,
    NoFData,
    NoRData,
    grad,
    overlay,
    rrule_mutating,
)
from rules_autodiff.straight._tier import signatures
from rules_core import NoTangent, RuleSkippedWarning, debug_mode, frule, opt_out, rrule
from rules_core.testing import isolated_rules

X = np.array([0.5, -1.0, 2.0])

pytestmark = pytest.mark.usefixtures("at_once")


def make():
    def helper(x):
        return x * x

    def program(x):
        return helper(x) * 2.0

    return helper, program


def wrong_rule(x):
    return x * x, lambda dy: (NoTangent(), 100.0 * dy)


def test_a_rule_of_a_function_that_the_program_calls(tapes):
    helper, program = make()
    assert grad(program)(3.0) == 12.0
    with isolated_rules():
        rrule.define(helper)(wrong_rule)
        assert tapes == []
        assert grad(program)(3.0) == 200.0
        assert tapes == [program]
    assert grad(program)(3.0) == 12.0
    assert tapes == [program], "with the rule gone the written code is right again"


def test_a_rule_of_the_program_itself(tapes):
    _, program = make()
    assert grad(program)(3.0) == 12.0
    with isolated_rules():
        rrule.define(program)(lambda x: (x, lambda dy: (NoTangent(), 7.0 * dy)))
        assert grad(program)(3.0) == 7.0
        assert tapes == [program]
    assert grad(program)(3.0) == 12.0


def test_a_rule_of_one_of_two_functions_with_the_same_code():
    _, one = make()
    _, other = make()
    with isolated_rules():
        rrule.define(one)(lambda x: (x, lambda dy: (NoTangent(), 7.0 * dy)))
        assert [grad(one)(3.0), grad(other)(3.0)] == [7.0, 12.0]
        assert [grad(other)(3.0), grad(one)(3.0)] == [12.0, 7.0]


def test_a_rule_for_other_types_too():
    """Which types a rule answers is the tape's to know."""
    helper, program = make()
    assert grad(program)(3.0) == 12.0
    with isolated_rules():

        @rrule.define(helper)
        def rule(x: np.ndarray):
            return x * x, lambda dy: (NoTangent(), 100.0 * dy)

        with pytest.warns(RuleSkippedWarning, match="argument 1 .x. is float"):
            assert grad(program)(3.0) == 12.0
        assert grad(lambda x: np.sum(program(x)))(X) == pytest.approx([200.0] * 3)


def test_an_frule():
    helper, program = make()
    assert grad(program)(3.0) == 12.0
    with isolated_rules():
        frule.define(helper)(lambda dots, x: (x * x, 50.0 * dots[1]))
        assert grad(program)(3.0) == 100.0
    assert grad(program)(3.0) == 12.0


def test_a_rule_of_a_numpy_function_for_this_engine(tapes):
    def program(x):
        return np.sum(np.tanh(x))

    expected = 1 - np.tanh(X) ** 2
    np.testing.assert_allclose(grad(program)(X), expected)
    assert tapes == []
    with isolated_rules():

        @rrule.define(np.tanh, config=EngineConfig)
        def rule(config, x: np.ndarray):
            return np.tanh(x), lambda dy: (NoTangent(), 5.0 * dy)

        np.testing.assert_array_equal(grad(program)(X), [5.0, 5.0, 5.0])
    np.testing.assert_allclose(grad(program)(X), expected)
    assert tapes == [program]


METHODS = {
    "sum": (np.sum, 7, lambda x: x.sum()),
    "mean": (np.mean, 5, lambda x: x.mean() * 3.0),
    "add": (np.add, 2, lambda x: np.sum(np.add(x, 0.0))),
}


@pytest.mark.parametrize(("f", "count", "program"), METHODS.values(), ids=METHODS)
def test_an_opt_out_of_what_a_method_stands_for(f, count, program, tapes):
    np.testing.assert_allclose(grad(program)(X), [1.0, 1.0, 1.0])
    assert tapes == []
    with isolated_rules():
        opt_out(rrule, f, *[str] * count)
        np.testing.assert_allclose(grad(program)(X), [1.0, 1.0, 1.0])
        assert tapes == [program]


def test_an_opt_out(tapes):
    helper, program = make()
    with isolated_rules():
        assert grad(program)(3.0) == 12.0
        assert tapes == []
        opt_out(rrule, helper, float)
        assert grad(program)(3.0) == 12.0
        assert tapes == [program]


def test_an_opt_out_of_a_numpy_function(tapes):
    def program(x):
        return np.sum(np.tanh(x))

    class Own(float):
        pass

    with isolated_rules():
        grad(program)(X)
        opt_out(rrule, np.tanh, Own)
        grad(program)(X)
        assert tapes == [program]


def test_an_overlay_of_a_function_that_the_program_calls():
    helper, program = make()
    assert grad(program)(3.0) == 12.0
    overlay(helper)(lambda x: x * 10.0)
    assert grad(program)(3.0) == 20.0


def test_an_overlay_of_the_program():
    _, program = make()
    assert grad(program)(3.0) == 12.0
    overlay(program)(lambda x: x * 10.0)
    assert grad(program)(3.0) == 10.0


def test_a_mutating_rule(monkeypatch):
    helper, program = make()
    assert grad(program)(3.0) == 12.0
    monkeypatch.setattr(rrule_mutating, "rules", dict(rrule_mutating.rules))
    monkeypatch.setattr(
        "rules_autodiff.straight._guard.trust.MUTATING", (rrule_mutating.rules,) * 2
    )

    @rrule_mutating.define(helper)
    def rule(f, x):
        y = CoDual(x.primal**2, NoFData())
        return y, lambda dy: (NoRData(), 25.0 * dy)

    assert grad(program)(3.0) == 50.0


def test_debug_mode_watches_the_tape(tapes):
    _, program = make()
    assert grad(program)(3.0) == 12.0
    with debug_mode():
        assert grad(program)(3.0) == 12.0
        assert tapes == [program]
    assert grad(program)(3.0) == 12.0
    assert tapes == [program]


def test_rules_of_others_change_nothing(tapes):
    """What was written is looked at again, and used again."""
    _, program = make()
    assert grad(program)(3.0) == 12.0
    form = next(iter(signatures.FORMS.get(program.__code__).values()))
    before = form.units
    with isolated_rules():
        rrule.define(make()[0])(wrong_rule)
        assert grad(program)(3.0) == 12.0
    assert grad(program)(3.0) == 12.0
    assert form.units == before
    assert tapes == []
