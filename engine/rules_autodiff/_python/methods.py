"""Attributes and special methods of a program's classes."""

from types import FunctionType
from typing import Any

import numpy as np

from .opaque import is_opaque

__all__ = [
    "answers",
    "class_attribute",
    "descriptor",
    "has",
    "has_items",
    "is_generated",
    "key_of_builtin",
    "own_descriptor",
    "python_method",
    "users_method",
]


def has(cls: Any, name: str) -> bool:
    """Whether a class has an attribute, without its metaclass's `__getattr__`."""
    return any(name in vars(base) for base in (*cls.__mro__, *type(cls).__mro__))


def class_attribute(cls: Any, name: str) -> Any:
    """The class's own entry for an attribute, bases included."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def has_items(x: Any) -> bool:
    """Whether Python iterates over a value; a NumPy scalar has no items."""
    cls = type(x)
    if hasattr(cls, "__iter__"):
        return True
    return hasattr(cls, "__getitem__") and not issubclass(cls, np.generic)


def descriptor(cls: Any, name: str) -> Any:
    """A property or a descriptor written in Python, or None."""
    return own_descriptor(class_attribute(cls, name))


def own_descriptor(found: Any) -> Any:
    """The class's entry for an attribute, if Python code reads it."""
    if found is None or isinstance(found, FunctionType):
        return None
    getter = getattr(type(found), "__get__", None)
    if type(getter) is not FunctionType:
        is_read = isinstance(found, property) and found.fget is not None
        return found if is_read else None
    cached = type(found).__name__ == "cached_property"
    opaque = type(found).__module__.partition(".")[0] in ("functools", "enum", "abc")
    return found if cached or not opaque else None


def answers(cls: Any, name: str) -> bool:
    """Whether Python code gives an attribute of a user's class of arrays or numbers."""
    if cls.__module__ in ("numpy", "builtins"):
        return False
    by_getattr = python_method(cls, "__getattr__") is not None and not has(cls, name)
    return by_getattr or descriptor(cls, name) is not None


def python_method(cls: Any, name: str) -> FunctionType | None:
    """A special method of a class, if a user wrote it in Python."""
    method = class_attribute(cls, name)
    if isinstance(method, FunctionType) and not is_standard(method):
        return method
    return None


def users_method(x: Any, *names: str) -> FunctionType | None:
    """The first of these special methods that a user wrote in a class."""
    for name in names:
        entry = class_attribute(type(x), name)
        if entry is None or entry is getattr(object, name, None):
            continue
        method = entry if isinstance(entry, FunctionType) else None
        harmless = method is None or is_opaque(method) or is_generated(method)
        return None if harmless else method
    return None


def is_standard(f: FunctionType) -> bool:
    return f.__module__ in ("types", "enum", "os")


def is_generated(f: FunctionType) -> bool:
    """Whether `dataclass` or `namedtuple` generated a method: it only stores."""
    return f.__code__.co_filename == "<string>"


CLASS_METHOD = type(vars(dict)["fromkeys"])  # of C classes


def key_of_builtin(f: Any) -> Any:
    """`list.append` for `[].append`: the method of a bound builtin."""
    owner = f.__self__
    if owner is None:
        return None
    if isinstance(owner, type):
        entries = (vars(base).get(f.__name__) for base in owner.__mro__)
        return next((x for x in entries if type(x) is CLASS_METHOD), None)
    method: Any = getattr(type(owner), f.__name__, None)
    if type(method) is not FunctionType:
        return method
    every = (vars(base).get(f.__name__) for base in type(owner).__mro__)
    of_c = (x for x in every if x is not None and type(x) is not FunctionType)
    return next((x for x in of_c if x.__get__(owner) == f), None)  # super().append
