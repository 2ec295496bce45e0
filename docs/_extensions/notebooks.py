"""Jupyter notebooks as pages: text, code, and the outputs that are stored in them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.sphinx_ import Parser
from sphinx.application import Sphinx

__all__ = ["as_markdown"]


def as_markdown(notebook: dict[str, Any], save_picture: Any) -> str:
    """The text of a page.

    Args:
        notebook: What an .ipynb file holds.
        save_picture: Called with the bytes of each picture; returns its address.
    """
    parts: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts.extend(_shown(output, save_picture) for output in cell["outputs"])
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any], save_picture: Any) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        address = save_picture(base64.b64decode("".join(data["image/png"])))
        return f"![]({address})"
    text = "".join(output.get("text") or data.get("text/plain", ""))
    return f"```text\n{text.rstrip()}\n```"


class NotebookParser(Parser):
    """Reads .ipynb files by way of Markdown."""

    supported = ("ipynb",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Convert, and let MyST read the result."""
        env = document.settings.env
        folder = Path(env.srcdir) / "_build" / "notebooks"
        folder.mkdir(parents=True, exist_ok=True)
        stem, count = Path(env.docname).name, iter(range(1000))

        def save_picture(png: bytes) -> str:
            path = folder / f"{stem}-{next(count)}.png"
            path.write_bytes(png)
            return f"/{path.relative_to(env.srcdir).as_posix()}"

        text = as_markdown(json.loads(inputstring), save_picture)
        text += f"\n{{download}}`Download this notebook </{env.docname}.ipynb>`\n"
        super().parse(text, document)


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the suffix and the parser."""
    app.add_source_suffix(".ipynb", "ipynb")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
