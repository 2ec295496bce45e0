"""Objects that pullbacks capture: what is in them, and how to make them again."""

from __future__ import annotations

import dis
import gc
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import lru_cache, partial
from itertools import count
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

import torch
from torch import Tensor

import rules_core as rc
from rules_core.extend import ATTRIBUTE, Location

__all__ = [
    "ATOMS",
    "attributes_of",
    "captured",
    "fixed",
    "hides_tensor",
    "is_atom",
    "is_constant",
    "reaches_tensor",
    "stored_variables",
    "take_apart",
    "writable",
]

ATOMS = frozenset(
    (
        bool, bytes, complex, float, int, range, slice, str, type(None),
        type(Ellipsis), type(NotImplemented), BuiltinFunctionType, ModuleType,
        torch.device, torch.dtype, torch.layout, torch.Size, torch.SymBool,
        torch.SymFloat, torch.SymInt, rc.Primitive,
        rc.NoTangent, rc.NotImplementedTangent, rc.ProjectTo, rc.RuleConfig,
        rc.ZeroTangent, Location,
        # What `inspect` finds out about a ufunc stays in it: numbers that are no state.
        *((sys.modules["numpy"].ufunc,) if "numpy" in sys.modules else ()),
    )
)  # fmt: skip
_REACH = 10_000
_CONTAINERS = (list, dict, set, deque)
_COLLECTIONS = (OrderedDict, defaultdict, deque)
_FIXED = (tuple, partial, MethodType, rc.Pullback)


def is_atom(value: Any) -> bool:
    """Whether there is nothing to look for in a value.

    Classes are constants, but for those that a function defines: their methods may
    capture what that function was given.
    """
    if isinstance(value, type):
        return "<locals>" not in value.__qualname__
    return type(value) in ATOMS


def is_constant(value: Any) -> bool:
    """Whether the class of a value declares that it holds nothing to differentiate."""
    hook = getattr(type(value), "__tangent_structure__", None)
    return hook is not None and hook(value) is None


def captured(function: FunctionType) -> list[Any]:
    """Captured values of a closure; the cells themselves if one is not filled yet."""
    cells = function.__closure__ or ()
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:
        return list(cells)


def attributes_of(function: FunctionType) -> dict[str, Any]:
    """Attributes of a function, without the table of its rules, which is no state."""
    own = function.__dict__
    if ATTRIBUTE not in own:
        return own
    return {name: x for name, x in own.items() if name != ATTRIBUTE}


