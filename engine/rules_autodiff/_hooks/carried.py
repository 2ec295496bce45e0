"""Objects older than a run: all that the program reaches by itself.

Objects that a call makes hold no results of earlier calls.
"""

import gc
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any
from weakref import ref

import numpy as np

from rules_autodiff._python.opaque import OWN, is_opaque_module
from rules_autodiff._python.outside_reads import values_outside
from rules_autodiff._shadows.memory import owner_of
from rules_core.extend import codes

from .interface import Hooks

__all__ = ["is_carried"]

CLOSED = (ModuleType, CodeType, FrameType, str, int, float)
MANY = 200_000  # objects; of what reaches more, each is taken to be older


def is_carried(run: Hooks, x: Any) -> bool:
    """Whether an object may be older than the run.

    Args:
        run: The run.
        x: An object; None for a variable outside of the run's functions.
    """
    if x is None or isinstance(x, ModuleType):
        return True
    if run.older is None:
        run.older = reached(roots(run))
    whole = owner_of(x) if isinstance(x, np.ndarray) else x
    return not run.older or id(x) in run.older or id(whole) in run.older


def roots(run: Hooks) -> Iterator[Any]:
    """The program of a run, its arguments, and what the called functions read."""
    yield from run.program
    for entered in run.entered:
        for given, inner, *_ in entered:
            yield from (given, inner)
    seen: dict[int, Any] = {}
    for f in run.functions:
        yield f
        if isinstance(f, FunctionType):
            yield from values_outside(f, seen)
            yield from named_functions(f)


def named_functions(f: FunctionType) -> Iterator[Any]:
    """The functions that a function names, which may have attributes."""
    named = (
        f.__globals__.get(name) for code in codes(f.__code__) for name in code.co_names
    )
    return (x for x in named if isinstance(x, FunctionType))


def reached(ends: Iterable[Any]) -> dict[int, Any]:
    """By its id, each object that some others refer to; empty if there are too many."""
    found: dict[int, Any] = {}
    waiting = list(ends)
    while waiting:
        x = waiting.pop()
        if id(x) in found or is_closed(x):
            continue
        found[id(x)] = x
        if len(found) > MANY:
            return {}
        waiting.extend(inside(x))
    return found


def inside(x: Any) -> Iterable[Any]:
    """Referents of an object; of a function, only the names that it reads."""
    if isinstance(x, FunctionType):
        return x.__closure__, x.__defaults__, x.__kwdefaults__, x.__dict__
    if isinstance(x, ref):
        return (x(),)
    if isinstance(x, np.ndarray):
        return owner_of(x), *gc.get_referents(x)
    return gc.get_referents(x)


def is_closed(x: Any) -> bool:
    """Whether an object leads to no state of a program."""
    if x is None or isinstance(
        x, ModuleType | CodeType | FrameType | str | int | float
    ):
        return True
    if not isinstance(x, type | FunctionType):
        return False
    name = str(x.__module__)
    return name.partition(".")[0] in OWN or is_opaque_module(name)
