"""Hooks of access: items, iteration, unpacking and ``with``."""

import builtins
import operator
from collections import defaultdict, deque
from collections.abc import Iterator
from functools import partial
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

from .array_flags import changing_flags
from .attributes import FLAGS
from .buffers import check_buffer, check_foreign
from .bytes import check_found, check_read, item_of_bytes
from .caches import check_memo, note_key
from .close_calls import found_key
from .flat_iterators import flat_getitem, flat_items, flat_setitem
from .generators import is_followed, outer_items
from .identity import flag_of, known_key, original
from .interface import Hooks
from .special_methods import check_key, same

__all__ = [
    "array_items",
    "as_index",
    "check_pattern",
    "compares",
    "contains",
    "context",
    "delitem",
    "entries",
    "entry_of",
    "getitem",
    "iterated",
    "starred",
    "store_item",
    "unpack",
    "unpacked",
]


def getitem(run: Hooks, owner: Any, key: Any) -> Any:
    if isinstance(owner, np.ndarray):
        return run.read_array(owner, as_index(run, key))
    if type(owner) is memoryview:
        check_buffer(run, owner)
    if type(owner) is np.flatiter:
        return flat_getitem(run, owner, key)
    if isinstance(owner, np.generic) and run.is_active(owner):
        scalar: Any = owner
        operator.getitem(scalar, as_index(run, key))  # raises NumPy's own error
        return run.read_array(run.call(np.asarray, owner), key)
    method = python_method(type(owner), "__getitem__")
    if method is not None:
        return run.call(method, owner, key)
    if isinstance(owner, type):
        found = class_attribute(owner, "__class_getitem__")
        if isinstance(found, classmethod) and not is_opaque(found.__func__):
            return run.call(found.__func__, owner, key)
    if isinstance(owner, dict):
        return entry_of(run, owner, known_key(run, check_key(run, key), owner))
    if type(owner) is FLAGS:
        return flag_of(run, owner, key)
    if run.outside:
        check_foreign(run, owner)
    if run.raw and isinstance(owner, bytes | bytearray):
        return item_of_bytes(run, owner, key)
    return run.below.getitem(owner, as_index(run, key))


def entry_of(run: Hooks, owner: Any, key: Any) -> Any:
    """An entry of a dict, made by the user's own function where it is missing."""
    missing = python_method(type(owner), "__missing__")
    if missing is not None and not dict.__contains__(owner, key):
        return run.call(missing, owner, key)
    makes = isinstance(owner, defaultdict) and owner.default_factory is not None
    if makes and not dict.__contains__(owner, key):
        return run.call(defaultdict.__missing__, owner, key)
    if python_method(type(owner), "__getitem__") is None:
        return check_memo(run, owner, key, run.below.getitem(owner, key))
    found = run.below.call(dict.__getitem__, owner, key)  # that it has asked
    return check_memo(run, owner, key, found)


def as_index(run: Hooks, key: Any) -> Any:
    """An index, where a user's `__index__` says which."""
    if type(key) in INERT:
        return key
    if type(key) is tuple:
        return tuple([as_index(run, part) for part in key])
    if type(key) is slice:
        return builtins.slice(
            *[as_index(run, x) for x in (key.start, key.stop, key.step)]
        )
    method = users_method(key, "__index__")
    return key if method is None else run.call(method, key)


def store_item(run: Hooks, value: Any, owner: Any, key: Any) -> None:
    if isinstance(owner, np.ndarray):
        run.write(owner, as_index(run, key), value)
        return
    if type(owner) is np.flatiter:
        flat_setitem(run, owner, key, value)
        return
    if type(owner) is FLAGS:
        changing_flags(run, owner)
        owner[key] = value
        return
    method = python_method(type(owner), "__setitem__")
    if method is not None:
        run.call(method, owner, key, value)
        return
    if not isinstance(owner, dict | list):
        check_holder(run, value, owner, key)
    if isinstance(owner, dict):
        note_key(run, owner, check_key(run, key))
    else:
        key = as_index(run, key)
    if isinstance(owner, list) and isinstance(key, slice):
        value = list(run.iter(value))
    run.note_item(owner, key)
    owner[key] = value


def check_holder(run: Hooks, value: Any, owner: Any, key: Any) -> None:
    """Python's own error if `owner` has no items to set; ours if it keeps none."""
    if not hasattr(type(owner), "__setitem__"):
        owner[key] = value
    if not is_known_container(owner) and run.is_active(value):
        refused("container", type(owner).__name__)


def delitem(run: Hooks, owner: Any, key: Any) -> None:
    method = python_method(type(owner), "__delitem__")
    if method is not None:
        run.call(method, owner, key)
        return
    if not hasattr(type(owner), "__delitem__"):
        del owner[key]  # Python's own error
    key = check_key(run, key) if isinstance(owner, dict) else as_index(run, key)
    run.changing(owner)
    del owner[key]


def entries(run: Hooks, x: Any) -> Any:
    """The argument of `dict(x)`: pairs, or a mapping, its items read one by one."""
    if isinstance(x, dict) and type(x).__iter__ is dict.__iter__:
        return x
    if not hasattr(x, "keys"):
        return map(partial(key_and_value, run), run.iter(x))
    if users_method(x, "keys") is None and users_method(x, "__getitem__") is None:
        return x
    return {key: run.getitem(x, key) for key in run.iter(run.method(x, "keys"))}


def key_and_value(run: Hooks, x: Any) -> Any:
    """A key and its value: C code would take copies out of an array."""
    return tuple(run.iter(x)) if isinstance(x, np.ndarray) and x.ndim else x


