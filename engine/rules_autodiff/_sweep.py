"""The reverse pass: the tape, backwards."""

from typing import Any

from rules_autodiff._plain import PLAIN

__all__ = ["redo", "sweep", "undo"]


def sweep(tape: list[Any], below: Any) -> None:
    """Move cotangents from outputs to inputs and undo every write, last entry first.

    If an entry raises, the writes before it are undone too, so that the program's state
    is as it was before the forward pass.
    """
    position = len(tape)
    scalar = scalar_backwards if below is PLAIN else followed_backwards
    try:
        for position in range(len(tape) - 1, -1, -1):
            entry = tape[position]
            if type(entry) is list:
                scalar(entry, below)
            else:
                entry.reverse(below)
    except BaseException:
        undo([e for e in tape[:position] if hasattr(e, "undo")], below)
        raise


def scalar_backwards(entry: list[Any], _below: Any) -> None:
    """One scalar operation: ``[cotangent, value, node, partial, node, partial]``."""
    d = entry[0]
    if d:
        entry[0] = 0.0
        entry[2][0] += d * entry[3]
        if len(entry) > 4:
            entry[4][0] += d * entry[5]


def followed_backwards(entry: list[Any], below: Any) -> None:
    """The same by arithmetic that the level below can follow."""
    d = entry[0]
    if d == 0 and not below.is_active(d):
        return
    entry[0] = 0.0
    for place in range(2, len(entry), 2):
        node = entry[place]
        node[0] = below.add(node[0], below.mul(d, entry[place + 1]))


def undo(changes: list[Any], below: Any) -> None:
    """Take back every write, without cotangents."""
    for entry in reversed(changes):
        entry.undo(below)


def redo(changes: list[Any], below: Any) -> None:
    """Write again what the forward pass wrote."""
    for entry in changes:
        entry.redo(below)
