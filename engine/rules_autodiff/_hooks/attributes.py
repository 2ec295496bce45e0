"""Hooks of attributes: whose Python code is asked where one is read, set or deleted."""

from types import FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from rules_autodiff._own_rules.own_rule import imag, real
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.methods import (
    answers,
    class_attribute,
    descriptor,
    has,
    is_generated,
    own_descriptor,
    python_method,
)
from rules_autodiff._python.opaque import is_opaque
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.assigned_shapes import check_form
from rules_autodiff._shadows.memory import owner_of
from rules_autodiff._shadows.saved_state import own_dict, read_attribute
from rules_core.extend import class_in_program

from .array_flags import changing_flags, flags_of
from .buffers import export, is_lent
from .flat_iterators import flat_setitem
from .identity import base_of, flag_of
from .interface import Hooks

__all__ = [
    "FLAGS",
    "delete_attribute",
    "get_attribute",
    "own_delattr",
    "own_getattr",
    "own_store_attr",
    "store_attribute",
]

# Of a function that lifted code made they are not what the program's text says.
PARTS = frozenset({"__closure__", "__code__"})
FLAGS = type(np.zeros(1).flags)
FORM = frozenset({"shape", "strides", "dtype", "data"})  # of an array


# Attributes of arrays that give out their memory.
BUFFERS = frozenset({"data", "ctypes", "__array_interface__", "__array_struct__"})
# Attributes of an array that are views of it, or carry no derivative.
VIEWS_AND_FACTS = frozenset({"T", "mT", "dtype", "ndim", "shape", "size"})


def get_attribute(run: Hooks, owner: Any, name: str) -> Any:
    cls = type(owner)
    if cls is ModuleType or (cls is np.ndarray and name in VIEWS_AND_FACTS):
        return getattr(owner, name)
    if name == "__class__":
        return class_in_program(owner)
    if isinstance(owner, np.ndarray | float | complex | np.generic) and not answers(
        cls, name
    ):
        return number_attribute(run, owner, name)
    if cls is FLAGS and not name.startswith("_"):
        return flag_of(run, owner, name)
    if type(cls.__getattribute__) is FunctionType:
        return run.call(cls.__getattribute__, owner, name)
    if isinstance(owner, type):
        return class_getattr(run, owner, name)
    if cls is FunctionType and name in PARTS and is_lifted(owner):
        refused("taken apart", name)
    if cls is FrameType and name == "f_locals":
        refused("frame")
    if cls is super:
        return super_getattr(run, owner, name)
    fallback = getattr(cls, "__getattr__", None)
    if type(fallback) is not FunctionType:
        return own_getattr(run, owner, name, getattr)
    try:
        return own_getattr(run, owner, name, object.__getattribute__)
    except AttributeError:
        return run.call(fallback, owner, name)


def own_getattr(run: Hooks, owner: Any, name: str, read: Any) -> Any:
    """An attribute without the class's `__getattr__` and `__getattribute__`."""
    cls = type(owner)
    found = descriptor(cls, name)
    if found is None:
        return read(owner, name)
    return descriptor_value(run, found, owner, name, cls)


def super_getattr(run: Hooks, owner: Any, name: str) -> Any:
    """`super().name`: what the classes after the present one say."""
    instance, cls = owner.__self__, owner.__self_class__
    after = cls.__mro__[cls.__mro__.index(owner.__thisclass__) + 1 :]
    raw = next((vars(base)[name] for base in after if name in vars(base)), None)
    found = own_descriptor(raw)
    if found is None:
        return getattr(owner, name)
    if instance is not cls:
        return descriptor_value(run, found, instance, name, cls)
    return run.call(type(found).__get__, found, None, cls)


def class_getattr(run: Hooks, owner: type, name: str) -> Any:
    """`Class.name`, which its metaclass or a descriptor may answer."""
    meta = type(owner)
    if meta is not type:
        found = descriptor(meta, name)
        if found is not None:
            return descriptor_value(run, found, owner, name, meta)
        fallback = python_method(meta, "__getattr__")
        if fallback is not None and not has(owner, name):
            return run.call(fallback, owner, name)
    found = class_attribute(owner, name)
    getter = python_method(type(found), "__get__")
    if getter is not None and not is_opaque(getter):
        return run.call(getter, found, None, owner)
    return getattr(owner, name)


