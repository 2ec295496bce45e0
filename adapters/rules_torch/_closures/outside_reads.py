"""Reads of a body and its rules from outside: globals, closures, class attributes.

A compiler traces a primitive once and keeps what it found. Dynamo checks at every call
what it has read itself, but it does not look into a primitive. So what the code of a
primitive reads is found here, by its names, and read once more in the frame that Dynamo
traces.
"""

from __future__ import annotations

import dis
import enum
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import torch

import rules_core as rc

__all__ = ["Reader", "class_constants", "holds", "is_library", "read"]

_CONSTANTS = (
    bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device,
    enum.Enum,
)  # fmt: skip
_PACKAGES = (
    "array_api_compat", "jax", "numpy", "rules_autodiff", "rules_core", "rules_jax",
    "rules_numpy", "rules_scipy", "rules_torch", "scipy", "torch",
)  # fmt: skip
_LIBRARIES = frozenset((*_PACKAGES, *sys.stdlib_module_names)) - {"__main__"}
_LOADS = {"LOAD_GLOBAL": "global", "LOAD_NAME": "global", "LOAD_DEREF": "cell"}
_STORES = {"STORE_GLOBAL": "global", "STORE_ATTR": "attr", "STORE_DEREF": "cell"}
_ITEM_STORES = ("STORE_SUBSCR", "DELETE_SUBSCR")
_CHANGING = frozenset(
    (
        "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem",
        "remove", "setdefault", "update",
    )
)  # fmt: skip
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_TYPE_NAMES = frozenset({"format", "isinstance", "repr", "str", "type"})
_MOST, _DEEPEST = 64, 3

# How to get somewhere: by attributes and items, from a primitive.
Step = tuple[str, Any]
Path = tuple[Step, ...]
# A variable that code loads, and the attributes that it asks it for.
Load = tuple[Step, tuple[str, ...]]


class Entry(NamedTuple):
    """Something that is read.

    Attributes:
        path: Where it is.
        expected: What is there now, in constants.
        value: The object itself.
        name: The variable or attribute that it is.
    """

    path: Path
    expected: Any
    value: Any
    name: Any


class Writes:
    """Names that the code changes, as counters and logs: no call depends on them."""

    def __init__(self) -> None:
        self._names: set[tuple[str, str]] = set()
        self._containers: set[int] = set()

    def note(self, function: FunctionType, loads: list[Load]) -> None:
        """Note what a function writes to."""
        steps = [step for c in _codes(function.__code__) for step in _steps(c)]
        own = function.__code__.co_freevars
        names = {
            (_STORES[step.opname], step.argval)
            for step in steps
            if step.opname in _STORES
            and (step.opname != "STORE_DEREF" or step.argval in own)
        }
        self._names |= names
        stores = bool(names) or any(step.opname in _ITEM_STORES for step in steps)
        for (kind, name), attributes in loads:
            if stores or not _CHANGING.isdisjoint(attributes):
                found, value = _loaded(function, kind, name)
                if found:
                    self._containers.add(id(value))

    def touch(self, entry: Entry) -> bool:
        """Whether an entry may change by being called."""
        if entry.expected[0] == "entries":
            return id(entry.value) in self._containers
        return entry.name in self._names


_steps = dis.get_instructions


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _loaded(function: FunctionType, kind: str, name: str) -> tuple[bool, Any]:
    """Whether there is anything under a name, and what."""
    if kind == "global":
        return name in function.__globals__, function.__globals__.get(name)
    cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
    try:
        return True, cell.cell_contents
    except ValueError:  # not filled yet
        return False, None


