"""Arrays that a rule is given belong to somebody else: it must not write to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import is_array

from ._kinds import branch
from ._leaf import to_numpy
from ._modes import Mode, Outcome
from ._report import Failure

__all__ = ["given_unwritten", "inputs_unwritten", "output_unwritten"]

Snapshot = dict[str, bytes]


def snapshot(x: Any, path: str) -> Snapshot:
    """The bytes of every array and number inside `x`, by path."""
    parts = branch(x)
    if parts is not None:
        taken: Snapshot = {}
        for child, label in zip(parts.children, parts.labels, strict=True):
            taken |= snapshot(child, path + label)
        return taken
    if is_array(x) or isinstance(x, (float, complex, int)):
        array = to_numpy(x)
        return {path: f"{array.dtype}{array.shape}".encode() + array.tobytes()}
    return {path: repr(type(x)).encode()}


def _refuse_changes(before: Snapshot, after: Snapshot, whose: str) -> None:
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            message = f"the rule writes to {path}, {whose}; it must work on a copy"
            raise Failure(message)


def _given(mode: Mode) -> Any:
    seeds = {"rrule": mode.subject.cotangents, "frule": mode.subject.directions}
    return mode.domain.tangent(seeds[mode.kind][0])


def _finished(mode: Mode, outcome: Outcome) -> Outcome:
    """The outcome with its thunks forced: they may write as well."""
    mode.read(outcome.raw)
    return outcome


def inputs_unwritten(mode: Mode) -> None:
    """Neither the rule, nor its pullback, nor a thunk writes to the arguments."""
    outcome = _finished(mode, mode.run(_given(mode)))
    names, copies = mode.subject.names, mode.subject.space.copy()
    for name, before, after in zip(names, copies, outcome.primals, strict=True):
        _refuse_changes(snapshot(before, name), snapshot(after, name), "its argument")


def given_unwritten(mode: Mode) -> None:
    """The cotangent of a pullback, or the tangents of an frule, stay as they are."""
    given = _given(mode)
    name = {"rrule": "dy", "frule": "tangents"}[mode.kind]
    before = snapshot(given, name)
    _finished(mode, mode.run(given))
    _refuse_changes(before, snapshot(given, name), "which belongs to the caller")


def output_unwritten(mode: Mode) -> None:
    """The pullback does not write to the value that the caller got."""
    subject = mode.subject
    outcome = _finished(mode, mode.run(_given(mode)))
    right = subject.out.values(subject.y)
    if not np.array_equal(subject.out.values(outcome.y), right, equal_nan=True):
        before, after = snapshot(subject.y, "y"), snapshot(outcome.y, "y")
        _refuse_changes(before, after, "the value that the caller holds")
