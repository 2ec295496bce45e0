"""Every public function and method of `scipy.sparse` has rules, or has a reason."""

import inspect
from pathlib import Path

import pytest
import scipy
import scipy.sparse as sp

import rules_core as rc
from rules_core.extend import stand_in_of
from rules_scipy.sparse._methods import DECLARED
from rules_scipy.sparse.coverage import CLASSES, COVERAGE, METHODS_MISSING, page

ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
pinned = pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS,
    reason="the page lists functions of the SciPy that is pinned",
)


@pinned
@pytest.mark.parametrize("known", COVERAGE, ids=lambda known: known.module.__name__)
def test_every_function_is_thought_of(known):
    functions = known.public_functions()
    assert [n for n, f in functions.items() if known.state_of(n, f) is None] == []


@pytest.mark.parametrize("known", COVERAGE, ids=lambda known: known.module.__name__)
def test_what_is_missing_has_no_rule(known):
    functions = known.public_functions()
    keys = {rule.key for rule in rc.rules() if rule.module.startswith("rules_scipy")}
    found = [functions[n] for n in known.missing if n in functions]
    assert not [f for f in found if f in keys or stand_in_of(f)]


@pinned
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("format", CLASSES)
def test_every_method_is_thought_of(format, kind):
    cls = getattr(sp, f"{format}_{kind}")
    assert stand_in_of(cls) is not None
    undecided = []
    for name in set(dir(cls)) - set(dir(object)) - set(METHODS_MISSING):
        f = inspect.getattr_static(cls, name)
        f = getattr(f, "fget", f)
        own = not name.startswith("_") or name.startswith("__")
        if own and inspect.isfunction(f) and f not in DECLARED:
            undecided.append(name)
    # `len` is an error, and the last one is of pickle.
    assert set(undecided) <= {"__len__", "__setstate__"}


@pinned
def test_the_page_is_up_to_date():
    path = ROOT / "docs" / "reference" / "scipy-sparse.md"
    assert path.read_text(encoding="utf-8") == page()
