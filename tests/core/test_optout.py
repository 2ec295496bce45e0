"""Opting out, and asking whether somebody did."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    HasReverseMode,
    NoForwardsMode,
    RuleClashError,
    RuleConfig,
    RuleDefinitionError,
    no_rrule,
    opt_out,
    rrule,
)
from tests.core.named_rules import define, one, ran, two


class Reverse(RuleConfig, HasReverseMode, NoForwardsMode):
    pass


class TestOptOut:
    def test_it_hides_less_specific_rules_only(self):
        define(one, object, name="any")
        opt_out(rrule, one, float | np.ndarray)
        assert ran(one, 1.0) is None
        assert ran(one, 1) == "any"
        assert no_rrule(one, float)
        assert no_rrule(one, np.ndarray)
        assert not no_rrule(one, int)
        define(one, np.float64, name="scalar")
        assert ran(one, np.float64(1)) == "scalar"

    def test_queries_of_unions_and_configs(self):
        opt_out(rrule, one, float)
        opt_out(rrule, one, str, config=Reverse)
        assert no_rrule(one, float | np.float64)
        assert no_rrule(one, float | int)  # an annotation float takes an int
        assert not no_rrule(one, float | bytes)
        assert not no_rrule(one, str)
        assert no_rrule(one, str, config=Reverse)
        assert no_rrule(one, float, config=Reverse)
        with pytest.raises(RuleDefinitionError, match="must be annotated with a class"):
            no_rrule(one, 1.0)

    def test_the_other_mode_is_untouched(self):
        opt_out(rrule, one, float)
        assert no_rrule(one, float)
        assert not rc.no_frule(one, float)
        opt_out(rc.frule, one, float)
        assert rc.no_frule(one, float)

    def test_for_one_config(self):
        define(one, object, name="any")
        opt_out(rrule, one, float, config=Reverse)
        assert ran(Reverse(), one, 1.0) is None
        assert ran(one, 1.0) == "any"
        assert not no_rrule(one, float)

    def test_a_config_rule_beats_a_plain_opt_out(self):
        define(one, object, name="any", config=RuleConfig[HasReverseMode])
        opt_out(rrule, one, float)
        assert ran(Reverse(), one, 1.0) == "any"

    def test_misuse(self):
        with pytest.raises(RuleDefinitionError, match="must get rrule or frule first"):
            opt_out(one, rrule, float)
        with pytest.raises(RuleDefinitionError, match="normal form two has 2"):
            opt_out(rrule, two, float)
        define(one, float, name="rule")
        with pytest.raises(RuleClashError, match=r"and opt_out\(rrule\) at test_optou"):
            opt_out(rrule, one, float)


def test_what_nobody_has_registered_is_not_opted_out():
    assert not no_rrule(lambda x: x, float)
