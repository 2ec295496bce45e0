"""Each check can fail: each wrong rule fails the one named for its fault."""

import pytest

from rules_core.testing import CheckFailed, check_rule
from rules_core.testing._checklist import common_checks, rule_checks
from rules_core.testing._cures import cure_of
from tests.specimens.honest import HONEST
from tests.wrong_rules import ZOO

CASES = [pytest.param(s, id=f"{s.name}-{s.fails}") for s in ZOO]


def run(specimen, *, wrong):
    call = specimen.make(wrong)
    return check_rule(call.f, *call.args, hosts=(), **call.options)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("specimen", CASES)
def test_a_wrong_rule_fails_exactly_its_check(specimen):
    with pytest.raises(CheckFailed) as caught:
        run(specimen, wrong=True)
    assert [c.name for c in caught.value.report.failed] == [specimen.fails], (
        caught.value
    )
    _is_short_and_helps(str(caught.value), specimen)


def _is_short_and_helps(text, specimen):
    lines = text.splitlines()
    assert len(lines) <= 10, text
    kind, _, check = specimen.fails.partition(".")
    if check and check != "exists":
        assert f"rule: {kind} " in text
        assert f"{specimen.make.__code__.co_filename.rpartition('/')[2]}:" in text or (
            "zoo.py:" in text
        )
    assert f"write: {cure_of(specimen.fails)}" in text
    assert "Traceback" not in text
    assert "site-packages" not in text


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("specimen", CASES)
def test_its_corrected_twin_passes(specimen):
    report = run(specimen, wrong=False)
    assert report[specimen.fails].status == "passed", report


def test_every_check_has_a_specimen():
    names = {spec.name for kind in ("rrule", "frule") for spec in rule_checks(kind)}
    names |= {spec.name for spec in common_checks()}
    names.remove("frule.exists")  # without any rule the rrule's check speaks
    assert {s.fails for s in ZOO} == names


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_rule_passes(name):
    call = HONEST[name]()
    assert check_rule(call.f, *call.args, hosts=(), **call.options)


def test_every_check_has_a_cure():
    names = {spec.name for kind in ("rrule", "frule") for spec in rule_checks(kind)}
    names |= {spec.name for spec in common_checks()}
    assert all(map(cure_of, names))
