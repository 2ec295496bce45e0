"""Reverse mode: the hooks that write the tape.

The neighbour of a value is found by identity: `nodes` by the number object, `shadows`
by the owner of an array's memory. Every operation makes a new number object, and what
only moves objects about (lists, attributes, `sorted`, C code) keeps them, so no
container needs a shadow of its own and no value is ever wrapped.
"""

from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._hooks import calls
from rules_autodiff._hooks.buffers import check_class, check_exported, check_hidden
from rules_autodiff._hooks.close_calls import asked
from rules_autodiff._hooks.outside_values import check_reads
from rules_autodiff._hooks.result_kinds import (
    check_kind,
    check_record,
    own_args,
    views_in,
)
from rules_autodiff._hooks.rule_results import owned, owned_but
from rules_autodiff._hooks.run import Run
from rules_autodiff._hooks.writes import check_write, store, written_value
from rules_autodiff._mutating.calls import call_mutating_reverse
from rules_autodiff._mutating.rule_tables import rrule_mutating
from rules_autodiff._own_rules.own_rule import CORE, space_of
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, SCALARS, is_float_array, is_number
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.assigned_shapes import FormEntry, reform
from rules_autodiff._shadows.memory import (
    CALLBACK,
    apart,
    is_constant_field,
    may_mirror,
    overlaps_itself,
    owner_of,
    same_place,
)
from rules_autodiff._shadows.saved_state import state_functions, written_to
from rules_autodiff._shadows.slots import UNUSED, Branch, Shadow, Window
from rules_autodiff._transforms.transposed_rule import transposed_frule
from rules_autodiff.straight._runtime.learned import LEARNED
from rules_core import RuleDefinitionError, frule, rrule

from .branches import branch, watch_function
from .entries import (
    AddEntry,
    CoreEntry,
    ReadEntry,
    RuleEntry,
    TransposedEntry,
    WriteEntry,
)
from .state_entries import AppendEntry, AttributeEntry, ItemEntry, StateEntry
from .sweep import reverse

__all__ = ["ReverseRun"]


NEW_ARRAY = (
    "The fdata of an array that a mutating rule returns must be an array of zeros with "
    "the same shape and strides (numpy.zeros_like), but got {!r}."
)


class NoTape(list[Any]):
    """A tape on which nothing stays."""

    def append(self, entry: Any) -> None:
        """Forget it."""


def derived(run: Any, f: FunctionType) -> Any:
    """The lifted form of a program; while results are learned, one that tells."""
    found = calls.derive(run, f)
    return LEARNED.watched(f, found) if LEARNED.calls else found


