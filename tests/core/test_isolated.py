"""Rules that a test defines are taken back, and what it left alone is not touched."""

import importlib

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


HELPER = """
import rules_core as rc

def declared(f, shapes):
    made = rc.primitive(f, host=True, out=shapes)
    rc.rrule.define(made)(lambda x: (made(x), lambda dy: (rc.NoTangent(), 2 * dy)))
    rc.batch_rule.define(made)(lambda size, batched, x: (f(x), True))
    return made
"""
DECLARES = """
from sys import intern
from helper_of_late_rules import declared

def double(x):
    return 2 * x

handle = declared(double, "x")
of_c = declared(intern, lambda *args: args[0])
"""


def test_what_an_import_declares_by_a_helper_stays(tmp_path, monkeypatch):
    """The helper's own module was imported before."""
    (tmp_path / "helper_of_late_rules.py").write_text(HELPER)
    (tmp_path / "declares_late_rules.py").write_text(DECLARES)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("helper_of_late_rules")
    with isolated_rules():
        late = importlib.import_module("declares_late_rules")
    for f, handle in ((late.double, late.handle), (late.intern, late.of_c)):
        table = registry.find_table(f)
        assert table.primitive is handle
        assert handle.shape_rule is not None
        assert handle.batch_rule is not None
        assert rrule.resolve(handle, ("x",)) is not None


def test_what_a_test_declares_by_a_helper_goes(tmp_path, monkeypatch):
    (tmp_path / "helper_of_other_rules.py").write_text(HELPER)
    monkeypatch.syspath_prepend(tmp_path)
    helper = importlib.import_module("helper_of_other_rules")

    def double(x):
        return 2 * x

    with isolated_rules():
        helper.declared(double, "x")
    table = registry.find_table(double)
    assert (table.primitive, table.shapes, table.batches) == (None, None, None)
