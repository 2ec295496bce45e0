"""Runs the notebooks and stores their outputs: python docs/notebooks/run.py [NAME …].

A small stand-in for Jupyter: printed text, the value of a cell's last expression (not
after a semicolon), and the pictures of pyplot.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import linecache
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt  # after the choice of its backend

__all__ = ["FOLDER", "outputs_of", "texts_of"]

FOLDER = Path(__file__).parent


def outputs_of(notebook: dict[str, Any], name: str) -> list[list[dict[str, Any]]]:
    """The outputs of every code cell of a notebook, run from the top."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [
        _run("".join(cell["source"]), f"<{name}, cell {i}>", names)
        for i, cell in enumerate(cells, start=1)
    ]


def _run(source: str, place: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    # The engine reads the source of functions.
    lines = source.splitlines(keepends=True)
    linecache.cache[place] = (len(source), None, lines, place)
    tree, last = ast.parse(source), None
    if isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, place, "exec"), names)
        if last is not None:
            value = eval(compile(last, place, "eval"), names)
    return list(_shown(printed.getvalue(), value))


def _shown(printed: str, value: Any) -> Any:
    if printed:
        lines = printed.splitlines(keepends=True)
        yield {"output_type": "stream", "name": "stdout", "text": lines}
    if value is not None:
        yield _data("execute_result", "text/plain", repr(value), execution_count=None)
    for number in plt.get_fignums():
        png = io.BytesIO()
        plt.figure(number).savefig(png, dpi=90, metadata={"Software": None})
        plt.close(number)
        yield _data(
            "display_data", "image/png", base64.b64encode(png.getvalue()).decode()
        )


def _data(kind: str, form: str, data: str, **more: Any) -> dict[str, Any]:
    return {"output_type": kind, "data": {form: data}, "metadata": {}, **more}


def texts_of(outputs: list[dict[str, Any]]) -> list[str]:
    """What outputs say, pictures by their kind alone."""
    return [
        "".join(output.get("text") or output["data"].get("text/plain", "a picture"))
        for output in outputs
    ]


def main() -> None:
    """Run the notebooks that are named, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        notebook = json.loads(path.read_text(encoding="utf-8"))
        code = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
        for cell, outputs in zip(code, outputs_of(notebook, path.stem), strict=True):
            cell["outputs"] = outputs
            print(path.stem, texts_of(outputs))
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
