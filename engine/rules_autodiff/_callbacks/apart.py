"""Functions that C code calls apart from the tape, as a solver does.

The derivative of the solver's result is a theorem, which knows what the function takes
and captures. Nothing else may carry a derivative into the call, or out of it: neither
an iterator, an attribute of a function or an entry of a global dict, nor a write.
"""

from collections.abc import Iterator, MutableMapping, MutableSequence, MutableSet
from contextlib import suppress
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any, final
from weakref import ref

import numpy as np

from rules_autodiff._forward.forward import ForwardRun
from rules_autodiff._hooks import access, attributes
from rules_autodiff._lift.lift import unlifted
from rules_autodiff._python.lifted_code import is_lifted, runs_under_way
from rules_autodiff._python.values import is_number
from rules_autodiff._refusals import name_of, refused
from rules_autodiff._shadows.memory import owner_of
from rules_autodiff._shadows.saved_state import own_dict, written_to
from rules_autodiff._tape.fast.run import FastRun
from rules_autodiff.straight._program.kinds import VALUE
from rules_autodiff.straight._tier.called_back import found
from rules_autodiff.straight._tier.left import Left
from rules_core import structure
from rules_core.extend import cell_value, rebinds

from .captured_writes import outside_of

__all__ = ["Apart", "check_storing", "is_under_way"]


# What takes an iterator on: its items are met where it is used.
PASSING = (FunctionType, MethodType)
ENTRIES = frozenset({tuple, list, dict})


@final
class Apart:
    """A function without the runs that wait for its result.

    Attributes:
        f: The function.
        outer: These runs.
        inside: By their ids, all values that it captures; None until it is asked.
        rebinds: Whether one of these is a function that rebinds a name.
        plain: The function as its program defines it; None if it calls lifted ones.
    """

    def __init__(self, f: Any) -> None:
        self.f = f
        self.outer = list({id(run): run for run in runs_under_way()}.values())
        self.inside: dict[int, Any] | None = None
        self.rebinds = False
        plain = unlifted(f) if type(f) is FunctionType else f
        self.plain: Any = None if calls_lifted(plain, set()) else plain

    def __tangent_structure__(self) -> None:
        """Nothing to differentiate: C code calls it."""

    def __call__(self, *args: Any) -> Any:
        if self.is_quiet(args):
            with suppress(Exception):  # a run tells it with its line
                return self.plain(*args)
        run = ApartRun(self, args)
        y = run.call(self.f, *args)
        self.check_written(run, args)
        return y

    def is_quiet(self, args: Any) -> bool:
        """Whether a call changes nothing, and reads no value that a run follows.

        What can be written as straight-line code has been read as a whole; a guard
        knows what it reads beside its arguments and captures.
        """
        try:
            _, _, read = found(self.f, args, VALUE)
        except Left:
            return False
        return not any(map(self.is_followed, read))

    def is_followed(self, x: Any) -> bool:
        """Whether a run that waits follows a value, or one in it."""
        if type(x) in ENTRIES:
            return any(map(self.is_followed, x.values() if type(x) is dict else x))
        if not (is_number(x) or isinstance(x, np.ndarray)):
            return False
        return any(outer.slot(x) is not None for outer in self.outer)

    def captured(self) -> dict[int, Any]:
        """All values that the function captures, by their ids."""
        if self.inside is None:
            self.inside = reached((self.f,))
            functions = (g for g in self.inside.values() if type(g) is FunctionType)
            self.rebinds = any(map(rebinds, functions))
        return self.inside

    def check_written(self, run: Any, args: Any) -> None:
        """Refuse a write to what was not made in the call."""
        captured = self.captured()
        if self.rebinds:
            refused("written apart", name_of(self.f))
        if run.changes:
            given = (*captured.values(), *reached(args).values())
            seen = {i for x in given for i in ids_of(x)}
            seen |= outside_of([self.f, *run.functions])
            if seen & written_to(run.changes):
                refused("written apart", name_of(self.f))


def calls_lifted(f: Any, seen: set[int]) -> bool:
    """Whether a function is lifted, or captures one that is: its hooks are a run's."""
    f = f.__func__ if isinstance(f, MethodType) else f
    if not isinstance(f, FunctionType) or id(f) in seen:
        return False
    seen.add(id(f))
    if is_lifted(f):
        return True
    return any(calls_lifted(cell_value(cell), seen) for cell in f.__closure__ or ())


def is_under_way() -> bool:
    """Whether the program of some run waits for the current call."""
    return next(runs_under_way(), None) is not None


STORES = (MutableMapping, MutableSequence, MutableSet, np.ndarray)


def check_storing(f: Any) -> None:
    """Refuse a method in C that stores what it is given, such as `seen.append`."""
    owner = f.__self__ if isinstance(f, BuiltinMethodType) else None
    if isinstance(owner, STORES) and is_under_way():
        refused("written apart", name_of(f))


