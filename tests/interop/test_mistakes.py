"""The whole text of each error that a mistake meets: `mistakes.txt` lists them.

`python -m tests.interop.test_mistakes` writes the list anew; read what changed.
"""

import re
import sys
import warnings
from pathlib import Path

import pytest

from rules_core.testing import isolated_rules
from tests.interop.mistakes import MISTAKES

LIST = Path(__file__).with_suffix("").parent / "mistakes.txt"
# What a framework says in its own words changes with its versions.
FOREIGN = ("jax", "jaxlib", "torch")


def told(name):
    """The error of a mistake: its class, its text and its notes."""
    with isolated_rules(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            MISTAKES[name]()
        except Exception as error:
            return worded(error)
    return "no error"


def worded(error):
    text = str(error).strip()
    if type(error).__module__.partition(".")[0] in FOREIGN:
        text = own_part(text)
    notes = [
        note
        for note in getattr(error, "__notes__", ())
        if not note.startswith("----") and "JAX has removed" not in note
    ]
    lines = "\n".join((f"{type(error).__name__}: {text}", *notes))
    lines = re.sub(r'File "[^"]*/([\w.]+)", line \d+', r'File "\1", line N', lines)
    return re.sub(r"\b(\w+\.py):\d+", r"\1:N", lines)


def own_part(text):
    """Of a framework's text, what our own exceptions in it say."""
    _, found, rest = text.partition("CallbackError: ")
    return f"… {found}{rest}".rstrip() if found else "…"


def listed():
    parts = re.split(r"^## (\w+)\n", LIST.read_text(), flags=re.MULTILINE)[1:]
    return {
        name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)
    }


def test_every_mistake_is_listed():
    assert list(listed()) == list(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES)
def test_the_text(name):
    assert told(name) == listed()[name]


def test_no_mistake_goes_unnoticed():
    silent = [name for name, text in listed().items() if text == "no error"]
    assert silent == []


@pytest.mark.parametrize("name", [n for n in MISTAKES if n.startswith("an_exception")])
def test_an_exception_names_its_rule_and_place(name):
    text = listed()[name]
    if "host_function" not in name:
        assert re.search(
            r"r?f?rule with_\w+\.<locals>\.square_f?r?rule for square", text
        )
        assert "mistakes.py:N" in text


if __name__ == "__main__":
    parts = [f"## {name}\n{told(name)}\n" for name in MISTAKES]
    LIST.write_text("\n".join(parts))
    sys.stdout.write(f"{len(parts)} mistakes\n")
