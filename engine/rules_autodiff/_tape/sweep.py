"""The reverse pass: the tape, backwards."""

from collections.abc import Callable, Iterator
from functools import wraps
from operator import length_hint
from typing import Any

from rules_autodiff._python.plain_level import PLAIN

__all__ = ["putting_back", "redo", "reverse", "sweep", "undo", "undo_rest"]


def putting_back(change: Callable[..., None]) -> Callable[..., None]:
    """Tell the levels below that what they see is no write of the program.

    What the entry's write has changed is put back, or written again. The levels noted
    the write when the program made it; here nothing new is seen by another way.
    """

    @wraps(change)
    def put_back(entry: Any, below: Any) -> None:
        if below is PLAIN:
            change(entry, below)
            return
        held = [(level, level.hold_writes()) for level in levels_from(below)]
        try:
            change(entry, below)
        finally:
            for level, mark in held:
                level.release_writes(mark)

    return put_back


def levels_from(level: Any) -> Iterator[Any]:
    """A run, and those below it."""
    while level is not PLAIN:
        yield level
        level = level.below


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
