"""Reports: tables of what was found."""

import pytest

from rules_core.testing import Report


def test_reports_print_as_tables():
    report = Report("f(1.0)")
    report.add("a", "passed")
    report.add("longer", "failed", "one\ntwo")
    report.add("b", "refused", "no")
    assert str(report) == (
        "f(1.0): 1 passed, 1 failed, 1 refused\n"
        "  passed   a\n"
        "  failed   longer  one\n"
        "                   two\n"
        "  refused  b       no"
    )
    assert not report
    assert [check.name for check in report.failed] == ["longer"]
    assert str(Report("g()")) == "g(): no checks"


def test_a_report_is_indexed_by_the_names_of_its_checks():
    report = Report("f()")
    report.add("a", "passed")
    assert report["a"].status == "passed"
    with pytest.raises(KeyError, match="no check is named 'b'; there are a"):
        report["b"]


def test_what_rests_on_one_failed_check_is_one_line():
    report = Report("f()")
    for name, fault in (("b", "a"), ("c", "a"), ("d", "x")):
        report.add(name, "not run", f"rests on {fault}")
    report.add("e", "not run", "no such rule")
    assert str(report) == (
        "f(): 4 not run\n"
        "  not run  e       no such rule\n"
        "  not run  2 more  rest on a\n"
        "  not run  1 more  rests on x"
    )
    assert [check.fault for check in report] == ["a", "a", "x", None]
