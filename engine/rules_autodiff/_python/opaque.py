"""Opaque functions, which the engine does not lift, and the harmless ones among them.

NumPy, SciPy and the standard library are opaque: their public functions have rules.
Functions that only move objects (`list`, `sorted`, `zip`) need no rule, because the
engine identifies a number by its object.
"""

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
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import WeakSet

import numpy as np

from rules_core.extend import COMPILERS, LIFTED_STANDARD, OPAQUE, OWN

from .values import INERT

__all__ = [
    "DECLARED",
    "LIFTED_STANDARD",
    "MOVERS",
    "OWN",
    "is_followed",
    "is_opaque",
    "is_opaque_module",
    "is_stream",
    "is_transparent",
    "method_in_c",
    "root_of",
]


def root_of(f: Any) -> str:
    """The top-level module of a function, by its globals if it has them."""
    if isinstance(f, FunctionType):
        name = f.__globals__.get("__name__", "")
        return str(name).partition(".")[0]
    name = getattr(f, "__module__", None) or ""
    if not name and isinstance(f, np.ufunc) and getattr(np, f.__name__, None) is f:
        return "numpy"  # the ufuncs of NumPy 2.1 have no module
    return str(name).partition(".")[0]


def is_opaque_module(name: str) -> bool:
    """Whether the functions of a module are opaque."""
    return name.partition(".")[0] in OPAQUE and not name.startswith(FOLLOWED)


# Modules of NumPy in plain Python, which are lifted; the second has `poly1d`.
FOLLOWED = ("numpy.polynomial.", "numpy.lib._polynomial_impl")

# Functions elsewhere that they call.
HELPERS = frozenset({"_to_real_if_imag_zero"})


def is_followed(f: Any) -> bool:
    """Whether a function that NumPy wrapped in C is one of those modules."""
    name = getattr(f, "__module__", None) or ""
    return name.startswith(FOLLOWED) and hasattr(f, "__wrapped__")


# Functions that users declared opaque.
DECLARED: WeakSet[Any] = WeakSet()


def is_opaque(f: Any) -> bool:
    """Whether a function is not lifted."""
    if not isinstance(f, FunctionType) or f in DECLARED:
        return True
    name = str(f.__globals__.get("__name__", ""))
    closed = is_opaque_module(name) and f.__name__ not in HELPERS
    return closed or name.partition(".")[0] in COMPILERS


def is_transparent(f: Any) -> bool:
    """Whether a function without a rule only moves its arguments.

    Methods of containers, iterators and similar: their results are among the arguments,
    or are not numbers.
    """
    if isinstance(f, BuiltinFunctionType):
        owner = f.__self__
        if isinstance(owner, type):
            holds = owner is object or issubclass(owner, HOLDERS)
            return holds and f.__name__ in MAKING
        return isinstance(owner, MOVERS) or type(owner).__name__ in MOVER_NAMES
    if isinstance(f, MethodDescriptorType):
        return issubclass(f.__objclass__, MOVERS)
    if isinstance(f, WrapperDescriptorType):  # such as `list.__iter__`
        return issubclass(f.__objclass__, HOLDERS) and f.__name__ in HANDING
    return False


MOVERS = (
    list, tuple, dict, str, frozenset, int, deque, defaultdict, OrderedDict,
    ChainMap, Counter, UserDict, UserList, range, slice, type, BaseException,
)  # fmt: skip
# Classes whose class methods store their arguments in the result.
HOLDERS = (
    list, tuple, dict, frozenset, set, deque, type, BaseException, range, slice,
)  # fmt: skip
MAKING = frozenset({
    "__new__", "__init_subclass__", "__subclasshook__", "__class_getitem__",
    "__prepare__", "fromkeys", "mro", "__subclasses__",
})  # fmt: skip
# Their operators that return contents, and iterate over nothing else.
HANDING = frozenset({
    "__iter__", "__getitem__", "__len__", "__add__", "__mul__", "__rmul__",
})  # fmt: skip
MOVER_NAMES = frozenset({
    "generator", "zip", "map", "filter", "enumerate", "reversed", "dict_items",
    "dict_keys", "dict_values", "mappingproxy",
})  # fmt: skip


def method_in_c(f: Any) -> Any:
    """The method of which a function in C is bound to an instance, or None."""
    owner = f.__self__ if isinstance(f, BuiltinFunctionType) else None
    if owner is None or isinstance(owner, (type, ModuleType)) or is_transparent(f):
        return None
    method = getattr(type(owner), f.__name__, None)
    return method if isinstance(method, MethodDescriptorType) else None


def is_stream(x: Any) -> bool:
    """Whether a value is a builtin iterator or view: its contents are hidden.

    C code would read numbers from it unseen; a list can be searched.
    """
    cls = type(x)
    streams = cls.__module__ in ("builtins", "itertools")
    if not streams or cls in INERT or cls is np.ndarray:
        return False
    return hasattr(cls, "__next__") or cls.__name__ in ("dict_values", "dict_items")
