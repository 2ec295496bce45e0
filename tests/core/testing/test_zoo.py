"""Each check can fail: each wrong rule fails the one named for its fault."""

import pytest

from rules_core.testing import CheckFailed, check_rule
from rules_core.testing._checklist import common_checks, rule_checks
from tests.wrong_rules import ZOO

CASES = [pytest.param(s, id=f"{s.name}-{s.fails}") for s in ZOO]


def run(specimen, *, wrong):
    call = specimen.make(wrong)
    return check_rule(call.f, *call.args, hosts=(), **call.options)


@pytest.mark.parametrize("specimen", CASES)
def test_a_wrong_rule_fails_exactly_its_check(specimen):
    with pytest.raises(CheckFailed) as caught:
        run(specimen, wrong=True)
    assert [c.name for c in caught.value.report.failed] == [specimen.fails], (
        caught.value
    )


@pytest.mark.parametrize("specimen", CASES)
def test_its_corrected_twin_passes(specimen):
    report = run(specimen, wrong=False)
    assert report[specimen.fails].status == "passed", report


def test_every_check_has_a_specimen():
    names = {spec.name for kind in ("rrule", "frule") for spec in rule_checks(kind)}
    names |= {spec.name for spec in common_checks()}
    names.remove("frule.exists")  # without any rule the rrule's check speaks
    assert {s.fails for s in ZOO} == names
