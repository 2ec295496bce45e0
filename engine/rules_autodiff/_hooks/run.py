"""What reverse and forward mode have in common: one run of a lifted program."""

import random
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar

import numpy as np

from rules_autodiff._own_rules.own_rule import CORE
from rules_autodiff._python.methods import class_attribute
from rules_autodiff._python.opaque import root_of
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import (
    INERT,
    is_float_array,
    is_number,
    is_numeric,
    is_sparse,
)
from rules_autodiff._refusals import refused
from rules_autodiff._shadows.memory import overlaps_itself, owner_of, same_entries
from rules_core import RuleConfig, structure
from rules_core.extend import is_watching

from .access import Access
from .array_flags import Locks
from .buffers import Buffers
from .bytes import Bytes
from .caches import Memos
from .calls import Calls
from .flat_iterators import Flat
from .generators import Generators
from .numpy_protocols import Protocols
from .operators import Operators
from .rule_results import Copies
from .texts import Texts
from .unseen_writes import Watching

__all__ = ["Run", "check_record"]

NUMPYS = (np.ndarray, np.generic)
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
MOVING = frozenset({"choice", "permutation", "permuted", "shuffle"})
# Attributes of arrays that give out their memory.
BUFFERS = frozenset({"data", "ctypes", "__array_interface__", "__array_struct__"})


