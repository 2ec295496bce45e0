"""The fdata of lists, dicts and objects for a mutating rule: one per entry.

A list or an object has an address, so its fdata contains the cotangents of its entries,
numbers included. The engine fills it before the rule's pullback runs and reads it
afterwards; in forward mode the rule stores the tangents there.
"""

from collections import deque
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._shadows.saved_state import write_attribute
from rules_autodiff._shadows.slots import add_to, take_from
from rules_core import (
    AbstractZero,
    MutableTangent,
    NoTangent,
    RuleDefinitionError,
    ZeroTangent,
    backing,
    has_tangent,
    structure,
    zero_tangent,
)

__all__ = [
    "FUNCTIONS",
    "Cotangents",
    "Places",
    "entries_of",
    "has_address",
    "push_back",
    "shadow_class",
]

Leaf = Callable[[Any], Any]  # a number or array of a tangent
CONTAINERS = (list, dict, deque)
FUNCTIONS = (type, FunctionType, BuiltinFunctionType, MethodType)


def has_address(x: Any) -> bool:
    """Whether entries of `x` may be assigned: a list, a dict, an object."""
    if type(x) in INERT or isinstance(x, FUNCTIONS) or is_number(x):
        return False
    if isinstance(x, CONTAINERS):
        return True
    level = structure(x)
    if level is None:
        return getattr(x, "__dict__", None) == {}  # it accepts attributes
    return bool(level.mutable)


def shadow_class(x: Any) -> type:
    """The class of the fdata of an object with an address."""
    return next((c for c in CONTAINERS if isinstance(x, c)), MutableTangent)


def entries_of(x: Any) -> dict[Any, Any]:
    """The entries of a container by position, key or name."""
    level = structure(x)
    return {} if level is None else dict(zip(level.names, level.values, strict=True))


def shell_of(x: Any) -> Any:
    cls = shadow_class(x)
    return cls(type(x)) if cls is MutableTangent else cls()


def store(x: Any, name: Any, value: Any) -> None:
    """Set an entry of a container, bypassing its class."""
    if isinstance(x, list):
        list.__setitem__(x, name, value)
    elif isinstance(x, dict):
        dict.__setitem__(x, name, value)
    elif isinstance(x, deque):
        x[name] = value
    else:
        write_attribute(x, name, value)


class Addressed:
    """A list, dict or object among the arguments of a mutating rule.

    Attributes:
        primal: The container.
        tangent: Its fdata, or its tangent in forward mode.
        before: Its entries before the rule.
        given: Their tangents before the rule.
    """

    __slots__ = ("before", "given", "primal", "tangent")

    def __init__(self, primal: Any):
        self.primal, self.tangent = primal, shell_of(primal)
        self.before = entries_of(primal)
        self.given: dict[Any, Any] = {}

    def fill(self, entries: dict[Any, Any]) -> None:
        """Replace its entries by their tangents."""
        if isinstance(self.tangent, MutableTangent):
            backing(self.tangent).clear()
            backing(self.tangent).update(entries)
        elif isinstance(self.tangent, dict):
            self.tangent.clear()
            self.tangent.update(entries)
        else:
            self.tangent.clear()
            self.tangent.extend(entries.values())

    def left(self, places: "Places", names: dict[Any, Any]) -> dict[Any, Any]:
        """The rule's final tangents for these entries."""
        tangents = self.read(places.rule, names)
        for name, value in tangents.items():
            places.check_shadow(names.get(name), value, self, name)
        return tangents

    def read(self, rule: Any, names: dict[Any, Any]) -> dict[Any, Any]:
        if isinstance(self.tangent, MutableTangent):
            return backing(self.tangent)
        if isinstance(self.tangent, dict):
            return self.tangent
        if len(self.tangent) != len(names):
            kind = type(self.primal).__name__
            message = (
                f"The mutating rule {rule.__qualname__} must leave as many entries in "
                f"the tangent of a {kind} as the {kind} has, {len(names)}, but left "
                f"{len(self.tangent)}. Append to both, and pop from both."
            )
            raise RuleDefinitionError(message)
        return dict(enumerate(self.tangent))

    def changed(self) -> dict[Any, Any]:
        """The entries that the rule wrote."""
        now = entries_of(self.primal)
        missing = object()
        before = self.before
        return {k: v for k, v in now.items() if before.get(k, missing) is not v}

    def was_written(self) -> bool:
        """Whether any entry was set, added or removed."""
        return (
            bool(self.changed()) or self.before.keys() != entries_of(self.primal).keys()
        )


