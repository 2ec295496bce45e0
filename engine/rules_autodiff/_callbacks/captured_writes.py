"""Checks that a function called by a rule has no side effects.

The rule runs below the level that called it, which cannot see a write to an argument,
to a captured value, or to a global: it would continue with the derivative of the old
value. The function may write to objects that it creates.
"""

import dis
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.outside_reads import values_outside
from rules_autodiff._python.values import INERT, is_number
from rules_autodiff._refusals import name_of, refuse
from rules_autodiff._shadows.memory import owner_of
from rules_core import structure
from rules_core.extend import ByIdentity, cell_value, codes

__all__ = ["captured_by", "check_captured", "outside_of"]


def captured_by(given: Any, entrance: Any) -> set[int]:
    """The ids of arrays, containers and cells that a function and its arguments reach.

    To be called before the run. Only ids are recorded: those of temporary objects may
    be reused, but not those of objects that live throughout.
    """
    entered = (*entrance.copies, *entrance.rebuilt, *entrance.arrays)
    inner = {id(x): entry for x, entry, *_ in entered}
    reached: set[int] = set()
    for x in given:
        reach(inner.get(id(x), x), reached)
    return reached


def check_captured(
    f: Any, entrance: Any, reached: set[int], written: set[int], ran: Any
) -> None:
    """Raise an error for visible writes.

    Args:
        f: The function that was called back.
        entrance: Of its finished forward pass.
        reached: The result of `captured_by`.
        written: The ids of objects that the run wrote to.
        ran: The functions that were called in the run.
    """
    copies = {id(inner) for _, inner in entrance.copies}  # the run's own
    ran = [f, *(g for g in ran if id(g) not in copies)]
    seen = reached & written or (written and outside_of(ran) & written)
    if seen or entrance.rebound() or sets_active(ran, entrance.run):
        what = (
            "A function that a rule calls back by rrule_via_ad or frule_via_ad must "
            "not write to its arguments, to what it captured, to globals, defaults or "
            f"classes, but {name_of(f)} does"
        )
        raise refuse(what, "Let it write into copies, and return what is new.")


def outside_of(ran: list[Any]) -> set[int]:
    """The ids of objects that functions reach by globals, defaults and classes."""
    reached: set[int] = set()
    seen: dict[int, Any] = {}
    for f in ran:
        if isinstance(f, FunctionType):
            for value in values_outside(f, seen, captured=False):
                reach(value, reached)
                reached.add(id(value))
    return reached


def sets_active(ran: list[Any], run: Any) -> bool:
    """Whether an outer variable was assigned an active value."""
    return any(run.is_active(value) for f in ran for value in variables_set(f, set()))


def variables_set(f: Any, seen: set[int]) -> Iterator[Any]:
    """The values of global and captured variables that a function may assign."""
    f = getattr(f, "__func__", f)
    if not isinstance(f, FunctionType) or id(f) in seen:
        return
    seen.add(id(f))
    for name in names_set(f.__code__):
        if name in f.__globals__:
            yield f.__globals__[name]
    for cell in f.__closure__ or ():
        value = cell_value(cell)
        yield value
        if isinstance(value, FunctionType):
            yield from variables_set(value, seen)


def names_set(code: CodeType) -> frozenset[str]:
    """The global variables that code assigns."""
    names: frozenset[str] | None = STORED.get(code)
    if names is None:
        steps = (step for c in codes(code) for step in dis.get_instructions(c))
        names = frozenset(s.argval for s in steps if s.opname == "STORE_GLOBAL")
        STORED.put(code, names)
    return names


STORED = ByIdentity()


def reach(x: Any, found: set[int]) -> None:
    """Record the ids of all mutable objects inside `x`."""
    if type(x) in INERT or is_number(x) or id(x) in found:
        return
    found.update((id(x), id(type(x))))
    if isinstance(x, np.ndarray):
        found.add(id(owner_of(x)))
        return
    if isinstance(x, FunctionType):
        found.update(map(id, x.__closure__ or ()))
    level = structure(x)
    for value in () if level is None else level.values:
        reach(value, found)
