"""Every public function of a module has rules, is constant, or has a reason."""

from pathlib import Path

import pytest
import scipy

import rules_core as rc
import rules_scipy.fft.coverage
import rules_scipy.integrate.coverage
import rules_scipy.interpolate.coverage
import rules_scipy.linalg.coverage
import rules_scipy.ndimage.coverage
import rules_scipy.optimize.coverage
import rules_scipy.signal.coverage
import rules_scipy.spatial.coverage
import rules_scipy.stats.coverage
from rules_core.extend import stand_in_of

from . import linalg_cases, ndimage_cases, signal_cases

COVERED = {
    "fft": rules_scipy.fft.coverage.COVERAGE,
    "integrate": rules_scipy.integrate.coverage.COVERAGE,
    "interpolate": rules_scipy.interpolate.coverage.COVERAGE,
    "linalg": rules_scipy.linalg.coverage.COVERAGE,
    "optimize": rules_scipy.optimize.coverage.COVERAGE,
    "signal": rules_scipy.signal.coverage.COVERAGE,
    "ndimage": rules_scipy.ndimage.coverage.COVERAGE,
    "spatial": rules_scipy.spatial.coverage.COVERAGE,
    "stats": rules_scipy.stats.coverage.COVERAGE,
}
ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")
# Modules inside of these, whose functions the page lists too.
PARTS = ("windows", "distance", "transform")
modules = pytest.mark.parametrize("name", COVERED)


def states(name):
    known = COVERED[name]
    return {n: known.state_of(n, f) for n, f in known.public_functions().items()}


@modules
def test_every_function_is_thought_of(name):
    assert [n for n, state in states(name).items() if state is None] == []


@modules
def test_a_new_function_would_be_found(name):
    assert COVERED[name].state_of("new", lambda x: x) is None
    assert len(states(name)) >= 20


# What the tests that meet one call of each function every day know, by module.
CALLED = {
    "linalg": {f.fun.__name__ for f, _, _ in linalg_cases.cases().values()},
    "signal": {f.__name__ for f, _, _ in signal_cases.CASES.values()},
    "ndimage": set(ndimage_cases.ONE_EACH),
}
OTHERWISE = {
    "cho_factor": "test_linalg, with cho_solve",
    "solve_continuous_are": "test_linalg, with weights that stay symmetric",
    "solve_discrete_are": "test_linalg, with weights that stay symmetric",
    "find_peaks": "test_peaks",
    "sepfir2d": "test_peaks, with spline_filter",
    "sosfreqz": "another name of freqz_sos",
    "solve_lyapunov": "another name of solve_continuous_lyapunov",
}


@pytest.mark.parametrize("name", CALLED)
def test_one_call_of_every_covered_function_is_known(name):
    covered = {n for n, state in states(name).items() if state == "covered"}
    assert covered - CALLED[name] <= set(OTHERWISE)


@modules
def test_every_covered_function_is_public_here(name):
    module = getattr(rules_scipy, name)
    parts = [getattr(module, part, module) for part in PARTS]
    public = dict(item for part in (*parts, module) for item in vars(part).items())
    covered = [n for n, state in states(name).items() if state == "covered"]
    assert all(callable(public[n]) for n in covered)


@modules
def test_what_is_missing_has_no_rule(name):
    """So that an AD system reports it, and nobody gets a silent zero."""
    keys = {rule.key for rule in rc.rules() if rule.module.startswith("rules_scipy")}
    functions = COVERED[name].public_functions()
    missing = [functions.get(n) for n in COVERED[name].missing]
    assert not [f for f in missing if f in keys or stand_in_of(f)]


@modules
@pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS,
    reason="the page lists functions of the SciPy that is pinned",
)
def test_the_page_is_up_to_date(name):
    path = ROOT / "docs" / "reference" / f"scipy-{name}.md"
    assert path.read_text(encoding="utf-8") == COVERED[name].page()
