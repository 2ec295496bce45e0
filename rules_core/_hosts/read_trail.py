"""The look-ups of a search for what functions read: its answer holds while they do.

A search takes some 70 µs, and host functions in compiled programs are asked twice a
call. Nearly all of them meet functions, modules, numbers and arrays alone; for those it
is enough that each name still stands for the object of then.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from rules_core._base.arrays import is_array_type
from rules_core._base.opaque_modules import is_closed, root_of
from rules_core._primitives.primitive import Primitive

from .captured_variables import content
from .code_names import names_read
from .functions_in import PLAIN
from .value_facts import Facts

__all__ = ["Trail"]

_NOTHING: Final = object()
# Values that nothing changes.
_ENDS = PLAIN | {range, CodeType, type(len)}
# Attributes of functions that no code reads but ours.
_OURS = {"__rules_core__"}


class Trail:
    """Look-ups, each with what it found.

    Attributes:
        plain: Whether nothing was met that may change otherwise than by a look-up.
    """

    def __init__(self) -> None:
        self.plain = True
        self._entries: dict[tuple[int, str], tuple[Mapping[str, Any], str, Any]] = {}
        self._functions: dict[int, tuple[FunctionType, tuple[Any, ...]]] = {}
        self._arrays: dict[int, tuple[Any, Any]] = {}

    def entry(self, namespace: Mapping[str, Any], name: str) -> None:
        """Note what a name stands for, or that it stands for nothing."""
        key = id(namespace), name
        self._entries[key] = namespace, name, namespace.get(name, _NOTHING)

    def function(self, f: FunctionType) -> None:
        """Note a function's code, and what it holds."""
        self._functions[id(f)] = f, _state(f)
        read = {name for name, _ in names_read(f.__code__).variables}
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            if name not in read:  # the search does not look at it
                self.plain &= type(content(cell)) in _ENDS

    def value(self, x: Any) -> None:
        """Note a value that was met."""
        cls = type(x)
        if cls in _ENDS or cls is ModuleType or cls is Primitive:
            return
        if cls is FunctionType:
            self.plain &= vars(x).keys() <= _OURS
        elif is_array_type(cls) and cls.__module__ == "numpy" and not x.dtype.hasobject:
            self._arrays[id(x)] = x, Facts().of(x)
        elif not (cls is type and is_closed(root_of(x))):
            self.plain = False

    def holds(self) -> bool:
        """Whether every look-up finds now what it found."""
        for namespace, name, found in self._entries.values():
            if namespace.get(name, _NOTHING) is not found:
                return False
        for f, state in self._functions.values():
            now = _state(f)
            if len(now) != len(state) or any(map(_differ, now, state)):
                return False
        return all(Facts().of(x) == facts for x, facts in self._arrays.values())


def _state(f: FunctionType) -> tuple[Any, ...]:
    """What a function is made of, by parts that are compared by identity."""
    named = f.__kwdefaults__ or {}
    held = map(content, f.__closure__ or ())
    return f.__code__, f.__defaults__, *named, *named.values(), *held, *vars(f).values()


def _differ(x: Any, y: Any) -> bool:
    return x is not y
