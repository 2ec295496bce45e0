"""Whether zeros that met infinity stay, by a reverse pass with other partials.

A zero cotangent is strong where it is zero nearby too. Nearby, the partial derivatives
that move have other values. So the pass is made with generic numbers in their place: a
cotangent that is zero there as well is zero for constants alone, selections or zero
weights. What is not zero there may be, and is looked at more closely.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._own_rules.own_rule import Space, fit
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._shadows.slots import (
    UNUSED,
    Branch,
    Shadow,
    add_to,
    forced,
    projected,
    take_from,
)
from rules_autodiff._tape.entries import CoreEntry, LinearEntry, Row, RuleEntry
from rules_autodiff._tape.sweep import sweep
from rules_core import AbstractZero, backing
from rules_core.extend import strong_zeros_met

from .elementwise import filled, shared_out, stretched, to_winners
from .maps import column_times, from_left, minus, summed, times, times_row
from .partials import selected, summed_selection
from .sweep import READ, followed

__all__ = ["stay"]

LINEAR = frozenset({None, minus, stretched, filled, shared_out, to_winners})
MATRICES = frozenset({times, from_left, column_times, times_row})
SELECTIONS = frozenset({selected, summed_selection})


class Generic:
    """Two more reverse passes along a tape.

    Attributes:
        hits: By the id of an entry, the cotangents with which it met infinity.
        sure: Whether each of those that are zero is zero for generic partials too.
            Both passes go to the end of the tape in any case, and leave no cotangent.
    """

    def __init__(self) -> None:
        self.hits: dict[int, Any] = {}
        self.sure = True
        self.random = np.random.default_rng(0).random

    def note(self, entry: Any, below: Any) -> None:
        """Go along one entry, strictly, and note whether a zero met infinity there."""
        known, met = held(entry), strong_zeros_met()
        followed(entry, below)
        if strong_zeros_met() != met:
            self.hits[id(entry)] = known

    def move(self, entry: Any, below: Any) -> None:
        """Go along one entry with a generic partial derivative."""
        if id(entry) in self.hits:
            for pair in zip(self.hits[id(entry)], held(entry), strict=True):
                self.check(*pair, too_large(entry))
        if type(entry) is list:
            self.move_number(entry)
        elif type(entry) is tuple:
            self.move_arrays(entry)
        elif isinstance(entry, CoreEntry | RuleEntry) or (
            isinstance(entry, LinearEntry) and not is_linear(entry)
        ):
            self.move_rule(entry)
        else:
            entry.reverse(below)

    def check(self, known: Any, found: Any, other: Any) -> None:
        if known is None or found is None or isinstance(found, AbstractZero):
            self.sure &= known is not None or found is None
        elif np.any(np.equal(known, 0) & np.not_equal(found, 0) & ~other):
            self.sure = False

    def numbers(self, shape: Any) -> Any:
        """Generic numbers between one half and three halves."""
        return self.random(shape) + 0.5

    def move_number(self, entry: list[Any]) -> None:
        d, entry[0] = entry[0], UNUSED
        if d is not UNUSED:
            for node in entry[2::2]:
                node[0] += d * float(self.numbers(()))

    def move_arrays(self, entry: tuple[Any, ...]) -> None:
        dz = take_from(entry[0], PLAIN)
        if dz is None:
            return
        if len(entry) == READ:
            PLAIN.add_at(entry[1].here(PLAIN), entry[2], dz)
            return
        alone = len(entry) == READ + 1  # then the other operand is a constant
        for place in range(1, len(entry), 3):
            slot, by, kept = entry[place : place + 3]
            ct = self.mapped(by, dz, kept, slot, alone)
            if type(slot) is Shadow and slot.shape is None:
                slot.pin(ct)
            add_to(slot, ct, PLAIN)

    def mapped(self, by: Any, dz: Any, kept: Any, slot: Any, alone: bool) -> Any:
        """The cotangent of an operand."""
        if by is summed:
            inner, own, _, shape = kept
            d = self.mapped(inner, dz, own, None, alone)
            return fit(d, Space(shape, "f", array=True))
        if by in LINEAR:
            return dz if by is None else by(dz, kept)
        if by in SELECTIONS:
            return by(dz, np.not_equal(kept, 0))
        if by is operator.mul:
            return dz * (finite(kept) if alone else self.numbers(np.shape(kept)))
        if by in MATRICES:
            return by(dz, finite(kept) if alone else self.numbers(kept.shape))
        shape = np.shape(dz) if slot is None or type(slot) is list else slot.shape
        if shape is None:  # a shadow that was not used: of a map entry by entry
            shape = np.shape(dz)
        generic = dz * self.numbers(np.shape(dz))
        if type(slot) is list:
            return np.sum(generic)
        if np.shape(generic) == shape:
            return generic
        return self.numbers(shape) * bool(np.any(dz))

    def move_rule(self, entry: Any) -> None:
        if any(type(slot) is Branch for slot in entry.slots):
            if isinstance(entry, RuleEntry):
                self.move_structures(entry)
                return
            self.sure = False
        dy = take_from(entry.out, PLAIN)
        if dy is None:
            return
        moves = not is_zero(dy)
        for slot in entry.slots:
            if slot is not None:
                self.fill(slot, moves)

    def move_structures(self, entry: Any) -> None:
        """Go along a rule which itself says where in a structure it has zeros."""
        try:
            found = entry.cotangents(PLAIN)
            if found is not None:
                for slot, ct in zip(entry.slots, found, strict=True):
                    self.fill_where(slot, ct)
        except Exception:  # as of auxiliary results, whose cotangent is zero
            self.sure = False

    def fill_where(self, slot: Any, ct: Any) -> None:
        """Generic cotangents in those parts of a slot that have no symbolic zero."""
        if slot is None:
            return
        if type(slot) is not Branch:
            if not (isinstance(ct, AbstractZero) or ct is UNUSED):
                self.fill(slot, True)
            return
        ct = projected(slot.primal, ct, PLAIN)
        entries = {} if isinstance(ct, AbstractZero) else backing(ct)
        for name, part in zip(slot.level.names, slot.parts, strict=True):
            inner = forced(entries.get(name), PLAIN)
            if inner is not None:
                self.fill_where(part, inner)

    def fill(self, slot: Any, moves: bool) -> None:
        """Generic cotangents in a slot, or zeros."""
        if type(slot) in (Row, Branch):
            for part in slot.parts:
                if part is not None:
                    self.fill(part, moves)
        elif type(slot) is list:
            slot[0] = slot[0] + moves * float(self.numbers(()))
        else:
            kind = slot.pinned() if type(slot) is Shadow else slot
            add_to(slot, (self.numbers(kind.shape) * moves).astype(kind.dtype), PLAIN)


def held(entry: Any) -> list[Any]:
    """The cotangents that are about to pass an entry; None where there is none."""
    if type(entry) is list:
        return [entry[0]]
    out = entry[0] if type(entry) is tuple else getattr(entry, "out", None)
    return [held_in(slot) for slot in parts_of(out)]


def parts_of(slot: Any) -> list[Any]:
    """The slots of numbers and arrays in a slot."""
    if type(slot) is not Branch:
        return [slot]
    return [inner for part in slot.parts for inner in parts_of(part)]


def held_in(slot: Any) -> Any:
    """The cotangent in a slot, which may change in it; None if there is none."""
    if type(slot) is list:
        return slot[0]
    if slot is None or slot.data is None:
        return None
    return np.array(slot.data if type(slot) is Shadow else slot.here(PLAIN))


def too_large(entry: Any) -> Any:
    """Where the value of an exponential is infinite: it stays so nearby."""
    if type(entry) is tuple and len(entry) > READ and entry[2] is np.multiply:
        return np.isinf(entry[3])
    return np.False_


def is_linear(entry: LinearEntry) -> bool:
    """Whether constants alone scale what the entry of a linear rule passes on."""
    active = [slot for slot in entry.slots if slot is not None]
    return len(active) == 1 or entry.call.rule.key in JOINING


JOINING = frozenset({np.where, np.concatenate, np.stack, np.vstack, np.hstack})


def is_zero(dy: Any) -> bool:
    return isinstance(dy, np.ndarray | float | complex | np.generic) and not np.any(dy)


def finite(p: Any) -> Any:
    """A constant factor, with ones where it is not finite."""
    return np.where(np.isfinite(p), p, 1.0)


def stay(tape: list[Any], seed: Callable[[], None], clear: Callable[[], None]) -> bool:
    """Whether all zeros that met infinity along a tape are certain to stay.

    Args:
        tape: The tape.
        seed: Puts the program's effects in place, and the cotangents of its output.
        clear: Takes the cotangents of its arguments away.
    """
    passes = Generic()
    for move in (passes.note, passes.move):
        seed()
        try:
            with np.errstate(all="ignore"):
                sweep(tape, PLAIN, move)
        finally:
            clear()
    return passes.sure
