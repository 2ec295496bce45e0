"""Every public function is covered, declared constant, or missing with a reason."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rules_core as rc
from rules_numpy.coverage import MISSING, page, public_functions, state_of

FUNCTIONS = public_functions()
ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_every_function_is_thought_of():
    forgotten = [name for name, f in FUNCTIONS.items() if state_of(name, f) is None]
    assert forgotten == []


def test_a_new_function_would_be_found():
    assert state_of("numpy.new", lambda x: x) is None
    assert len(FUNCTIONS) > 430


def test_nothing_is_missing_that_is_covered():
    covered = [name for name in MISSING if state_of(name, FUNCTIONS[name]) != "missing"]
    assert covered == []


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_missing_has_no_rule(name):
    """So that an AD system reports it, and nobody gets a silent zero."""
    keys = {rule.key for rule in rc.rules() if rule.module.startswith("rules_numpy")}
    assert FUNCTIONS[name] not in keys


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11) or f"\nnumpy=={np.__version__}\n" not in PINS,
    reason="the page lists functions of Python 3.11 and of the NumPy that is pinned",
)
def test_the_page_is_up_to_date():
    path = ROOT / "docs" / "reference" / "numpy-pack.md"
    assert path.read_text(encoding="utf-8") == page()


def test_rules_are_found_where_they_are_written():
    places = {rule.file.rpartition("/")[2] for rule in rc.rules() if rule.key is np.sum}
    assert places == {"reductions.py"}


def test_each_rule_has_its_counterpart():
    """An frule wherever there is an rrule, and the other way round."""
    kinds: dict[object, set[str]] = {}
    for rule in rc.rules():
        if rule.module.startswith("rules_numpy"):
            arguments = rule.signature.removeprefix("config: RuleConfig, ")
            kinds.setdefault((id(rule.key), arguments), set()).add(rule.kind)
    for found in kinds.values():
        found -= {"shape_rule", "batch_rule"}
    assert [
        k for k, found in kinds.items() if found not in ({"frule", "rrule"}, set())
    ] == []
