"""A rule exists, returns a valid result, and its value is the function's."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import numpy as np

from rules_core import RuleNotFound

from ._leaf import StructureMismatch, describe, to_numpy
from ._modes import Mode, Outcome
from ._nodes import Fork, Node, Static, Tip, forced
from ._report import RESTS_ON, Failure, NotRun, Refused

__all__ = [
    "exists",
    "first_outcome",
    "implemented",
    "returns_a_pair",
    "tips",
    "value_is_right",
]


def exists(mode: Mode) -> None:
    """A rule applies to these arguments."""
    subject = mode.subject
    if mode.resolve(subject.primals) is None:
        f, args = subject.target(subject.primals)
        error = RuleNotFound.build(mode.kind, f, args, subject.kwargs, subject.config)
        raise Failure(str(error))


def first_outcome(mode: Mode) -> Outcome:
    """The rule applied to one tangent or cotangent."""
    seeds = {"rrule": mode.subject.cotangents, "frule": mode.subject.directions}
    return mode.run(mode.domain.tangent(seeds[mode.kind][0]))


def returns_a_pair(mode: Mode) -> None:
    """The rule and its pullback run, and there is one cotangent per argument."""
    if mode.subject.broken:
        message = f"{RESTS_ON}shape-rule"
        raise NotRun(message)
    if mode.kind == "frule":
        _check_push(mode)
        return
    _check_pullback(mode)
    raw = first_outcome(mode).raw
    count = len(mode.subject.primals)
    if not isinstance(raw, tuple) or len(raw) != count:
        message = (
            f"the pullback must return a tuple of {count} cotangents, one for each of "
            f"({', '.join(mode.subject.names)}), but got {describe(raw)}"
        )
        if mode.subject.kwargs:
            message += "; keyword-only arguments have none"
        raise Failure(message)


def _check_push(mode: Mode) -> None:
    """It runs; an error may come from using the tuple of tangents as an argument."""
    try:
        first_outcome(mode)
    except (AttributeError, TypeError, ValueError) as error:
        x = ", ".join(mode.subject.names[1:])
        error.add_note(f"an frule is called as rule((dself, dx1, …), {x})")
        raise


def _check_pullback(mode: Mode) -> None:
    """It can be called, with one cotangent."""
    _, pullback = mode.resolve(mode.subject.space.copy()).run()
    try:
        signature = inspect.signature(pullback)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(None)
    except TypeError:
        message = (
            "the pullback must take the cotangent dy alone, of several outputs their "
            f"tuple, but its parameters are {signature}"
        )
        raise Failure(message) from None


def implemented(mode: Mode) -> None:
    """No argument's derivative is declared as not implemented.

    Such derivatives are *refused*, as long as an argument is left to check.
    """
    mode.find_missing()
    if not mode.missing:
        return
    names = mode.subject.names
    unchecked = "\n".join(
        f"{names[i]} was not checked, its derivative is not implemented: {why}"
        for i, why in mode.missing.items()
    )
    if _nothing_is_left(mode):
        message = (
            f"{unchecked}\nNothing of this rule was checked. If that is meant, say so: "
            "tangents=(NoTangent(), …)"
        )
        raise Failure(message)
    raise Refused(unchecked)


def _nothing_is_left(mode: Mode) -> bool:
    """Whether all arguments that the user did not declare fixed are not implemented."""
    subject = mode.subject
    places = enumerate(subject.space.slices)
    moving = {i for i, place in places if place.start < place.stop}
    differentiated = {i for i in moving if not subject.fixed[i]}
    return bool(differentiated) and differentiated <= mode.missing.keys()


def value_is_right(mode: Mode) -> None:
    """The value that the rule returns is the function's, with its dtypes."""
    subject, y = mode.subject, mode.value()
    _defaults_are_the_functions(mode)
    try:
        values = subject.out.values(y)
    except StructureMismatch as mismatch:
        message = (
            f"the rule's value has another structure than the function's: {mismatch}"
        )
        raise Failure(message) from None
    _same_leaves(subject.out.root, y, subject.y)
    at = subject.tolerance.differs(values, subject.out.origin)
    if at is not None:
        label, right = subject.out.labels[at], subject.out.origin[at]
        message = f"{label}: the rule gives {values[at]}, the function {right}"
        raise Failure(message)


def _defaults_are_the_functions(mode: Mode) -> None:
    """A wrapper that changes defaults inside computes another function under a rule."""
    subject = mode.subject
    names = subject.filled_in
    if not names:
        return
    try:
        values = subject.out.values(subject.called_as_given())
    except StructureMismatch:
        values = np.full(subject.out.dim, np.nan)
    if subject.tolerance.differs(subject.out.origin, values) is not None:
        filled = ", ".join(names)
        message = (
            f"called without {filled}, the function gives {values}; rules get the "
            f"defaults of its signature, with which it gives {subject.out.origin}. A "
            f"wrapper that sets {filled} must name it, with its own default"
        )
        raise Failure(message)


def _same_leaves(node: Node, y: object, expected: object) -> None:
    for (tip, value), (_, right) in zip(
        tips(node, y), tips(node, expected), strict=True
    ):
        if not isinstance(tip, Tip):
            if not np.array_equal(to_numpy(value), to_numpy(right)):
                message = (
                    f"{tip.path}: the rule gives {value!r}, the function {right!r}"
                )
                raise Failure(message)
        elif to_numpy(value).dtype != tip.leaf.dtype:
            got, want = to_numpy(value).dtype, tip.leaf.dtype
            message = f"{tip.path}: the rule gives {got}, the function {want}"
            raise Failure(message)


def tips(node: Node, raw: object) -> Iterator[tuple[Tip | Static, object]]:
    """Every leaf below a node, with its part of a raw value or tangent."""
    raw = forced(raw)
    if not isinstance(node, Fork):
        yield node, raw
        return
    for key, child in zip(node.parts.keys, node.nodes, strict=True):
        yield from tips(child, node.child(raw, key))
