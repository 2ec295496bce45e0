"""The published table of support is what the back ends do."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "how-to" / "use-rules-in-jax.md"


@pytest.mark.full
@pytest.mark.slow
def test_the_page_shows_the_table():
    spec = spec_from_file_location("support_table", HERE / "support_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    text = PAGE.read_text().split("<!-- table -->")[1].split("<!-- end of table -->")[0]
    assert text.strip() == module.table()
