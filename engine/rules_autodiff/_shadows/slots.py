"""Slots: the accumulated cotangent of each active value.

A number has a node, a list whose first entry is its cotangent (a tape entry is a list
too, so that the fast path creates only lists). An array has the shadow of its owner,
whole or a window of it. A container has a branch of slots.
"""

from typing import Any, Self
from weakref import ref

import numpy as np

from rules_autodiff._own_rules.own_rule import Space, fit, space_of
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import is_numeric, is_sparse_class
from rules_core import (
    AbstractThunk,
    AbstractZero,
    MutableTangent,
    NoTangent,
    NotImplementedTangent,
    StructuralTangent,
    Tangent,
    UnsupportedError,
    ZeroTangent,
    backing,
    has_tangent,
    materialise,
    normalise,
    structure,
)

from .memory import (
    CALLBACK,
    FRESH,
    LENT,
    OWN,
    Memory,
    add_into,
    overlaps_itself,
)
from .unknown import note_unknown

__all__ = [
    "SMALL",
    "UNUSED",
    "USUAL",
    "Branch",
    "Shadow",
    "Slot",
    "Window",
    "add_to",
    "add_together",
    "all_forced",
    "forced",
    "give",
    "projected",
    "symbolic_zero",
    "take_from",
]


REALS = (float, np.floating)
UNUSED = float("0")  # the cotangent of a number, by identity, before any is added
SMALL = (np.float16, np.float32)  # cannot accumulate cotangents of a float
USUAL = frozenset({float, np.float64, np.ndarray})  # classes of cotangents


class Shadow(Memory):
    """The cotangent of an owner of memory.

    `pinned` records the owner's layout before the first use: each computed array has a
    shadow, and most are never used.
    """

    __slots__ = ()

    def __init__(self, _owner: Any, _callback: Any):
        self.data = self.shape = None

    def pinned(self) -> Self:
        """The shadow itself, with shape and dtype recorded; while the owner exists."""
        if self.shape is None:
            self.pin(self())
        return self

    def add(self, ct: Any, below: Any) -> None:
        """Add a cotangent of the whole array."""
        if below is PLAIN:
            self.gather(ct, fresh=False)
        elif self.data is None:
            self.data, self.hold = ct, LENT
        else:
            below.iadd(self.here(below), ct)

    def gather(self, ct: Any, fresh: bool) -> None:
        """Add by plain arithmetic; no other reference to a new cotangent exists."""
        if self.data is None:
            self.data, self.hold = ct, FRESH if fresh else LENT
        elif self.hold == LENT:
            # Of 0-d arrays the sum is a NumPy scalar.
            self.data, self.hold = np.asarray(self.data + ct), FRESH
        else:
            self.data += ct

    def here(self, below: Any) -> Any:
        """The buffer, made our own by arithmetic that the level below can follow."""
        old = self.data
        if old is None or self.hold:
            if old is None or self.hold == LENT or not self.lies(old):
                self.data = self.zeros()
                if old is not None:
                    below.store_item(old, self.data, Ellipsis)
            self.hold = OWN
        return self.data

    def lies(self, data: Any) -> bool:
        """Whether a buffer has the owner's layout, in one piece of its own memory.

        With its byte order too: its windows are read like the owner's.
        """
        one_piece = data.base is None and data.flags.c_contiguous
        alike = one_piece and data.dtype == self.dtype
        return bool(alike and data.strides == self.layout())

    def take(self, _below: Any) -> Any:
        """The cotangent, which becomes zero; None if it is zero already."""
        ct, self.data = self.data, None
        return ct


