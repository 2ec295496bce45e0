"""The notebooks run, and give the outputs that are stored in them."""

import json
import subprocess
import sys

import pytest

from docs._extensions.notebooks import as_markdown
from docs.notebooks.run import FOLDER, outputs_of, texts_of

NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def stored(name):
    return [c["outputs"] for c in read(name)["cells"] if c["cell_type"] == "code"]


def test_there_are_notebooks_and_the_index_has_them():
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) >= 4
    assert all(f"\n{name}\n" in index for name in NOTEBOOKS)


@pytest.mark.full
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_those_stored(name):
    """In its own process: a notebook sets JAX's precision and defines rules."""
    code = (
        "import json, sys; from docs.notebooks.run import *; name = sys.argv[1]\n"
        "notebook = json.loads((FOLDER / f'{name}.ipynb').read_text())\n"
        "print(json.dumps([texts_of(o) for o in outputs_of(notebook, name)]))"
    )
    command = [sys.executable, "-c", code, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [texts_of(outputs) for outputs in stored(name)]


def test_text_value_and_picture():
    code = (
        "print('a')\n",
        "x = 1\nx + 1",
        "x;",
        "import matplotlib.pyplot as p\np.plot();",
    )
    cells = [{"cell_type": "code", "source": [text]} for text in code]
    found = outputs_of({"cells": cells}, "test")
    assert [texts_of(outputs) for outputs in found] == [
        ["a\n"],
        ["2"],
        [],
        ["a picture"],
    ]
    for cell, outputs in zip(cells, found, strict=True):
        cell["outputs"] = outputs
    pictures = []
    text = as_markdown({"cells": cells}, lambda png: pictures.append(png) or "/p.png")
    assert "```text\n2\n```" in text
    assert text.endswith("![](/p.png)\n")
    assert pictures[0].startswith(b"\x89PNG")
