"""Functions of public packages that were not written for the engine."""

import logging
from collections import Counter

import pytest

from tests.wild.packages import PACKAGES, installed, missing
from tests.wild.table import BEGIN, END, PAGE, survey

ABSENT = missing()
pytestmark = pytest.mark.skipif(
    bool(ABSENT), reason=f"dependency group wild: not installed: {', '.join(ABSENT)}"
)


@pytest.fixture(autouse=True)
def quiet(monkeypatch, tmp_path):
    """What a package writes goes nowhere, and what it says to its log neither."""
    monkeypatch.chdir(tmp_path)
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


def faults(rows):
    return [j for found in rows.values() for j in found if j.verdict == "wrong"]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", ["HydroErr", "pymap3d", "seawater", "transforms3d"])
def test_first_functions(name):
    rows = survey([name], most=5)
    assert len(rows[name]) == 5
    assert not faults(rows)


@pytest.mark.nightly
def test_nine_in_ten_are_right_and_none_is_wrong():
    rows = survey(list(PACKAGES))
    of = Counter(j.verdict for found in rows.values() for j in found)
    assert not faults(rows)
    assert len([found for found in rows.values() if found]) >= 15
    assert of.total() >= 150
    assert of["right"] >= 0.9 * of.total()
    assert of["undecided"] <= 0.01 * of.total()


def test_the_page_is_about_these_packages():
    table = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    shown = [row.split(" | ")[:2] for row in table.splitlines()]
    assert all([f"| {name}", installed(name)] in shown for name in PACKAGES)
