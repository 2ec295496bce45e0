"""Forward mode: the hooks that carry tangents along, one or several in one pass.

The neighbour of a number is found by its identity, that of an array by the owner of its
memory, as in reverse mode. With several tangents each neighbour has one entry, a lane,
per tangent; the program itself runs once.
"""

import sys
from typing import Any

import numpy as np

from rules_autodiff._boundary.leave import detached
from rules_autodiff._boundary.tangent_shapes import check_tangent
from rules_autodiff._hooks.buffers import check_class, check_exported, check_hidden
from rules_autodiff._hooks.close_calls import asked
from rules_autodiff._hooks.outside_values import check_reads
from rules_autodiff._hooks.result_kinds import (
    check_kind,
    check_record,
    is_view,
    own_args,
    views_in,
)
from rules_autodiff._hooks.rule_errors import explained_operation, explained_write
from rules_autodiff._hooks.rule_results import owned, owned_but
from rules_autodiff._hooks.run import Run
from rules_autodiff._hooks.sets import check_set
from rules_autodiff._hooks.writes import check_write, store, written_value
from rules_autodiff._mutating.calls import call_mutating_forward
from rules_autodiff._mutating.rule_tables import frule_mutating
from rules_autodiff._own_rules.own_rule import CORE, given
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import INERT, SCALARS, is_float_array, is_number
from rules_autodiff._refusals import asked_of, refused
from rules_autodiff._shadows.assigned_shapes import reform
from rules_autodiff._shadows.memory import (
    apart,
    is_constant_field,
    may_mirror,
    overlaps_itself,
    owner_of,
)
from rules_autodiff._shadows.owner_tangents import Flow
from rules_autodiff._shadows.slots import (
    all_forced,
    is_plain_array,
    symbolic_zero,
    tangent_of,
)
from rules_autodiff._transforms.transposed_rule import transposed_rrule
from rules_autodiff.straight._runtime.learned import LEARNED
from rules_core import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
    backing,
    frule,
    normalise,
    rrule,
    zero_tangent,
)

from .kept_state import keep_state
from .lanes import check_equal, rewinder

__all__ = ["ForwardRun"]

FEW = 20_000  # numbers that may be known before the dead ones are looked for