class Window(ref[Any]):
    """The cotangent of a view: a window of its owner's shadow.

    Attributes:
        whole: If the view is the whole owner in another shape, its order and the
            owner's: a pair of "C" and "F".
    """

    __slots__ = ("dtype", "memory", "offset", "shape", "strides", "whole")

    def __new__(cls, _memory: Shadow, view: Any) -> Self:
        return super().__new__(cls, view, CALLBACK)

    def __init__(self, memory: Shadow, view: Any):
        self.memory = memory.pinned()
        self.whole = whole_of(memory(), view)
        self.offset = 0 if self.whole else memory.offset(view)
        if self.whole and self.whole[1] == "F":
            memory.layout()  # the owner may be gone by then
        self.shape, self.dtype, self.strides = view.shape, view.dtype, view.strides

    @property
    def data(self) -> Any:
        """The buffer behind the window; None if all of it is zero."""
        return self.memory.data

    def here(self, below: Any) -> Any:
        """The window itself, for reading and writing."""
        self.memory.here(below)
        return self.memory.window_at(self.offset, self.shape, self.dtype, self.strides)

    def add(self, ct: Any, below: Any) -> None:
        if below is PLAIN:
            self.gather(ct, fresh=False)
            return
        here = self.here(below)
        if overlaps_itself(here):
            below.add_at(here, Ellipsis, ct)
        else:
            below.iadd(here, ct)

    def gather(self, ct: Any, fresh: bool) -> None:
        """Add a cotangent of the view, by plain arithmetic."""
        if self.whole is None:
            add_into(self.here(PLAIN), ct)
            return
        order, owners = self.whole
        shape = self.memory.shape
        turned = ct if order == "C" else ct.T
        if owners == "C":
            self.memory.gather(turned.reshape(shape), fresh)
        else:
            self.memory.gather(turned.reshape(shape[::-1]).T, fresh)

    def take(self, below: Any) -> Any:
        if self.memory.data is None:
            return None
        here = self.here(below)
        ct = below.copied(here)
        below.store_item(0.0, here, Ellipsis)
        return ct


def whole_of(owner: Any, view: Any) -> tuple[str, str] | None:
    """The orders of a view and its owner, if it is the whole owner in another shape.

    Both are contiguous and of one size: they begin at one place.
    """
    if view.size != owner.size or view.dtype is not owner.dtype:
        return None
    flags, owners = view.flags, owner.flags
    if not (flags.forc and owners.forc):
        return None
    return "C" if flags.c_contiguous else "F", "C" if owners.c_contiguous else "F"


class Branch:
    """The slots of a container's entries; None for an inactive entry."""

    __slots__ = ("level", "parts", "primal")

    def __init__(self, primal: Any, level: Any, parts: list[Any]):
        self.primal, self.level, self.parts = primal, level, parts

    def add(self, ct: Any, below: Any) -> None:
        ct = projected(self.primal, ct, below)
        if not isinstance(ct, AbstractZero):
            self.spread(ct, below, {})

    def spread(self, ct: Any, below: Any, given: dict[Any, Any]) -> None:
        """Add a canonical cotangent to the entries.

        A container that occurs several times has a cotangent for each occurrence, and
        they add up. An instance that occurs twice has one tangent; it is added once.
        """
        if self.level.mutable:
            key = id(self.primal), id(ct)
            if key in given:
                return
            given[key] = ct
        entries = backing(ct)
        for name, part in zip(self.level.names, self.parts, strict=True):
            if type(part) is Branch:
                inner = forced(entries.get(name), below)
                if not (inner is None or isinstance(inner, AbstractZero)):
                    part.spread(inner, below, given)
            elif part is not None:
                add_to(part, entries.get(name), below)

    def take(self, below: Any) -> Any:
        ct = self.take_symbolic(below)
        return None if ct is None else below.call(materialise, self.primal, ct)

    def take_symbolic(self, below: Any) -> Any:
        """The cotangent with symbolic zeros for unused entries."""
        cotangents = [None if p is None else take_from(p, below) for p in self.parts]
        if all(ct is None for ct in cotangents):
            return None
        pairs = zip(self.level.values, cotangents, strict=True)
        entries = [symbolic_zero(x) if ct is None else ct for x, ct in pairs]
        return tangent_of(self.level, entries)


Slot = Any  # list (a node) | Shadow | Window | Branch


def symbolic_zero(x: Any) -> Any:
    """The zero of a value that a rule receives without its numbers."""
    if callable(x) or not has_tangent(x):
        return NoTangent()
    return ZeroTangent()


def tangent_of(level: Any, entries: list[Any]) -> Any:
    """The tangent of one container, without those inside it."""
    if is_sparse_class(level.primal):
        (data,) = entries
        return data if isinstance(data, AbstractZero) else level.rebuild(entries)
    named = dict(zip(level.names, entries, strict=True))
    if level.keyed == "key":
        return Tangent(level.primal, named)
    if level.keyed == "field":
        kind = MutableTangent if level.mutable else Tangent
        return kind(level.primal, **named)
    return Tangent(level.primal, *entries)


