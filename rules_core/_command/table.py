"""Tables of words, for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["lines_of_table"]


def lines_of_table(
    rows: Sequence[Sequence[str]], head: Sequence[str] = ()
) -> Iterator[str]:
    r"""The rows of a table in columns; the last column is as wide as it likes.

    >>> print(*lines_of_table([("a", "1"), ("long", "2")]), sep="\n")
    a     1
    long  2
    """
    shown = [head, *rows] if head else list(rows)
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