class ReverseRun(Run):
    """One forward pass with its tape.

    Attributes:
        tape: Entries in the order of execution.
        changes: Those of them that wrote something.
        nodes: By the id of a number, its node ``[cotangent, number, …]``.
        shadows: By the id of an owner of memory, its `Shadow`.
    """

    kind = rrule
    other_kind = frule
    mutating = rrule_mutating
    move = staticmethod(reverse)  # how one entry of the tape is gone through, backwards

    def __init__(self, below: Any = PLAIN):
        super().__init__(below)
        self.tape: list[Any] = []
        self.changes: list[Any] = []
        self.nodes: dict[int, list[Any]] = {}
        self.shadows: dict[int, Any] = {}
        self.guards = self.shadows
        self.watched: dict[int, Branch | None] = {}  # of instances, functions
        self.open: set[int] = set()  # functions that are being watched
        self.cut: set[int] = set()  # and those among them that were met inside
        self.replayable = True  # the writes can be done again without the program
        self.kept: list[Any] = []  # boxed numbers, so that their ids stay theirs
        self.written: set[int] = set()  # by the first `counted` changes
        self.counted = 0
        self.put_back: list[range] = []  # changes that are no writes of the program
        self.late: list[Shadow] = []  # of arrays that were constants before a write

    def retired(self) -> "ReverseRun":
        """The record of the forward pass: its tape, and the slots of its values.

        The run itself forgets them. Functions that the program has made still call its
        hooks, wherever they have got to; from here on nothing is followed by them.
        """
        self.over = True
        kept: ReverseRun = object.__new__(type(self))
        kept.__dict__.update(self.__dict__)
        self.tape, self.changes = NoTape(), NoTape()
        self.nodes, self.shadows, self.watched = {}, {}, {}
        self.guards = self.shadows
        return kept

    # what carries a derivative

    def slot(self, x: Any) -> Any:
        """The slot that gathers the cotangent of a value; None for a constant."""
        cls = type(x)
        if cls in INERT:
            return None
        if cls in SCALARS or is_number(x):
            return self.nodes.get(id(x))
        if isinstance(x, np.ndarray):
            return self.array_slot(x)
        if cls is FunctionType and not x.__closure__:
            return None
        return branch(self, x)

    def array_slot(self, a: Any) -> Any:
        base = a.base
        owner = a if base is None else owner_of(a)
        shadow = self.shadows.get(id(owner))
        if shadow is None or shadow() is not owner:
            if owner.base is not None:
                check_hidden(self, owner)
            return None
        if type(a) is not np.ndarray:
            check_class(a)
        shadow.pinned()
        if owner is a:
            return shadow
        if is_constant_field(a.dtype, shadow.dtype):
            return None
        if not may_mirror(a.dtype, shadow.dtype):
            refused("reinterpreted")
        return Window(shadow, a)

    def watch(self, x: Any) -> Any:
        """A slot for a fresh value, which from here on carries a derivative."""
        if type(x) is np.ndarray and x.dtype.kind in "fc":
            return self.watch_array(x)
        if is_number(x):
            node = self.nodes[id(x)] = [UNUSED, x]
            return node
        if is_float_array(x):
            return self.watch_array(x)
        leaf = type(x) in INERT or isinstance(x, Run)
        level = None if leaf else self.structure(x)
        if level is None:
            return None
        if id(x) in self.watched:
            return self.watched[id(x)]
        if type(x) is FunctionType:
            return watch_function(self, x, level)
        made = Branch(x, level, [])
        if level.mutable:  # may stand in several places, or hold itself
            self.watched[id(x)] = made
        made.parts = [self.watch(value) for value in level.values]
        return made if any(part is not None for part in made.parts) else None

    def watch_array(self, a: Any) -> Any:
        """The slot of an array; one shadow for all results in one memory."""
        owner = a if a.base is None else owner_of(a)
        shadow = self.shadows.get(id(owner))
        if shadow is None or shadow() is not owner:
            shadow = self.shadows[id(owner)] = Shadow(owner, CALLBACK)
        shadow.pinned()
        return shadow if owner is a else Window(shadow, a)

    derive = derived

    # operations

    def record(self, rule: Any, args: tuple[Any, ...], slots: tuple[Any, ...]) -> Any:
        """Run a core rule and note its pullback."""
        needs = tuple(slot is not None for slot in slots)
        if self.plain:
            y, pullback = rule.rrule(needs, *args)
        else:
            y, pullback = self.below.call(rule.rrule, needs, *args)
        y = self.fresh(y)
        out = self.watch(y)
        if out is None:
            check_kind(self, rule.function, args, y)
        else:
            self.tape.append(CoreEntry(pullback, slots, out))
        return y

    def fresh(self, y: Any) -> Any:
        """A result as an object of its own, in memory of its own."""
        if is_number(y):
            return self.below.box(y)
        if is_float_array(y) and (self.array_slot(y) is not None or overlaps_itself(y)):
            return self.below.copied(y)
        return y

    def core(self, key: Any, args: tuple[Any, ...]) -> Any:
        rule = CORE[key]
        slots = tuple(map(self.slot, args))
        if all(slot is None for slot in slots):
            return self.below_core(key, args)
        return self.record(rule, args, slots)

    def by_rule(self, found: Any, f: Any) -> Any:
        args = found.args if found.bound else (f, *found.args)
        slots = tuple(map(self.slot, args))
        if all(slot is None for slot in slots):
            return self.below.call(f, *own_args(found), **found.kwargs)
        needs = tuple(s is not None for s in (slots if found.bound else slots[1:]))
        y, pullback = self.below.call(found.run, needs)
        return self.settled(found, f, slots, y, pullback)

    def settled(self, found: Any, f: Any, slots: Any, y: Any, pullback: Any) -> Any:
        """A rule's result in memory of its own, noted; or a view of an argument."""
        if LEARNED.left:
            LEARNED.note(found, y)
        check_kind(self, f, (*found.args, *found.kwargs.values()), y)
        views = views_in(y, f, found.args)
        if any(views):
            y, out = row_with_views(self, y, found, views)
        else:
            y = owned(self, y, found)
            out = self.watch(y)
        if out is not None:
            self.tape.append(RuleEntry(found, pullback, slots, out))
        elif not self.close:
            asked(self, found.args)
        return y

    @property
    def written_ids(self) -> set[int]:
        """The ids of what was written to, brought up to date."""
        if self.counted < len(self.changes):
            self.written |= written_to(self.changes[self.counted :])
            self.counted = len(self.changes)
        return self.written

    def progress(self) -> int:
        return len(self.changes)

    def written_since(self, progress: int) -> set[int]:
        back = {place for places in self.put_back for place in places}
        later = enumerate(self.changes[progress:], progress)
        return written_to([change for place, change in later if place not in back])

    def hold_writes(self) -> int:
        return len(self.changes)

    def release_writes(self, mark: int) -> None:
        self.put_back.append(range(mark, len(self.changes)))

    def by_other_rule(self, found: Any, f: Any) -> Any:
        """An frule, transposed."""
        args = found.args if found.bound else (f, *found.args)
        slots = tuple(map(self.slot, args))
        if all(slot is None for slot in slots):
            return self.below.call(f, *own_args(found), **found.kwargs)
        y, pullback = transposed_frule(self.recording, self.below, found, args, slots)
        y = owned(self, y, found)
        out = self.watch(y)
        if out is not None:
            self.tape.append(TransposedEntry(found, pullback, slots, out))
        return y

    def mutating_rule(self, f: Any, args: Any, kwargs: Any) -> Any:
        found = rrule_mutating.find(f, args, kwargs)
        if found is None:
            return NotImplemented
        check_reads(self, f)
        return call_mutating_reverse(self, *found)

    def note_mutating(self, entry: Any) -> None:
        self.replayable = False
        self.note(entry)

    def shadow_of(self, a: Any) -> Any:
        """The shadow of an array itself, made if there is none: rules add to it."""
        if self.array_slot(a) is None:
            self.watch_late(a)
        return self.array_slot(a).here(self.below)

    def adopt_shadow(self, y: Any, fdata: Any) -> Any:
        """From here on `fdata`, which a rule made, is the shadow of `y`."""
        shadow = self.watch_array(y)
        buffer = shadow.here(self.below)
        if buffer.strides == fdata.strides and type(shadow) is Shadow:
            shadow.data = fdata
            return fdata
        raise RuleDefinitionError(NEW_ARRAY.format(fdata))

    # arrays

    def read_array(self, a: Any, key: Any) -> Any:
        value = self.below.getitem(a, key)
        slot = self.array_slot(a)
        if slot is not None and self.plain and type(value) is np.float64:
            out = self.nodes[id(value)] = [UNUSED, value]
            self.tape.append((out, slot, key))
            return value
        if slot is None:
            return value
        if not (is_number(value) or is_float_array(value)):
            check_record(value, a)
            return value
        if isinstance(value, np.ndarray) and owner_of(value) is owner_of(a):
            return value
        value = self.below.box(value) if is_number(value) and not self.plain else value
        self.tape.append(ReadEntry(slot, key, self.watch(value)))
        return value

    def write(self, dest: Any, key: Any, value: Any) -> None:
        value = written_value(self, dest, value)
        value_slot = self.slot(value)
        check_write(dest, key, active=value_slot is not None)
        if isinstance(value, np.ndarray) and stays(dest, key, value):
            return
        if isinstance(value, list | tuple) and value_slot is not None:
            value = self.call(np.asarray, value)
            value_slot = self.slot(value)
        out = self.array_slot(dest)
        if out is None and value_slot is not None:
            self.watch_late(dest)
            out = self.array_slot(dest)
        before = self.below.getitem(dest, key)
        if isinstance(before, np.ndarray):
            before = self.below.copied(before)
        entry = WriteEntry(dest, key, before, out, value_slot)
        entry.space = space_of(value)
        store(self, dest, key, value)
        self.note(entry)

    def reshape_in_place(self, a: Any, shape: Any) -> None:
        slot = self.array_slot(a)
        shadow = slot if type(slot) is Shadow else None
        entry = FormEntry(a, shadow)
        self.below.reshape_in_place(a, shape)
        if shadow is None:  # what stands there is the window in its old form
            self.shadows.pop(id(a), None)
        else:
            reform(shadow, a)
        self.note(entry)

    def watch_late(self, dest: Any) -> None:
        owner = owner_of(dest)
        check_exported(self, owner)
        shadow = self.shadows[id(owner)] = Shadow(owner, CALLBACK).pinned()
        self.late.append(shadow)

    def add_at(self, dest: Any, key: Any, value: Any) -> None:
        """`np.add.at(dest, key, value)`: the shadow of `dest` stays as it is."""
        value_slot = self.slot(value)
        if value_slot is not None:
            dest, key = apart(dest, key)
        check_write(dest, key, active=value_slot is not None)
        if self.array_slot(dest) is None and value_slot is not None:
            self.watch_late(dest)
        out = self.array_slot(dest)
        entry = AddEntry(dest, key, self.below.copied(dest), out, value_slot)
        entry.space = space_of(value)
        self.below.add_at(dest, key, value)
        self.note(entry)

    def changing(self, container: Any) -> None:
        self.below.changing(container)
        self.note(StateEntry(container, *state_functions(container)))

    def note_attribute(self, owner: Any, name: str) -> None:
        self.below.note_attribute(owner, name)
        self.note(AttributeEntry(owner, name))

    def note_append(self, owner: Any, item: Any) -> None:
        self.below.note_append(owner, item)
        self.note(AppendEntry(owner, item))

    def note_item(self, owner: Any, key: Any) -> None:
        if type(owner) is dict or (type(owner) is list and isinstance(key, int)):
            self.below.note_item(owner, key)
            self.note(ItemEntry(owner, key))
        else:
            self.changing(owner)

    def note(self, entry: Any) -> None:
        """Put an entry that changes something on the tape."""
        self.tape.append(entry)
        self.changes.append(entry)

    def box(self, x: Any) -> Any:
        """An equal number that is an object of its own, with the same node."""
        y = self.below.box(x)
        node = self.nodes.get(id(x))
        if node is not None:
            self.nodes[id(y)] = node
            self.kept.append(y)
        return y

    def copied(self, x: Any, order: str = "K") -> Any:
        """A copy of an array, in the tape's eyes too."""
        if not isinstance(x, np.ndarray):
            return self.box(x)
        slot = self.array_slot(x)
        y = self.below.copied(x, order)
        if slot is not None:
            check_record(y, x)
            self.tape.append(CoreEntry(copied_pullback, (slot,), self.watch(y)))
        return y


def copied_pullback(dy: Any) -> Any:
    return (dy,)


def row_with_views(
    run: ReverseRun, y: Any, found: Any, views: list[bool]
) -> tuple[Any, Any]:
    """A result with views of arguments in it, and the slots of the other parts."""
    if all(views):
        return y, None
    y = owned_but(run, y, found, views)
    pairs = zip(y, views, strict=True)
    parts = [None if view else run.watch(part) for part, view in pairs]
    moved = any(part is not None for part in parts)
    return y, Branch(y, run.structure(y), parts) if moved else None


def stays(dest: Any, key: Any, value: Any) -> bool:
    """Whether `dest[key] = value` stores what is there: the end of `a[i] += v`."""
    if owner_of(value) is not owner_of(dest):
        return False
    here = dest[key]
    return isinstance(here, np.ndarray) and same_place(here, value)
