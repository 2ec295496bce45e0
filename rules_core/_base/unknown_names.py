"""Keyword arguments that a function does not have: the near one is named."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["refuse_unknown"]


def refuse_unknown(function: str, unknown: Iterable[str], known: Iterable[str]) -> None:
    """Raise Python's error for unknown keywords, with the nearest known one.

    Raises:
        TypeError: There is an unknown keyword.

    >>> from rules_core import primitive
    >>> primitive(abs, elementwize=True)
    Traceback (most recent call last):
    ...
    TypeError: primitive() has no argument 'elementwize'. Is it 'elementwise'?
    """
    for name in unknown:
        from difflib import get_close_matches

        listed = list(known)
        near = get_close_matches(name, listed, n=1)
        cure = f"Is it {near[0]!r}?" if near else f"It has {', '.join(listed)}."
        message = f"{function}() has no argument {name!r}. {cure}"
        raise TypeError(message)
