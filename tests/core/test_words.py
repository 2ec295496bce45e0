"""The words of pages and docstrings: no riddles, and one meaning for *host*."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "index.md",
    *(
        page
        for folder in ("tutorial", "how-to", "reference", "explanation")
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
SOURCES = ("rules_core", "engine", "adapters")

# A noun says more than each of these.
RIDDLES = (
    r"somebody|nobody|anybody|(?:its|their) like\b|says so|in words|without a word"
)
PAGE_RIDDLES = rf"{RIDDLES}|the same\b|the rest\b|refus(?:ed|es)\b"

NO_START = ("The same", "The rest", "Its like")

# A status of the tester, and of the tables that tests make.
STATUS = re.compile(r"\*[Rr]efused\*")

# NumPy on the CPU; JAX and PyTorch are frameworks.
HOST = re.compile(r"\bhosts?\b(?!\s+(?:function|primitive|primal))", re.IGNORECASE)
HOST_IS_DEFINED_IN = {"docs/reference/glossary.md", "CONTRIBUTING.md"}


def found(words, text):
    """The places of the words in a text, also across line breaks."""
    pattern = words.replace(" ", r"\s+")
    return [
        text[max(0, m.start() - 30) : m.end() + 30].replace("\n", " ")
        for m in re.finditer(rf"\b(?:{pattern})", text, re.IGNORECASE)
    ]


def prose(page):
    """The text of a page without code, addresses, and tables that tests make."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!-- table -->.*?<!-- end", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`]+`", "`…`", text)


@cache
def each_docstring(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [ast.get_docstring(node) or "" for node in nodes]


def docstrings(path):
    return "\n\n".join(each_docstring(path))


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_have_no_riddles(page):
    assert found(PAGE_RIDDLES, STATUS.sub("", prose(page))) == []


@pytest.mark.parametrize("page", DECISIONS, ids=name)
def test_decisions_have_no_riddles(page):
    assert found(RIDDLES, prose(page)) == []


@pytest.mark.parametrize("page", PAGES + DECISIONS, ids=name)
def test_a_host_is_numpy(page):
    if name(page) not in HOST_IS_DEFINED_IN:
        assert [m.group() for m in HOST.finditer(prose(page))] == []


@pytest.mark.parametrize("folder", SOURCES)
def test_docstrings_have_no_riddles(folder):
    riddles = {
        name(path): lines
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (lines := found(RIDDLES, docstrings(path)))
    }
    assert riddles == {}


@pytest.mark.parametrize("folder", SOURCES)
def test_docstrings_begin_with_a_thing_or_a_verb(folder):
    """A reader sees one docstring at a time, not what it is the same as."""
    starts = {
        name(path): lines
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (lines := [d for d in each_docstring(path) if d.startswith(NO_START)])
    }
    assert starts == {}


def test_the_words_are_found():
    text = "What nobody\nsees, and its\nlike, is *refused* or refused. The\nsame."
    assert len(found(PAGE_RIDDLES, text)) == 5
    assert len(found(PAGE_RIDDLES, STATUS.sub("", text))) == 4
    assert len(found(RIDDLES, text)) == 2
    assert HOST.search("a host")
    assert not HOST.search("a host function")
