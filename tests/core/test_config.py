"""Traits, `frule_via_ad`, `rrule_via_ad`, pickling."""

import pickle

import pytest

import rules_core as rc
from rules_core import (
    HasForwardsMode,
    HasReverseMode,
    NoForwardsMode,
    NoTangent,
    RuleConfig,
    ViaADError,
    frule_via_ad,
    rrule_via_ad,
)
from rules_core.testing import isolated_rules


class Recorder(RuleConfig, HasForwardsMode, HasReverseMode):
    """Records what rules ask of it."""

    def __init__(self):
        self.calls = []

    def frule_via_ad(self, tangents, f, *args, **kw):
        self.calls.append(("frule", tangents, f, args, kw))
        return f(*args, **kw), tangents[1]

    def rrule_via_ad(self, f, *args, **kw):
        self.calls.append(("rrule", f, args, kw))
        return f(*args, **kw), lambda dy: (NoTangent(), dy)


class OnlyReverse(RuleConfig, HasReverseMode, NoForwardsMode):
    pass


def identity(x, flag=False):
    return x


def test_calls_are_handed_to_the_config():
    config = Recorder()
    assert frule_via_ad(config, (NoTangent(), 2.0), identity, 1.0, flag=True) == (1, 2)
    assert rrule_via_ad(config, identity, 1.0)[1](5.0) == (NoTangent(), 5.0)
    assert config.calls == [
        ("frule", (NoTangent(), 2.0), identity, (1.0,), {"flag": True}),
        ("rrule", identity, (1.0,), {}),
    ]


def test_a_mode_that_is_not_promised():
    with pytest.raises(ViaADError) as caught:
        frule_via_ad(OnlyReverse(), (NoTangent(), 1.0), identity, 1.0)
    assert str(caught.value) == (
        "frule_via_ad with OnlyReverse(): it does not have the trait HasForwardsMode. "
        "Ask for the trait in the rule, config=RuleConfig[HasForwardsMode], or call it "
        "with another config."
    )


def test_a_mode_that_is_promised_but_missing():
    with pytest.raises(
        ViaADError, match="has the trait HasReverseMode but does not im"
    ):
        rrule_via_ad(OnlyReverse(), identity, 1.0)


def test_without_a_config():
    with pytest.raises(ViaADError, match="rrule_via_ad must get a RuleConfig first"):
        rrule_via_ad(identity, 1.0)


def test_configs_are_values():
    assert OnlyReverse() == OnlyReverse()
    assert hash(OnlyReverse()) == hash(OnlyReverse())
    assert OnlyReverse() != Recorder()
    assert repr(OnlyReverse()) == "OnlyReverse()"


def test_pickling():
    assert pickle.loads(pickle.dumps(OnlyReverse())) == OnlyReverse()
    assert pickle.loads(pickle.dumps(OnlyReverse)) is OnlyReverse
    both = RuleConfig[HasForwardsMode, HasReverseMode]
    assert pickle.loads(pickle.dumps(both)) is both


def test_rules_that_call_back_do_so_with_their_config():
    def apply(f, x):
        return f(x)

    with isolated_rules():

        @rc.rrule.define(apply, config=RuleConfig[HasReverseMode])
        def apply_rrule(config, f, x):
            y, back = rrule_via_ad(config, f, x)

            def apply_pullback(dy):
                df, dx = back(dy)
                return NoTangent(), df, dx

            return y, apply_pullback

        config = Recorder()
        assert rc.rrule(apply, identity, 2.0) is None
        y, pullback = rc.rrule(config, apply, identity, 2.0)
        assert (y, pullback(3.0)) == (2.0, (NoTangent(), NoTangent(), 3.0))
        assert config.calls[0][0] == "rrule"
