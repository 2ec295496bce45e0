"""Items and writes on the fast path: arrays of float64, at first order."""

from collections.abc import Iterator
from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._hooks.operators import castable
from rules_autodiff._python.values import is_arithmetic
from rules_autodiff._shadows.memory import overlaps_itself, owner_of, same_place
from rules_autodiff._shadows.slots import Window
from rules_autodiff._tape.entries import ItemWrite, is_item
from rules_autodiff._tape.reverse import ReverseRun

from .array_writes import ArrayWrite, Increase

__all__ = ["CONSTANT", "DOUBLE", "FLOATS", "MISS", "REAL", "FastItems", "is_basic"]

DOUBLE = np.dtype(float)

# Classes of which products and sums are plain numbers again.
REAL = frozenset({float, int, np.float64})
FLOATS = frozenset({float, np.float64})

# Indices and bounds of slices of which NumPy asks nothing that users may have written.
KEYS = frozenset({int, ndarray, list, np.int64, EllipsisType, NoneType})
BOUNDS = frozenset({int, np.int64, NoneType})

CONSTANT = "biu"  # kinds of arrays that carry no derivative
MISS = object()  # not for the fast path


class FastItems(ReverseRun):
    """The items of arrays of float64, read, written and added to."""

    def find(self, x: Any) -> Any:
        """The slot of an operand of the fast path; None for a constant, or `MISS`."""
        cls = type(x)
        if cls is ndarray:
            if x.dtype is not DOUBLE:
                return None if x.dtype.kind in CONSTANT else MISS
            found = self.shadows.get(id(x))
            if found is not None and found() is x:
                return found
            return None if x.base is None else self.find_view(x)
        return self.nodes.get(id(x)) if cls in REAL else MISS

    def find_view(self, x: Any) -> Any:
        """The window of a view, found by `find` when it is used again."""
        slot = self.array_slot(x)
        if type(slot) is Window:
            self.shadows[id(x)] = slot
        return slot

    def getitem(self, owner: Any, key: Any) -> Any:
        if type(owner) is ndarray and owner.dtype is DOUBLE and is_plain_key(key):
            value = owner[key]
            if type(value) is np.float64:
                slot = self.find(owner)
                if slot is not None:
                    if slot.shape is None:
                        slot.pin(owner)
                    node = self.nodes[id(value)] = [0.0, value]
                    self.tape.append((node, slot, key))
                return value
            base = value.base
            if base is not None and (base is owner or base is owner.base):
                return value  # a view
        return super().getitem(owner, key)

    def array_items(self, a: Any) -> Iterator[Any]:
        if type(a) is not ndarray or a.ndim != 1:
            yield from super().array_items(a)
            return
        for i in range(len(a)):
            yield self.getitem(a, i)

    def store_item(self, value: Any, owner: Any, key: Any) -> None:
        if type(value) in FLOATS and is_item(owner, key):
            self.write_item(owner, key, value)
        elif not (
            type(owner) is ndarray
            and owner.dtype is DOUBLE
            and self.write_array(owner, key, value)
        ):
            super().store_item(value, owner, key)

    def write(self, dest: Any, key: Any, value: Any) -> None:
        if type(value) in FLOATS and is_item(dest, key):
            self.write_item(dest, key, value)
        elif not (dest.dtype is DOUBLE and self.write_array(dest, key, value)):
            super().write(dest, key, value)

    def write_item(self, dest: Any, key: Any, value: Any) -> None:
        """One entry of an array of float64, at first order."""
        node = self.nodes.get(id(value))
        out = self.find(dest)
        if out is None:
            if node is not None:
                self.watch_late(dest)
                out = self.array_slot(dest)
        elif out.shape is None:
            out.pin(dest)
        entry = ItemWrite(dest, key, dest[key], out, node)
        dest[key] = value
        self.tape.append(entry)
        self.changes.append(entry)

    # whole arrays

    def write_array(self, dest: Any, key: Any, value: Any) -> bool:
        """`dest[key] = value` of part of an array; whether it was for the fast path."""
        if not is_basic(key) or type(dest) is not ndarray:
            return False
        here = dest[key]
        if type(here) is not ndarray or not is_plain_value(value):
            return False
        if type(value) is ndarray and owner_of(value) is owner_of(dest):
            return same_place(here, value)  # the end of `a[i] += v` changes nothing
        out = self.written_slot(dest, slot := self.find(value))
        if out is MISS:
            return False
        self.put(ArrayWrite(dest, key, here, out, slot, value), here, value)
        return True

    def inplace(self, name: str, x: Any, y: Any) -> Any:
        if type(x) is not ndarray or x.dtype is not DOUBLE:
            return super().inplace(name, x, y)
        if name in SIGNS and self.increase(x, y, SIGNS[name]):
            return x
        if not is_arithmetic(y):
            return super().inplace(name, x, y)
        value = getattr(self, name)(x, y)
        self.write(x, Ellipsis, castable(value, x, name, y))
        return x

    def increase(self, dest: Any, value: Any, sign: int) -> bool:
        """`dest += value` or `dest -= value`, where it is for the fast path."""
        if not is_plain_value(value):
            return False
        slot = self.find(value)
        out = self.written_slot(dest, slot)
        if out is MISS:
            return False
        entry = Increase(dest, Ellipsis, dest, out, slot, value)
        entry.sign = sign
        if sign > 0:
            np.add(dest, value, dest)
        else:
            np.subtract(dest, value, dest)
        self.note(entry)
        return True

    def written_slot(self, dest: Any, value: Any) -> Any:
        """The slot of what is written to, given the slot of the value, or `MISS`."""
        if dest.base is not None and overlaps_itself(dest):
            return MISS
        out = self.find(dest)
        if out is None and value is not None:
            self.watch_late(dest)
            return self.array_slot(dest)
        if out is not None and out.shape is None:
            out.pin(dest)
        return out

    def put(self, entry: Any, here: Any, value: Any) -> None:
        here[...] = value
        self.note(entry)


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
