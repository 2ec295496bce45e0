"""A function that a rule calls back must leave what it captured as it is.

The rule runs below the level that asked it, which therefore knows nothing of the write:
it would go on with the derivative of what was there before.
"""

from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._explain import name_of, refuse
from rules_autodiff._memory import owner_of
from rules_autodiff._recording import written_by
from rules_autodiff._values import INERT, is_number
from rules_core import structure

__all__ = ["captured_by", "check_captured", "written_to"]


def captured_by(f: Any, entrance: Any) -> set[int]:
    """The ids of arrays, containers and cells that an entered function reaches.

    To be asked before it runs: ids that are noted on the way may be used again for
    others, but not those of what lives all along.
    """
    entered = (*entrance.copies, *entrance.rebuilt)
    reached: set[int] = set()
    reach(next((inner for x, inner in entered if x is f), f), reached)
    return reached


def check_captured(f: Any, entrance: Any, reached: set[int], written: set[int]) -> None:
    """Refuse writes to arrays, containers and variables that `f` reaches."""
    if reached & written or entrance.rebound():
        what = (
            "A function that a rule calls back by rrule_via_ad or frule_via_ad must "
            f"not write to what it captured, but {name_of(f)} does"
        )
        raise refuse(what, "Let it write into copies, and return what is new.")


def written_to(changes: list[Any]) -> set[int]:
    """The ids of what entries of a tape have changed, arrays by their owners."""
    found = written_by(changes)
    for entry in changes:
        found |= {id(getattr(entry, name, None)) for name in ("owner", "target")}
    return found - {id(None)}


def reach(x: Any, found: set[int]) -> None:
    """Note the ids of all that may be changed by way of `x`."""
    if type(x) in INERT or is_number(x) or id(x) in found:
        return
    found.add(id(x))
    if isinstance(x, np.ndarray):
        found.add(id(owner_of(x)))
        return
    if isinstance(x, FunctionType):
        found.update(map(id, x.__closure__ or ()))
    level = structure(x)
    for value in () if level is None else level.values:
        reach(value, found)
