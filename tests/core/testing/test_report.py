"""Reports: tables of what was found."""

import json
from traceback import format_exc

import pytest

from rules_core.testing import CheckFailed, Report
from rules_core.testing._checks import attempt


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


@pytest.mark.parametrize("count", [1, 2, 3, 30])
def test_a_failure_is_told_in_ten_lines(count):
    report = Report("f()", rules={"rrule": "f_rrule at f.py:3"})
    for i in range(count):
        report.add(f"jax: {i}", "failed", "\n".join(map(str, range(20))))
    text = str(CheckFailed(report))
    assert len(text.splitlines()) <= 10
    assert all(name in text for name in report.names)
    assert "rule: rrule f_rrule at f.py:3" in text
    assert "write: rules by array_namespace(x)" in text


def in_a_callback(run):
    """An error whose text holds a traceback, as those of callbacks do."""
    try:
        run()
    except Exception:
        text = f"INTERNAL: CpuCallback error calling callback: {format_exc()}"
        raise RuntimeError(text) from None


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda: 1 // 0, "ZeroDivisionError: integer division"),
        (lambda: {}["a"], "KeyError: 'a'"),
    ],
    ids=["division", "key"],
)
def test_errors_of_libraries_lose_their_tracebacks(run, said):
    status, detail = attempt(lambda: in_a_callback(run))
    assert status == "failed"
    assert len(detail.splitlines()) == 1
    assert "Traceback" not in detail
    assert said in detail
    assert "test_report.py:" in detail


def test_the_line_of_an_error_is_the_authors_own():
    def rule():
        return json.loads("{")

    _, detail = attempt(rule)
    assert detail.startswith("JSONDecodeError: ")
    assert "test_report.py:" in detail
