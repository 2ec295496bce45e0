"""Every public function of scipy.linalg has rules, is constant, or has a reason."""

from pathlib import Path

import pytest
import scipy

import rules_core as rc
from rules_scipy import linalg
from rules_scipy.linalg.coverage import MISSING, page, public_functions, state_of

FUNCTIONS = public_functions()
ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_every_function_is_thought_of():
    forgotten = [name for name, f in FUNCTIONS.items() if state_of(name, f) is None]
    assert forgotten == []


def test_a_new_function_would_be_found():
    assert state_of("new", lambda x: x) is None
    assert len(FUNCTIONS) > 80


def test_every_covered_function_is_public_here():
    covered = {n for n, f in FUNCTIONS.items() if state_of(n, f) == "covered"}
    assert covered <= set(linalg.__all__)
    assert all(callable(getattr(linalg, name)) for name in covered)


@pytest.mark.parametrize("name", sorted(MISSING))
def test_what_is_missing_has_no_rule(name):
    """So that an AD system reports it, and nobody gets a silent zero."""
    keys = {rule.key for rule in rc.rules() if rule.module.startswith("rules_scipy")}
    assert name not in FUNCTIONS or FUNCTIONS[name] not in keys


@pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS,
    reason="the page lists functions of the SciPy that is pinned",
)
def test_the_page_is_up_to_date():
    path = ROOT / "docs" / "reference" / "scipy-linalg.md"
    assert path.read_text(encoding="utf-8") == page()
