"""Values at places where a branch would store, without running the program's code."""

from collections import deque
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import MISSING
from types import CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from rules_autodiff._lift.skipped_stores import WRITING, places_of
from rules_autodiff._lift.source import definition
from rules_autodiff._python.errors import SourceNotFound
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.methods import class_attribute
from rules_autodiff._python.opaque import OWN, is_opaque
from rules_autodiff._python.values import is_float_array, is_number
from rules_autodiff._shadows.saved_state import own_dict, read_attribute

from .keepers import behind

__all__ = [
    "CONTAINERS",
    "Variables",
    "called",
    "held",
    "keeps_no_results",
    "may_store",
    "stores_of",
    "value_of",
]

WEAK = (WeakKeyDictionary, WeakValueDictionary)
DEPTH = 3  # of functions that call functions that store
CONTAINERS = (list, tuple, dict, deque)
ADDING = frozenset({
    "append", "appendleft", "extend", "insert", "add", "update", "setdefault",
})  # fmt: skip
Variables = Mapping[str, Any]


def held(
    variables: Variables, outside: Variables, places: Any, depth: int = DEPTH
) -> Iterator[tuple[Any, Any]]:
    """Present values at places, with their owners (None: an outer variable).

    `_lift/skipped_stores` says what a place is.
    """
    for kind, *place in places:
        if kind == "call":
            yield from held_by_call(variables, outside, place, depth)
        elif kind == "name":
            value = variables.get(place[0], outside.get(place[0], MISSING))
            yield from () if value is MISSING else ((None, value),)
        else:
            owner = value_of(variables, outside, place[0])
            value = at_place(owner, kind, place)
            yield from () if value is MISSING else ((owner, value),)


def at_place(owner: Any, kind: str, place: Any) -> Any:
    if owner is MISSING or kind == "items":
        return entries(owner)
    if kind == "attribute":
        return attribute(owner, place[1], stored=True)
    value = item(owner, place[1])
    known = isinstance(owner, (*CONTAINERS, np.ndarray))
    return entries(owner) if value is MISSING and not known else value


def entries(x: Any) -> Any:
    """A container; of one that refers to its keys or values weakly, the values."""
    if isinstance(x, type | ModuleType):
        return [value for value in vars(x).values() if holds_numbers(value)]
    return list(x.values()) if isinstance(x, WEAK) else x


def held_by_call(
    variables: Variables, outside: Variables, place: Any, depth: int
) -> Iterator[tuple[Any, Any]]:
    """Present values at the places that a called function stores to."""
    (*owner_chain, name), chains = place
    owner = value_of(variables, outside, owner_chain) if owner_chain else None
    if isinstance(owner, CONTAINERS):
        yield from ((owner, owner),) if name in ADDING else ()
        return
    f = called(variables, outside, owner, name)
    if f is None or depth == 0:
        yield from kept_by(owner, name)
        x = value_of(variables, outside, (*owner_chain, name))
        if has_own_call(x) and depth:
            place = ("x", "__call__"), chains
            yield from held_by_call({**variables, "x": x}, outside, place, depth)
        return
    own = [owner] if takes_owner(owner, name) else []
    args = [c and value_of(variables, outside, c) for c in chains or ()]
    inner = dict(zip(f.__code__.co_varnames, [*own, *args], strict=False))
    places = stores_of(f.__code__)
    yield from held(inner | captured(f), f.__globals__, places, depth - 1)


def has_own_call(x: Any) -> bool:
    """Whether an object of the program's is called by a method of its class."""
    known = isinstance(x, FunctionType | MethodType | type)
    return not known and isinstance(class_attribute(type(x), "__call__"), FunctionType)


