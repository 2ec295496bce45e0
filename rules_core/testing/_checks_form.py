"""The raw tangent has the form of its primal, leaf by leaf.

Checked before any projection. Zeros, None, Python numbers for 0-d arrays, plain
containers and lazy values are allowed, but nothing else that `ProjectTo` would repair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_core import AbstractZero, NoTangent, NotImplementedTangent, is_array

from ._checks_result import first_outcome, tips
from ._leaf import Leaf, StructureMismatch, describe, to_numpy
from ._modes import Mode
from ._nodes import Static, Tip
from ._report import Failure

__all__ = ["device_is_right", "dtype_is_right", "no_tangent_is_right", "shape_is_right"]


def _raw_tips(mode: Mode) -> Iterator[tuple[Tip | Static, Any]]:
    """Leaves of the codomain with the corresponding results of the rule."""
    raw = first_outcome(mode).raw
    if mode.kind == "frule":
        yield from tips(mode.codomain.root, raw)
        return
    for i, cotangent in enumerate(raw):
        if i not in mode.missing:
            yield from tips(mode.codomain.part(i).root, cotangent)


def _numbers(mode: Mode) -> Iterator[tuple[Leaf, Any]]:
    """Leaves with a tangent for which the rule returned more than a zero."""
    for tip, value in _raw_tips(mode):
        empty = value is None or isinstance(
            value, (AbstractZero, NotImplementedTangent)
        )
        if isinstance(tip, Tip) and not empty:
            yield tip.leaf, value


def _is_bare_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not is_array(value)


def shape_is_right(mode: Mode) -> None:
    """Structure and shapes are those of the primal."""
    try:
        for leaf, value in _numbers(mode):
            is_number = is_array(value) or _is_bare_number(value)
            if not is_number or np.shape(value) != leaf.shape:
                got = describe(value)
                message = (
                    f"{leaf.path} has the shape {leaf.shape}, its tangent is {got}"
                )
                raise Failure(message)
    except StructureMismatch as mismatch:
        raise Failure(str(mismatch)) from None


def no_tangent_is_right(mode: Mode) -> None:
    """The tangent is `NoTangent()` exactly if the primal has no tangent."""
    for tip, value in _raw_tips(mode):
        if isinstance(tip, Static):
            if not (value is None or isinstance(value, AbstractZero)):
                message = (
                    f"{tip.path} = {describe(tip.primal)} has no tangent: the rule "
                    f"must return NoTangent(), but got {describe(value)}"
                )
                raise Failure(message)
        elif isinstance(value, NoTangent) and tip.path not in _fixed(mode):
            message = (
                f"{tip.path} has a tangent: the rule must not return NoTangent(). If "
                "the derivative is zero, return ZeroTangent()"
            )
            raise Failure(message)


def _fixed(mode: Mode) -> set[str]:
    """Paths of leaves that the user declared to have no tangent."""
    subject = mode.subject
    return {
        leaf.path
        for i, fixed in enumerate(subject.fixed)
        if fixed and mode.kind == "rrule"
        for leaf in subject.space.part(i).leaves
    }


def dtype_is_right(mode: Mode) -> None:
    """Each array has the dtype of its primal, and is real for a real primal."""
    for leaf, value in _numbers(mode):
        got = to_numpy(value).dtype
        right = got == leaf.dtype
        if _is_bare_number(value):
            right = leaf.is_complex or not isinstance(value, complex)
        elif not is_array(leaf.primal):  # a Python number: not a lower precision
            right = got.kind == leaf.dtype.kind and got.itemsize >= leaf.dtype.itemsize
        if not right:
            message = f"{leaf.path} is {leaf.dtype}, its tangent is {got}"
            raise Failure(message)


def device_is_right(mode: Mode) -> None:
    """Each array is of its primal's library and device."""
    for leaf, value in _numbers(mode):
        if not is_array(leaf.primal) or _is_bare_number(value):
            continue
        here, there = _home(leaf.primal), _home(value)
        if here != there:
            message = f"{leaf.path} is on {here}, its tangent on {there}"
            raise Failure(message)


def _home(x: Any) -> str:
    library = type(x).__module__.partition(".")[0]
    return f"{library}, {getattr(x, 'device', 'cpu')}"
