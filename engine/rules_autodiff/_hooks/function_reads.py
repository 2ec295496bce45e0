"""What functions that rules call back read from outside, then and later.

    y = solve_ivp(f, …)    # f reads a global variable
    G = 0.5                # and so does the pullback, which calls f again

A rule knows what its functions capture. What they read from globals, classes and
modules must be at the pullback what it was at the value, or these are of two functions.
"""

from collections.abc import Iterator
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np

from rules_autodiff._python.lifted_code import NESTED
from rules_autodiff._python.opaque import OWN, root_of
from rules_autodiff._python.outside_reads import cell_value
from rules_autodiff._python.read_places import (
    Place,
    is_closed,
    names_read,
    places_read,
)
from rules_autodiff._python.values import is_number
from rules_autodiff._refusals import name_of, refused, rule_of
from rules_core import structure

__all__ = ["Reads", "reads_of"]

CALLED = (FunctionType, MethodType, partial)
CONTAINERS = frozenset({list, tuple, dict})
PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, str, type(None)})
# Objects in a value that are looked at, and how far inside of others.
MOST, DEEPEST = 10_000, 100


class Reads:
    """What functions read from outside, as it was.

    Attributes:
        functions: The functions.
        alive: What was looked at, whose ids stay valid.
        was: Of each place what stood there, in short.
    """

    def __init__(self, functions: list[Any]) -> None:
        self.functions, self.alive = functions, Facts()
        self.was = facts_of(functions, self.alive)

    def check(self, f: Any, rule: Any) -> None:
        """Refuse the pullback of a rule if something was changed."""
        now = facts_of(self.functions, Facts())
        if now == self.was:
            return
        paths = {*now, *self.was}
        changed = sorted(x for x in paths if now.get(x) != self.was.get(x))
        refused("read later", name_of(f), rule_of(rule), changed[0])


def reads_of(values: Any) -> Reads | None:
    """What functions among the arguments of a rule read; None if there are none."""
    if all(type(value) in PLAIN for value in values):
        return None
    functions = [x for value in values for x in functions_in(value)]
    return Reads(functions) if functions else None


def functions_in(x: Any) -> Iterator[Any]:
    if isinstance(x, CALLED):
        yield x
    elif type(x) in CONTAINERS:
        for entry in x.values() if isinstance(x, dict) else x:
            yield from functions_in(entry)
    elif callable(x) and root_of(type(x)) not in OWN and not isinstance(x, type):
        yield x


def facts_of(functions: list[Any], facts: "Facts") -> dict[str, Any]:
    """By their paths, all that functions read but do not capture."""
    held = captured(functions)
    lifted = [x.__code__ for x in held.values() if isinstance(x, FunctionType)]
    hooks = {NESTED.get(code) for code in lifted}
    found: dict[str, Any] = {}
    for f in functions:
        for place in places_read(f):
            own = place.path.partition(".")[0] in hooks  # of this run
            if is_outside(place, held) and not own:
                found[place.path] = facts.of(place.value)
        found.update(named_functions(f, hooks, facts, set()))
    return found


def named_functions(
    f: Any, hooks: set[Any], facts: "Facts", seen: set[int]
) -> Iterator[Any]:
    """The functions that code calls by global names, and what they capture."""
    f = getattr(f, "__func__", getattr(f, "func", f))
    if not isinstance(f, FunctionType) or id(f) in seen:
        return
    seen.add(id(f))
    cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    held = {name: cell_value(cell) for name, cell in cells if name not in hooks}
    for value in held.values():
        yield from named_functions(value, hooks, facts, seen)
    if is_closed(root_of(f)):
        return
    for name, _ in names_read(f.__code__).variables:
        value = f.__globals__.get(name)
        if name not in held and isinstance(value, FunctionType):
            inner = [facts.of(cell_value(cell)) for cell in value.__closure__ or ()]
            yield f"{name}()", (facts.of(value), tuple(inner))
            yield from named_functions(value, hooks, facts, seen)


def is_outside(place: Place, held: dict[int, Any]) -> bool:
    """Whether a rule gets a value otherwise than with its functions."""
    owner = place.owner
    if place.value is None or owner is None or isinstance(owner, CellType):
        return False
    return id(owner) not in held


def captured(functions: list[Any]) -> dict[int, Any]:
    """By their ids, functions and all that they capture."""
    found: dict[int, Any] = {}
    ends = [*functions]
    while ends:
        x = ends.pop()
        if id(x) in found or is_number(x) or isinstance(x, np.ndarray):
            continue
        found[id(x)] = x
        level = structure(x)
        ends.extend(() if level is None else level.values)
    return found


class Facts:
    """What tells values from others: numbers by their bits, objects by their ids.

    Attributes:
        alive: By their ids, the objects that were looked at.
    """

    def __init__(self) -> None:
        self.alive: dict[int, Any] = {}

    def of(self, x: Any) -> Any:
        """The facts of a value, and of all that is in it."""
        return self.within(x, set(), 0)

    def within(self, x: Any, seen: set[int], depth: int) -> Any:
        """Those of a part; one that was met before, as in a cycle, is its id."""
        if is_number(x) or isinstance(x, bool | int | str | bytes):
            return type(x), repr(x)
        if isinstance(x, np.ndarray) and not x.dtype.hasobject:
            return x.dtype.str, x.shape, bits_of(x)
        self.alive[id(x)] = x
        if id(x) in seen or len(seen) > MOST or depth > DEEPEST:
            return type(x), id(x)
        seen.add(id(x))
        inner = [self.within(value, seen, depth + 1) for value in entries_of(x)]
        return type(x), id(x), tuple(inner)


def entries_of(x: Any) -> Iterator[Any]:
    """The entries of a container, and the attributes of a program's instance."""
    if type(x) in (list, tuple):
        yield from x
    elif type(x) is dict or is_instance(x):
        for key, value in (x if type(x) is dict else vars(x)).items():
            yield from (key, value)


def is_instance(x: Any) -> bool:
    """Whether a value has attributes that its methods may read."""
    if type(x) is SimpleNamespace:
        return True
    if isinstance(x, (type, FunctionType, ModuleType)) or is_closed(root_of(type(x))):
        return False
    return isinstance(getattr(x, "__dict__", None), dict)


def bits_of(x: Any) -> int:
    is_buffer = x.flags.c_contiguous and x.dtype.kind in "biufc"  # not dates
    return crc32(x if is_buffer else x.tobytes())
