"""Entries of the tape: what is done again, backwards.

Besides the lists of the fast path, an entry has `reverse(below)`, which moves
cotangents from its outputs to its inputs and undoes what was written, and, where it
wrote, `undo()` and `redo()`, which change the state without cotangents.
"""

from typing import Any

import numpy as np

from rules_autodiff._hooks.function_reads import ReadsThen, reads_of
from rules_autodiff._own_rules.own_rule import fit, space_of
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import (
    asked_of,
    code_and_line,
    note_place,
    refuse_no_cotangent,
)
from rules_autodiff._shadows.memory import LENT
from rules_autodiff._shadows.slots import (
    SMALL,
    USUAL,
    Branch,
    Slot,
    add_to,
    add_together,
    give,
    symbolic_zero,
    take_from,
    tangent_of,
)
from rules_core import (
    AbstractThunk,
    NotImplementedTangent,
    ZeroTangent,
    unthunk,
)
from rules_core.extend import note_rule, ordered_cotangents

from .named_cotangents import add_cotangent
from .sweep import putting_back

__all__ = [
    "AddEntry",
    "CoreEntry",
    "ItemWrite",
    "LinearEntry",
    "ReadEntry",
    "Row",
    "RuleEntry",
    "TransposedEntry",
    "WriteEntry",
    "is_item",
]

DOUBLE = np.dtype(float)


class CoreEntry:
    """An operation with a rule of the engine's own."""

    __slots__ = ("out", "pullback", "slots")

    def __init__(self, pullback: Any, slots: tuple[Slot, ...], out: Slot):
        self.pullback, self.slots, self.out = pullback, slots, out

    def reverse(self, below: Any) -> None:
        dy = take_from(self.out, below)
        if dy is None:
            return
        if below is PLAIN:
            cotangents = self.pullback(dy)
        else:
            cotangents = below.call(self.pullback, dy)
        for slot, ct in zip(self.slots, cotangents, strict=True):
            if slot is not None:
                add_to(slot, ct, below)


class TransposedEntry(CoreEntry):
    """A call that an frule answered, which is asked again in the reverse pass."""

    __slots__ = ("call", "reads")

    def __init__(self, call: Any, pullback: Any, slots: tuple[Slot, ...], out: Slot):
        super().__init__(pullback, slots, out)
        self.call, self.reads = call, reads_of(call)

    def reverse(self, below: Any) -> None:
        if self.reads is None:
            super().reverse(below)
        else:
            self.reads.replay(self.checked, self.reads, below)

    def checked(self, reads: ReadsThen, below: Any) -> None:
        """As without functions, if these read what they read at the value."""
        reads.check(self.call.rule.key, self.call.rule)
        super().reverse(below)


class RuleEntry:
    """A call that a rule of the registry answered."""

    __slots__ = ("call", "out", "place", "pullback", "reads", "slots")

    def __init__(self, call: Any, pullback: Any, slots: tuple[Slot, ...], out: Slot):
        self.call, self.pullback, self.slots, self.out = call, pullback, slots, out
        self.place, self.reads = code_and_line(), reads_of(call)

    def reverse(self, below: Any) -> None:
        try:
            if self.reads is None:
                self.pull(below)
            else:
                self.reads.replay(self.pull, below)
        except Exception as error:
            note_rule(error, self.call.rule, self.call.args, "the pullback of ")
            note_place(error, self.call.rule.key, self.place)
            raise

    def pull(self, below: Any) -> None:
        """Give the pullback's cotangents to the arguments."""
        cotangents = self.cotangents(below)
        if cotangents is None:
            return
        inner = []
        for place, slot in enumerate(self.slots):
            if slot is None:
                continue
            ct = cotangents[place]
            if type(ct) not in USUAL:
                ct = self.asked(place, ct, below)
            if type(slot) is Branch:
                inner.append((slot, ct))
            else:
                add_cotangent(self.call, place, slot, ct, below)
        if inner:
            add_together(inner, below)

    def cotangents(self, below: Any) -> tuple[Any, ...] | None:
        """What the pullback returns for the result's cotangent; None without one."""
        symbolic = self.call.rule.symbolic_zeros
        if symbolic and type(self.out) is Branch:
            dy = self.out.take_symbolic(below)
        else:
            dy = take_from(self.out, below)
        if dy is None:
            if not symbolic:
                return None
            dy = _zero_of(self.out)
        if self.reads is not None:
            self.reads.check(self.call.rule.key, self.call.rule)
        found: tuple[Any, ...] = below.call(self.pullback, dy)
        count = len(self.slots)
        if type(found) is not tuple or len(found) != count:
            return ordered_cotangents(self.call.rule, found, count)
        return found

    def asked(self, place: int, ct: Any, below: Any) -> Any:
        """The cotangent of an argument, which is wanted."""
        if isinstance(ct, AbstractThunk):
            ct = below.call(unthunk, ct)
        if isinstance(ct, NotImplementedTangent):
            ct.throw(asked_of(self.call, place))
        refuse_no_cotangent(self.call, place, ct)
        return ct


