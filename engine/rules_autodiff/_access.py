"""Hooks of access: attributes, items, iteration, unpacking and ``with``."""

import builtins
from collections.abc import Iterator
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from rules_autodiff._explain import refused
from rules_autodiff._hooks import Hooks
from rules_autodiff._lift import is_lifted
from rules_autodiff._opaque import MOVERS, is_opaque, is_opaque_module
from rules_autodiff._state import read_attribute
from rules_autodiff._values import is_float_array

__all__ = ["Access"]

# Of a function that lifted code made they are not what the program's text says.
PARTS = frozenset({"__closure__", "__code__"})
FORM = frozenset({"shape", "strides", "dtype", "data"})  # of an array


# Attributes of an array that are views of it, or carry no derivative.
VIEWS_AND_FACTS = frozenset({"T", "mT", "dtype", "ndim", "shape", "size"})


class Access(Hooks):
    """Hooks that read from and write to objects.

    A mode overrides `read_array`, `write` and `array_attribute`.
    """

    slice = staticmethod(builtins.slice)

    # attributes

    def getattr(self, owner: Any, name: str) -> Any:
        cls = type(owner)
        if cls is ModuleType or (cls is np.ndarray and name in VIEWS_AND_FACTS):
            return getattr(owner, name)
        if isinstance(owner, np.ndarray | float | complex | np.generic):
            return self.number_attribute(owner, name)
        if type(cls.__getattribute__) is FunctionType:
            return self.call(cls.__getattribute__, owner, name)
        if isinstance(owner, type):
            return getattr(owner, name)
        if cls is FunctionType and name in PARTS and is_lifted(owner):
            refused("taken apart", name)
        found = descriptor(cls, name)
        if found is not None:
            if isinstance(found, property):
                return self.call(found.fget, owner)
            return self.descriptor_value(found, owner, name, cls)
        fallback = getattr(cls, "__getattr__", None)
        if type(fallback) is not FunctionType:
            return getattr(owner, name)
        try:
            return object.__getattribute__(owner, name)
        except AttributeError:
            return self.call(fallback, owner, name)

    def descriptor_value(self, found: Any, owner: Any, name: str, cls: Any) -> Any:
        """The value of a descriptor that is written in Python, or a cached property."""
        data = hasattr(type(found), "__set__")
        if not data and name in getattr(owner, "__dict__", ()):
            return owner.__dict__[name]
        if type(found).__module__ == "functools":  # cached_property
            value = self.call(found.func, owner)
            self.note_attribute(owner, name)
            owner.__dict__[name] = value
            return value
        return self.call(type(found).__get__, found, owner, cls)

    def store_attr(self, value: Any, owner: Any, name: str) -> None:
        cls = type(owner)
        if isinstance(owner, np.ndarray):
            self.store_array_attr(value, owner, name)
            return
        if type(cls.__setattr__) is FunctionType and not is_generated(cls.__setattr__):
            self.call(cls.__setattr__, owner, name, value)
            return
        found = class_attribute(cls, name)
        if isinstance(found, property) and found.fset is not None:
            self.call(found.fset, owner, value)
        elif type(getattr(type(found), "__set__", None)) is FunctionType:
            self.call(type(found).__set__, found, owner, value)
        else:
            self.note_attribute(owner, name)
            setattr(owner, name, value)
            if read_attribute(owner, name) is not value and self.is_active(value):
                refused("attribute", cls.__name__, name)

    def store_array_attr(self, value: Any, owner: Any, name: str) -> None:
        """`a.flat = v`, `a.real = v` and `a.imag = v` are writes into a view."""
        if name in ("real", "imag"):
            self.write(getattr(owner, name), Ellipsis, value)
        elif name == "flat":
            self.write(owner, Ellipsis, self.call(np.reshape, value, owner.shape))
        else:
            if name in FORM and self.is_active(owner):
                refused("reshaped", name)
            self.note_attribute(owner, name)
            setattr(owner, name, value)

    def delattr(self, owner: Any, name: str) -> None:
        method = type(owner).__delattr__
        if type(method) is FunctionType:
            self.call(method, owner, name)
            return
        self.note_attribute(owner, name)
        delattr(owner, name)

    # items

    def getitem(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, np.ndarray):
            return self.read_array(owner, key)
        if type(owner) is memoryview:
            self.check_buffer(owner)
        if isinstance(owner, np.generic) and self.is_active(owner):
            return self.read_array(self.call(np.asarray, owner), key)
        method = python_method(type(owner), "__getitem__")
        if method is not None:
            return self.call(method, owner, key)
        if isinstance(owner, type):
            found = class_attribute(owner, "__class_getitem__")
            if isinstance(found, classmethod) and not is_opaque(found.__func__):
                return self.call(found.__func__, owner, key)
        missing = python_method(type(owner), "__missing__")
        if missing is not None and key not in owner:
            return self.call(missing, owner, key)
        found = self.below.getitem(owner, key)
        return self.check_memo(owner, key, found) if isinstance(owner, dict) else found

    def store_item(self, value: Any, owner: Any, key: Any) -> None:
        if isinstance(owner, np.ndarray):
            self.write(owner, key, value)
            return
        method = python_method(type(owner), "__setitem__")
        if method is not None:
            self.call(method, owner, key, value)
            return
        if not is_known_container(owner) and self.is_active(value):
            refused("container", type(owner).__name__)
        if isinstance(owner, dict):
            self.note_key(owner, key)
        self.note_item(owner, key)
        owner[key] = value

    def delitem(self, owner: Any, key: Any) -> None:
        method = python_method(type(owner), "__delitem__")
        if method is not None:
            self.call(method, owner, key)
            return
        self.changing(owner)
        del owner[key]

    def entries(self, x: Any) -> Any:
        """What `dict(x)` takes: pairs, or a mapping with its items read one by one."""
        if isinstance(x, dict):
            return x
        if not hasattr(x, "keys"):
            return self.iter(x)
        if users_method(x, "keys") is None and users_method(x, "__getitem__") is None:
            return x
        return {key: self.getitem(x, key) for key in self.iter(self.method(x, "keys"))}

    def contains(self, item: Any, container: Any) -> bool:
        """`item in container`, where a user's class has a say in it."""
        cls = type(container)
        if cls is dict or cls is set or cls is str:
            return item in container
        method = python_method(cls, "__contains__")
        if method is not None:
            return bool(self.call(method, container, item))
        if python_method(cls, "__iter__") is None and not self.compares(
            item, container
        ):
            return item in container
        return any(e is item or self.comparison("eq", e, item)
                   for e in self.iter(container))  # fmt: skip

    def compares(self, item: Any, container: Any) -> bool:
        """Whether somebody's own `__eq__` would be asked."""
        if not isinstance(container, list | tuple):
            return False
        classes = {type(item), *map(type, container)}
        return any(python_method(cls, "__eq__") is not None for cls in classes)

    # iteration

    def iter(self, iterable: Any) -> Any:
        """What a loop runs over: the items of an array are read one by one."""
        if isinstance(iterable, np.ndarray):
            return self.array_items(iterable)
        if type(iterable) is memoryview:
            self.check_buffer(iterable)
        if type(iterable) is GeneratorType and not self.is_followed(iterable):
            return self.outer_items(iterable)
        method = python_method(type(iterable), "__iter__")
        if method is not None:
            return self.follow(self.call(method, iterable))
        if getattr(type(iterable), "__iter__", None) is None:
            return self.old_protocol(iterable)
        return iterable

    def array_items(self, a: Any) -> Iterator[Any]:
        if a.ndim == 0:
            iter(a)  # raises
        for i in range(len(a)):
            yield self.read_array(a, i)

    def follow(self, iterator: Any) -> Any:
        """An iterator whose `__next__` is written in Python, called as a hook."""
        method = python_method(type(iterator), "__next__")
        return iterator if method is None else self.next_items(iterator, method)

    def next_items(self, iterator: Any, method: FunctionType) -> Iterator[Any]:
        while True:
            try:
                item = self.call(method, iterator)
            except StopIteration:
                return
            yield item

    def old_protocol(self, sequence: Any) -> Any:
        """Iteration by `__getitem__` from 0 up, for classes without `__iter__`."""
        method = python_method(type(sequence), "__getitem__")
        return (
            iterable_or_error(sequence) if method is None else self.by_index(sequence)
        )

    def by_index(self, sequence: Any) -> Iterator[Any]:
        index = 0
        while True:
            try:
                item = self.getitem(sequence, index)
            except IndexError:
                return
            yield item
            index += 1

    def unpack(self, value: Any, pattern: Any) -> Any:
        """`value` with what the pattern takes apart made of items to be followed."""
        if type(value) not in (tuple, list):
            value = list(self.iter(value))
        if not any(isinstance(part, tuple) for part in pattern):
            return value
        return unpack_parts(self, list(value), pattern)

    def unpacked(self, iterable: Any, pattern: Any) -> Iterator[Any]:
        for item in self.iter(iterable):
            yield self.unpack(item, pattern)

    # match

    def check_pattern(self, cls: Any, names: tuple[str, ...], count: int) -> None:
        """Refuse class patterns that would run a property unseen."""
        named = (*names, *getattr(cls, "__match_args__", ())[:count])
        for name in named:
            if descriptor(cls, name) is not None:
                refused("pattern", f"{cls.__name__}.{name}")

    # with

    def context(self, manager: Any) -> Any:
        """A context manager whose methods, if written in Python, are hooks."""
        cls = type(manager)
        if python_method(cls, "__enter__") or python_method(cls, "__exit__"):
            return Context(self, manager)
        return manager


