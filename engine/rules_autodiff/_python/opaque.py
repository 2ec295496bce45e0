"""Which functions the engine does not look into, and which of those are harmless.

NumPy, SciPy and the standard library are opaque: their rules live at their public
functions. Functions that only move objects about (`list`, `sorted`, `zip`) need no
rule, because the engine knows a number by its identity.
"""

import sys
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
)
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from .values import INERT

__all__ = [
    "LIFTED_STANDARD",
    "MOVERS",
    "OWN",
    "is_opaque",
    "is_opaque_module",
    "is_stream",
    "is_transparent",
    "root_of",
]

# Parts of the standard library that call back into user code and are plain Python.
LIFTED_STANDARD = frozenset({
    "contextlib", "functools", "dataclasses", "collections", "_collections_abc",
})  # fmt: skip
# Packages of ours: what their functions name is no value of a program.
OWN = frozenset({"rules_core", "rules_autodiff", "rules_numpy", "rules_scipy"})
OPAQUE = frozenset({
    "numpy", "scipy", "jax", "jaxlib", "torch", "pandas", "sklearn", "matplotlib",
    "pytest", "_pytest", "hypothesis", "optree", "multipledispatch",
}) | (sys.stdlib_module_names - LIFTED_STANDARD - {"__main__"})  # fmt: skip


def root_of(f: Any) -> str:
    """The top-level module of a function, by its globals where it has some."""
    if isinstance(f, FunctionType):
        name = f.__globals__.get("__name__", "")
        return str(name).partition(".")[0]
    name = getattr(f, "__module__", None) or ""
    if not name and isinstance(f, np.ufunc) and getattr(np, f.__name__, None) is f:
        return "numpy"  # the ufuncs of NumPy 2.1 have no module
    return str(name).partition(".")[0]


def is_opaque_module(name: str) -> bool:
    """Whether a module is one that the engine does not look into."""
    return name.partition(".")[0] in OPAQUE


def is_opaque(f: Any) -> bool:
    """Whether a function's own source is not looked into."""
    return not isinstance(f, FunctionType) or root_of(f) in OPAQUE


def is_transparent(f: Any) -> bool:
    """Whether a function without a rule only moves the objects that it is given.

    Methods of containers, iterators and the like: what they return is among what went
    in, or is no number.
    """
    if isinstance(f, BuiltinFunctionType):
        owner = f.__self__
        if isinstance(owner, type):
            holds = owner is object or issubclass(owner, HOLDERS)
            return holds and f.__name__ in MAKING
        return isinstance(owner, MOVERS) or type(owner).__name__ in MOVER_NAMES
    if isinstance(f, MethodDescriptorType):
        return issubclass(f.__objclass__, MOVERS)
    if isinstance(f, WrapperDescriptorType):  # as `list.__iter__`
        return issubclass(f.__objclass__, HOLDERS) and f.__name__ in HANDING
    return False


MOVERS = (
    list, tuple, dict, str, frozenset, int, deque, defaultdict, OrderedDict,
    ChainMap, Counter, UserDict, UserList, range, slice, type, BaseException,
)  # fmt: skip
# Classes whose own class methods put what they are given into what they make.
HOLDERS = (
    list, tuple, dict, frozenset, set, deque, type, BaseException, range, slice,
)  # fmt: skip
MAKING = frozenset({
    "__new__", "__init_subclass__", "__subclasshook__", "__class_getitem__",
    "__prepare__", "fromkeys", "mro", "__subclasses__",
})  # fmt: skip
# Their operators that hand out what they hold, and iterate over nothing else.
HANDING = frozenset({
    "__iter__", "__getitem__", "__len__", "__add__", "__mul__", "__rmul__",
})  # fmt: skip
MOVER_NAMES = frozenset({
    "generator", "zip", "map", "filter", "enumerate", "reversed", "dict_items",
    "dict_keys", "dict_values", "mappingproxy",
})  # fmt: skip


def is_stream(x: Any) -> bool:
    """Whether a value is a builtin iterator or view: nobody sees what it holds.

    C code would take numbers out of it unseen; a list can be searched.
    """
    cls = type(x)
    streams = cls.__module__ in ("builtins", "itertools")
    if not streams or cls in INERT or cls is np.ndarray:
        return False
    return hasattr(cls, "__next__") or cls.__name__ in ("dict_values", "dict_items")
