"""Values that carry derivatives and reach a function with rules not as an argument.

    def f(x):
        return model.w * x    # has a rule, which gives the derivative by `x`

A rule gives derivatives by the arguments of its function. What the body reads as a
global, as an attribute of what stands there or through a helper has none by the rule:
the run is refused if it put a value with a derivative there.
"""

from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.concealed import SIMPLE, conceals_active, holds_active
from rules_autodiff._python.opaque import root_of
from rules_autodiff._python.outside_reads import reads_active
from rules_autodiff._python.values import INERT, is_number
from rules_autodiff._refusals import name_of, refused, rule_of
from rules_autodiff._shadows.memory import owner_of
from rules_autodiff._shadows.saved_state import own_dict
from rules_core import structure
from rules_core.extend import Place, is_closed, places_read

from .interface import Hooks

__all__ = ["check_classes", "check_concealed", "check_reads"]


def check_reads(run: Hooks, f: Any, rule: Any = None) -> None:
    """Refuse a function that reads a value with a derivative from outside.

    Only what the program itself put there carries one: a run that has written nothing
    of what the function reads, and bound no outer name, need not look at it again.
    """
    if not (run.changes or run.rebinds):
        return
    if is_closed(root_of(f)) or (rule and rule.constant):
        return
    key = f if isinstance(f, FunctionType | type) else type(f)
    read = run.read_ids.get(key)
    if read is None:
        read = run.read_ids[key] = {
            i for place in places_read(f) for i in ids_in(place)
        }
    if run.rebinds or not read.isdisjoint(run.written_ids):
        for place in places_read(f):
            if carries(run, place):
                refused("read outside", name_of(f), rule_of(rule), place.path)


def ids_in(place: Place) -> Iterator[int]:
    """The ids of everything that a program may change at a place."""
    yield from ids_of(place.owner)
    for x in parts(place.value):
        yield from ids_of(x)


def check_concealed(run: Hooks, f: Any, found: Any) -> None:
    """Refuse arguments with a derivative inside something that has no tangent."""
    rule, args, kwargs = found.rule, found.args, found.kwargs
    if rule.constant or not conceals_active(run, (*args, *kwargs.values())):
        return
    for place, x in (*enumerate(args), *kwargs.items()):
        if conceals_active(run, (x,)):
            name = repr(place) if isinstance(place, str) else place
            refused("concealed", name, name_of(f), rule_of(rule), type(x).__name__)


def check_classes(run: Hooks, f: Any, values: Any, rule: Any = None) -> None:
    """Refuse objects whose class holds, or reads, a value with a derivative.

    A solver only calls what it is given, which is looked at there.
    """
    if is_closed(root_of(f)) or (rule and rule.constant):
        return
    for cls in {type(x) for x in parts(values)} - SIMPLE:
        bases = (*cls.__mro__, *type(cls).__mro__)
        for base in [b for b in bases if not is_closed(root_of(b))]:
            for name, entry in vars(base).items():
                if holds_active(run, (entry,)) or reads_active(run, getter(entry)):
                    path = f"an attribute of the class {cls.__name__}, {name!r}"
                    refused("read outside", name_of(f), rule_of(rule), path)


def getter(entry: Any) -> Any:
    """The function that Python calls where an entry of a class is read."""
    return entry.fget if isinstance(entry, property) else getattr(entry, "func", None)


def carries(run: Hooks, place: Place) -> bool:
    value = place.value
    if value is None:
        return False
    if is_number(value) or isinstance(value, np.ndarray):
        return run.slot(value) is not None
    return may_have_changed(run, place) and holds_active(run, value)


def may_have_changed(run: Hooks, place: Place) -> bool:
    """Whether the run wrote into a value, or put it where it stands.

    What the function itself keeps (a list of its calls) is no value of the program's.
    """
    written = run.written_ids
    if run.rebinds or not written.isdisjoint(ids_of(place.owner)):
        return True
    return any(not written.isdisjoint(ids_of(x)) for x in parts(place.value))


def parts(x: Any) -> Iterator[Any]:
    """A value, and everything inside it that a program may change."""
    seen: dict[int, Any] = {}
    ends = [x]
    while ends:
        x = ends.pop()
        if type(x) in INERT or is_number(x) or id(x) in seen:
            continue
        seen[id(x)] = x
        yield x
        level = structure(x)
        ends.extend(() if level is None else level.values)


def ids_of(x: Any) -> set[int]:
    """The ids under which writes to an object are noted."""
    if x is None:
        return set()
    if isinstance(x, np.ndarray):
        return {id(x), id(owner_of(x))}
    own = None if isinstance(x, FunctionType | dict) else own_dict(x)
    return {id(x), id(x if own is None else own)}