class ForwardRun(Run):
    """One forward pass with ``width`` tangents.

    Attributes:
        dots: By the id of a number, the number and its tangents.
        flows: By the id of an owner of memory, its tangents.
        writes: By the id of what was written to, an array by its owner, how many
            results had been copied by the last time.
        saved: By the id of an argument's array that was written to, it and a copy.
    """

    kind = frule
    other_kind = rrule
    mutating = frule_mutating

    def __init__(self, below: Any = PLAIN, width: int = 1):
        super().__init__(below)
        self.width = width
        self.saved: dict[int, Any] = {}
        self.dots: dict[int, tuple[Any, list[Any]]] = {}
        self.flows: dict[int, Any] = {}
        self.guards = self.flows
        self.limit = FEW
        self.open: set[int] = set()  # containers whose tangent is being made
        self.changed = False
        self.writes: dict[int, int] = {}
        self.holding = False  # what is put back is no write of the program

    def retire(self) -> None:
        """The pass is over: from here on nothing is followed by its hooks."""
        self.over = True
        self.flows.clear()
        self.dots = {}

    # what carries a derivative

    def slot(self, x: Any) -> Any:
        cls = type(x)
        if cls in INERT:
            return None
        if cls in SCALARS or is_number(x):
            return self.dots.get(id(x))
        if isinstance(x, np.ndarray):
            return self.flow(x)
        return self.is_active(x) or None

    def flow(self, a: Any) -> Any:
        owner = owner_of(a)
        found = self.flows.get(id(owner))
        if found is None or found() is not owner:
            if owner.base is not None:
                check_hidden(self, owner)
            return None
        if type(a) is not np.ndarray:
            check_class(a)
        if owner is not a:
            if is_constant_field(a.dtype, owner.dtype):
                return None
            if not may_mirror(a.dtype, owner.dtype):
                refused("reinterpreted")
        return found

    def new_flow(self, a: Any) -> Flow:
        owner = owner_of(a)
        if not may_mirror(a.dtype, owner.dtype):
            refused("reinterpreted")
        key, flows = id(owner), self.flows

        def forget(reference: Any) -> None:
            if flows.get(key) is reference:
                del flows[key]

        flow = flows[key] = Flow(owner, self.width, forget)
        return flow

    def tangent(self, x: Any, lane: int, zero: Any = zero_tangent) -> Any:
        """The tangent of a value, as a rule receives it; `zero` of constants in it."""
        if is_number(x):
            found = self.dots.get(id(x))
            return zero(x) if found is None else found[1][lane]
        if isinstance(x, np.ndarray):
            flow = self.flow(x)
            return zero(x) if flow is None else flow.window(x, lane)
        if type(x) in INERT:
            return NoTangent()
        if not self.is_active(x):
            return NoTangent() if callable(x) else zero(x)
        if id(x) in self.open:  # a function that calls itself: that adds no number
            return NoTangent()
        check_set(self, x)
        level = self.structure(x)
        if level is None:  # bytes
            return NoTangent()
        self.open.add(id(x))
        found = tangent_of(level, [self.tangent(v, lane, zero) for v in level.values])
        self.open.discard(id(x))
        return found

    def own_tangent(self, x: Any, lane: int) -> Any:
        """The tangent of a result, in memory of its own."""
        dx = self.tangent(x, lane)
        return detached(dx, self.below)

    def short_tangent(self, x: Any, lane: int) -> Any:
        """The tangent of a number or array, `ZeroTangent()` where it carries none."""
        found = self.slot(x)
        if found is None:
            return ZeroTangent()
        return found.window(x, lane) if isinstance(found, Flow) else found[1][lane]

    def assign(self, y: Any, tangents: list[Any], views: Any = ()) -> None:
        """From here on `y` has these tangents, canonical and one per lane.

        Args:
            y: A value.
            tangents: Its tangents.
            views: For each part of a row whether it has a tangent already.
        """
        if all(isinstance(dy, AbstractZero) for dy in tangents):
            return
        if is_number(y):
            zero = zero_tangent(y)
            lanes = [zero if isinstance(dy, AbstractZero) else dy for dy in tangents]
            self.know(y, lanes)
        elif is_float_array(y):
            flow = self.flow(y) or self.new_flow(y)
            for lane, dy in enumerate(tangents):
                if not isinstance(dy, AbstractZero):
                    self.put(self.below.store_item, dy, flow.window(y, lane), ...)
        else:
            self.assign_parts(y, tangents, views)

    def assign_parts(self, y: Any, tangents: list[Any], views: Any) -> None:
        level = self.structure(y)
        if level is None:
            check_record(y)
            return
        zero = ZeroTangent()
        for place, (name, value) in enumerate(
            zip(level.names, level.values, strict=True)
        ):
            if views and views[place]:
                continue
            parts = [
                zero if isinstance(dy, AbstractZero) else backing(dy).get(name, zero)
                for dy in tangents
            ]
            for part in parts:
                if isinstance(part, NotImplementedTangent):
                    part.throw("needed by the engine")
            self.assign(value, parts)

    def know(self, number: Any, lanes: list[Any]) -> None:
        """Note a number; now and then drop those without another owner."""
        self.dots[id(number)] = (number, lanes)
        if len(self.dots) > self.limit:
            count = sys.getrefcount
            alive = {k: e for k, e in self.dots.items() if count(e[0]) > 2}
            self.dots = alive
            self.limit = max(FEW, 2 * len(alive))

    def begin(self, x: Any, directions: list[Any]) -> None:
        """Give an argument the tangents from the user."""
        self.assign(x, [self.canonical(x, dx) for dx in directions])

    # operations

    def core(self, key: Any, args: tuple[Any, ...]) -> Any:
        if not any(self.slot(x) is not None for x in args):
            return self.below_core(key, args)
        rule = CORE[key]
        try:
            y, tangents = self.pushed_by_core(rule, args)
        except Exception as error:
            explained_operation(error, rule.function, args)
            raise
        y = self.fresh(y)
        self.assign(y, tangents)
        return y

    def pushed_by_core(self, rule: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
        y, tangents = None, []
        for lane in range(self.width):
            row = tuple([self.short_tangent(x, lane) for x in args])
            found, dy = self.below.call(rule.frule, row, *args)
            y = found if lane == 0 else y
            tangents.append(dy)
        return y, tangents

    def fresh(self, y: Any) -> Any:
        if is_number(y):
            return self.below.box(y)
        if is_float_array(y) and (self.flow(y) is not None or overlaps_itself(y)):
            return self.below.copied(y)
        return y

    def by_rule(self, found: Any, f: Any) -> Any:
        args = found.args if found.bound else (f, *found.args)
        if not any(self.is_active(x) for x in args):
            return self.below.call(f, *own_args(found), **found.kwargs)
        own = args if found.bound else args[1:]
        needs = tuple(self.is_active(x) for x in own)
        y, tangents = self.pushed_by_rule(found, f, args, needs)
        if LEARNED.left:
            LEARNED.note(found, y)
        check_kind(self, f, (*found.args, *found.kwargs.values()), y)
        views = views_in(y, f, found.args)
        if any(views) and all(views):
            return y
        y = owned_but(self, y, found, views) if any(views) else owned(self, y, found)
        tangents = [self.canonical(y, dy, found) for dy in tangents]
        self.assign(y, tangents, views if any(views) else ())
        if not self.close and self.slot(y) is None:
            asked(self, found.args)
        return y

    def pushed_by_rule(
        self, found: Any, f: Any, args: tuple[Any, ...], needs: tuple[bool, ...]
    ) -> tuple[Any, Any]:
        y, value, tangents = None, None, []
        rewind = rewinder(f, found.args) if self.width > 1 else None
        for lane in range(self.width):
            dx = tuple([self.rule_tangent(found.rule, x, lane) for x in args])
            if lane and rewind:
                rewind()
            value, dy = self.below.call(found.run, dx, needs)
            y = value if lane == 0 else y
            tangents.append(dy)
        if rewind:
            check_equal(y, value, f)
        return y, tangents

    def rule_tangent(self, rule: Any, x: Any, lane: int) -> Any:
        zero = symbolic_zero if rule.symbolic_zeros else zero_tangent
        return self.tangent(x, lane, zero)

    def canonical(self, y: Any, dy: Any, call: Any = None) -> Any:
        """A tangent as an author gave it (the rule of a call), in canonical form."""
        if is_number(y) and isinstance(dy, float) and isinstance(y, float):
            return dy
        if type(y) is np.ndarray and is_plain_array(dy, y):
            return dy
        if call:
            check_tangent(y, dy, call, self.below)
        (found,) = self.below.call(normalise, (y,), (dy,))
        if isinstance(found, NotImplementedTangent):
            found.throw(asked_of(call) if call else "needed by the engine")
        return all_forced(found, self.below, set())

    def by_other_rule(self, found: Any, f: Any) -> Any:
        """An rrule, transposed."""
        args = found.args if found.bound else (f, *found.args)
        if not any(self.is_active(x) for x in args):
            return self.below.call(f, *own_args(found), **found.kwargs)
        y, pullback = self.below.call(found.run)
        if is_view(self, y, f, found.args):
            return y
        push = transposed_rrule(self.recording, self.below, found, y, pullback)
        tangents = self.pushed_by_adjoint(push, y, args)
        y = owned(self, y, found)
        self.assign(y, tangents)
        return y

    def pushed_by_adjoint(self, push: Any, y: Any, args: tuple[Any, ...]) -> Any:
        rows = [self.active_row(args, lane) for lane in range(self.width)]
        return [self.canonical(y, push(row)) for row in rows]

    def active_row(self, args: tuple[Any, ...], lane: int) -> list[Any]:
        return [self.tangent(x, lane) if self.is_active(x) else None for x in args]

    def mutating_rule(self, f: Any, args: Any, kwargs: Any) -> Any:
        found = frule_mutating.find(f, args, kwargs)
        if found is None:
            return NotImplemented
        check_reads(self, f)
        self.changed = True
        return call_mutating_forward(self, *found)

    # arrays

    def read_array(self, a: Any, key: Any) -> Any:
        value = self.below.getitem(a, key)
        flow = self.flow(a)
        if flow is None:
            return value
        if not (is_number(value) or is_float_array(value)):
            check_record(value, a)
            return value
        if isinstance(value, np.ndarray) and owner_of(value) is owner_of(a):
            return value
        value = self.fresh(value)
        lanes = range(self.width)
        found = [self.below.getitem(flow.window(a, lane), key) for lane in lanes]
        self.assign(value, found)
        return value

    def write(self, dest: Any, key: Any, value: Any) -> None:
        value = written_value(self, dest, value)
        active = self.is_active(value)
        check_write(dest, key, active=active)
        if isinstance(value, list | tuple) and active:
            value = self.call(np.asarray, value)
        flow = self.flow(dest)
        self.note_write(dest)
        tangents = [self.write_tangent(value, lane) for lane in range(self.width)]
        store(self, dest, key, value)
        if flow is None and active:
            check_exported(self, owner_of(dest))
            flow = self.new_flow(dest)
        if flow is not None:
            for lane, dv in enumerate(tangents):
                self.put(self.below.store_item, dv, flow.window(dest, lane), key)

    def put(self, store: Any, *args: Any) -> None:
        """Write a tangent, whose errors are none of the program."""
        try:
            store(*args)
        except Exception as error:
            explained_write(error)
            raise

    @property
    def changes(self) -> bool:
        """Whether the run has written to anything."""
        return self.changed

    @property
    def written_ids(self) -> set[int]:
        """The ids of what was written to."""
        return set(self.writes)

    def progress(self) -> int:
        return len(self.copies)

    def written_since(self, progress: int) -> set[int]:
        return {key for key, count in self.writes.items() if count > progress}

    def note_written(self, ids: set[int]) -> None:
        """Note what a rule has written to."""
        for key in ids:
            self.note_id(key)

    def note_id(self, key: int) -> None:
        """Note that the program wrote to an object."""
        if self.holding:
            self.writes.setdefault(key, 0)
        else:
            self.writes[key] = len(self.copies)

    def hold_writes(self) -> bool:
        held, self.holding = self.holding, True
        return held

    def release_writes(self, mark: bool) -> None:
        self.holding = mark

    def note_write(self, dest: Any) -> None:
        self.changed = True
        self.note_id(id(owner_of(dest)))
        keep_state(self, owner_of(dest))

    def reshape_in_place(self, a: Any, shape: Any) -> None:
        flow = self.flow(a)
        self.below.reshape_in_place(a, shape)
        self.changing(a)
        if flow is not None and owner_of(a) is a:
            for lane in flow.lanes:
                reform(lane, a)

    def changing(self, container: Any) -> None:
        self.changed = True
        self.note_id(id(container))
        self.below.changing(container)

    def note_attribute(self, owner: Any, name: str) -> None:
        self.changed = True
        self.note_id(id(owner))
        self.below.note_attribute(owner, name)

    def note_append(self, owner: Any, item: Any) -> None:
        self.changed = True
        self.note_id(id(owner))
        self.below.note_append(owner, item)

    def note_item(self, owner: Any, key: Any) -> None:
        self.changed = True
        self.note_id(id(owner))
        self.below.note_item(owner, key)

    def write_tangent(self, value: Any, lane: int) -> Any:
        """The tangent of what is written; a copy, for it may be a view of `dest`."""
        dv = self.short_tangent(value, lane) if is_number(value) else None
        if isinstance(value, np.ndarray) and self.flow(value) is not None:
            dv = self.below.copied(self.short_tangent(value, lane))
        return dv if dv is not None and given(dv) else 0.0

    def add_at(self, dest: Any, key: Any, value: Any) -> None:
        if self.is_active(value):
            dest, key = apart(dest, key)
        check_write(dest, key, active=self.is_active(value))
        self.note_write(dest)
        self.below.add_at(dest, key, value)
        if not self.is_active(value):
            return
        flow = self.flow(dest)
        if flow is None:
            check_exported(self, owner_of(dest))
            flow = self.new_flow(dest)
        for lane in range(self.width):
            dv = self.short_tangent(value, lane)
            self.put(self.below.add_at, flow.window(dest, lane), key, dv)

    def box(self, x: Any) -> Any:
        y = self.below.box(x)
        found = self.dots.get(id(x))
        if found is not None:
            self.know(y, found[1])
        return y

    def copied(self, x: Any, order: str = "K") -> Any:
        if not isinstance(x, np.ndarray):
            return self.box(x)
        y = self.below.copied(x, order)
        if self.flow(x) is not None:
            check_record(y, x)
            self.assign(y, [self.short_tangent(x, lane) for lane in range(self.width)])
        return y
