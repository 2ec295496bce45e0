"""The key of a callable, and the mapping of a call onto it.

A plain function, builtin or ufunc is its own key; `Class.method` and
`Class.__call__` are keys for bound methods and callable instances; a class is the key
of its constructor; `functools.partial` and primitives are unwrapped.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

__all__ = [
    "Target",
    "describe",
    "is_fleeting",
    "is_method_key",
    "is_ufunc",
    "is_ufunc_method",
    "owner_of",
    "target_of",
]


class Target(NamedTuple):
    """A callable, resolved: the rule key and the instance it is bound to."""

    key: Any
    bound: bool = False
    instance: Any = None


def is_ufunc(f: Any) -> bool:
    """Whether `f` is a NumPy ufunc."""
    cls = type(f)  # a Mock has every attribute
    return hasattr(cls, "nin") and hasattr(cls, "ntypes")


def is_ufunc_method(f: Any) -> bool:
    """Whether `f` is a ufunc method, `np.add.reduce`: its own key if registered.

    For all ufuncs together the key is `np.ufunc.reduce`, with the ufunc as instance.
    """
    return isinstance(f, BuiltinFunctionType) and is_ufunc(f.__self__)


def _of_builtin(f: Any) -> Target:
    owner = f.__self__
    if owner is None or isinstance(owner, ModuleType):
        return Target(f)
    if isinstance(owner, type):  # a classmethod such as dict.fromkeys
        return Target(f)
    method = getattr(type(owner), f.__name__, None)
    return Target(f) if method is None else Target(method, True, owner)


def _of_instance(f: Any) -> Target:
    bodies = (vars(base) for base in type(f).__mro__)
    call = next((body["__call__"] for body in bodies if "__call__" in body), None)
    if isinstance(call, staticmethod):
        return Target(call.__func__)
    if isinstance(call, classmethod):
        return Target(call.__func__, True, type(f))
    # Whether the key of a call in C is a key of its own or the instance itself (as for
    # a ufunc), the tables decide.
    return Target(f) if call is None else Target(call, True, f)


def target_of(f: Any) -> Target:
    """The rule key of a callable; partials and primitives must be unwrapped first."""
    if isinstance(f, (FunctionType, type)):
        return Target(f)
    if isinstance(f, MethodType):
        return Target(f.__func__, True, f.__self__)
    if isinstance(f, (BuiltinFunctionType, MethodWrapperType)):
        return _of_builtin(f)
    return _of_instance(f)


def _defining_class(f: Any) -> Any:
    """The class whose body contains `f`, if it can be reached by name."""
    owner: Any = sys.modules.get(getattr(f, "__module__", None) or "")
    for name in f.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name, None)
    return owner


def is_method_key(key: Any) -> bool:
    """Whether `key` is an instance method, so that its first argument is `self`.

    A static method is a plain function inside a class. For a class that cannot be
    reached by name (local to a function) a first parameter `self` or `cls` decides; for
    other names, the garbage collector knows the class that holds the function.
    """
    if isinstance(key, (MethodDescriptorType, WrapperDescriptorType)):
        return True
    path = getattr(key, "__qualname__", None)
    if not isinstance(path, str) or isinstance(key, type):
        return False
    outer, _, name = path.rpartition(".")
    if not outer or outer.endswith("<locals>"):
        return False
    cls = None if "<locals>" in outer else _defining_class(key)
    if isinstance(cls, type) and name in vars(cls):
        return not isinstance(vars(cls)[name], staticmethod)
    # A decorated method (`lru_cache`, `jit`) may not be a Python function.
    code = getattr(getattr(key, "__wrapped__", key), "__code__", None)
    if code is None:
        return False
    if code.co_argcount == 0:
        return False
    return code.co_varnames[0] in ("self", "cls") or _stands_in_a_class(key, name)


def _stands_in_a_class(f: Any, name: str) -> bool:
    """Whether a class body contains this function itself, not a static method."""
    return any(
        type(holder) is dict and holder.get(name) is f and "__module__" in holder
        for holder in gc.get_referrers(f)
    )


def is_fleeting(key: Any) -> bool:
    """Whether `functools` creates such a function anew at each read."""
    made = getattr(getattr(key, "__code__", None), "co_qualname", "")
    return made.startswith(("partialmethod.", "singledispatchmethod."))


def owner_of(key: Any) -> Any:
    """The object with the module of a key: a method's class, the ufunc of `reduce`."""
    if is_ufunc_method(key):
        return key.__self__
    if type(key) is BuiltinFunctionType and getattr(key, "__module__", None) is None:
        own = key.__self__  # the object to which it is bound
        return own if isinstance(own, type) else type(own)
    return getattr(key, "__objclass__", key)


def describe(f: Any) -> str:
    """A callable's name for messages."""
    if isinstance(f, partial):
        return f"partial({describe(f.func)})"
    if hasattr(type(f), "static_argnames"):  # a primitive
        return describe(f.fun)
    if is_ufunc_method(f):
        return f"{f.__self__.__name__}.{f.__name__}"
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    return name if isinstance(name, str) else type(f).__qualname__
