"""What shows itself as the last line of a cell or in a REPL."""

import pickle

import rules_core as rc
from rules_autodiff import show
from rules_core.testing import Report


def shown_cube(x):
    return x**3


def define():
    rc.scalar_rule(shown_cube, lambda y, x: (3 * x**2,))


def test_explain_and_show_are_texts_that_show_themselves():
    define()
    for text in (rc.explain(shown_cube, 1.0), show(shown_cube)):
        assert isinstance(text, str)
        assert repr(text) == str(text)
        assert "\n" in repr(text)
        assert pickle.loads(pickle.dumps(text)) == text


def test_a_text_is_escaped_in_a_notebook():
    define()
    assert "<lambda>" in rc.explain(shown_cube, 1.0)
    shown = rc.explain(shown_cube, 1.0)._repr_html_()
    assert shown.startswith("<pre>rrule for shown_cube(float): define.&lt;locals&gt;")


def test_rules_are_a_table_and_a_list():
    define()
    found = rc.rules()
    assert isinstance(found, list)
    lines = repr(found).splitlines()
    own = [line for line in lines if line.split()[1] == "shown_cube"]
    assert [line.split()[:3] for line in own] == [
        ["frule", "shown_cube", "any"],
        ["rrule", "shown_cube", "any"],
    ]
    assert all("test_shown, test_shown.py:" in line for line in own)
    assert lines[-1] == f"{len(found)} rules"
    assert found._repr_html_().count("<tr>") == len(found) + 1


def test_an_opt_out_is_told_from_a_rule():
    rc.opt_out(rc.rrule, shown_cube, str)
    (row,) = [row for row in rc.rules().rows() if row[1] == "shown_cube"]
    assert row[:3] == ("opt-out (rrule)", "shown_cube", "str")


def test_a_report_is_its_table():
    report = Report("f(<1>)")
    report.add("rrule.value", "passed")
    report.add("rrule.slope", "failed", "3 < 4")
    assert repr(report) == str(report)
    shown = report._repr_html_()
    failed, passed = shown.split("<details>")
    assert "f(&lt;1&gt;): 1 passed, 1 failed" in failed
    assert "3 &lt; 4" in failed
    assert "rrule.slope" in failed
    assert "<summary>1 passed</summary>" in passed
    assert "rrule.value" in passed
