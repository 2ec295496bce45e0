"""Captured variables, bound to other values for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CellType
from typing import Any, Final

__all__ = ["bound_to", "content"]

_EMPTY: Final = object()


def content(cell: CellType) -> Any:
    """What a variable is bound to; an object of its own for nothing.

    >>> from rules_core.extend import content
    >>> def scale(k):
    ...     return lambda x: k * x
    >>> content(scale(2).__closure__[0])
    2
    """
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


@contextmanager
def bound_to(values: Iterable[tuple[CellType, Any]]) -> Iterator[None]:
    """Bind variables to contents that they had, and then to those of now again.

    >>> from rules_core.extend import bound_to, content
    >>> def scale(k):
    ...     return lambda x: k * x
    >>> twice = scale(2)
    >>> (k,) = twice.__closure__
    >>> then, k.cell_contents = content(k), 3
    >>> with bound_to([(k, then)]):
    ...     twice(5)
    10
    >>> twice(5)
    15
    """
    pairs = [(cell, value, content(cell)) for cell, value in values]
    moved = [(cell, value, now) for cell, value, now in pairs if now is not value]
    for cell, value, _ in moved:
        _put(cell, value)
    try:
        yield
    finally:
        for cell, _, now in moved:
            _put(cell, now)


def _put(cell: CellType, value: Any) -> None:
    if value is _EMPTY:
        del cell.cell_contents
    else:
        cell.cell_contents = value