def kept_by(owner: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """The contents of an object of C code, of which a method stores something."""
    if isinstance(owner, ContextVar):
        yield from ((owner, owner.get(None)),) if name == "set" else ()
    elif isinstance(owner, GeneratorType):
        yield from ((owner, behind(owner)),) if name == "send" else ()
    elif isinstance(owner, np.ndarray):
        yield from ((owner, owner),) if name in WRITING else ()
    elif owner is not None and name in ADDING:
        yield owner, entries(owner)


def called(
    variables: Variables, outside: Variables, owner: Any, name: Any
) -> FunctionType | None:
    """The function of the program that a call would reach."""
    if owner is MISSING or not isinstance(name, str):
        return None
    if owner is None:
        f = value_of(variables, outside, (name,))
    else:
        f = attribute(owner, name)
        f = class_attribute(type(owner), name) if f is MISSING else f
    f = f.__func__ if isinstance(f, MethodType | staticmethod | classmethod) else f
    if not isinstance(f, FunctionType) or is_opaque(f) or is_lifted(f):
        return None  # a function that this run has made keeps nothing of earlier calls
    return None if keeps_no_results(f.__globals__) else f


def keeps_no_results(scope: Variables) -> bool:
    """Whether code of a module of our own keeps nothing that depends on numbers."""
    return str(scope.get("__name__", "")).partition(".")[0] in OWN


def takes_owner(owner: Any, name: Any) -> bool:
    """Whether a function that is read of an object gets it as its first argument."""
    return not (owner is None or isinstance(owner, ModuleType | type)) and isinstance(
        class_attribute(type(owner), name), FunctionType
    )


def captured(f: FunctionType) -> dict[str, Any]:
    free = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    return {name: cell_value(cell) for name, cell in free}


def cell_value(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return MISSING


STORES: WeakKeyDictionary[CodeType, tuple[Any, ...]] = WeakKeyDictionary()


def stores_of(code: CodeType) -> tuple[Any, ...]:
    """The places that a function stores to, by the names of its own variables."""
    found = STORES.get(code)
    if found is None:
        try:
            found = places_of(definition(code))
        except SourceNotFound:
            found = ()
        STORES[code] = found
    return found


def may_store(f: FunctionType, places: Any, depth: int = DEPTH) -> bool:
    """Whether places in a function's text may be stored to, its calls followed."""
    return any(
        kind != "call" or call_stores(captured(f), f.__globals__, place, depth)
        for kind, *place in places
    )


def call_stores(
    variables: Variables, outside: Variables, place: Any, depth: int
) -> bool:
    """Whether a call may store: by a method of something unknown, or by its text."""
    (*owner_chain, name), args = place
    owner = value_of(variables, outside, owner_chain) if owner_chain else None
    if owner is MISSING:
        return args is not None
    if isinstance(owner, CONTAINERS):
        return name in ADDING
    f = called(variables, outside, owner, name)
    return (
        f is not None and depth > 0 and may_store(f, stores_of(f.__code__), depth - 1)
    )


def value_of(variables: Variables, outside: Variables, chain: Any) -> Any:
    """The present value of a chain of attributes; no property runs."""
    name, *steps = chain
    value = variables.get(name, outside.get(name, MISSING))
    for step in steps:
        if value is MISSING:
            break
        value = attribute(value, step) if isinstance(step, str) else item(value, *step)
    return value


def attribute(owner: Any, name: str, *, stored: bool = False) -> Any:
    """The value of an object, its class or a module under a name; no property runs.

    Args:
        owner: The object.
        name: The name.
        stored: Whether it is stored to: what a property stores is the whole object.
    """
    if isinstance(owner, np.ndarray):
        return owner  # of a view, the whole
    if isinstance(owner, FunctionType) and name in ("__defaults__", "__kwdefaults__"):
        return owner
    if name in ("__class__", "__dict__"):
        return type(owner) if name == "__class__" else own_dict(owner)
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, MISSING)
    if isinstance(owner, type):
        found = class_attribute(owner, name)
        return MISSING if found is None else found
    value = read_attribute(owner, name)
    if value is MISSING:
        of_class = class_attribute(type(owner), name)
        if holds_numbers(of_class):
            return of_class
        return owner if stored and hasattr(type(of_class), "__set__") else MISSING
    return value


def item(owner: Any, key: Any) -> Any:
    """An item of a container; of an array, the whole."""
    for cls in CONTAINERS:  # not by a method of a subclass
        if isinstance(owner, cls):
            read: Any = cls.__getitem__
            try:
                return read(owner, key)
            except (LookupError, TypeError):
                return MISSING
    return owner if isinstance(owner, np.ndarray) else MISSING


def holds_numbers(x: Any) -> bool:
    return isinstance(x, CONTAINERS) or is_number(x) or is_float_array(x)
