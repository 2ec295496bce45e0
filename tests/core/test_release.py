"""What of `make release-check` needs no network."""

import re
import tomllib
from pathlib import Path

import pytest

import rules_core
from hatch_readme import index_readme

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (None, "see Design."),
        ("https://x.org/a/", "see [Design](https://x.org/a/d.md)."),
    ],
)
def test_relative_links(source, shown):
    assert index_readme("see [Design](d.md).", source) == shown


def test_other_links_stay():
    text = "[a](https://a.org), [b](#part)"
    assert index_readme(text, "https://x.org") == text


def test_the_readme_has_no_relative_link_on_an_index():
    text = index_readme((ROOT / "README.md").read_text(encoding="utf-8"), None)
    assert re.findall(r"\]\((?!https?://|#)", text) == []


def test_one_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert rules_core.__version__ == PROJECT["version"]


def test_each_extra_has_its_example():
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    shown = re.findall(r"^### `rules-core\[(\w+)\]`", page, re.MULTILINE)
    assert sorted(shown) == sorted(PROJECT["optional-dependencies"])