def add_together(pairs: list[tuple[Branch, Any]], below: Any) -> None:
    """Add the cotangents of one call to containers."""
    if len(pairs) == 1:
        add_to(*pairs[0], below)
        return
    primals = tuple([slot.primal for slot, _ in pairs])  # they may share an instance
    whole = Branch(primals, structure(primals), [slot for slot, _ in pairs])
    add_to(whole, tuple([ct for _, ct in pairs]), below)


def add_to(slot: Slot, ct: Any, below: Any) -> None:
    """Add a cotangent in an author's form."""
    if type(ct) not in USUAL:
        if isinstance(ct, AbstractZero) or ct is None:
            return
        if isinstance(ct, NotImplementedTangent):
            note_unknown(slot, ct)
            return
    if type(slot) is list:
        if type(ct) is not float:
            ct = number_cotangent(slot[1], ct, below)
        slot[0] = below.add(slot[0], ct)
        return
    if type(slot) is not Branch and not is_plain_array(ct, slot):
        ct = array_cotangent(slot, ct, below)
        if isinstance(ct, AbstractZero):
            return
    slot.add(ct, below)


def give(slot: Any, ct: Any, hold: int) -> None:
    """Add a cotangent of the operand's shape, with the ownership of its memory."""
    if type(slot) is list:
        slot[0] += float(ct)
    elif type(slot) is not Shadow:
        slot.gather(ct, hold != LENT)
    elif slot.data is None:
        slot.data, slot.hold = ct, hold or FRESH
    elif slot.hold == LENT:
        slot.gather(ct, fresh=False)
    else:
        slot.data += ct


def is_plain_array(ct: Any, slot: Any) -> bool:
    return type(ct) is np.ndarray and ct.dtype == slot.dtype and ct.shape == slot.shape


def array_cotangent(slot: Any, ct: Any, below: Any) -> Any:
    """A cotangent in the array's shape and dtype."""
    if below is not PLAIN and isinstance(ct, np.ndarray):
        return below.call(fit, ct, Space(slot.shape, slot.dtype.kind, array=True))
    like = np.broadcast_to(np.zeros((), slot.dtype), slot.shape)
    return projected(like, ct, below)


def number_cotangent(primal: Any, ct: Any, below: Any) -> Any:
    """A cotangent of a number, of the number's kind."""
    if type(ct) is type(primal):
        return ct
    if isinstance(ct, REALS) and not isinstance(primal, np.generic):
        return below.call(float, ct) if isinstance(ct, SMALL) else ct
    if below is not PLAIN and is_numeric(ct):
        return below.call(fit, ct, space_of(primal))
    cotangent = projected(primal, ct, below)
    return 0.0 if isinstance(cotangent, AbstractZero) else cotangent


def projected(primal: Any, ct: Any, below: Any) -> Any:
    """The canonical cotangent, thunks computed."""
    (cotangent,) = below.call(normalise, (primal,), (ct,))
    return forced(cotangent, below)


NO_TANGENT = (
    "A thunk that a rule returned inside of a container must give a tangent for an "
    "entry that is differentiated, but gave NoTangent(). Return ZeroTangent() for zero."
)


def forced(ct: Any, below: Any) -> Any:
    """A cotangent with its thunk computed; a missing one raises an error here."""
    lazy = isinstance(ct, AbstractThunk)
    while isinstance(ct, AbstractThunk):
        ct = below.call(ct.__unthunk__)
    if lazy and isinstance(ct, NoTangent):
        raise UnsupportedError(NO_TANGENT)
    if isinstance(ct, NotImplementedTangent):
        ct.throw("needed by the engine")
    return ct


def all_forced(ct: Any, below: Any, met: set[int]) -> Any:
    """A normalised tangent without other references, its thunks computed."""
    while isinstance(ct, AbstractThunk):
        ct = below.call(ct.__unthunk__)
    if isinstance(ct, StructuralTangent) and id(ct) not in met:
        met.add(id(ct))
        entries = backing(ct)
        for name, part in entries.items():
            entries[name] = all_forced(part, below, met)
    return ct


def take_from(slot: Slot, below: Any) -> Any:
    """The accumulated cotangent of a slot, or None; the slot becomes empty."""
    if type(slot) is list:
        ct, slot[0] = slot[0], UNUSED
        return None if ct is UNUSED else ct
    return slot.take(below)
