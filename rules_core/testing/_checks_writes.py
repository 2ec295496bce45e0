"""A rule must not write to arrays of its caller."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from rules_core import is_array

from ._containers import branch
from ._leaf import to_numpy
from ._modes import Mode, Outcome
from ._report import Failure

__all__ = [
    "given_unwritten",
    "inputs_unwritten",
    "output_unwritten",
    "views_are_the_functions",
]

Snapshot = dict[str, bytes]
OWN_COPIES = " (primitive(f, copy_in=True) gives a function copies of its own)"


def snapshot(x: Any, path: str) -> Snapshot:
    """The bytes of every array and number inside `x`, by path."""
    parts = branch(x)
    if parts is not None:
        snapshots: Snapshot = {}
        for child, label in zip(parts.children, parts.labels, strict=True):
            snapshots |= snapshot(child, path + label)
        return snapshots
    if is_array(x) or isinstance(x, (float, complex, int)):
        array = to_numpy(x)
        return {path: f"{array.dtype}{array.shape}".encode() + array.tobytes()}
    return {path: repr(type(x)).encode()}


def _refuse_changes(
    before: Snapshot, after: Snapshot, whose: str, cure: str = ""
) -> None:
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            message = (
                f"the rule writes to {path}, {whose}; it must work on a copy{cure}"
            )
            raise Failure(message)


def _given(mode: Mode) -> Any:
    forward = mode.kind == "frule"
    seeds = mode.directions() if forward else mode.subject.cotangents
    return mode.domain.tangent(seeds[0])


def _finished(mode: Mode, outcome: Outcome) -> Outcome:
    """The outcome with its thunks forced: they may write as well."""
    mode.read(outcome.raw)
    return outcome


def inputs_unwritten(mode: Mode) -> None:
    """Neither the rule, nor its pullback, nor a thunk writes to the arguments."""
    outcome = _finished(mode, mode.run(_given(mode)))
    names, copies = mode.subject.names, mode.subject.space.copy()
    for name, before, after in zip(names, copies, outcome.primals, strict=True):
        changed = snapshot(before, name), snapshot(after, name)
        _refuse_changes(*changed, "its argument", OWN_COPIES)


def given_unwritten(mode: Mode) -> None:
    """The cotangent of a pullback, or the tangents of an frule, are not modified."""
    seed = _given(mode)
    name = {"rrule": "dy", "frule": "tangents"}[mode.kind]
    before = snapshot(seed, name)
    _finished(mode, mode.run(seed))
    _refuse_changes(before, snapshot(seed, name), "which belongs to the caller")


def views_are_the_functions(mode: Mode) -> None:
    """The value shares memory with an argument exactly if the function's value does.

    A later write to the value would otherwise change another argument than in the
    program.
    """
    subject = mode.subject
    primals = subject.space.copy()
    value = subject.call(primals)
    own = set(_shared(value, primals, subject.names))
    outcome = mode.run(_given(mode))
    for pair in sorted(set(_twins(outcome.y)) - set(_twins(value))):
        message = (
            f"{' and '.join(pair)} of the rule's value lie in one memory, those of the "
            "function's do not: return one each, for the caller may write to it"
        )
        raise Failure(message)
    for path in own ^ set(_shared(outcome.y, outcome.primals, subject.names)):
        message = (
            f"the function's value is a view of {path}, the rule's must be as well"
            if path in own
            else f"the rule's value lies in the memory of {path}, the function's does "
            "not: return a copy, for the caller may write to it"
        )
        raise Failure(message)


def _shared(y: Any, primals: tuple[Any, ...], names: list[str]) -> Iterator[str]:
    """Paths of the arrays among the arguments with which `y` shares memory."""
    values = list(_arrays(y, "y"))
    for name, primal in zip(names, primals, strict=True):
        for path, x in _arrays(primal, name):
            if any(np.may_share_memory(x, value) for _, value in values):
                yield path


def _twins(y: Any) -> Iterator[tuple[str, str]]:
    """Paths of the arrays inside a value that share memory."""
    for (one, a), (other, b) in combinations(_arrays(y, "y"), 2):
        if a is b or (np.may_share_memory(a, b) and np.shares_memory(a, b)):
            yield one, other


def _arrays(x: Any, path: str) -> Iterator[tuple[str, Any]]:
    """NumPy's arrays inside `x`, by path."""
    parts = branch(x)
    if isinstance(x, np.ndarray):
        yield path, x
    elif parts is not None:
        for child, label in zip(parts.children, parts.labels, strict=True):
            yield from _arrays(child, path + label)


def output_unwritten(mode: Mode) -> None:
    """The pullback does not write to the value that the caller received."""
    subject = mode.subject
    outcome = _finished(mode, mode.run(_given(mode)))
    first = mode.value()
    right = subject.out.values(first)
    if not np.array_equal(subject.out.values(outcome.y), right, equal_nan=True):
        before, after = snapshot(first, "y"), snapshot(outcome.y, "y")
        _refuse_changes(before, after, "the value that the caller holds")
