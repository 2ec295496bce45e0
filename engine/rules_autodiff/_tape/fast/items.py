"""Items and writes on the fast path: arrays of float64, at first order."""

from types import EllipsisType, NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray

from rules_autodiff._shadows.memory import overlaps_itself, owner_of, same_place
from rules_autodiff._tape.entries import ItemWrite

from .array_writes import ArrayWrite, Increase

if TYPE_CHECKING:
    from .run import FastRun

__all__ = [
    "CONSTANT", "DOUBLE", "FLOATS", "MISS", "REAL", "SIGNS", "increase", "is_plain_key",
    "write_array", "write_item",
]  # fmt: skip

DOUBLE = np.dtype(float)

# Classes of which products and sums are plain numbers again.
REAL = frozenset({float, int, np.float64})
FLOATS = frozenset({float, np.float64})

# Indices and bounds of slices of which NumPy asks nothing that users may have written.
KEYS = frozenset({int, ndarray, list, np.int64, EllipsisType, NoneType})
BOUNDS = frozenset({int, np.int64, NoneType})

CONSTANT = "biu"  # kinds of arrays that carry no derivative
MISS = object()  # not for the fast path


SIGNS = {"add": 1, "sub": -1}


def is_plain_value(value: Any) -> bool:
    """Whether a value is a real number or an array of float64, and nothing else."""
    if type(value) is ndarray:
        return value.dtype is DOUBLE and value.ndim > 0
    return type(value) in REAL


def is_basic(key: Any) -> bool:
    """Whether an index gives a view, and asks nothing that a user may have written."""
    cls = type(key)
    if cls is tuple:
        return all(type(part) is not tuple and is_basic(part) for part in key)
    if cls is slice:
        return has_plain_bounds(key)
    return cls is int or cls is EllipsisType or cls is NoneType


def is_plain_key(key: Any) -> bool:
    """Whether an index asks nothing that a user may have written, as `__index__` is."""
    cls = type(key)
    if cls is slice:
        return has_plain_bounds(key)
    if cls is tuple:
        return all(type(part) is not tuple and is_plain_key(part) for part in key)
    return cls in KEYS


def has_plain_bounds(key: slice) -> bool:
    return (
        type(key.start) in BOUNDS
        and type(key.stop) in BOUNDS
        and type(key.step) in BOUNDS
    )


def write_item(run: "FastRun", dest: Any, key: Any, value: Any) -> None:
    """One entry of an array of float64, at first order."""
    node = run.nodes.get(id(value))
    out = run.find(dest)
    if out is None:
        if node is not None:
            run.watch_late(dest)
            out = run.array_slot(dest)
    elif out.shape is None:
        out.pin(dest)
    entry = ItemWrite(dest, key, dest[key], out, node)
    dest[key] = value
    run.tape.append(entry)
    run.changes.append(entry)


def write_array(run: "FastRun", dest: Any, key: Any, value: Any) -> bool:
    """`dest[key] = value` of part of an array; whether it was for the fast path."""
    if not is_basic(key) or type(dest) is not ndarray:
        return False
    here = dest[key]
    if type(here) is not ndarray or not is_plain_value(value):
        return False
    if type(value) is ndarray and owner_of(value) is owner_of(dest):
        return same_place(here, value)  # the end of `a[i] += v` changes nothing
    out = written_slot(run, dest, slot := run.find(value))
    if out is MISS:
        return False
    entry = ArrayWrite(dest, key, here, out, slot, value)  # which keeps what is there
    here[...] = value
    run.note(entry)
    return True


def increase(run: "FastRun", dest: Any, value: Any, sign: int) -> bool:
    """`dest += value` or `dest -= value`, where it is for the fast path."""
    if not is_plain_value(value):
        return False
    slot = run.find(value)
    out = written_slot(run, dest, slot)
    if out is MISS:
        return False
    entry = Increase(dest, Ellipsis, dest, out, slot, value)
    entry.sign = sign
    if sign > 0:
        np.add(dest, value, dest)
    else:
        np.subtract(dest, value, dest)
    run.note(entry)
    return True


def written_slot(run: "FastRun", dest: Any, value: Any) -> Any:
    """The slot of what is written to, given the slot of the value, or `MISS`."""
    if dest.base is not None and overlaps_itself(dest):
        return MISS
    out = run.find(dest)
    if out is None and value is not None:
        run.watch_late(dest)
        return run.array_slot(dest)
    if out is not None and out.shape is None:
        out.pin(dest)
    return out