class Reader:
    """Walks the functions of a primitive.

    Attributes:
        found: Paths, and what was found there, in constants.
        names: Every name that the code uses.
        typed: Whether a rule is for some types only.
    """

    def __init__(self, primitive: rc.Primitive) -> None:
        self.found: list[Entry] = []
        self.names: set[str] = set()
        self.typed = False
        self._seen: set[int] = set()
        self._writes = Writes()
        self.primitive(primitive, ())
        self.found = [entry for entry in self.found if not self._writes.touch(entry)]

    @property
    def asks_for_types(self) -> bool:
        """Whether code or a signature tells a number from what stands for one."""
        return self.typed or not self.names.isdisjoint(_TYPE_NAMES)

    def primitive(self, primitive: rc.Primitive, path: Path) -> None:
        """Its body, unless that runs in NumPy at every call, and its rules."""
        if id(primitive) in self._seen:
            return
        self._seen.add(id(primitive))
        if not primitive.host:
            self._function(primitive.fun, (*path, ("attr", "fun")))
        table = (*path, ("attr", "table"))
        for kind in ("rrule", "frule"):
            rules = (*table, ("attr", kind), ("attr", "rules"))
            own = getattr(primitive.table, kind).rules
            self.found.append(Entry(rules, ("length", len(own)), None, None))
            for i, rule in enumerate(own):
                self.typed = self.typed or _is_typed(rule)
                place = (*rules, ("item", i), ("attr", "function"))
                self._function(rule.function, place)
        shapes = primitive.table.shapes
        if shapes is not None:
            place = (*table, ("attr", "shapes"), ("attr", "function"))
            self._function(shapes.function, place)

    def _function(self, function: Any, path: Path) -> None:
        if not isinstance(function, FunctionType) or id(function) in self._seen:
            return
        self._seen.add(id(function))
        if len(self._seen) > _MOST:
            return
        self.found.append(Entry(path, ("function",), None, path[-1]))
        code = function.__code__
        if is_library(function.__module__):
            loads: list[Load] = [(("cell", name), ()) for name in code.co_freevars]
        else:
            loads = list(dict.fromkeys(_loads(code)))
            self.names.update(name for c in _codes(code) for name in c.co_names)
            self._writes.note(function, loads)
        for (kind, name), attributes in loads:
            self._load(function, path, kind, name, attributes)

    def _load(
        self,
        function: FunctionType,
        path: Path,
        kind: str,
        name: str,
        attributes: tuple[str, ...],
    ) -> None:
        """One name that the code loads, and the attributes that it asks it for."""
        is_there, value = _loaded(function, kind, name)
        if not is_there:
            return
        if kind == "global":
            steps: Path = (("attr", "__globals__"), ("item", name))
        else:
            index = function.__code__.co_freevars.index(name)
            steps = (
                ("attr", "__closure__"),
                ("item", index),
                ("attr", "cell_contents"),
            )
        self._follow(value, (*path, *steps), (kind, name), attributes)

    def _follow(
        self, value: Any, path: Path, last: Step, attributes: tuple[str, ...]
    ) -> None:
        """From a variable to what its attributes lead to."""
        for name in attributes:
            if not _is_open(value) or not _is_stored(value, name):
                break
            last = ("attr", name)
            value, path = getattr(value, name), (*path, last)
        if isinstance(value, rc.Primitive):
            self.primitive(value, path)
        elif isinstance(value, FunctionType):
            self._function(value, path)
        elif isinstance(value, MethodType):
            self._function(value.__func__, (*path, ("attr", "__func__")))
            owner = value.__self__
            self._hold(owner, (*path, ("attr", "__self__")), ("attr", "__self__"))
        else:
            self._hold(value, path, last)

    def _hold(self, value: Any, path: Path, last: Step) -> None:
        """Something that is read, as far as it is made of constants."""
        expected = None
        if not isinstance(value, (ModuleType, type)):
            expected = _expected(value, 0)
        if expected is not None:
            self.found.append(Entry(path, expected, value, last))


def _loads(code: CodeType) -> Iterator[Load]:
    """Names from outside that code loads, with the attributes asked for at once."""
    own = set(code.co_cellvars)
    load, attributes = None, []
    for step in _steps(code):
        if load is not None and step.opname in _ATTRIBUTES:
            attributes.append(step.argval)
            continue
        if load is not None:
            yield load, tuple(attributes)
        kind = _LOADS.get(step.opname)
        outer = kind is not None and not (kind == "cell" and step.argval in own)
        load = (str(kind), step.argval) if outer else None
        attributes = []
    for const in code.co_consts:
        if isinstance(const, CodeType):  # what it has from `code` is not from outside
            for (kind, name), names in _loads(const):
                if kind == "global" or name in code.co_freevars:
                    yield (kind, name), names


