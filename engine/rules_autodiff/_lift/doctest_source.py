"""The source of functions that were defined in doctests run by Sybil.

Each example is its own "file" named after the document, and the next example reuses the
name. So the document is read again, to find the example that compiles to the given code
object.
"""

import re
from pathlib import Path
from types import CodeType

__all__ = ["example_lines"]

NAME = re.compile(r"<doctest (?P<path>.+)\[\d+\]>$")


def example_lines(code: CodeType) -> list[str]:
    """The lines of the example that defines ``code``; none if not found."""
    match = NAME.match(code.co_filename)
    if not match or not Path(match["path"]).is_file():
        return []
    import doctest  # which imports unittest, for documents alone

    text = Path(match["path"]).read_text(encoding="utf-8")
    for example in doctest.DocTestParser().get_examples(text):
        if defines(example.source, code):
            return example.source.splitlines(keepends=True)
    return []


def defines(source: str, code: CodeType) -> bool:
    """Whether compiling an example gives this code object, possibly nested."""
    try:
        outer = compile(source, code.co_filename, "single")
    except SyntaxError:
        return False
    return contains(outer, code)


def contains(outer: CodeType, code: CodeType) -> bool:
    inner = [c for c in outer.co_consts if isinstance(c, CodeType)]
    return code in inner or any(contains(c, code) for c in inner)
