"""Values inside objects that are no containers for derivatives.

`structure` shows the entries that have tangents. What else an object holds (the entries
of an iterator, attributes of an exception or of a subclass of list, the object of a
weak reference) has none.
"""

import gc
import sys
from collections import deque
from contextvars import ContextVar
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any
from weakref import ref

import numpy as np

from rules_core import structure

from .opaque import OWN, is_opaque_module
from .values import INERT, is_number

__all__ = ["SIMPLE", "conceals_active", "holds_active"]

# Arguments that conceal nothing; tested first.
SIMPLE = (INERT - {type, ModuleType}) | {float, np.float64, np.ndarray}
FILLED = (list, tuple, dict, deque, str, bytes, int, float, complex)
CODE = (type, ModuleType, FrameType, TracebackType, CodeType, property)
MEMBERS = (FunctionType, staticmethod, classmethod, *CODE)
# Modules whose objects reach much that is no part of a value.
FAR = frozenset({"logging", "io", "_io", "unittest", "ast", "inspect"})


def conceals_active(run: Any, values: Any) -> bool:
    """Whether values hold one with a derivative where none can be given for it."""
    ends = [(x, False) for x in values if type(x) not in SIMPLE]
    return bool(ends) and found(run, ends)


def holds_active(run: Any, x: Any) -> bool:
    """Whether a value holds one with a derivative, concealed or not."""
    return run.is_active(x) or found(run, [(x, True)])


def found(run: Any, ends: list[tuple[Any, bool]]) -> bool:
    seen: dict[tuple[int, bool], Any] = {}
    while ends:
        x, concealed = ends.pop()
        numeric = is_number(x) or isinstance(x, np.ndarray)
        if numeric and concealed and run.slot(x) is not None:
            return True
        if type(x) in SIMPLE or (id(x), concealed) in seen:
            continue
        seen[id(x), concealed] = x
        ends += [(value, concealed) for value in shown(x)]
        ends += [(value, True) for value in hidden(x)]
    return False


def shown(x: Any) -> Any:
    """The entries that have tangents; those of a set, which are refused elsewhere."""
    if type(x) in (set, frozenset):
        return x
    level = structure(x)
    return () if level is None else level.values


def hidden(x: Any) -> Any:
    """Other contents of an object."""
    cls = type(x)
    root = str(getattr(cls, "__module__", "")).partition(".")[0]
    if isinstance(x, type | ModuleType):
        return members(x)
    if root in OWN or root in FAR or isinstance(x, CODE):
        return (x.fget,) if isinstance(x, property) else ()
    if cls is FunctionType:
        return vars(x).values()
    if isinstance(x, BaseException):
        return (*x.args, *vars(x).values())
    if isinstance(x, FILLED):
        return getattr(x, "__dict__", {}).values()
    if isinstance(x, ref | ContextVar):
        return (x() if isinstance(x, ref) else x.get(None),)
    frame = getattr(x, "gi_frame", None) or getattr(x, "cr_frame", None)
    if frame is not None:
        return frame.f_locals.values()
    if cls in (set, frozenset) or root not in sys.stdlib_module_names:
        return ()
    level = structure(x)
    return gc.get_referents(x) if level is None else ()


def members(x: Any) -> Any:
    """The values among the members of a class or module, but not its code."""
    name = x.__module__ if isinstance(x, type) else x.__name__
    root = str(name).partition(".")[0]
    if root in OWN or root == "builtins" or is_opaque_module(root):
        return ()
    return [entry for entry in vars(x).values() if not isinstance(entry, MEMBERS)]
