"""The reverse pass: the tape, backwards."""

from collections.abc import Iterator
from operator import length_hint
from typing import Any

from rules_autodiff._memory import FRESH, LENT
from rules_autodiff._plain import PLAIN
from rules_autodiff._slots import Shadow, add_to, take_from
from rules_autodiff._unary import FOLLOWED, SHARED

__all__ = ["redo", "sweep", "undo"]

READ, ONE = 3, 4  # the lengths of tuples for an item that was read, for one operand


def sweep(tape: list[Any], below: Any) -> None:
    """Move cotangents from outputs to inputs and undo every write, last entry first.

    If an entry raises, the writes before it are undone too, so that the program's state
    is as it was before the forward pass.
    """
    entries = reversed(tape)
    walk = plainly if below is PLAIN else followed
    try:
        walk(entries, below)
    except BaseException:
        rest = tape[: length_hint(entries)]
        undo([e for e in rest if hasattr(e, "undo")], below)
        raise


def plainly(entries: Iterator[Any], below: Any) -> None:
    for entry in entries:
        kind = type(entry)
        if kind is list:  # [cotangent, value, node, partial, node, partial]
            d = entry[0]
            if d:
                entry[0] = 0.0
                entry[2][0] += d * entry[3]
                if len(entry) > 4:
                    entry[4][0] += d * entry[5]
        elif kind is tuple:  # (out, slot, map, kept, slot, map, kept)
            out = entry[0]
            if type(out) is list:
                dz = out[0]
                if not dz:
                    continue
                out[0] = 0.0
            else:
                dz = out.data
                if dz is None:
                    continue
                out.data = None
            count = len(entry)
            if count == ONE:
                _, slot, by, kept = entry
                give(slot, dz if by is None else by(dz, kept), by)
            elif count == READ:
                _, slot, key = entry
                slot.here(PLAIN)[key] += dz
            else:
                _, slot, by, kept, other, by_other, kept_other = entry
                give(slot, dz if by is None else by(dz, kept), by)
                by = by_other
                give(other, dz if by is None else by(dz, kept_other), by)
            del dz  # a large array would stay until the next operation on arrays
        else:
            entry.reverse(below)


def give(slot: Any, ct: Any, by: Any) -> None:
    """Add a cotangent of the operand's shape, the result of the map `by`."""
    if type(slot) is list:
        slot[0] += float(ct)
    elif type(slot) is Shadow and slot.data is None:
        slot.data, slot.hold = ct, LENT if by in SHARED else FRESH
    else:
        slot.gather(ct, by not in SHARED)


def followed(entries: Iterator[Any], below: Any) -> None:
    """The same by arithmetic that the level below can follow."""
    for entry in entries:
        if type(entry) is list:
            followed_scalar(entry, below)
        elif type(entry) is tuple:
            followed_arrays(entry, below)
        else:
            entry.reverse(below)


def followed_scalar(entry: list[Any], below: Any) -> None:
    d = entry[0]
    if d == 0 and not below.is_active(d):
        return
    entry[0] = 0.0
    for place in range(2, len(entry), 2):
        node = entry[place]
        node[0] = below.add(node[0], below.mul(d, entry[place + 1]))


def followed_arrays(entry: tuple[Any, ...], below: Any) -> None:
    dz = take_from(entry[0], below)
    if dz is None:
        return
    if len(entry) == READ:
        below.add_at(entry[1].here(below), entry[2], dz)
        return
    for place in range(1, len(entry), 3):
        slot, by, kept = entry[place : place + 3]
        ct = dz if by is None else below.call(FOLLOWED.get(by, by), dz, kept)
        if type(slot) is Shadow and slot.shape is None:
            slot.pin(ct)  # which has the shape of the owner
        add_to(slot, ct, below)


def undo(changes: list[Any], below: Any) -> None:
    """Take back every write, without cotangents."""
    for entry in reversed(changes):
        entry.undo(below)


def redo(changes: list[Any], below: Any) -> None:
    """Write again what the forward pass wrote."""
    for entry in changes:
        entry.redo(below)
