"""Rules with a config: which of several wins, and over what."""

import warnings

import pytest

from rules_core import (
    AmbiguousRulesError,
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoReverseMode,
    RuleConfig,
    RuleDefinitionError,
    rrule,
)
from tests.core.named_rules import define, one, ran


class Forward(RuleConfig, HasForwardsMode, NoReverseMode):
    pass


class Reverse(RuleConfig, HasReverseMode, NoForwardsMode):
    pass


class Both(RuleConfig, HasForwardsMode, HasReverseMode):
    pass


class TestConfigs:
    def test_traits_are_all_needed(self):
        define(one, object, name="r", config=RuleConfig[HasReverseMode])
        define(
            one, object, name="fr", config=RuleConfig[HasForwardsMode, HasReverseMode]
        )
        assert ran(one, 1.0) is None
        assert ran(Forward(), one, 1.0) is None
        assert ran(Reverse(), one, 1.0) == "r"
        assert ran(Both(), one, 1.0) == "fr"

    def test_neither_trait_contains_the_other(self):
        define(one, object, name="r", config=RuleConfig[HasReverseMode])
        define(one, object, name="f", config=RuleConfig[HasForwardsMode])
        with pytest.raises(AmbiguousRulesError, match="config: RuleConfig"):
            rrule(Both(), one, 1.0)

    def test_a_config_class_is_more_specific_than_its_traits(self):
        define(one, object, name="trait", config=RuleConfig[HasReverseMode])
        define(one, object, name="mine", config=Both)
        assert ran(Both(), one, 1.0) == "mine"
        assert ran(Reverse(), one, 1.0) == "trait"

    def test_a_config_rule_wins_over_a_more_specific_one_without(self):
        define(one, float, name="plain")
        with pytest.warns(UserWarning, match=r"hides the more specific plain\(float\)"):
            define(one, object, name="config", config=RuleConfig[HasReverseMode])
        assert ran(Reverse(), one, 1.0) == "config"
        assert ran(one, 1.0) == "plain"

    def test_a_variadic_config_rule_may_hide_others(self):
        define(one, float, name="plain")

        def config_rrule(config, *xs):
            return "config", None

        with pytest.warns(UserWarning, match=r"hides the more specific plain\(float\)"):
            rrule.define(one, config=RuleConfig[HasReverseMode])(config_rrule)

    def test_equal_signatures_do_not_warn(self):
        define(one, float, name="plain")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            define(one, float, name="config", config=RuleConfig[HasReverseMode])
        assert ran(Reverse(), one, 1.0) == "config"

    def test_types_against_configs(self):
        define(one, float, name="type", config=RuleConfig[HasReverseMode])
        define(one, object, name="traits", config=Both)
        with pytest.raises(AmbiguousRulesError):
            rrule(Both(), one, 1.0)
        assert ran(Reverse(), one, 1.0) == "type"
        assert ran(Both(), one, 1) == "traits"

    def test_the_rule_is_given_the_config(self):
        seen = []

        @rrule.define(one, config=Both)
        def rule(config, x):
            seen.append(config)
            return x, abs

        config = Both()
        rrule(config, one, 1.0)
        assert seen == [config]

    def test_requirements_are_cached_and_ordered(self):
        ab = RuleConfig[HasForwardsMode, HasReverseMode]
        assert ab is RuleConfig[HasReverseMode, HasForwardsMode]
        assert ab.__name__ == "RuleConfig[HasForwardsMode, HasReverseMode]"
        assert issubclass(ab, RuleConfig[HasReverseMode])
        assert not issubclass(RuleConfig[HasReverseMode], ab)
        assert isinstance(Both(), ab)

    def test_misuse(self):
        with pytest.raises(RuleDefinitionError, match="must name traits"):
            RuleConfig[float]
        with pytest.raises(RuleDefinitionError) as caught:
            Both[HasReverseMode]
        assert str(caught.value) == (
            "only RuleConfig[…] names traits, one or more, but got "
            "Both[HasReverseMode]. A config class is written without brackets."
        )
        with pytest.raises(RuleDefinitionError, match=r"got RuleConfig\[\]"):
            RuleConfig[()]
        with pytest.raises(RuleDefinitionError, match="config must be a RuleConfig"):
            rrule.define(one, config=HasReverseMode)
        with pytest.raises(RuleDefinitionError, match="config must be a RuleConfig"):
            rrule.define(one, config=Both())
