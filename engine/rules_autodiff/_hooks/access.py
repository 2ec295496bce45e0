"""Hooks of access: items, iteration, unpacking and ``with``."""

import builtins
import operator
from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import islice
from types import FunctionType, GeneratorType, MethodType
from typing import Any

import numpy as np

from rules_autodiff._python.methods import (
    class_attribute,
    descriptor,
    has_items,
    python_method,
    users_method,
)
from rules_autodiff._python.opaque import MOVERS, is_opaque, is_opaque_module
from rules_autodiff._python.values import INERT
from rules_autodiff._refusals import refused

from .attributes import FLAGS, Attributes

__all__ = ["Access"]


class Access(Attributes):
    """Hooks that read from and write to objects.

    A mode overrides `read_array` and `write`.
    """

    slice = staticmethod(builtins.slice)

    # items

    def getitem(self, owner: Any, key: Any) -> Any:
        if isinstance(owner, np.ndarray):
            return self.read_array(owner, self.as_index(key))
        if type(owner) is memoryview:
            self.check_buffer(owner)
        if type(owner) is np.flatiter:
            return self.flat_getitem(owner, key)
        if isinstance(owner, np.generic) and self.is_active(owner):
            scalar: Any = owner
            operator.getitem(scalar, self.as_index(key))  # raises NumPy's own error
            return self.read_array(self.call(np.asarray, owner), key)
        method = python_method(type(owner), "__getitem__")
        if method is not None:
            return self.call(method, owner, key)
        if isinstance(owner, type):
            found = class_attribute(owner, "__class_getitem__")
            if isinstance(found, classmethod) and not is_opaque(found.__func__):
                return self.call(found.__func__, owner, key)
        if isinstance(owner, dict):
            return self.entry_of(owner, self.check_key(key))
        if self.outside:
            self.check_foreign(owner)
        if self.raw and isinstance(owner, bytes | bytearray):
            return self.item_of_bytes(owner, key)
        return self.below.getitem(owner, self.as_index(key))

    def entry_of(self, owner: Any, key: Any) -> Any:
        """An entry of a dict, made by the user's own function where it is missing."""
        missing = python_method(type(owner), "__missing__")
        if missing is not None and not dict.__contains__(owner, key):
            return self.call(missing, owner, key)
        makes = isinstance(owner, defaultdict) and owner.default_factory is not None
        if makes and not dict.__contains__(owner, key):
            return self.call(defaultdict.__missing__, owner, key)
        if python_method(type(owner), "__getitem__") is None:
            return self.check_memo(owner, key, self.below.getitem(owner, key))
        found = self.below.call(dict.__getitem__, owner, key)  # that it has asked
        return self.check_memo(owner, key, found)

    def as_index(self, key: Any) -> Any:
        """An index, where a user's `__index__` says which."""
        if type(key) in INERT:
            return key
        if type(key) is tuple:
            return tuple([self.as_index(part) for part in key])
        if type(key) is slice:
            return builtins.slice(*map(self.as_index, (key.start, key.stop, key.step)))
        method = users_method(key, "__index__")
        return key if method is None else self.call(method, key)

    def store_item(self, value: Any, owner: Any, key: Any) -> None:
        if isinstance(owner, np.ndarray):
            self.write(owner, self.as_index(key), value)
            return
        if type(owner) is np.flatiter:
            self.flat_setitem(owner, key, value)
            return
        if type(owner) is FLAGS:
            self.changing_flags(owner)
            owner[key] = value
            return
        method = python_method(type(owner), "__setitem__")
        if method is not None:
            self.call(method, owner, key, value)
            return
        if not isinstance(owner, dict | list):
            self.check_holder(value, owner, key)
        if isinstance(owner, dict):
            self.note_key(owner, self.check_key(key))
        else:
            key = self.as_index(key)
        if isinstance(owner, list) and isinstance(key, slice):
            value = list(self.iter(value))
        self.note_item(owner, key)
        owner[key] = value

    def check_holder(self, value: Any, owner: Any, key: Any) -> None:
        """Python's own error if `owner` has no items to set; ours if it keeps none."""
        if not hasattr(type(owner), "__setitem__"):
            owner[key] = value
        if not is_known_container(owner) and self.is_active(value):
            refused("container", type(owner).__name__)

    def delitem(self, owner: Any, key: Any) -> None:
        method = python_method(type(owner), "__delitem__")
        if method is not None:
            self.call(method, owner, key)
            return
        if not hasattr(type(owner), "__delitem__"):
            del owner[key]  # Python's own error
        key = self.check_key(key) if isinstance(owner, dict) else self.as_index(key)
        self.changing(owner)
        del owner[key]

    def entries(self, x: Any) -> Any:
        """What `dict(x)` takes: pairs, or a mapping with its items read one by one."""
        if isinstance(x, dict) and type(x).__iter__ is dict.__iter__:
            return x
        if not hasattr(x, "keys"):
            return map(self.key_and_value, self.iter(x))
        if users_method(x, "keys") is None and users_method(x, "__getitem__") is None:
            return x
        return {key: self.getitem(x, key) for key in self.iter(self.method(x, "keys"))}

    def key_and_value(self, x: Any) -> Any:
        """A key and its value: C code would take copies out of an array."""
        return tuple(self.iter(x)) if isinstance(x, np.ndarray) and x.ndim else x

    def contains(self, item: Any, container: Any) -> bool:
        """`item in container`, where a user's class has a say in it."""
        cls = type(container)
        if cls is dict or cls is set or cls is str:
            return self.check_key(item) in container
        method = python_method(cls, "__contains__")
        if method is not None:
            return bool(self.call(method, container, item))
        if python_method(cls, "__iter__") is None and not self.compares(
            item, container
        ):
            found = item in container
            if found and self.made and isinstance(container, list | tuple | deque):
                self.check_found(item, container)
            return found
        return any(self.same(e, item) for e in self.iter(container))

    def compares(self, item: Any, container: Any) -> bool:
        """Whether somebody's own `__eq__` would be asked."""
        from .special_methods import is_asked

        if not isinstance(container, list | tuple | deque):
            return False
        return is_asked(item) or any(map(is_asked, container))

    # iteration

    def iter(self, iterable: Any) -> Any:
        """What a loop runs over: the items of an array are read one by one."""
        if isinstance(iterable, np.ndarray):
            if not iterable.ndim:
                builtins.iter(iterable)  # raises NumPy's own error
            return self.array_items(iterable)
        if type(iterable) is np.flatiter:
            return self.flat_items(iterable)
        if type(iterable) is memoryview:
            self.check_buffer(iterable)
        if self.raw:
            self.check_read(iterable)
        if type(iterable) is GeneratorType and not self.is_followed(iterable):
            return self.outer_items(iterable)
        method = python_method(type(iterable), "__iter__")
        if method is not None:
            return self.follow(self.call(method, iterable))
        if getattr(type(iterable), "__iter__", None) is None:
            return self.old_protocol(iterable)
        return iterable

    def starred(self, x: Any) -> Any:
        """The items of `*x`, of which Python asks how many there are."""
        items = self.iter(x)
        self.ask_length(x)
        return items

    def ask_length(self, x: Any) -> None:
        """Ask a user's class how many items there are, as `list` does."""
        if type(x) in (list, tuple, np.ndarray):
            return
        hint = users_method(x, "__len__", "__length_hint__")
        if hint is not None:
            self.call(hint, x)

    def array_items(self, a: Any) -> Iterator[Any]:
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
            value = self.items_for(value, pattern)
        if not any(isinstance(part, tuple) for part in pattern):
            return value
        return unpack_parts(self, list(value), pattern)

    def items_for(self, value: Any, pattern: Any) -> list[Any]:
        """The items that Python takes of a value: one more than it needs says no."""
        if not has_items(value):
            [*_] = value  # raises Python's own error
        items = self.iter(value)
        return list(items if "*" in pattern else islice(items, len(pattern) + 1))

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
    if type(type(x)).__module__ == "_ctypes":
        return False
    return isinstance(x, MOVERS) or (
        isinstance(type(x).__module__, str)
        and not (is_opaque_module(type(x).__module__))
    )


def iterable_or_error(x: Any) -> Any:
    iter(x)  # raises Python's own error
    return x
