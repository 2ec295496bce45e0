"""The published table of support is what the adapter does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.torch.support_table import table

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "use-rules-in-torch.md"


@pytest.mark.full
@pytest.mark.slow
def test_the_page_shows_the_table():
    text = PAGE.read_text().split("<!-- table -->")[1].split("<!-- end of table -->")[0]
    assert text.strip() == table()
