"""Tensors that can be reached from functions and objects, by whatever way.

Closures, defaults, globals, helpers, attributes, classes, keys and weak references are
followed. The search may find more than is read, and says only where to look closely.
"""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

from .outside_reads import is_library
from .parts import attributes_of, captured
from .reads import INERT, functions_in, is_foreign, reads_of

__all__ = ["reachable"]

# A value, and the name under which it is read.
Named = tuple[Any, str]

# Instances of other classes of libraries, such as loggers, lead everywhere.
_OPEN = frozenset(
    (
        "_contextvars", "_operator", "_thread", "_weakref", "_weakrefset", "builtins",
        "collections", "contextvars", "functools", "itertools", "operator",
        "torch", "types", "weakref",
    )
)  # fmt: skip
_HOLDERS = (SimpleNamespace, rc.Pullback, rc.Tangent)
_MOST = 2000


def reachable(
    roots: Iterable[Named], package: str
) -> Iterator[tuple[Tensor | None, str]]:
    """Tensors, each with the name where it was met; None where there is too much.

    Args:
        roots: Where the search begins, each with a name.
        package: Whose classes and modules are searched even where it is installed.
    """
    queue = deque(roots)
    seen: dict[int, Any] = {}
    while queue:
        value, name = queue.popleft()
        if type(value) in INERT or id(value) in seen:
            continue
        if len(seen) > _MOST:
            yield None, name
            return
        seen[id(value)] = value
        if isinstance(value, Tensor):
            yield value, name
            queue.extend(_named(vars(value).items()))
        else:
            queue.extend(_parts(value, name, package))


def _parts(value: Any, name: str, package: str) -> Iterable[Named]:
    """Parts of a value, and values that code in it reads."""
    if isinstance(value, FunctionType):
        return _parts_of_function(value, name)
    if isinstance(value, type):
        return () if is_foreign(value.__module__, package) else reads_of(value).values()
    if isinstance(value, ModuleType):
        foreign = is_foreign(value.__name__, package)
        return () if foreign else _named(vars(value).items())
    if isinstance(value, weakref.ref):
        return [(value(), name)]
    if isinstance(value, ContextVar):
        parts = (value.get(None), *gc.get_referents(value))  # the latter: its default
        return [(part, name) for part in parts]
    if (functions := functions_in(value)) is not None:
        return [(function, name) for function in functions]
    if isinstance(value, torch.jit.ScriptModule):  # which keeps them in C code
        return [(part, name) for part in (*value.parameters(), *value.buffers())]
    return _parts_of_instance(value, name)


def _parts_of_function(function: FunctionType, name: str) -> Iterator[Named]:
    names = function.__code__.co_freevars
    yield from zip(captured(function), names, strict=True)
    yield function.__defaults__, name
    yield from _named((function.__kwdefaults__ or {}).items())
    yield from _named(attributes_of(function).items())
    yield from reads_of(function).values()


def _named(items: Iterable[tuple[str, Any]]) -> list[Named]:
    return [(value, key) for key, value in tuple(items)]


def _parts_of_instance(value: Any, name: str) -> Iterable[Named]:
    cls = type(value)
    if isinstance(value, _HOLDERS) or not is_library(cls.__module__):
        return [(part, name) for part in gc.get_referents(value)]
    package = cls.__module__.partition(".")[0]
    if package == "numpy" and getattr(
        getattr(value, "dtype", None), "hasobject", False
    ):
        return [(part, name) for part in value.flat]
    if package not in _OPEN:
        return ()
    parts = gc.get_referents(value)
    if INERT.issuperset(set(map(type, parts))):
        return ()
    return [(part, name) for part in parts]
