"""What is older than a run: everything that the program reaches by itself.

Objects that a call makes hold no results of earlier calls.
"""

import gc
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any
from weakref import ref

import numpy as np

from rules_autodiff._python.opaque import OWN, is_opaque_module
from rules_autodiff._shadows.memory import owner_of

from .interface import Hooks

__all__ = ["is_carried"]

MANY = 200_000  # objects; of what reaches more, each is taken to be older


def is_carried(run: Hooks, x: Any) -> bool:
    """Whether an object may be older than the run.

    Args:
        run: The run.
        x: An object; None for a variable outside of the run's functions.
    """
    if x is None:
        return True
    if run.older is None:
        run.older = reached(roots(run))
    whole = owner_of(x) if isinstance(x, np.ndarray) else x
    return not run.older or id(x) in run.older or id(whole) in run.older


def roots(run: Hooks) -> Iterator[Any]:
    """The program of a run, its arguments and the functions that it called."""
    yield from run.program
    for f in run.functions:
        yield from (f, getattr(f, "__globals__", None))
    for entered in run.entered:
        for given, inner, *_ in entered:
            yield from (given, inner)


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
        if isinstance(x, ref):
            waiting.append(x())
        if isinstance(x, np.ndarray):
            waiting.append(owner_of(x))
        waiting.extend(gc.get_referents(x))
    return found


def is_closed(x: Any) -> bool:
    """Whether an object leads to no state of a program."""
    if x is None or isinstance(x, CodeType | FrameType | str | int | float):
        return True
    if isinstance(x, ModuleType):
        name = x.__name__
    elif isinstance(x, type | FunctionType):
        name = str(x.__module__)
    else:
        return False
    return name.partition(".")[0] in OWN or is_opaque_module(name)
