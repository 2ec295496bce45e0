"""Rules that a test defines are taken back, and what it left alone is not touched."""

import pytest

from rules_core import rrule
from rules_core._dispatch import registry
from rules_core._dispatch.table import RuleSet
from rules_core.testing import isolated_rules


def doubled(x):
    return 2.0 * x


def other(x):
    return 2.0 * x


def doubled_rrule(x):
    return 2.0 * x, lambda dy: (None, 2.0 * dy)


@pytest.fixture
def restored(monkeypatch):
    """The sets of rules that are restored."""
    found, restore = [], RuleSet.restore

    def noting(rules, kept):
        found.append(rules)
        restore(rules, kept)

    monkeypatch.setattr(RuleSet, "restore", noting)
    return found


def rules_of(f):
    return registry.find_table(f).rrule


def test_only_what_changed_is_restored(restored):
    with isolated_rules():
        rrule.define(doubled)(doubled_rrule)
        mine = rules_of(doubled)
        with isolated_rules():
            rrule.define(other)(doubled_rrule)
            theirs = rules_of(other)
        assert theirs in restored
        assert mine not in restored
        assert rrule(doubled, 1.0) is not None
        assert rrule(other, 1.0) is None
    assert mine in restored
    assert rrule(doubled, 1.0) is None


def test_what_has_been_told_is_told_again():
    with isolated_rules():
        rrule.define(doubled)(doubled_rrule)
        with isolated_rules():
            registry.find_table(doubled).told.add("a call")
        assert not registry.find_table(doubled).told
