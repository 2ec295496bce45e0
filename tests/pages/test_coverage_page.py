"""The coverage page is up to date, and agrees with the pages of the packs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import scipy

from docs import coverage_page

ROOT = Path(__file__).parents[2]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS,
    reason="the page lists functions of the SciPy that is pinned",
)


def test_the_page_is_up_to_date():
    """In a process of its own: other tests declare primitives."""
    stored = coverage_page.PAGE.read_text(encoding="utf-8")
    command = [sys.executable, coverage_page.__file__]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert stored == made.stdout, "run `make coverage-page`"


def test_every_module_of_every_pack_is_there():
    text = coverage_page.PAGE.read_text(encoding="utf-8")
    found = re.findall(r"^## (\S+)$", text, re.MULTILINE)
    assert found == list(coverage_page.modules())
    assert {"numpy", "numpy.linalg", "scipy.special", "math"} <= set(found)


@pytest.mark.parametrize(
    ("function", "argument", "derivative", "jax"),
    [
        ("kv", "x1", "difference", "native, every order"),
        ("kv", "x2", "formula", "native, every order"),
        ("eigh", "a", "formula", "callback, every order"),
        ("dct", "x", "formula", "callback, every order"),
    ],
)
def test_known_rows(function, argument, derivative, jax):
    rows = coverage_page.PAGE.read_text(encoding="utf-8").splitlines()
    head = (
        f"| `{function}` | `{argument}` | {derivative} | direct, every order | {jax} |"
    )
    assert any(row.startswith(head) for row in rows)


def test_options_have_no_row():
    text = coverage_page.PAGE.read_text(encoding="utf-8")
    assert "| `dct` | `norm` |" not in text
    assert "| `sum` | `axis` |" not in text
