"""Objects that pullbacks capture: what is in them, and how to make them again."""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import count
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

__all__ = [
    "ATOMS",
    "captured",
    "hides_tensor",
    "reaches_tensor",
    "take_apart",
    "unchanged",
]

ATOMS = frozenset(
    (
        bool, bytes, complex, float, int, range, slice, str, type, type(None),
        type(Ellipsis), type(NotImplemented), BuiltinFunctionType, ModuleType,
        torch.device, torch.dtype, torch.layout, torch.Size, torch.SymBool,
        torch.SymFloat, torch.SymInt, rc.Primitive,
        rc.NoTangent, rc.NotImplementedTangent, rc.RuleConfig, rc.ZeroTangent,
        # What `inspect` finds out about a ufunc stays in it: numbers that are no state.
        *((sys.modules["numpy"].ufunc,) if "numpy" in sys.modules else ()),
    )
)  # fmt: skip
_REACH = 10_000


def captured(function: FunctionType) -> list[Any]:
    """What a closure captures; the cells themselves where one is not filled yet."""
    cells = function.__closure__ or ()
    try:
        return [cell.cell_contents for cell in cells]
    except ValueError:
        return list(cells)


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
    return _reduced(value) or _remade(value)


def unchanged(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """`take_apart` of what may be written to later; None for everything else."""
    cls = type(value)
    if cls in (list, set, dict):
        return take_apart(value)
    fields = getattr(value, "__dict__", None)
    if type(fields) is not dict or cls.__module__ == "builtins":
        return None
    if callable(value) and _is_of_c(cls):  # a function of C code, with its attributes
        return None
    names = list(fields)

    def make(*items: Any) -> Any:
        made = copy(value)
        made.__dict__.clear()
        made.__dict__.update(zip(names, items, strict=True))
        return made

    return make, list(fields.values())


def _reduced(value: Any) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """As its class says that it is made again: Python's protocol of pickling."""
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
        if id(value) in seen or type(value) in ATOMS or isinstance(value, type):
            continue
        seen.add(id(value))
        queue.extend(_referents(value))
    return False


def _referents(value: Any) -> Iterable[Any]:
    if isinstance(value, FunctionType):  # its globals are constants to us
        return [*captured(value), value.__defaults__, value.__kwdefaults__]
    return gc.get_referents(value)