def take_apart(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """`(make, parts)` with `make(*parts)` a copy of `value`; None for the unknown."""
    cls = type(value)
    if cls in (tuple, list, set, frozenset):
        return (lambda *items: cls(items)), list(value)
    if cls is dict:
        keys = list(value)
        values = list(value.values())
        return (lambda *items: dict(zip(keys, items, strict=True))), values
    named = isinstance(value, tuple) and hasattr(cls, "_make")
    if named and not hasattr(value, "__dict__"):
        return cls, list(value)
    if cls is rc.Pullback:
        return rc.Pullback, [value.fn, *value.residuals]
    if cls is partial:
        keys = list(value.keywords)
        n = len(value.args) + 1
        return (
            lambda *items: partial(
                *items[:n], **dict(zip(keys, items[n:], strict=True))
            ),
            [value.func, *value.args, *value.keywords.values()],
        )
    if cls is MethodType:
        return MethodType, [value.__func__, value.__self__]
    if cls in _COLLECTIONS:
        parts = writable(value)
        return None if parts is None or _hides_something(value, parts[1]) else parts
    return _reduced(value) or _remade(value)


def writable(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """`(make, parts)` as it is now, of what may be written to; None for all else."""
    cls = type(value)
    if cls in (list, set, dict):
        return take_apart(value)
    base = next((base for base in _CONTAINERS if isinstance(value, base)), None)
    state = _state(value)
    if base is None and state is None:
        return None
    keys = list(value) if base is dict else []
    entries = list(value.values() if base is dict else value) if base else []
    slots, fields = state or ({}, {})
    counts = [len(entries), len(slots)]

    def make(*items: Any) -> Any:
        parts = iter(items)
        held, slotted = ([next(parts) for _ in range(count)] for count in counts)
        made = copy(value) if base or _is_of_c(cls) else object.__new__(cls)
        if base:
            made.clear()
            fill = made.update if base in (dict, set) else made.extend
            fill(zip(keys, held, strict=True) if base is dict else held)
        for name in _slots(cls):
            if hasattr(made, name):
                object.__delattr__(made, name)
        for name, item in zip(slots, slotted, strict=True):
            object.__setattr__(made, name, item)
        if fields or hasattr(made, "__dict__"):
            made.__dict__.clear()
            made.__dict__.update(zip(fields, parts, strict=True))
        return made

    return make, [*entries, *slots.values(), *fields.values()]


def _state(value: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Slots and attributes of an object; None where it can have none."""
    cls = type(value)
    fields = getattr(value, "__dict__", None)
    slots = list(_slots(cls))
    if cls.__module__ == "builtins" or (type(fields) is not dict and not slots):
        return None
    if callable(value) and _is_of_c(cls):  # a function of C code, with its attributes
        return None
    filled = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return filled, dict(fields) if type(fields) is dict else {}


def fixed(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """`take_apart` of what is not written to itself, but may hold what is."""
    return take_apart(value) if isinstance(value, _FIXED) else None


@lru_cache(maxsize=1024)
def stored_variables(code: CodeType) -> frozenset[str]:
    """The variables of an outer function that code, or code inside of it, assigns."""
    stored = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("STORE_DEREF", "DELETE_DEREF")
    }
    inner = [stored_variables(c) for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(stored.union(*inner).intersection(code.co_freevars))


def _reduced(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """The parts of an instance by Python's protocol of pickling."""
    if not isinstance(type(value).__reduce__, FunctionType):
        return None
    found = value.__reduce__()
    return found if isinstance(found, tuple) and len(found) == 2 else None


def _remade(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    fields = _attributes(value)
    if fields is None:
        return None
    cls = type(value)

    def make(*items: Any) -> Any:
        made = object.__new__(cls)
        for name, item in zip(fields, items, strict=True):
            object.__setattr__(made, name, item)
        return made

    return make, list(fields.values())


def _attributes(value: Any) -> dict[str, Any] | None:
    """Fields and slots of an object whose class is written in Python, else None."""
    names = [name for name in _slots(type(value)) if hasattr(value, name)]
    fields = {name: getattr(value, name) for name in names}
    fields.update(getattr(value, "__dict__", {}))
    if not fields or _hides_something(value, fields.values()):
        return None
    return None if _is_of_c(type(value)) else fields


def _is_of_c(cls: type) -> bool:
    """Whether a class is written in C: such a one makes its instances itself."""
    try:
        object.__new__(cls)
    except TypeError:
        return True
    return False


def _slots(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                yield f"_{base.__name__.lstrip('_')}{name}" if private else name


def _hides_something(value: Any, known: Iterable[Any]) -> bool:
    """Whether `value` refers to more than its class and its attributes (list items)."""
    ids = {id(part) for part in known}
    ids.update((id(type(value)), id(getattr(value, "__dict__", None))))
    return any(
        id(part) not in ids and hides_tensor(part) for part in gc.get_referents(value)
    )


def reaches_tensor(root: Any, leaf: Any = Tensor) -> bool:
    """Whether a tensor (or NumPy array) can be reached; True where it may take long."""
    return _reaches(root, leaf, _REACH)


def hides_tensor(root: Any, leaf: Any = Tensor) -> bool:
    """Whether a tensor is reached from an object, however much there is to look at."""
    return _reaches(root, leaf, sys.maxsize)


def _reaches(root: Any, leaf: Any, most: int) -> bool:
    queue = deque([root])
    seen: set[int] = set()
    for _ in count():
        if not queue:
            return False
        value = queue.popleft()
        if isinstance(value, leaf) or len(seen) > most:
            return True
        if id(value) in seen or is_atom(value):
            continue
        if isinstance(value, type) and leaf is not Tensor:  # numbers there are no state
            continue
        seen.add(id(value))
        queue.extend(_referents(value))
    return False


def _referents(value: Any) -> Iterable[Any]:
    if isinstance(value, FunctionType):  # its globals are constants to us
        own = (value.__defaults__, value.__kwdefaults__, *attributes_of(value).values())
        return [*captured(value), *own]
    return gc.get_referents(value)