class LinearEntry:
    """A call whose rule moves, scales and adds: what is not finite may reach it.

    Attributes:
        pulls: An adjoint for each slot.
    """

    __slots__ = ("call", "out", "pulls", "slots")

    def __init__(self, call: Any, pulls: Any, slots: Any, out: Slot):
        self.call, self.pulls, self.slots, self.out = call, pulls, slots, out

    def reverse(self, below: Any) -> None:
        dy = take_from(self.out, below)
        if dy is None:
            return
        for place, slot in enumerate(self.slots):
            if slot is None:
                continue
            pull = self.pulls[place]
            ct = pull(dy) if below is PLAIN else below.call(pull, dy)
            if type(slot) is Row:
                slot.spread(ct, below)
                continue
            if (
                type(ct) is not np.ndarray
                or type(slot) is list
                or ct.shape != slot.shape
            ):
                ct = below.call(fit, ct, space_of(self.call.args[place]))
            if below is PLAIN:
                give(slot, ct, LENT)
            else:
                add_to(slot, ct, below)


class Row:
    """The slots of the arrays in a list that a function joins; None: a constant."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Slot]):
        self.parts = parts

    def spread(self, ct: Any, below: Any) -> None:
        """Add the entries of a cotangent of the list."""
        for part, entry in zip(self.parts, ct, strict=True):
            if part is not None:
                add_to(part, entry, below)


def _zero_of(slot: Slot) -> Any:
    """Zeros in the structure of a value: a rule may take their tuple apart."""
    if type(slot) is not Branch:
        return ZeroTangent()
    pairs = zip(slot.level.values, slot.parts, strict=True)
    zeros = [symbolic_zero(x) if p is None else _zero_of(p) for x, p in pairs]
    return tangent_of(slot.level, zeros)


class ReadEntry:
    """`y = a[key]` where y is a number or a copy: the cotangent goes to the entries."""

    __slots__ = ("key", "out", "slot")

    def __init__(self, slot: Slot, key: Any, out: Slot):
        self.slot, self.key, self.out = slot, key, out

    def reverse(self, below: Any) -> None:
        dy = take_from(self.out, below)
        if dy is not None:
            below.add_at(self.slot.here(below), self.key, dy)


class WriteEntry:
    """`dest[key] = value`.

    Backwards, in this order: take the cotangent of the entries, set it to zero, restore
    the entries, give the cotangent to the value. The value may be a view of `dest`: its
    cotangent must not be zeroed after it was added.
    """

    __slots__ = ("dest", "key", "other", "out", "space", "value", "winners")

    def __init__(self, dest: Any, key: Any, other: Any, out: Slot, value: Slot):
        self.dest, self.key, self.other = dest, key, other
        self.out, self.value, self.space = out, value, None
        self.winners = last_writes(dest, key) if out is not None else None

    def reverse(self, below: Any) -> None:
        ct = None
        if self.out is not None and self.out.data is not None:
            shadow = self.out.here(below)
            ct = below.copied(below.getitem(shadow, self.key))
            below.store_item(0.0, shadow, self.key)
        self.exchange(below)
        if ct is not None and self.value is not None:
            if self.winners is not None:
                ct = below.mul(ct, self.winners)
            add_to(self.value, below.call(fit, ct, self.space), below)

    @putting_back
    def exchange(self, below: Any) -> None:
        """Swap what the entries hold with what they held on the other side."""
        here = below.getitem(self.dest, self.key)
        if isinstance(here, np.ndarray) and here.base is not None:
            here = below.copied(here)
        below.store_item(self.other, self.dest, self.key)
        self.other = here

    def undo(self, below: Any) -> None:
        self.exchange(below)

    redo = undo


class ItemWrite:
    """`dest[key] = value` for one entry of an array of float64, at first order."""

    __slots__ = ("dest", "key", "other", "out", "value")

    def __init__(self, dest: Any, key: Any, other: Any, out: Slot, value: Any):
        self.dest, self.key, self.other = dest, key, other
        self.out, self.value = out, value

    def reverse(self, below: Any) -> None:
        """As `WriteEntry`: take, zero, restore, accumulate."""
        if below is PLAIN:
            self.reverse_plainly()
            return
        ct = None
        if self.out is not None and self.out.data is not None:
            shadow = self.out.here(below)
            ct = below.getitem(shadow, self.key)
            below.store_item(0.0, shadow, self.key)
        self.undo(below)
        if ct is not None and self.value is not None:
            add_to(self.value, ct, below)

    def reverse_plainly(self) -> None:
        """The cotangent in plain Python, the main cost of loops that fill arrays."""
        dest, key, out = self.dest, self.key, self.out
        ct: Any = None
        if out is not None and out.data is not None:
            shadow = out.here(PLAIN)
            ct = shadow[key]
            shadow[key] = 0.0
        here = dest[key]
        dest[key] = self.other
        self.other = here
        if ct is not None and self.value is not None:
            small = type(ct) in SMALL and not isinstance(self.value[1], np.generic)
            self.value[0] += float(ct) if small else ct

    @putting_back
    def undo(self, below: Any) -> None:
        here = below.getitem(self.dest, self.key)
        below.store_item(self.other, self.dest, self.key)
        self.other = here

    redo = undo


def is_item(dest: Any, key: Any) -> bool:
    """Whether an index names one entry of a plain array of float64."""
    if type(dest) is not np.ndarray or dest.dtype is not DOUBLE:
        return False
    if type(key) is int:
        return dest.ndim == 1
    return (
        type(key) is tuple
        and len(key) == dest.ndim
        and all(type(part) is int for part in key)
    )


def last_writes(dest: Any, key: Any) -> Any:
    """1 where an entry of `value` is what is left in `dest[key]`, or None: all are.

    A fancy index may name an entry twice; only the last value written stays.
    """
    if not is_fancy(key):
        return None
    numbers = np.zeros(dest.shape, np.intp)
    shape = numbers[key].shape
    order = np.arange(int(np.prod(shape))).reshape(shape)
    numbers[key] = order
    kept = numbers[key] == order
    return None if kept.all() else kept.astype(float)


def is_fancy(key: Any) -> bool:
    """Whether an index names entries by a list or an array of integers."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(
        isinstance(part, list) or (isinstance(part, np.ndarray) and part.dtype != bool)
        for part in parts
    )


class AddEntry:
    """`np.add.at(dest, key, value)`: the cotangent of `dest` stays as it is."""

    __slots__ = ("dest", "key", "other", "out", "space", "value")

    def __init__(self, dest: Any, key: Any, other: Any, out: Slot, value: Slot):
        self.dest, self.key, self.other = dest, key, other
        self.out, self.value, self.space = out, value, None

    def reverse(self, below: Any) -> None:
        if self.value is not None and self.out is not None:
            shadow = self.out.here(below)
            ct = below.copied(below.getitem(shadow, self.key))
            add_to(self.value, below.call(fit, ct, self.space), below)
        self.exchange(below)

    @putting_back
    def exchange(self, below: Any) -> None:
        """Swap what the array holds with what it held on the other side."""
        here = below.copied(self.dest)
        below.store_item(self.other, self.dest, Ellipsis)
        self.other = here

    def undo(self, below: Any) -> None:
        self.exchange(below)

    redo = undo
