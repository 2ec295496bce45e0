"""Calls by a mutating rule, in both modes."""

from functools import partial
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number, is_numeric
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import owner_of, same_entries
from rules_autodiff._shadows.slots import add_to, take_from, tangent_of
from rules_core import (
    AbstractZero,
    NoTangent,
    RuleDefinitionError,
    StructuralTangent,
    ZeroTangent,
    has_tangent,
    structure,
    zero_tangent,
)

from .duals import CoDual, Dual, NoFData, NoRData
from .entry_places import (
    FUNCTIONS,
    Cotangents,
    Places,
    entries_of,
    has_address,
    push_back,
)

__all__ = ["MutatingEntry", "call_mutating_forward", "call_mutating_reverse"]


class MutatingEntry:
    """A call by a mutating rule; its pullback also undoes its writes.

    Attributes:
        written: The ids of the containers and owners of memory that the rule wrote to.
        before: The cotangents of the containers' entries before the call.
        after: The cotangents of the containers' entries after the call.
    """

    __slots__ = (
        "after",
        "args",
        "before",
        "fdata",
        "out",
        "pullback",
        "rule",
        "slots",
        "value",
        "written",
    )

    def __init__(self, rule: Any, args: Any, pullback: Any, slots: Any):
        self.rule, self.args, self.pullback, self.slots = rule, args, pullback, slots
        self.out: Any = None
        self.value: Any = None
        self.fdata: Any = None
        self.written: set[int] = set()
        self.before: Any = None
        self.after: Any = None

    def reverse(self, below: Any) -> None:
        rdata: Any = NoRData()
        if type(self.out) is list:
            cotangent = take_from(self.out, below)
            rdata = zero_tangent(self.value) if cotangent is None else cotangent
        for slot, ct in zip(self.slots, self.results(rdata, below), strict=True):
            if slot is not None and not isinstance(ct, NoRData):
                add_to(slot, ct, below)
        self.before.give_back(below)
        if isinstance(self.fdata, np.ndarray):
            below.store_item(0.0, self.fdata, Ellipsis)

    def results(self, rdata: Any, below: Any) -> Any:
        self.after.fill(below)
        rdatas = below.call(self.pullback, rdata)
        if type(rdatas) is not tuple or len(rdatas) != len(self.slots):
            message = (
                f"The pullback of {self.rule.__qualname__} must return a tuple of "
                f"{len(self.slots)} rdata, one for the function and one per argument, "
                f"but returned {rdatas!r}."
            )
            raise RuleDefinitionError(message)
        for place, (x, ct) in enumerate(zip(self.args, rdatas, strict=True)):
            check_rdata(self.rule, place, x, ct)
        return tuple(map(without_markers, rdatas))

    def undo(self, below: Any) -> None:
        zero = NoRData() if type(self.out) is not list else zero_tangent(self.value)
        self.results(zero, below)


def check_rdata(rule: Any, place: int, x: Any, ct: Any) -> None:
    """Check that rdata are numbers for numbers and absent for arrays."""
    if isinstance(ct, NoRData | AbstractZero) or not (
        is_number(x) or is_float_array(x)
    ):
        return
    if is_number(x) and is_numeric(ct) and np.ndim(ct) == 0:
        return
    requirement = (
        "a number, as the argument is one"
        if is_number(x)
        else "NoRData(), because the cotangent of an array is added to its fdata"
    )
    message = (
        f"The pullback of {rule.__qualname__} must return for argument {place} "
        f"{requirement}, but returned {ct!r}."
    )
    raise RuleDefinitionError(message)


def without_markers(ct: Any) -> Any:
    """The rdata of an argument, with zeros for the parts of a tuple that have none."""
    if isinstance(ct, NoRData):
        return ct
    level = structure(ct) if isinstance(ct, tuple | StructuralTangent) else None
    if level is None:
        return ct
    return level.rebuild(
        [
            ZeroTangent() if isinstance(part, NoRData) else without_markers(part)
            for part in level.values
        ]
    )


def fdata_of(x: Any, places: Places) -> Any:
    """The fdata of an argument; a number outside containers has none."""
    if type(x) in INERT or is_number(x) or isinstance(x, FUNCTIONS):
        return NoFData()
    if is_float_array(x) or has_address(x):
        return places.of(x)
    level = structure(x)
    if level is None:
        return NoFData()
    parts = [fdata_of(value, places) for value in level.values]
    if all(isinstance(part, NoFData) for part in parts):
        return NoFData()
    return level.rebuild(parts)


def call_mutating_reverse(run: Any, rule: Any, f: Any, args: Any) -> Any:
    """Run a mutating rule and record its pullback."""
    places = Places(rule, zero_tangent, run.shadow_of)
    duals = [CoDual(x, fdata_of(x, places)) for x in (f, *args)]
    cotangents = Cotangents(run, places, lambda held: held.before)
    slots = [None if isinstance(x, np.ndarray) else run.slot(x) for x in (f, *args)]
    before = contents(args)
    result = answer(run, rule, duals, before)
    if not (isinstance(result, tuple) and isinstance(result[0], CoDual)):
        message = (
            f"The mutating rule {rule.__qualname__} must return a CoDual and a "
            f"pullback, but returned {result!r}."
        )
        raise RuleDefinitionError(message)
    out, pullback = result
    check_result(rule, args, out.primal, out.fdata)
    check_aliases(rule, duals, out)
    entry = MutatingEntry(rule, (f, *args), pullback, slots)
    entry.written = changed(before) | places.written()
    places.settle(lambda number: watched(run, number))
    entry.before = cotangents
    entry.after = Cotangents(run, places, lambda held: entries_of(held.primal))
    entry.value = out.primal
    if is_number(out.primal):
        entry.value = run.below.box(out.primal)
        entry.out = run.watch(entry.value)
    elif is_float_array(out.primal) and not any(
        out.fdata is own.fdata for own in duals
    ):
        entry.fdata = run.adopt_shadow(out.primal, out.fdata)
    run.note_mutating(entry)
    return entry.value