class Places:
    """The tangents inside all arguments of one mutating rule.

    Args:
        rule: The rule.
        number: The tangent of a number inside a container.
        array: The shadow of an array, or its tangent.
    """

    def __init__(self, rule: Any, number: Leaf, array: Leaf):
        self.rule, self.number, self.array = rule, number, array
        self.known: dict[int, tuple[Any, Any]] = {}  # keeps values, so ids stay unique
        self.held: list[Addressed] = []

    def of(self, x: Any) -> Any:
        """The full tangent of a value inside an object with an address."""
        if type(x) in INERT or isinstance(x, FUNCTIONS):
            return NoTangent()
        if is_number(x):
            return self.number(x)
        if id(x) in self.known:
            return self.known[id(x)][1]
        if is_float_array(x):
            tangent = self.array(x)
            self.known[id(x)] = x, tangent
            return tangent
        if has_address(x):
            return self.addressed(x)
        level = structure(x)
        return level.rebuild(list(map(self.of, level.values))) if level else NoTangent()

    def addressed(self, x: Any) -> Any:
        if id(x) not in self.known:
            entry = Addressed(x)
            # Before its entries: it may contain itself.
            self.known[id(x)] = x, entry.tangent
            self.held.append(entry)
            entry.given = {name: self.of(value) for name, value in entry.before.items()}
            entry.fill(entry.given)
        return self.known[id(x)][1]

    def check_shadow(self, x: Any, dx: Any, held: Addressed, name: Any) -> None:
        """Raise an error for a replaced tangent of an array or container."""
        if not (is_float_array(x) or has_address(x)) or isinstance(dx, AbstractZero):
            return
        if not any(dx is shadow for _, shadow in self.known.values()):
            message = (
                f"The mutating rule {self.rule.__qualname__} must add to the tangent "
                f"of entry {name!r} of a {type(held.primal).__name__}, which is that "
                f"of a {type(x).__name__} and shared with it, but put another object "
                "in its place. Write `tangent[...] = value`."
            )
            raise RuleDefinitionError(message)

    def written(self) -> set[int]:
        """The ids of the containers that the rule wrote to."""
        return {id(entry.primal) for entry in self.held if entry.was_written()}

    def settle(self, own: Leaf) -> None:
        """Make the numbers that the rule wrote separate objects."""
        for entry in self.held:
            for name, value in entry.changed().items():
                self.check_known(value, entry, name)
                if has_tangent(value):
                    store(entry.primal, name, owned(value, own))

    def check_known(self, x: Any, held: Addressed, name: Any) -> None:
        """Raise an error for arrays and containers that were not arguments."""
        if type(x) in INERT or is_number(x) or id(x) in self.known:
            return
        if isinstance(x, tuple):
            for value in x:
                self.check_known(value, held, name)
        elif not isinstance(x, FUNCTIONS) and has_tangent(x):
            kind = type(held.primal).__name__
            message = (
                f"The mutating rule {self.rule.__qualname__} must write numbers into "
                f"a {kind}, or what its arguments hold, but entry {name!r} is a new "
                f"{type(x).__name__}. Pass it as an argument, or return it and let "
                "the program store it."
            )
            raise RuleDefinitionError(message)


def owned(x: Any, own: Leaf) -> Any:
    if is_number(x):
        return own(x)
    if isinstance(x, tuple) and (level := structure(x)) is not None:
        return level.rebuild([owned(value, own) for value in level.values])
    return x


class Cotangents:
    """The cotangents of containers' entries, before a rule's writes or after them."""

    def __init__(self, run: Any, places: Places, entries: Callable[[Addressed], Any]):
        self.places = places
        self.parts = [
            (entry, {n: (v, slots_of(run, v)) for n, v in entries(entry).items()})
            for entry in places.held
        ]

    def fill(self, below: Any) -> None:
        """Put the accumulated cotangents into the fdata."""
        for entry, parts in self.parts:
            entry.fill({n: self.taken(*part, below) for n, part in parts.items()})

    def taken(self, x: Any, slot: Any, below: Any) -> Any:
        if is_number(x):
            cotangent = None if slot is None else take_from(slot, below)
            return zero_tangent(x) if cotangent is None else cotangent
        if isinstance(slot, tuple):
            level: Any = structure(x)
            pairs = zip(level.values, slot, strict=True)
            return level.rebuild([self.taken(v, s, below) for v, s in pairs])
        return self.places.of(x)

    def give_back(self, below: Any) -> None:
        """Add the rule's cotangents in the fdata to those of the entries."""
        for entry, parts in self.parts:
            left = entry.left(self.places, {n: x for n, (x, _) in parts.items()})
            for name, (x, slot) in parts.items():
                give(x, slot, left.get(name, ZeroTangent()), below)


def slots_of(run: Any, x: Any) -> Any:
    """The slots that accumulate cotangents of numbers; in a tuple, one by one."""
    if is_number(x):
        return run.slot(x)
    leaf = type(x) in INERT or isinstance(x, np.ndarray) or has_address(x)
    level = None if leaf or isinstance(x, FUNCTIONS) else structure(x)
    return None if level is None else tuple(slots_of(run, v) for v in level.values)


def give(x: Any, slot: Any, ct: Any, below: Any) -> None:
    if isinstance(slot, tuple) and not isinstance(ct, AbstractZero):
        level: Any = structure(x)
        parts: Any = structure(ct)
        for value, part, inner in zip(level.values, slot, parts.values, strict=True):
            give(value, part, inner, below)
    elif slot is not None and not isinstance(slot, tuple):
        add_to(slot, ct, below)


def push_back(run: Any, places: Places, own: Leaf) -> None:
    """Give the entries the tangents from a forward-mode rule."""
    for entry in places.held:
        entries = entries_of(entry.primal)
        for name, dx in entry.left(places, entries).items():
            value = entries.get(name)
            same = value is entry.before.get(name) and dx is entry.given.get(name)
            if not same and (is_number(value) or isinstance(value, tuple)):
                value = owned(value, own)
                store(entry.primal, name, value)
                run.assign(value, [run.canonical(value, dx)])
