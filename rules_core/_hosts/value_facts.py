"""What tells present values from later ones, in short."""

from __future__ import annotations

from collections import deque
from collections.abc import (
    Collection,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from contextlib import suppress
from functools import partial
from pathlib import PurePath
from types import (
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any
from weakref import CallableProxyType, ProxyType, WeakKeyDictionary, WeakValueDictionary
from zlib import crc32

from rules_core._base.arrays import is_array_type
from rules_core._base.frameworks import framework_of
from rules_core._base.opaque_modules import COMPILERS, is_closed, root_of
from rules_core._tangents.sparse import is_sparse
from rules_core._tangents.structure import slots_of

from .code_names import cell_value

__all__ = ["Facts"]

PROXIES = (ProxyType, CallableProxyType)
SEQUENCES = (list, tuple, deque)
MAPPINGS = (dict, MappingProxyType)
# Objects in a value that are looked at, and how far inside of others.
MOST, DEEPEST = 10_000, 100
# Libraries whose objects hold numbers of a program.
HOLDERS = frozenset({
    "argparse", "configparser", "queue", "rules_jax", "rules_scipy", "scipy", "sklearn",
    "statistics", "torch",
})  # fmt: skip


class Facts:
    """Facts of values: numbers by their bits, objects by their ids.

    Args:
        written: Attributes that do not count.

    Attributes:
        classes: The program's classes that were met, by their ids.
        texts: Texts that were met, which may name files.
        flags: Whether the flags of arrays count.
    """

    def __init__(self, written: Collection[str] = ()) -> None:
        self._alive: dict[int, Any] = {}
        self.written = written
        self.classes: dict[int, type] = {}
        self.texts: set[str] = set()
        self.flags = False

    def keep(self, x: Any) -> None:
        """Keep an object alive, so that no other has its id."""
        self._alive[id(x)] = x

    def of(self, x: Any) -> Any:
        """The facts of a value, and of all that is in it."""
        return self._within(x, set(), 0)

    def _within(self, x: Any, seen: set[int], depth: int) -> Any:
        """Those of a part; one that was met before, as in a cycle, is its id."""
        cls = type(x)
        if cls in PROXIES:  # which stand for another object, or for none
            self.keep(x)
            return cls, id(x)
        if cls is str:
            self.texts.add(x)
        if cls in (int, bool, str, bytes):
            return cls, x
        if isinstance(x, float | complex | int | str | bytes) or cls is bytearray:
            return cls, repr(x)
        if is_array_type(cls):
            return self._of_array(x, seen, depth)
        self.keep(x)
        if id(x) in seen or len(seen) > MOST or depth > DEEPEST:
            return cls, id(x)
        seen.add(id(x))
        self._meet(x if isinstance(x, type) else cls)
        entries = (
            _unordered(x)
            if isinstance(x, set | frozenset)
            else _entries(x, self.written)
        )
        inner = [self._within(entry, seen, depth + 1) for entry in entries]
        return cls, id(x), tuple(inner)

    def _meet(self, cls: type) -> None:
        """Note a class of the program."""
        root = root_of(cls)
        if id(cls) not in self.classes and not is_closed(root) | (root in COMPILERS):
            self.classes[id(cls)] = cls

    def _of_array(self, x: Any, seen: set[int], depth: int) -> Any:
        framework = framework_of(type(x))
        if framework is not None:
            if not isinstance(x, framework.traced):  # a trace may have ended
                self.keep(x)
            return type(x), framework.state(x)
        if not hasattr(x, "tobytes"):  # a description of an array
            self.keep(x)
            return type(x), id(x)
        if x.dtype.hasobject:
            inner = [self._within(item, seen, depth + 1) for item in x.flat]
            return x.dtype.str, x.shape, tuple(inner)
        writeable = self.flags and x.flags.writeable
        return str(x.dtype), x.shape, _bits(x), writeable


def _unordered(x: Any) -> list[Any]:
    return sorted(x, key=lambda item: (type(item).__name__, hash(item)))


def _entries(x: Any, written: Collection[str]) -> Iterator[Any]:
    """The entries of a container, and the attributes of a program's instance."""
    cls = type(x)
    if isinstance(x, SEQUENCES):
        base: Any = next(base for base in SEQUENCES if isinstance(x, base))
        yield from base.__iter__(x)
    elif isinstance(x, MAPPINGS):
        for pair in dict.items(x) if isinstance(x, dict) else x.items():
            yield from pair
    elif isinstance(x, ItemsView):  # each pair is made anew
        for pair in x:
            yield from pair
    elif isinstance(x, ValuesView | KeysView):
        yield from x
    elif cls.__name__ == "flatiter" and root_of(cls) == "numpy":
        yield x.base
    elif isinstance(x, MethodType):
        yield from (x.__func__, x.__self__)
    elif isinstance(x, partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, FunctionType) and not is_closed(root_of(x)):
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        yield from (cell_value(cell) for name, cell in cells if name not in written)
        yield from (x.__defaults__, x.__kwdefaults__, x.__dict__)
    else:
        yield from _entries_in_c(x)
    if _is_instance(x):
        known = is_sparse(x)  # which notes what it finds out about its indices
        for pair in (vars(x) if hasattr(x, "__dict__") else {}).items():
            if pair[0] not in written and not (known and "has_" in pair[0]):
                yield from pair
        for owner in cls.__mro__:
            slots = (slot for slot in slots_of(owner) if slot not in written)
            yield from (getattr(x, slot, None) for slot in slots)


def _entries_in_c(x: Any) -> Iterator[Any]:
    """What objects hold that are written in C: bytes, and where iterators stand."""
    cls = type(x)
    root = root_of(cls)
    if isinstance(x, GeneratorType):
        frame = x.gi_frame
        yield None if frame is None else frame.f_lasti
        for pair in () if frame is None else frame.f_locals.items():
            yield from pair
    elif isinstance(x, WeakKeyDictionary | WeakValueDictionary):
        for pair in x.items():  # as functools.singledispatch has
            yield from pair
    elif isinstance(x, PurePath) or root == "itertools":
        yield str(x)
    elif root == "builtins" and isinstance(x, Iterator):
        with suppress(TypeError):  # some say nothing
            for part in x.__reduce__()[1:]:
                yield from part if isinstance(part, tuple) else (part,)
    elif root == "scipy" and hasattr(x, "maxes"):  # trees, whose points may be written
        yield x.data
    elif root in COMPILERS and isinstance(x, Sequence):  # `numba.typed.List`
        yield from x
    elif root in COMPILERS and isinstance(x, Mapping):
        for pair in x.items():
            yield from pair
    elif root in ("array", "mmap") or type(cls).__module__ == "_ctypes":
        yield memoryview(x).tobytes()
    elif cls is memoryview:
        with suppress(ValueError):  # released
            yield x.tobytes()


def _is_instance(x: Any) -> bool:
    """Whether a value has attributes that its methods may read."""
    if isinstance(x, (type, FunctionType, ModuleType, CodeType)):
        return False
    if isinstance(x, SimpleNamespace) or is_sparse(x):
        return isinstance(getattr(x, "__dict__", None), dict)
    root = root_of(type(x))
    if root == "numpy" and not _is_polynomial(x):
        return False
    if root in COMPILERS or (is_closed(root) and root not in HOLDERS | {"numpy"}):
        return False
    return isinstance(getattr(x, "__dict__", {}), dict)


def _is_polynomial(x: Any) -> bool:
    """Whether an object of NumPy's has coefficients that a program may write."""
    cls = type(x)
    return cls.__name__ == "poly1d" or cls.__module__.startswith("numpy.polynomial")


def _bits(x: Any) -> int:
    is_buffer = hasattr(x, "flags") and x.flags.c_contiguous and x.dtype.kind in "biufc"
    return crc32(x if is_buffer and x.ndim else x.tobytes())