def answer(run: Any, rule: Any, duals: Any, before: Any) -> Any:
    """The result of a mutating rule; its errors are none of the program."""
    try:
        return run.below.call(rule, *duals)
    except Exception as error:
        old = {id(a): copy for a, copy in before}
        f, *args = [old.get(id(dual.primal), dual.primal) for dual in duals]
        run.explained_mutating(error, f, args)
        raise


def watched(run: Any, number: Any) -> Any:
    """An equal number as a separate object with a derivative."""
    copy = run.below.box(number)
    run.watch(copy)
    return copy


def contents(args: Any) -> list[tuple[Any, Any]]:
    """The float arrays among the arguments, each with a copy."""
    return [(a, a.copy()) for a in args if is_float_array(a)]


def changed(before: list[tuple[Any, Any]]) -> set[int]:
    """The ids of the owners of the arrays that changed."""
    return {id(owner_of(a)) for a, old in before if not same_entries(a, old)}


def check_result(rule: Any, args: Any, y: Any, fdata: Any) -> None:
    """Check a result: a number, an array, an argument, or a value without tangent."""
    allowed = is_number(y) or is_float_array(y) or any(y is x for x in args)
    if not allowed and (callable(y) or has_tangent(y)):
        message = (
            f"The mutating rule {rule.__qualname__} must return a number, an array, "
            f"one of its arguments or something without a tangent, but returned {y!r}. "
            "Write results into arguments, or define one rule for each result."
        )
        raise RuleDefinitionError(message)
    if is_number(y) and not isinstance(fdata, NoFData):
        message = (
            f"The mutating rule {rule.__qualname__} must return CoDual(y, NoFData()) "
            f"for a number, which has no address, but gave the fdata {fdata!r}."
        )
        raise RuleDefinitionError(message)


def check_aliases(rule: Any, duals: Any, out: CoDual[Any, Any]) -> None:
    """Check that aliases in the program are exactly the aliases in the derivative."""
    if not (is_float_array(out.primal) and isinstance(out.fdata, np.ndarray)):
        return
    for place, dual in enumerate(duals):
        if not is_float_array(dual.primal):
            continue
        primal = np.may_share_memory(out.primal, dual.primal)
        fdata = np.may_share_memory(out.fdata, dual.fdata)
        if primal != fdata:
            message = (
                f"The result of the mutating rule {rule.__qualname__} must alias "
                f"argument {place} in its fdata where it does in its primal, but the "
                f"primals {'share' if primal else 'do not share'} memory and the fdata "
                f"{'do' if fdata else 'do not'}. Return CoDual(x.primal, x.fdata) of "
                "the argument, or the same view of both."
            )
            raise RuleDefinitionError(message)


def call_mutating_forward(run: Any, rule: Any, f: Any, args: Any) -> Any:
    """Run a mutating rule on duals, once per tangent."""
    if run.width > 1 and not all(map(is_flat, args)):
        refused("lanes", f.__qualname__, rule.__qualname__)
    before, y, tangents = contents(args), None, []
    for lane in range(run.width):
        for a, old in before if lane else ():
            run.below.store_item(old, a, Ellipsis)
        number = partial(tangent_of_number, run, lane=lane)
        array = partial(live, run, lane=lane)
        places = Places(rule, number, array)
        duals = [Dual(x, tangent_given(run, x, lane, places)) for x in (f, *args)]
        out = answer(run, rule, duals, before)
        if not isinstance(out, Dual):
            message = (
                f"The mutating rule {rule.__qualname__} must return a Dual, but "
                f"returned {out!r}."
            )
            raise RuleDefinitionError(message)
        y = out.primal if lane == 0 else y
        tangents.append(out.tangent)
        settle_forward(run, f, rule, places)
    run.note_written(changed(before))
    return with_tangents(run, y, tangents)


def settle_forward(run: Any, f: Any, rule: Any, places: Places) -> None:
    """Record the rule's writes to containers, with their tangents."""
    written = places.written()
    if written and run.width > 1:
        refused("lanes", f.__qualname__, rule.__qualname__)
    run.note_written(written)
    places.settle(run.below.box)
    push_back(run, places, run.below.box)


def is_flat(x: Any) -> bool:
    """Whether the argument is unchanged when a rule runs again."""
    return is_numeric(x) or callable(x) or not has_tangent(x)


def with_tangents(run: Any, y: Any, tangents: list[Any]) -> Any:
    """The result of a mutating rule, with its tangents."""
    if is_number(y):
        y = run.below.box(y)
    elif is_float_array(y) and run.flow(y) is not None:
        return y  # an argument, whose tangent the rule wrote
    run.assign(y, [run.canonical(y, dy) for dy in tangents])
    return y


def tangent_of_number(run: Any, x: Any, lane: int) -> Any:
    return run.tangent(x, lane)


def live(run: Any, a: Any, lane: int) -> Any:
    """The tangent of an array, writable."""
    flow = run.flow(a) or run.new_flow(a)
    return flow.window(a, lane)


def tangent_given(run: Any, x: Any, lane: int, places: Places) -> Any:
    """The tangent of an argument, writable if the argument is."""
    if isinstance(x, FUNCTIONS):
        return NoTangent()
    if is_float_array(x) or has_address(x):
        return places.of(x)
    level = structure(x) if isinstance(x, tuple) else None
    if level is None or not has_tangent(x):
        return run.tangent(x, lane)
    return tangent_of(
        level, [tangent_given(run, v, lane, places) for v in level.values]
    )
