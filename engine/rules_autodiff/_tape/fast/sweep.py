"""The reverse pass where entries are lists and tuples, as the fast path writes them.

Zeros are strong: 0 · ∞ = 0. The fast pass skips the check. A product that needed it is
NaN, and NaN reaches every cotangent that depends on it; so checking the results at the
end is enough. Rules get finite numbers only; if a derivative is not finite in the end,
the pass is made once more, by maps that check each product.
"""

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np

from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._shadows.memory import FRESH, LENT
from rules_autodiff._shadows.slots import (
    UNUSED,
    Branch,
    Shadow,
    add_to,
    give,
    take_from,
)
from rules_autodiff._tape.entries import CoreEntry, RuleEntry
from rules_autodiff._tape.sweep import undo_rest
from rules_core.extend import note_strong_zeros

from .elementwise import FOLLOWED, SHARED, STRICT, is_finite
from .maps import MOVING

__all__ = ["followed", "sweep_quickly"]

READ, ONE = 3, 4  # the lengths of tuples for an item that was read, for one operand
RULES = frozenset({CoreEntry, RuleEntry})  # entries that hand cotangents to a rule


def sweep_quickly(tape: list[Any], ends: list[Any]) -> bool:
    """The reverse pass on plain values; whether no cotangent has to be doubted.

    False where a rule would have got one that is infinite or not a number, or where one
    is in the end, in the slots `ends`.
    """
    entries, right = reversed(tape), True
    try:
        if not any(map(multiplies, tape)):
            plainly(entries)
            return True
        while True:
            entry, settled = quietly(entries, ends)
            right = right and settled
            if entry is None:
                return right
            if right:
                entry.reverse(PLAIN)
            else:
                take_from(entry.out, PLAIN)
    except BaseException:
        undo_rest(tape, entries, PLAIN)
        raise


def pass_zero(entry: list[Any], below: Any = PLAIN) -> None:
    """Pass on a zero, which is strong: the operands get one too.

    What they have already may carry a derivative at the level below.
    """
    entry[0] = UNUSED
    for place in range(2, len(entry), 2):
        node = entry[place]
        node[0] = node[0] + 0.0 if below is PLAIN else below.add(node[0], 0.0)
        note_strong_zeros(not isfinite(entry[place + 1]))


def multiplies(entry: Any) -> bool:
    """Whether a step may multiply a cotangent, and so make 0 · ∞."""
    if type(entry) is not tuple:
        return True
    return len(entry) != READ and not MOVING.issuperset(entry[2::3])


def plainly(entries: Iterator[Any]) -> Any:
    """Go on to the next entry of a rule, and return it; None at the end."""
    for entry in entries:
        kind = type(entry)
        if kind is list:  # [cotangent, value, node, partial, node, partial]
            d = entry[0]
            if d:
                entry[0] = UNUSED
                entry[2][0] += d * entry[3]
                if len(entry) > 4:
                    entry[4][0] += d * entry[5]
            elif d is not UNUSED:
                pass_zero(entry)
        elif kind is tuple:  # (out, slot, map, kept, slot, map, kept)
            out = entry[0]
            if type(out) is list:
                dz = out[0]
                if dz is UNUSED:
                    continue
                out[0], hold = UNUSED, LENT
            else:
                dz = out.data
                if dz is None:
                    continue
                out.data, hold = None, out.hold
            count = len(entry)
            if count == ONE:
                _, slot, by, kept = entry
                if by is None:
                    give(slot, dz, hold)
                else:
                    give(slot, by(dz, kept), LENT if by in SHARED else FRESH)
            elif count == READ:
                _, slot, key = entry
                slot.here(PLAIN)[key] += dz
            else:
                _, slot, by, kept, other, by_other, kept_other = entry
                ct = dz if by is None else by(dz, kept)
                # What both get is nobody's; the second one may get it as it was held.
                give(slot, ct, LENT if ct is dz else FRESH)
                if by_other is not None:
                    give(other, by_other(dz, kept_other), FRESH)
                else:
                    give(other, dz, LENT if ct is dz else hold)
            del dz  # a large array would stay until the next operation on arrays
        elif kind in RULES:
            return entry
        else:
            entry.reverse(PLAIN)
    return None


@np.errstate(all="ignore")  # infinities are looked for
def quietly(entries: Iterator[Any], ends: list[Any]) -> tuple[Any, bool]:
    """The next entry of a rule, None at the end; whether what comes out is finite."""
    entry = plainly(entries)
    out = ends if entry is None else [entry.out]
    return entry, all(map(is_settled, out))


def is_settled(slot: Any, seen: frozenset[int] = frozenset()) -> bool:
    """Whether all that has come together in a slot is finite."""
    if type(slot) is Shadow:
        return slot.data is None or is_finite_array(slot.data)
    if slot is None or id(slot) in seen:  # a container may hold itself
        return True
    if type(slot) is list:
        d = slot[0]
        return isfinite(d) if isinstance(d, float) else bool(np.isfinite(d))
    if type(slot) is Branch:
        inside = seen | {id(slot)}
        return all(is_settled(part, inside) for part in slot.parts)
    return slot.data is None or is_finite_array(slot.data)


def is_finite_array(a: Any) -> bool:
    if a.dtype.char == "d":
        return is_finite(a)
    if a.dtype.names:
        return all(is_finite_array(a[name]) for name in a.dtype.names)
    return a.dtype.kind not in "fc" or bool(np.isfinite(a).all())


def followed(entry: Any, below: Any) -> None:
    """One entry by arithmetic that the level below can follow, zeros strong."""
    if type(entry) is list:
        followed_scalar(entry, below)
    elif type(entry) is tuple:
        followed_arrays(entry, below)
    else:
        entry.reverse(below)


def followed_scalar(entry: list[Any], below: Any) -> None:
    d = entry[0]
    if d is UNUSED:
        return
    if d == 0 and not below.is_active(d):
        pass_zero(entry, below)
        return
    entry[0] = UNUSED
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
    maps = STRICT if below is PLAIN else FOLLOWED
    for place in range(1, len(entry), 3):
        slot, by, kept = entry[place : place + 3]
        ct = dz if by is None else below.call(maps.get(by, by), dz, kept)
        if type(slot) is Shadow and slot.shape is None:
            slot.pin(ct)  # which has the shape of the owner
        add_to(slot, ct, below)
