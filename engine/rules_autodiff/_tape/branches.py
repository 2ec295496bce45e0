"""Slots of containers, taken apart down to their numbers and arrays."""

from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from rules_autodiff._hooks.run import Run
from rules_autodiff._hooks.sets import check_set
from rules_autodiff._python.values import INERT, is_number
from rules_autodiff._shadows.slots import Branch

if TYPE_CHECKING:
    from .reverse import ReverseRun

__all__ = ["branch", "watch_function"]


def branch(run: "ReverseRun", x: Any) -> Any:
    """The slots of a container; one set for all its occurrences."""
    return Branches(run).of(x)


class Branches:
    """One walk through a value.

    Attributes:
        run: The run.
        seen: By their ids, containers with their slots.
        open: Functions that are being taken apart.
        cut: Those among them that were met inside of themselves, where they add
            nothing; what lies between has other slots where it stands elsewhere.
    """

    __slots__ = ("cut", "open", "run", "seen")

    def __init__(self, run: "ReverseRun") -> None:
        self.run = run
        self.seen: dict[int, Any] = {}
        self.open: set[int] = set()
        self.cut: set[int] = set()

    def of(self, x: Any) -> Any:
        """The slots of a container, or None."""
        if id(x) in self.open:
            self.cut.add(id(x))
            return None
        if id(x) in self.seen:
            return self.seen[id(x)][1]
        level = self.run.structure(x)
        if level is None:
            check_set(self.run, x)
            return None
        if type(x) is FunctionType:
            self.open.add(id(x))
        else:
            self.seen[id(x)] = x, None  # what holds itself adds nothing to itself
        parts = [self.part(value) for value in level.values]
        found = None
        if any(part is not None for part in parts):
            found = Branch(x, level, parts)
        self.open.discard(id(x))
        self.cut.discard(id(x))
        self.seen[id(x)] = x, found
        if self.cut and not level.mutable:  # an instance has one tangent
            del self.seen[id(x)]
        return found

    def part(self, x: Any) -> Any:
        """The slot of an entry."""
        if isinstance(x, Run):  # the hooks of a function in lifted code
            return None
        leaf = type(x) in INERT or is_number(x) or isinstance(x, np.ndarray)
        return self.run.slot(x) if leaf else self.of(x)


def watch_function(run: "ReverseRun", x: FunctionType, level: Any) -> Any:
    """New slots of a function, which may call itself: that adds no number."""
    if id(x) in run.open:
        run.cut.add(id(x))
        return None
    run.open.add(id(x))
    made = Branch(x, level, [run.watch(value) for value in level.values])
    run.open.discard(id(x))
    run.cut.discard(id(x))
    if not run.cut:  # alone it is what it is here
        run.watched[id(x)] = made
    return made if any(part is not None for part in made.parts) else None
