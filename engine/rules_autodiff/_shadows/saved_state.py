"""Saving and loading the state of everything that a program may change."""

import array
from collections import OrderedDict, deque
from dataclasses import MISSING
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .memory import WRITEABLE, owner_of

__all__ = [
    "own_dict",
    "read_attribute",
    "state_functions",
    "write_attribute",
    "written_by",
    "written_to",
]


def save_list(x: Any) -> Any:
    return list.copy(x)


def load_list(x: Any, state: Any) -> None:
    list.__setitem__(x, slice(None), state)


def load_bytes(x: Any, state: Any) -> None:
    bytearray.__setitem__(x, slice(None), state)


def save_array(x: Any) -> Any:
    return x[:]


def load_array(x: Any, state: Any) -> None:
    array.array.__setitem__(x, slice(None), state)


def save_dict(x: Any) -> Any:
    return list(dict.items(x))


def load_dict(x: Any, state: Any) -> None:
    base = OrderedDict if isinstance(x, OrderedDict) else dict  # keeps its own order
    base.clear(x)
    for key, value in state:
        base.__setitem__(x, key, value)


def save_set(x: Any) -> Any:
    return set(x)


def load_set(x: Any, state: Any) -> None:
    x.clear()
    x.update(state)


def save_deque(x: Any) -> Any:
    return list(x)


def load_deque(x: Any, state: Any) -> None:
    deque.clear(x)
    deque.extend(x, state)


def slots_of(cls: type) -> list[Any]:
    """The slot descriptors of a class and its bases, without that of the dict."""
    return [
        item
        for base in cls.__mro__
        for item in vars(base).values()
        if type(item).__name__ == "member_descriptor" and item.__name__ != "__dict__"
    ]


def own_dict(x: Any) -> Any:
    """An object's own attributes, even if its class hides them; otherwise None."""
    for read in (getattr, object.__getattribute__):
        try:
            return read(x, "__dict__")
        except AttributeError:
            continue
    return None


def save_object(x: Any) -> Any:
    values = []
    for slot in slots_of(type(x)):
        try:
            values.append((slot, slot.__get__(x)))
        except AttributeError:
            continue
    return dict(own_dict(x) or ()), values


def load_object(x: Any, state: Any) -> None:
    attributes, values = state
    own = own_dict(x)
    if own is not None:
        own.clear()
        own.update(attributes)
    present = {id(slot) for slot, _ in values}
    for slot in slots_of(type(x)):
        if id(slot) not in present:
            try:
                slot.__delete__(x)
            except AttributeError:
                continue
    for slot, value in values:
        slot.__set__(x, value)


def read_attribute(owner: Any, name: str) -> Any:
    """An object's own attribute, not its class's; MISSING if there is none."""
    own = own_dict(owner)
    if own is not None and name in own:
        return own[name]
    for base in type(owner).__mro__:
        entry = vars(base).get(name)
        if type(entry).__name__ in STORING:
            return stored(entry, owner)
    return MISSING


# Descriptors of C code that store a value in the instance.
STORING = frozenset({"member_descriptor", "getset_descriptor", "CField", "_CField"})


def stored(descriptor: Any, owner: Any) -> Any:
    try:
        return descriptor.__get__(owner)
    except (AttributeError, ValueError):  # the latter for an empty cell
        return MISSING


def write_attribute(owner: Any, name: str, value: Any) -> None:
    """Set or remove an object's own attribute, bypassing its class."""
    plain = isinstance(owner, type | ModuleType) or not written(type(owner))
    if value is MISSING:
        (delattr if plain else object.__delattr__)(owner, name)
    else:
        (setattr if plain else object.__setattr__)(owner, name, value)


def written(cls: type) -> bool:
    """Whether a class defines setting or deleting an attribute in Python."""
    own = (cls.__setattr__, cls.__delattr__)
    return any(isinstance(method, FunctionType) for method in own)


def save_function(f: FunctionType) -> Any:
    return [cell.cell_contents for cell in f.__closure__ or ()]


def load_function(f: FunctionType, state: Any) -> None:
    for cell, value in zip(f.__closure__ or (), state, strict=True):
        cell.cell_contents = value


def save_lock(a: Any) -> bool:
    """Whether an array is writeable; each write records its contents."""
    return bool(a.flags.num & WRITEABLE)


def load_lock(a: Any, state: bool) -> None:
    if state != save_lock(a):
        a.setflags(write=state)


def state_functions(x: Any) -> Any:
    """The functions that save and load the state of `x`."""
    if isinstance(x, list):
        return save_list, load_list
    if isinstance(x, dict):
        return save_dict, load_dict
    if isinstance(x, set | bytearray):
        return (save_set, load_set) if isinstance(x, set) else (bytes, load_bytes)
    if isinstance(x, FunctionType):
        return save_function, load_function
    if isinstance(x, array.array):
        return save_array, load_array
    if isinstance(x, deque):
        return save_deque, load_deque
    if isinstance(x, np.ndarray):
        return save_lock, load_lock
    return save_object, load_object


def written_by(changes: list[Any]) -> set[int]:
    """The ids of the owners of memory that tape entries wrote to."""
    written = {id(owner_of(e.dest)) for e in changes if hasattr(e, "dest")}
    for entry in changes:
        written |= getattr(entry, "written", frozenset())
    return written


def written_to(changes: list[Any]) -> set[int]:
    """The ids of everything that tape entries changed, arrays by their owners."""
    ids = written_by(changes)
    for entry in changes:
        ids |= {id(getattr(entry, name, None)) for name in ("owner", "target")}
    return ids - {id(None)}
