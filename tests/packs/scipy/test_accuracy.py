"""First and second derivatives of every function against mpmath."""

from pathlib import Path

import pytest
import scipy

from .accuracy import errors, page
from .special_references import load

TABLE = load()
ROOT = Path(__file__).parents[3]
PINS = (ROOT / "constraints.txt").read_text(encoding="utf-8")

FIRST, SECOND = 1e-10, 1e-8
# Where SciPy's own values, or differences of them, have fewer digits.
LOOSE = {"besselpoly": (1e-8, 1e-7)}


@pytest.mark.covering(every=8)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_derivatives_equal_mpmath_s(name):
    allowed = LOOSE.get(name, (FIRST, SECOND))
    for row in TABLE[name]:
        for error, limit in zip(errors(name, row), allowed, strict=True):
            assert error is None or error <= limit, (row[:2], error)


@pytest.mark.full
@pytest.mark.skipif(
    f"\nscipy=={scipy.__version__}\n" not in PINS,
    reason="the page shows the errors of the SciPy that is pinned",
)
def test_the_page_lists_every_function():
    path = ROOT / "docs" / "reference" / "scipy-accuracy.md"
    rows = path.read_text(encoding="utf-8").count("\n| `")
    assert rows == len(TABLE) == page().count("\n| `")
