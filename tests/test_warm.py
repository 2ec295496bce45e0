"""Rules that a test defines are taken back, and what it left alone is not touched."""

import gc

import pytest

from rules_core import _registry, rrule
from rules_core.testing import isolated_rules
from tests import warm


def doubled(x):
    return 2.0 * x


def other(x):
    return 2.0 * x


def doubled_rrule(x):
    return 2.0 * x, lambda dy: (None, 2.0 * dy)


@pytest.fixture
def restored(monkeypatch):
    """Keys of the tables that are restored."""
    keys, restore = [], warm.restore

    def noting(table, contents):
        keys.append(table.key)
        restore(table, contents)

    monkeypatch.setattr(warm, "restore", noting)
    return keys


def test_only_what_changed_is_restored(restored):
    with isolated_rules():
        rrule.define(doubled)(doubled_rrule)
        with isolated_rules():
            rrule.define(other)(doubled_rrule)
        assert other in restored
        assert doubled not in restored
        assert rrule(doubled, 1.0) is not None
        assert rrule(other, 1.0) is None
    assert doubled in restored
    assert rrule(doubled, 1.0) is None


def test_what_has_been_told_is_told_again(restored):
    with isolated_rules():
        rrule.define(doubled)(doubled_rrule)
        with isolated_rules():
            _registry.find_table(doubled).told.add("a call")
        assert doubled in restored
        assert not _registry.find_table(doubled).told


def test_the_collector_runs():
    assert gc.isenabled()
