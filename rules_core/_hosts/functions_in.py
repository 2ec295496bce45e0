"""The functions of a program in a value."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from rules_core._base.arrays import is_array_type
from rules_core._base.opaque_modules import COMPILERS, OURS, is_closed, root_of
from rules_core._primitives.primitive import Primitive
from rules_core._tangents.structure import structure

__all__ = ["PLAIN", "functions_in"]

CALLED = (FunctionType, MethodType, partial)
PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), type(Ellipsis)})


def functions_in(x: Any) -> Iterator[Any]:
    """The functions of a program in a value, each once."""
    seen: dict[int, Any] = {}  # which keeps alive what was made for this walk
    ends = [x]
    while ends:
        x = ends.pop()
        if type(x) in PLAIN or is_array_type(type(x)) or id(x) in seen:
            continue
        seen[id(x)] = x
        if isinstance(x, Primitive):
            x = x.fun
        if root_of(type(x)) in COMPILERS:
            continue
        if is_function(x):
            yield x
        elif not isinstance(x, type):
            level = structure(x)
            ends.extend(() if level is None else reversed(level.values))
            ends.append(getattr(x, "captured_function", None))


def is_function(x: Any) -> bool:
    """Whether a value is called as a function of a program, or makes its instances."""
    if isinstance(x, CALLED):
        return True
    if isinstance(x, type):
        return not is_closed(root_of(x))
    return callable(x) and root_of(type(x)) not in OURS
