"""The reverse pass: the tape, backwards."""

from collections.abc import Callable, Iterator
from operator import length_hint
from typing import Any

__all__ = ["redo", "reverse", "sweep", "undo", "undo_rest"]


def reverse(entry: Any, below: Any) -> None:
    """Move cotangents from an entry's outputs to its inputs, and undo what it wrote."""
    entry.reverse(below)


def sweep(tape: list[Any], below: Any, move: Callable[[Any, Any], None]) -> None:
    """Move cotangents from outputs to inputs and undo every write, last entry first.

    `move` is `reverse`, or what else knows the entries of the tape.

    If an entry raises, the writes before it are undone too, so that the program's state
    is as it was before the forward pass.
    """
    entries = reversed(tape)
    try:
        for entry in entries:
            move(entry, below)
    except BaseException:
        undo_rest(tape, entries, below)
        raise


def undo_rest(tape: list[Any], entries: Iterator[Any], below: Any) -> None:
    rest = tape[: length_hint(entries)]
    undo([e for e in rest if hasattr(e, "undo")], below)


def undo(changes: list[Any], below: Any) -> None:
    """Take back every write, without cotangents."""
    for entry in reversed(changes):
        entry.undo(below)


def redo(changes: list[Any], below: Any) -> None:
    """Write again what the forward pass wrote."""
    for entry in changes:
        entry.redo(below)
