"""The published table of support is what the adapter does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.torch.support_table import FIRST, SECOND, line, table

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "use-rules-in-torch.md"


def published():
    text = PAGE.read_text(encoding="utf-8")
    return text.split("<!-- table -->")[1].split("<!-- end of table -->")[0].strip()


@pytest.mark.full
@pytest.mark.slow
def test_the_page_shows_the_table():
    assert published() == table()


@pytest.mark.covering(every=10, start=4)
@pytest.mark.parametrize("row", [*FIRST, *SECOND])
def test_the_page_shows_a_row(row):
    assert line(row) in published().splitlines()
