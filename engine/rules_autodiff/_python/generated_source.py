"""The source of generated functions, which another level differentiates in its turn.

Tracebacks find it in `linecache`. That may be emptied at any time
(`linecache.clearcache`), and what it held of files comes back from disk; this does not.
"""

import linecache

__all__ = ["forget_source", "generated_lines", "keep_source"]

LINES: dict[str, list[str]] = {}  # by the name of the file


def keep_source(file: str, text: str) -> None:
    """Keep the text of a generated file until it is forgotten."""
    LINES[file] = text.splitlines(keepends=True)
    linecache.cache[file] = len(text), None, LINES[file], file


def forget_source(file: str) -> None:
    """Drop the text of a generated file, whose functions are gone."""
    LINES.pop(file, None)
    linecache.cache.pop(file, None)


def generated_lines(file: str) -> list[str]:
    """The lines of a generated file; none for any other."""
    return LINES.get(file, [])
