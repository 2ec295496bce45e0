"""The functions of a program in a value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from rules_core._base.arrays import is_array_type
from rules_core._base.opaque_modules import OURS, is_closed, root_of
from rules_core._primitives.primitive import Primitive
from rules_core._tangents.structure import structure

__all__ = ["PLAIN", "functions_in"]

CALLED = (FunctionType, MethodType, partial)
PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), type(Ellipsis)})
# Containers in containers that are searched.
DEEPEST = 20


def functions_in(x: Any, depth: int = 0) -> Iterator[Any]:
    """The functions of a program in a value."""
    if type(x) in PLAIN or is_array_type(type(x)) or depth > DEEPEST:
        return
    if isinstance(x, Primitive):
        x = x.fun
    if isinstance(x, CALLED):
        yield x
        return
    if isinstance(x, type):
        if not is_closed(root_of(x)):
            yield x
        return
    if callable(x) and root_of(type(x)) not in OURS:
        yield x
        return
    if (function := getattr(x, "captured_function", None)) is not None:
        yield from functions_in(function, depth + 1)
    level = structure(x)
    for entry in () if level is None else level.values:
        yield from functions_in(entry, depth + 1)