# What this run does otherwise, and what it asks.


def call_apart(run: Any, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Refuse an iterator from outside that C code would read."""
    foreign = any(is_foreign(run, x) for x in args)
    if type(f) not in PASSING and f is not next and foreign:
        refused("apart", name_of(run.apart.f))
    return seen(run, FastRun.call(run, f, *args, **kwargs))


def iterated_apart(run: Any, iterable: Any) -> Any:
    """Look at each item of an iterator from outside."""
    found = access.iterated(run, iterable)
    return (seen(run, x) for x in found) if is_foreign(run, iterable) else found


def item_apart(run: Any, owner: Any, key: Any) -> Any:
    """Look at what a container holds."""
    return seen(run, FastRun.getitem(run, owner, key))


def attribute_apart(run: Any, owner: Any, name: str) -> Any:
    """Look at what an object holds."""
    return seen(run, attributes.get_attribute(run, owner, name))


def is_foreign(run: Any, x: Any) -> bool:
    """Whether a value is an iterator that was made outside."""
    if not hasattr(type(x), "__next__"):
        return False
    return is_given(run, x) or id(x) in outside_of([run.apart.f])


def seen(run: Any, x: Any) -> Any:
    """A value that the function reads, unless a run that waits follows it."""
    number = is_number(x) or isinstance(x, np.ndarray)
    if not number or not run.apart.outer or is_known(run, x):
        return x
    if any(outer.slot(x) is not None for outer in run.apart.outer):
        refused("apart", name_of(run.apart.f))
    return x


def is_known(run: Any, x: Any) -> bool:
    if is_given(run, x) or not isinstance(x, np.ndarray):
        return is_given(run, x)
    given = (*(run.known or {}).values(), *run.apart.captured().values())
    arrays = (y for y in given if isinstance(y, np.ndarray))
    return any(np.may_share_memory(x, y) for y in arrays)


def is_given(run: Any, x: Any) -> bool:
    """Whether the function takes or captures this very object."""
    return has_given(run, id(x))


def has_given(run: Any, key: int) -> bool:
    if run.known is None:
        run.known = reached(run.given)
    return key in run.known or key in run.apart.captured()


class Followed(dict[int, Any]):
    """The slots of a run apart; those of the runs that wait are refused.

    An operation asks for the slots of its operands, wherever the function has read
    them: as a global, by a method that Python calls itself, in another function.
    """

    def __init__(self, run: Any) -> None:
        super().__init__()
        self.run = run
        self.outer = [slots for outer in run.apart.outer for slots in slots_of(outer)]

    def get(self, key: int, default: Any = None) -> Any:
        """The slot of a number or of an owner of memory, by its id."""
        for slots in self.outer:
            if key in slots and is_uncaptured(self.run, key, slots[key]):
                refused("apart", name_of(self.run.apart.f))
        return super().get(key, default)


def is_uncaptured(run: Any, key: int, slot: Any) -> bool:
    """Whether a slot follows what the function neither takes nor captures."""
    if isinstance(slot, ref):  # of memory
        owner = slot()
        return owner is not None and not is_known(run, owner)
    return isinstance(slot, list | tuple) and not has_given(run, key)


def slots_of(run: Any) -> Any:
    """Where a run keeps the slots of numbers, and of owners of memory."""
    if isinstance(run, ForwardRun):
        return run.dots, run.flows
    return run.nodes, run.shadows


class ApartRun(FastRun):
    """A run that meets only constants, and arguments and captured values.

    Attributes:
        apart: The function, and the runs that wait for it.
        given: Its arguments.
        known: By their ids, all values in these; None until it is asked.
    """

    def __init__(self, apart: Apart, given: Any) -> None:
        super().__init__()
        self.apart, self.given = apart, given
        self.known: dict[int, Any] | None = None
        self.nodes, self.shadows = Followed(self), Followed(self)
        self.guards = self.shadows

    call = call_apart
    iter = iterated_apart
    getitem = item_apart
    getattr = attribute_apart


def reached(roots: Any) -> dict[int, Any]:
    """By their ids, all values inside of others, and the owners of arrays."""
    found: dict[int, Any] = {}
    ends = list(roots)
    while ends:
        x = ends.pop()
        if id(x) not in found:
            found[id(x)] = x
            if isinstance(x, np.ndarray):
                owner = owner_of(x)
                found[id(owner)] = owner
                continue
            level = None if is_number(x) else structure(x)
            ends.extend(() if level is None else level.values)
    return found


def ids_of(x: Any) -> Iterator[int]:
    """The ids under which writes to a value are noted."""
    yield id(x)
    if isinstance(x, FunctionType):
        yield id(x.__dict__)
        yield from map(id, x.__closure__ or ())
    elif not isinstance(x, dict):
        yield id(own_dict(x))
