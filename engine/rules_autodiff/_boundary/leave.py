"""Derivatives that leave a run, in the form of the arguments."""

import sys
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number, is_sparse
from rules_autodiff._shadows.slots import Branch, Shadow, take_from, tangent_of
from rules_autodiff._shadows.unknown import unknown_at
from rules_core import AbstractZero, NoTangent, StructuralTangent, backing, structure

__all__ = ["as_given", "cotangent_of", "detached"]

UNSHARED = 2  # two references: the variable, and getrefcount's argument


def cotangent_of(primal: Any, slot: Any, below: Any, memo: dict[int, Any]) -> Any:
    """The accumulated cotangent of an argument; shared instances stay shared."""
    if type(slot) is not Branch:
        ct = taken(slot, below)
        unknown = unknown_at(slot)
        if unknown is not None:
            return unknown
        arrays = type(ct) is type(primal) is np.ndarray
        return ct if arrays else as_given(primal, ct, below)
    if id(slot) in memo:
        return memo[id(slot)]
    level = structure(primal)
    if level is None:
        return NoTangent()
    if is_sparse(primal):
        return level.rebuild([cotangent_of(primal.data, slot.parts[0], below, memo)])
    parts: list[Any] = [NoTangent() for _ in level.values]
    result: Any = None
    if level.mutable:  # it may contain itself
        result = memo[id(slot)] = tangent_of(level, parts)
    for place, (value, part) in enumerate(zip(level.values, slot.parts, strict=True)):
        if part is not None or type(value) is not FunctionType:
            parts[place] = cotangent_of(value, part, below, memo)
    if not level.mutable:
        return container_of(primal, level, parts)
    backing(result).update(zip(level.names, parts, strict=True))
    return result


def container_of(primal: Any, level: Any, parts: list[Any]) -> Any:
    """Lists for lists, and so on; for instances the tangent of their class."""
    if isinstance(primal, tuple | list | dict):
        return level.rebuild(parts)
    return tangent_of(level, parts)


def taken(slot: Any, below: Any) -> Any:
    """The accumulated cotangent of a slot, in memory without other references."""
    if slot is None:
        return None
    shared = type(slot) is Shadow and slot.data is not None and slot.hold
    ct = take_from(slot, below)
    if shared and (ct.base is not None or sys.getrefcount(ct) > UNSHARED):
        return below.copied(ct)
    return ct


def as_given(
    primal: Any, tangent: Any, below: Any, memo: dict[int, Any] | None = None
) -> Any:
    """A canonical tangent in the form of its primal: lists for lists, and so on.

    Args:
        primal: The value.
        tangent: Its tangent, or None for zero.
        below: The level that computes.
        memo: The tangents of earlier instances, by their ids.
    """
    zero = isinstance(tangent, AbstractZero) or tangent is None
    if is_number(primal):
        return like_number(primal, 0.0 if zero else tangent, below)
    if is_float_array(primal):
        return np.zeros(primal.shape, primal.dtype) if zero else tangent
    level = None if type(primal) in INERT else structure(primal)
    if level is None:
        return NoTangent()
    memo = {} if memo is None else memo
    if id(primal) in memo:
        return memo[id(primal)]
    if is_sparse(primal):
        given = None if zero else backing(tangent)["data"]
        return level.rebuild([as_given(primal.data, given, below, memo)])
    result: Any = None
    if level.mutable:  # it may occur twice, or contain itself
        result = tangent_of(level, [NoTangent() for _ in level.values])
        memo[id(primal)] = result
    entries = backing(tangent) if isinstance(tangent, StructuralTangent) else {}
    parts = [
        as_given(value, entries.get(name), below, memo)
        for name, value in zip(level.names, level.values, strict=True)
    ]
    if not level.mutable:
        return container_of(primal, level, parts)
    backing(result).update(zip(level.names, parts, strict=True))
    return result


def like_number(primal: Any, tangent: Any, below: Any) -> Any:
    """A tangent of a number, of the number's own class."""
    if type(tangent) is type(primal):
        return tangent
    if type(primal) is float:
        return below.call(float, tangent)
    return below.call(type(primal), tangent)


def detached(tangent: Any, below: Any) -> Any:
    """A structural tangent whose arrays are copies: buffers may change later."""
    if isinstance(tangent, np.ndarray):
        return below.copied(tangent)
    if is_sparse(tangent):
        level: Any = structure(tangent)
        return level.rebuild([detached(tangent.data, below)])
    if isinstance(tangent, StructuralTangent):
        entries = backing(tangent)
        for name, value in entries.items():
            entries[name] = detached(value, below)
    return tangent
