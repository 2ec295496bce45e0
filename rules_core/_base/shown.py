"""Results that people read: tables and texts, in a REPL and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["ShownText", "escaped", "html_of_table", "lines_of_table"]


class ShownText(str):
    """A text whose `repr` is the text itself.

    >>> from rules_core.extend import ShownText
    >>> ShownText("as the last line of a cell")
    as the last line of a cell
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(self)}</pre>"


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


def escaped(text: str) -> str:
    """A text for HTML."""
    from html import escape  # its tables of entities take longer than all of this

    return escape(text)


def html_of_table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table in HTML; cells keep their lines."""
    parts = [_row("th", head)] if head else []
    parts.extend(_row("td", row) for row in rows)
    return f"<table>{''.join(parts)}</table>"


def _row(tag: str, cells: Sequence[str]) -> str:
    style = ' style="text-align:left; white-space:pre-wrap"'
    inner = "".join(f"<{tag}{style}>{escaped(cell)}</{tag}>" for cell in cells)
    return f"<tr>{inner}</tr>"