class Run(
    Operators, Access, Calls, Texts, Bytes, Buffers, Flat, Protocols, Memos, Generators,
    Watching, Copies, Locks,
):  # fmt: skip
    """The hooks of one forward pass over the level ``below``.

    Nothing of a run is global, so runs nest and run in parallel.

    Attributes:
        over: Whether the forward pass has ended; nothing is followed from then on.
        failure: The first error that is not the program's own.
    """

    # Both stand above this module, and are set there.
    config: ClassVar[RuleConfig]
    recording: ClassVar[Callable[..., Any]]  # a program and its tape

    over = False
    failure: Exception | None = None

    def __init__(self, below: Any = PLAIN):
        self.below = below
        self.plain = below is PLAIN
        self.depth = below.depth + 1
        self.functions: dict[Any, Any] = {}
        self.memo: dict[Any, Any] = {}  # of functools.lru_cache, for this run alone
        self.texts: set[Any] = set()
        self.keys: set[Any] = set()
        self.raw: dict[int, Any] = {}
        self.made: dict[int, Any] = {}
        self.stored: dict[int, tuple[Any, set[int]]] = {}
        self.exported: dict[int, tuple[Any, str]] = {}
        self.outside: list[Any] = []
        self.copies: list[Any] = []
        self.flags: dict[int, tuple[Any, Any]] = {}
        self.debug = is_watching()

    def __tangent_structure__(self) -> None:
        """The cells of lifted functions hold their run: it is no container."""

    def numeric(self, name: str, args: tuple[Any, ...]) -> Any:
        if name in CORE:
            return self.core(name, args)
        return getattr(self.below, name)(*args)

    def below_core(self, key: Any, args: tuple[Any, ...]) -> Any:
        """A core operation of constants: the level below may still follow it."""
        if isinstance(key, str):
            return getattr(self.below, key)(*args)
        return self.below.call(key, *args)

    def is_active(self, x: Any) -> bool:
        if type(x) in INERT:
            return False
        if is_number(x) or isinstance(x, np.ndarray):
            return self.slot(x) is not None
        if type(x) is FunctionType and not x.__closure__:
            return False
        if isinstance(x, BuiltinFunctionType):
            return x.__self__ is not None and self.is_active(x.__self__)
        return self.reaches(x, {})

    def reaches(self, x: Any, seen: dict[int, Any]) -> bool:
        """Whether something that a container holds carries a derivative."""
        if self.raw and id(x) in self.raw:
            return True
        if id(x) in seen:
            return False
        seen[id(x)] = x
        if type(x) is set or type(x) is frozenset:
            values: Any = x
        elif type(x) is slice:
            values = (x.start, x.stop, x.step)
        else:
            level = self.structure(x)
            if level is None:
                return False
            values = level.values
        for value in values:
            if type(value) in INERT:
                continue
            if is_number(value) or isinstance(value, np.ndarray):
                if self.slot(value) is not None:
                    return True
            elif self.reaches(value, seen):
                return True
        return False

    def structure(self, x: Any) -> Any:
        """One level of a container; None for a leaf."""
        level = structure((x.base,) if type(x) is np.flatiter else x)
        if level is None and is_sparse(x):
            self.check_sparse(x)
        return level

    def check_sparse(self, x: Any) -> None:
        """Refuse a sparse matrix whose numbers were written with a derivative."""
        if any(self.is_active(value) for value in vars(x).values()):
            refused("sparse")

    def hashed(self, x: Any) -> Any:
        """An entry of a set: what carries a derivative must be no equal of another."""
        if self.is_active(x) and not is_known_by_identity(x):
            refused("set")
        return x

    def check_set(self, x: Any) -> None:
        """Refuse a set of objects with derivatives where only constants may stand."""
        if type(x) in (set, frozenset) and self.is_active(x):
            refused("set")

    def number_attribute(self, x: Any, name: str) -> Any:
        if isinstance(x, np.ndarray):
            if name == "flat":
                return x.flat
            if name == "base":
                return self.base_of(x)
            if name == "flags":
                return self.flags_of(x)
            if name in BUFFERS:
                self.export(x, f"ndarray.{name}")
            found = getattr(x, name)
            if isinstance(found, np.ndarray) and owner_of(found) is not owner_of(x):
                return self.core_attribute(x, name)
            return found
        if name in ("real", "imag") and self.slot(x) is not None:
            return self.core_attribute(x, name)
        if name in BUFFERS and self.slot(x) is not None:
            refused("exported", f"{type(x).__name__}.{name}")
        return getattr(x, name)

    def core_attribute(self, x: Any, name: str) -> Any:
        from rules_autodiff._own_rules.own_rule import imag, real

        return self.core({"real": real, "imag": imag}[name], (x,))

    # writes

    def check_write(self, dest: Any, key: Any, *, active: bool) -> None:
        """Refuse the writes whose derivative nobody could follow."""
        if not active:
            return
        kind = dest.dtype.kind
        if kind == "O":
            refused("objects")
        if kind not in "fcV":
            refused("dtype", dest.dtype)
        if kind == "V" and not isinstance(key, str):
            refused("structured")
        if overlaps_itself(dest):
            refused("overlapping")

    def written_value(self, dest: Any, value: Any) -> Any:
        """What is written to an array, objects as the numbers that they stand for."""
        if dest.dtype.kind == "V" and isinstance(value, tuple | list | np.void):
            if self.is_active(value):
                refused("structured")
            return value
        if is_numeric(value) or type(value) in INERT:
            return value
        entry = self.as_entry(value)
        known = isinstance(entry, list | tuple) or is_numeric(entry)
        if not known and dest.dtype.kind != "O" and self.is_active(entry):
            refused("operand", type(entry).__name__)
        return entry

    def store(self, dest: Any, key: Any, value: Any) -> None:
        """The write itself; a copy onto itself must be one that NumPy gets right."""
        shared = isinstance(value, np.ndarray) and owner_of(value) is owner_of(dest)
        if not (shared and np.may_share_memory(dest, value)):
            self.below.store_item(value, dest, key)
            return
        copied = self.below.copied(value)
        before = dest.copy()
        dest[key] = value
        wrong = dest.copy()
        dest[...] = before
        self.below.store_item(copied, dest, key)
        if not same_entries(wrong, dest):
            dest[...] = before
            refused("unbuffered")

    # results of rules

    def check_kind(self, f: Any, args: Any, y: Any) -> None:
        """Refuse arrays in which values with a derivative would be cut off."""
        owner = getattr(f, "__self__", args[0] if args else None)
        drawn = isinstance(owner, GENERATORS) and f.__name__ not in MOVING
        if drawn and (is_number(y) or is_float_array(y)):
            refused("drawn", f.__name__)
        if not isinstance(y, np.ndarray | np.generic) or y.dtype.kind in "fc":
            return
        kind = y.dtype.kind
        if kind == "O":
            refused("objects")
        if kind in "SU":
            self.written("", *args)
        elif kind == "V":
            refused("structured")
        elif f.__name__ != "astype" and any(names_dtype(x, y.dtype) for x in args):
            refused("truncated", f.__name__, y.dtype)

    def own_args(self, found: Any) -> Any:
        """The arguments of a rule's call as the function itself takes them."""
        return found.args[1:] if found.bound else found.args

    def is_view(self, y: Any, f: Any, args: Any) -> bool:
        """Whether NumPy gave out views of an argument: they share its derivative."""
        found = self.views_in(y, f, args)
        return bool(found) and all(found)

    def views_in(self, y: Any, f: Any, args: Any) -> list[bool]:
        """For each part of a result whether NumPy gave out a view of an argument."""
        own = getattr(f, "__self__", None)  # of a method that is bound
        named = type(own) if isinstance(own, NUMPYS) else f
        if root_of(getattr(named, "__objclass__", named)) != "numpy":
            return []
        parts = y if isinstance(y, tuple | list) else (y,)
        owners = {id(owner_of(a)) for a in args if isinstance(a, np.ndarray)}
        return [
            isinstance(part, np.ndarray) and id(owner_of(part)) in owners
            for part in parts
        ]


def is_known_by_identity(x: Any) -> bool:
    """Whether an object is equal to nothing but itself."""
    own = vars(object)
    return all(class_attribute(type(x), n) is own[n] for n in ("__hash__", "__eq__"))


def names_dtype(x: Any, dtype: Any) -> bool:
    """Whether an argument asks for a dtype."""
    if not isinstance(x, type | str | np.dtype):
        return False
    try:
        return bool(np.dtype(x) == dtype)
    except TypeError:
        return False


def check_record(value: Any, a: Any = None) -> None:
    """Refuse records that were computed, or read from `a`, with a derivative."""
    records = isinstance(value, np.ndarray) and value.dtype.kind == "V"
    if records and a is not None and owner_of(value) is owner_of(a):
        return
    if records or isinstance(value, np.void):
        refused("structured")