def contains(run: Hooks, item: Any, container: Any) -> bool:
    """`item in container`, where a user's class has a say in it."""
    cls = type(container)
    if cls is dict or cls is set or cls is str:
        found = known_key(run, check_key(run, item), container) in container
        if found and not run.close:
            check_known(run, item, container)
        return found
    method = python_method(cls, "__contains__")
    if method is not None:
        return bool(run.call(method, container, item))
    if cls is list or cls is tuple:
        given = original(run, item)
        if given is not item and any(given is entry for entry in container):
            found_key(run, item)
            return True
    if python_method(cls, "__iter__") is None and not compares(item, container):
        found = item in container
        if found and not run.close:
            check_known(run, item, container)
        if found and run.made and isinstance(container, list | tuple | deque):
            check_found(run, item, container)
        return found
    return any(same(run, e, item) for e in run.iter(container))


def check_known(run: Hooks, item: Any, container: Any) -> None:
    """Note that a container holds a key of an earlier call."""
    stored = run.stored.get(id(container), (None, ()))[1]
    if not stored or hash(item) not in stored:
        found_key(run, item)


def compares(item: Any, container: Any) -> bool:
    """Whether an `__eq__` of the program's own classes would run."""
    from .special_methods import is_asked

    if not isinstance(container, list | tuple | deque):
        return False
    return is_asked(item) or any(map(is_asked, container))


def iterated(run: Hooks, iterable: Any) -> Any:
    """The iterable of a loop; the items of an array are read one by one."""
    if isinstance(iterable, np.ndarray):
        if not iterable.ndim:
            builtins.iter(iterable)  # raises NumPy's own error
        return run.array_items(iterable)
    if type(iterable) is np.flatiter:
        return flat_items(run, iterable)
    if type(iterable) is memoryview:
        check_buffer(run, iterable)
    if run.raw:
        check_read(run, iterable)
    if type(iterable) is GeneratorType and not is_followed(run, iterable):
        return outer_items(run, iterable)
    method = python_method(type(iterable), "__iter__")
    if method is not None:
        return follow(run, run.call(method, iterable))
    if getattr(type(iterable), "__iter__", None) is None:
        return old_protocol(run, iterable)
    return iterable


def starred(run: Hooks, x: Any) -> Any:
    """The items of `*x`, of which Python asks how many there are."""
    items = run.iter(x)
    ask_length(run, x)
    return items


def ask_length(run: Hooks, x: Any) -> None:
    """Ask a user's class how many items there are, as `list` does."""
    if type(x) in (list, tuple, np.ndarray):
        return
    hint = users_method(x, "__len__", "__length_hint__")
    if hint is not None:
        run.call(hint, x)


def array_items(run: Hooks, a: Any) -> Iterator[Any]:
    for i in range(len(a)):
        yield run.read_array(a, i)


def follow(run: Hooks, iterator: Any) -> Any:
    """An iterator whose `__next__` is written in Python, called as a hook."""
    method = python_method(type(iterator), "__next__")
    return iterator if method is None else next_items(run, iterator, method)


def next_items(run: Hooks, iterator: Any, method: FunctionType) -> Iterator[Any]:
    while True:
        try:
            item = run.call(method, iterator)
        except StopIteration:
            return
        yield item


def old_protocol(run: Hooks, sequence: Any) -> Any:
    """Iteration by `__getitem__` from 0 up, for classes without `__iter__`."""
    method = python_method(type(sequence), "__getitem__")
    return iterable_or_error(sequence) if method is None else by_index(run, sequence)


def by_index(run: Hooks, sequence: Any) -> Iterator[Any]:
    index = 0
    while True:
        try:
            item = run.getitem(sequence, index)
        except IndexError:
            return
        yield item
        index += 1


def unpack(run: Hooks, value: Any, pattern: Any) -> Any:
    """`value` with what the pattern takes apart made of items to be followed."""
    if type(value) not in (tuple, list):
        value = items_for(run, value, pattern)
    if not any(isinstance(part, tuple) for part in pattern):
        return value
    return unpack_parts(run, list(value), pattern)


def items_for(run: Hooks, value: Any, pattern: Any) -> list[Any]:
    """The items that Python takes of a value: one more than it needs says no."""
    if not has_items(value):
        [*_] = value  # raises Python's own error
    items = run.iter(value)
    return list(items if "*" in pattern else islice(items, len(pattern) + 1))


def unpacked(run: Hooks, iterable: Any, pattern: Any) -> Iterator[Any]:
    for item in run.iter(iterable):
        yield run.unpack(item, pattern)


def check_pattern(run: Hooks, cls: Any, names: tuple[str, ...], count: int) -> None:
    """Refuse class patterns that would run a property unseen."""
    named = (*names, *getattr(cls, "__match_args__", ())[:count])
    for name in named:
        if descriptor(cls, name) is not None:
            refused("pattern", f"{cls.__name__}.{name}")


def context(run: Hooks, manager: Any) -> Any:
    """A context manager whose methods, if written in Python, are hooks."""
    cls = type(manager)
    if python_method(cls, "__enter__") or python_method(cls, "__exit__"):
        return Context(run, manager)
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
    """Whether a container returns its entries as the objects that were put in."""
    if type(type(x)).__module__ == "_ctypes":
        return False
    return isinstance(x, MOVERS) or (
        isinstance(type(x).__module__, str)
        and not (is_opaque_module(type(x).__module__))
    )


def iterable_or_error(x: Any) -> Any:
    iter(x)  # raises Python's own error
    return x
