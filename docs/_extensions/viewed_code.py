"""Finds the module of a public name, for viewcode: it calls the front door its home."""

from __future__ import annotations

import sys

from sphinx.application import Sphinx
from sphinx.errors import PycodeError
from sphinx.pycode import ModuleAnalyzer


def home_of(app: Sphinx, module: str, attribute: str) -> str | None:
    """The module in which a name is written, or None."""
    name = attribute.partition(".")[0]
    value = getattr(sys.modules.get(module), name, None)
    package = module.partition(".")[0]
    if value is None:
        return None
    for candidate, loaded in list(sys.modules.items()):
        if not candidate.startswith(f"{package}."):
            continue
        if vars(loaded).get(name) is value and _writes(candidate, attribute):
            return candidate
    return None


def _writes(module: str, attribute: str) -> bool:
    try:
        return attribute in ModuleAnalyzer.for_module(module).find_tags()
    except PycodeError:
        return False


def setup(app: Sphinx) -> dict[str, bool]:
    """Answer viewcode's question."""
    app.connect("viewcode-follow-imported", home_of)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
