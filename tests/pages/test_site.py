"""The pages, as a reader's browser gets them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/__main__.py"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_gallery_has_each_example(example):
    assert (DOCS / "pictures" / f"{example}.png").exists()
    for page in ("gallery.md", "index.md"):
        assert f"pictures/{example}.png" in (DOCS / page).read_text(encoding="utf-8")


def test_the_landing_page_begins_as_the_readme():
    """The nine lines, without a second version of them."""
    first = [
        re.search(r"```python\n.*?```", path.read_text(encoding="utf-8"), re.DOTALL)[0]
        for path in (ROOT / "README.md", DOCS / "index.md")
    ]
    assert first[0] == first[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; the build needs no network, and its warnings are errors."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    subprocess.run([*command, DOCS, place], check=True, cwd=ROOT)
    return place


@pytest.fixture(scope="module")
def index(site):
    """What the search of the site knows."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))


def pages_with(index, word):
    """The pages whose text or headings have a word; headings are listed apart."""
    found = [index[kind].get(word, []) for kind in ("terms", "titleterms")]
    lists = [[one] if isinstance(one, int) else one for one in found]
    return {index["docnames"][number] for numbers in lists for number in numbers}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("kv", "reference/coverage"),
        ("gpu", "explanation/faq"),
        ("thread", "explanation/faq"),
        ("softmax", "reference/coverage"),
        ("hill", "notebooks/own-function"),
    ],
)
def test_search_finds(index, word, page):
    assert page in pages_with(index, word)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("reference/rules", "_modules/rules_core/_declare/scalar_rule.html"),
        (
            "how-to/coming-from",
            "https://docs.jax.dev/en/latest/_autosummary/jax.custom_vjp",
        ),
        ("how-to/coming-from", "reference/rules.html#rules_core.scalar_rule"),
        ("explanation/faq", "reference/testing.html#rules_core.testing.check_rule"),
    ],
)
def test_names_are_linked(site, page, link):
    assert link in (site / f"{page}.html").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_pictures_are_there(site):
    for page in ("index", "gallery", "notebooks/own-function"):
        html = (site / f"{page}.html").read_text(encoding="utf-8")
        pictures = re.findall(r'<img[^>]* src="([^"]+\.(?:png|svg))"', html)
        assert pictures
        assert all((site / page).parent.joinpath(p).exists() for p in pictures)
