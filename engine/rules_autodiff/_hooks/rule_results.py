"""Results of rules that are an argument again, or a view of one.

    b = identity(a)    # has a rule, and returns `a` itself

The rule says what the derivative by `a` is, so `b` cannot share the shadow of `a`: it
gets memory of its own. That makes no difference until one of them is written to, which
the program would see in both; then the run is refused when it ends.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import reached
from rules_autodiff._python.errors import UnsupportedProgram
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._refusals import Place, code_and_line, name_of, worded
from rules_autodiff._shadows.memory import WRITEABLE, overlaps_itself, owner_of
from rules_core import structure

from .interface import Hooks

__all__ = ["check_copies", "owned", "owned_but"]


@dataclass
class Copied:
    """A result that was copied.

    Attributes:
        ends: The objects that are one in the program, arrays by their owners.
        rule: The rule.
        since: How far the run had come, in the words of `Copies.progress`.
        place: Where the program calls it.
    """

    ends: tuple[Any, Any]
    rule: Any
    since: int
    place: Place


def owned(run: Hooks, y: Any, found: Any, around: Any = ()) -> Any:
    """The result of a rule's call, in objects and memory of its own.

    Args:
        run: The run.
        y: The result, or a part of it.
        found: The call.
        around: The functions in which a part stands, each with its copy.
    """
    if type(y) in INERT:
        return y
    if is_number(y):
        return run.below.box(y)
    if is_float_array(y):
        return owned_array(run, y, found)
    level = run.structure(y)
    if level is None or (callable(y) and not is_shared(run, y, level, found)):
        return y
    if type(y) is FunctionType:
        return owned_function(run, y, level, found, around)
    parts = [owned(run, value, found, around) for value in level.values]
    own = level.rebuild(parts)
    if not isinstance(y, tuple) and id(y) in reached(*found.args):
        note_copy(run, y, own, found)
    return own


def owned_function(run: Hooks, y: Any, level: Any, found: Any, around: Any) -> Any:
    """A function, made before what it captures, which may be itself."""
    for function, own in around:
        if function is y:
            return own
    own = level.rebuild([None] * len(level.names))
    cells = dict(zip(own.__code__.co_freevars, own.__closure__, strict=True))
    for name, value in zip(level.names, level.values, strict=True):
        part = owned(run, value, found, (*around, (y, own)))
        cells[name].cell_contents = part
    if id(y) in reached(*found.args):
        note_copy(run, y, own, found)
    return own


FUNCTIONS = FunctionType, MethodType, partial


def is_shared(run: Hooks, y: Any, level: Any, found: Any) -> bool:
    """Whether a callable holds what the rule was given, or what the run follows.

    An instance may hold arrays of a level below, of which a slot must not be asked for.
    """
    if holds_argument(level, found):
        return True
    return isinstance(y, FUNCTIONS) and run.slot(y) is not None


def holds_argument(level: Any, found: Any) -> bool:
    """Whether a callable instance holds an array that the rule was given."""
    if not level.mutable:
        return False
    owners = set(map(id, map(owner_of, arrays_in(*found.args))))
    return any(id(owner_of(a)) in owners for a in arrays_in(*level.values))


def arrays_in(*values: Any) -> Iterator[Any]:
    """Arrays among values and in their containers."""
    entries = [
        part
        for x in reached(*values).values()
        if (level := structure(x)) is not None
        for part in level.values
    ]
    yield from (x for x in (*values, *entries) if isinstance(x, np.ndarray))


def owned_but(run: Hooks, row: Any, found: Any, kept: list[bool]) -> Any:
    """A row whose parts are its own, but for those that are kept as they are."""
    pairs = zip(row, kept, strict=True)
    parts = [part if keep else owned(run, part, found) for part, keep in pairs]
    return run.structure(row).rebuild(parts)


def owned_array(run: Hooks, y: Any, found: Any) -> Any:
    arrays = [a for a in found.args if isinstance(a, np.ndarray)]
    owner = owner_of(y)
    shared = any(owner_of(a) is owner for a in arrays) or run.slot(y) is not None
    if not shared and not overlaps_itself(y):
        return y
    own = run.below.copied(y)
    if not y.flags.num & WRITEABLE:
        own.flags.writeable = False
    if shared:
        note_copy(run, owner, own, found)
    return own


def note_copy(run: Hooks, y: Any, own: Any, found: Any) -> None:
    place = code_and_line()
    run.copies.append(Copied((y, own), found.rule, run.progress(), place))


def check_copies(run: Hooks) -> None:
    """Refuse the run if what was copied has been written to."""
    for copied in run.copies:
        written = run.written_since(copied.since)
        if any(id(end) in written for end in copied.ends):
            raise UnsupportedProgram(message_for(copied))
    run.copies.clear()


def message_for(copied: Copied) -> str:
    name = name_of(copied.rule.key)
    return (
        f"The result of {name}, called at {worded(copied.place)}, is one of its "
        "arguments or a view of one, and neither must be written to afterwards, since "
        "each has a derivative of its own by the rule; but one is. Write into a copy, "
        f"let {name.rpartition('.')[2]} return a copy, or opt out of its rule."
    )