def descriptor_value(run: Hooks, found: Any, owner: Any, name: str, cls: Any) -> Any:
    """The value of a property, of a cached one, or of a descriptor in Python."""
    if isinstance(found, property) and type(found).__get__ is property.__get__:
        return run.call(found.fget, owner)
    data = hasattr(type(found), "__set__")
    if not data and name in getattr(owner, "__dict__", ()):
        return owner.__dict__[name]
    if type(found).__module__ == "functools":  # cached_property
        value = run.call(found.func, owner)
        run.note_attribute(owner, name)
        owner.__dict__[name] = value
        return value
    return run.call(type(found).__get__, found, owner, cls)


def store_attribute(run: Hooks, value: Any, owner: Any, name: str) -> None:
    cls = type(owner)
    if isinstance(owner, np.ndarray) and not answers(cls, name):
        store_array_attr(run, value, owner, name)
        return
    if cls is FLAGS:
        changing_flags(run, owner)
        setattr(owner, name, value)
        return
    if type(cls.__setattr__) is FunctionType and not is_generated(cls.__setattr__):
        run.call(cls.__setattr__, owner, name, value)
        return
    own_store_attr(run, value, owner, name, setattr)


def own_store_attr(run: Hooks, value: Any, owner: Any, name: str, store: Any) -> None:
    """Set an attribute without the class's `__setattr__`."""
    cls = type(owner)
    found = class_attribute(cls, name)
    if type(getattr(type(found), "__set__", None)) is FunctionType:
        run.call(type(found).__set__, found, owner, value)
    elif isinstance(found, property) and found.fset is not None:
        run.call(found.fset, owner, value)
    else:
        run.note_attribute(owner, name)
        store(owner, name, value)
        if read_attribute(owner, name) is not value and run.is_active(value):
            refused("attribute", cls.__name__, name)


def store_array_attr(run: Hooks, value: Any, owner: Any, name: str) -> None:
    """`a.flat = v`, `a.real = v` and `a.imag = v` are writes into a view."""
    if name in ("real", "imag"):
        run.write(getattr(owner, name), Ellipsis, value)
    elif name == "flat":
        flat_setitem(run, owner.flat, slice(None), value)
    else:
        if name in FORM and run.is_active(owner):
            check_form(run, owner, name)
            run.reshape_in_place(owner, value)
            return
        run.note_attribute(owner, name)
        setattr(owner, name, value)


def delete_attribute(run: Hooks, owner: Any, name: str) -> None:
    method = type(owner).__delattr__
    if type(method) is FunctionType and not is_generated(method):
        run.call(method, owner, name)
    else:
        own_delattr(run, owner, name, delattr)


def own_delattr(run: Hooks, owner: Any, name: str, delete: Any) -> None:
    """Delete an attribute without the class's `__delattr__`."""
    found = class_attribute(type(owner), name)
    if type(getattr(type(found), "__delete__", None)) is FunctionType:
        run.call(type(found).__delete__, found, owner)
    elif isinstance(found, property) and found.fdel is not None:
        run.call(found.fdel, owner)
    else:
        if type(own := own_dict(owner)) is dict:
            run.changing(own)  # whose order comes back as well
        run.note_attribute(owner, name)
        delete(owner, name)


def number_attribute(run: Hooks, x: Any, name: str) -> Any:
    if isinstance(x, np.ndarray):
        if name == "flat":
            return x.flat
        if name == "base":
            return base_of(run, x, given=is_lent(run, x))
        if name == "flags":
            return flags_of(run, x)
        if name in BUFFERS:
            export(run, x, f"ndarray.{name}")
        found = getattr(x, name)
        if isinstance(found, np.ndarray) and owner_of(found) is not owner_of(x):
            return core_attribute(run, x, name)
        return found
    if name in ("real", "imag") and run.slot(x) is not None:
        return core_attribute(run, x, name)
    if name in BUFFERS and run.slot(x) is not None:
        refused("exported", f"{type(x).__name__}.{name}")
    return getattr(x, name)


def core_attribute(run: Hooks, x: Any, name: str) -> Any:
    return run.core({"real": real, "imag": imag}[name], (x,))
