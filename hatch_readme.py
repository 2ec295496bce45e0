"""The README as a package index shows it: relative links lead nowhere there.

They become absolute if `[project.urls]` has a `Source`, and plain text if it has not.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)")


def index_readme(text: str, source: str | None) -> str:
    """A page without relative links.

    Args:
        text: Markdown.
        source: Address of the folder that the links start from, or None.
    """
    absolute = rf"[\1]({source.rstrip('/')}/\2)" if source else r"\1"
    return RELATIVE_LINK.sub(absolute, text)


class ReadmeHook(MetadataHookInterface):
    """Fills in `readme`."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": index_readme(text, metadata.get("urls", {}).get("Source")),
        }