class Context:
    """Enters and leaves a user's context manager by calls that are followed."""

    def __init__(self, run: Any, manager: Any):
        self.run, self.manager = run, manager

    def __enter__(self) -> Any:
        return self.run.call(MethodType(type(self.manager).__enter__, self.manager))

    def __exit__(self, *exception: object) -> Any:
        leave = MethodType(type(self.manager).__exit__, self.manager)
        return self.run.call(leave, *exception)


def unpack_parts(run: Any, items: list[Any], pattern: Any) -> list[Any]:
    """Take apart the items that a nested pattern takes apart, around one star."""
    if "*" in pattern:
        star = pattern.index("*")
        middle = len(items) - len(pattern) + 1
        pattern = (*pattern[:star], *([None] * middle), *pattern[star + 1 :])
    for place, part in enumerate(pattern[: len(items)]):
        if isinstance(part, tuple):
            items[place] = run.unpack(items[place], part)
    return items


def is_known_container(x: Any) -> bool:
    """Whether what is put into a container comes out as the same object."""
    return isinstance(x, MOVERS) or (
        isinstance(type(x).__module__, str)
        and not (is_opaque_module(type(x).__module__))
    )


def iterable_or_error(x: Any) -> Any:
    iter(x)  # raises Python's own error
    return x