def _is_typed(rule: Any) -> bool:
    """Whether a rule is for some types of arguments only.

    A symbol is of no type that a rule asks for, and the rule would be passed over.
    """
    alternatives = (*rule.types, *([rule.variadic] if rule.variadic else []))
    return any(object not in classes for classes in alternatives)


def is_library(module: str | None) -> bool:
    """Whether a module is one of Python, of torch or of the packages beside them."""
    return (module or "").partition(".")[0] in _LIBRARIES


def _is_open(value: Any) -> bool:
    """Whether the attributes of a value may change between two calls."""
    if isinstance(value, ModuleType):
        return not is_library(value.__name__)
    if isinstance(value, SimpleNamespace):
        return True
    cls = value if isinstance(value, type) else type(value)
    return hasattr(value, "__dict__") and not is_library(cls.__module__)


def _is_stored(value: Any, name: str) -> bool:
    """Whether an attribute is there without any code having to run."""
    if name in vars(value):
        return True
    bases = value.__mro__ if isinstance(value, type) else type(value).__mro__
    stored = next((vars(base)[name] for base in bases if name in vars(base)), None)
    return isinstance(stored, (*_CONSTANTS, FunctionType))


def _expected(value: Any, deep: int) -> Any:
    """A value in constants, None where there are none in it."""
    if isinstance(value, _CONSTANTS):
        return ("value", value)
    if deep > _DEEPEST:
        return None
    if isinstance(value, (list, tuple)):
        return _entries("item", value, list(enumerate(value)), deep)
    if isinstance(value, dict):
        return _entries("item", value, value.items(), deep)
    if not callable(value) and not isinstance(value, type) and _is_open(value):
        own = {name: getattr(value, name) for name, _ in class_constants(type(value))}
        return _entries("attr", None, {**own, **vars(value)}.items(), deep)
    return None


def _entries(way: str, sized: Any, items: Any, deep: int) -> Any:
    if len(items) > _MOST:
        return None
    found = [
        (way, key, expected)
        for key, item in items
        if isinstance(key, (str, int, enum.Enum))
        and (expected := _expected(item, deep + 1)) is not None
    ]
    if sized is None and not found:
        return None
    return ("entries", None if sized is None else len(sized), tuple(found))


def class_constants(cls: type) -> tuple[tuple[str, Any], ...]:
    """Constants among the attributes of a class, which its methods may read."""
    if is_library(cls.__module__):
        return ()
    names = dict.fromkeys(
        name
        for base in cls.__mro__
        if not is_library(base.__module__)
        for name in vars(base)
        if not name.startswith("__")
    )
    pairs = [(name, getattr(cls, name)) for name in names if _is_stored(cls, name)]
    return tuple((n, ("value", x)) for n, x in pairs if isinstance(x, _CONSTANTS))


def read(value: Any, path: Path) -> Any:
    """The present value; traced by Dynamo."""
    for way, key in path:
        value = value[key] if way == "item" else getattr(value, key)
    return value


def holds(value: Any, expected: Any) -> bool:
    """Whether it is what was expected; traced by Dynamo, which keeps a guard of it."""
    kind = expected[0]
    if kind == "function":  # Dynamo checks that it is the one that it has seen
        return callable(value)
    if kind == "length":
        return len(value) == expected[1]
    if kind == "value":
        return bool(value == expected[1] or value != value)  # noqa: PLR0124 (NaN)
    if expected[1] is not None and len(value) != expected[1]:
        return False
    for way, key, child in expected[2]:
        item = value[key] if way == "item" else getattr(value, key)
        if not holds(item, child):
            return False
    return True