def class_attribute(cls: Any, name: str) -> Any:
    """What a class says about an attribute, bases included."""
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def descriptor(cls: Any, name: str) -> Any:
    """A property or a descriptor written in Python, or None."""
    found = class_attribute(cls, name)
    if found is None or isinstance(found, FunctionType):
        return None
    if isinstance(found, property):
        return found if isinstance(found.fget, FunctionType) else None
    getter = getattr(type(found), "__get__", None)
    if type(getter) is not FunctionType:
        return None
    cached = type(found).__name__ == "cached_property"
    opaque = type(found).__module__.partition(".")[0] in ("functools", "enum", "abc")
    return found if cached or not opaque else None


def python_method(cls: Any, name: str) -> FunctionType | None:
    """A special method of a class, where a user wrote it in Python."""
    found = class_attribute(cls, name)
    if isinstance(found, FunctionType) and not is_standard(found):
        return found
    return None


def users_method(x: Any, *names: str) -> FunctionType | None:
    """The first of these special methods that a class has, if a user wrote it."""
    for name in names:
        found = class_attribute(type(x), name)
        if found is None or found is getattr(object, name, None):
            continue
        method = found if isinstance(found, FunctionType) else None
        known = method is None or is_opaque(method) or is_generated(method)
        return None if known else method
    return None


def is_standard(f: FunctionType) -> bool:
    return f.__module__ in ("types", "enum", "os")


def is_generated(f: FunctionType) -> bool:
    """Whether `dataclass` or `namedtuple` wrote a method: it only stores."""
    return f.__code__.co_filename == "<string>"


_ = is_float_array
