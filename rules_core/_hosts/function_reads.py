"""What functions that rules call back read, at the value and at the pullback.

    y = solve_ivp(f, …)    # f reads a global variable
    G = 0.5                # and so does the pullback, which calls f again

What functions read must be at the pullback what it was at the value, or these are of
two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType
from typing import Any

from rules_core._base.arrays import is_array_type
from rules_core._base.errors import UnsupportedError
from rules_core._base.opaque_modules import is_closed, root_of
from rules_core._tangents.structure import structure

from .captured_variables import bound_to, content
from .code_names import cell_value, names_read
from .functions_in import PLAIN, functions_in
from .outside_states import states
from .read_places import Place, Search
from .value_facts import Facts

__all__ = ["Reads", "reads_of"]

Key = tuple[str, int]
Names = Callable[[dict[int, Any]], set[Any]]


class Reads:
    """What functions read, as it was.

    Args:
        functions: The functions.
        captured: Whether what they capture is read as well; an AD system that gives it
            to the pullback as an argument leaves it out.
        hidden: Of all that is captured, by ids, the names of variables that are not
            the program's own.

    Attributes:
        functions: The functions.
        was: Of each place what stood there, in short.
    """

    def __init__(
        self,
        functions: list[Any],
        *,
        captured: bool = True,
        hidden: Names = lambda _: set(),
    ) -> None:
        self.functions, self._captured, self._hidden = functions, captured, hidden
        self._alive = Facts()  # what was looked at, whose ids stay valid
        self._cells: dict[int, tuple[CellType, Any]] = {}
        self._own: set[Key] = set()  # the functions' own
        self.was = self._now(self._alive, self._cells)

    def settle(self) -> None:
        """Leave out what the functions changed themselves since then.

        Counters, logs and caches: no call depends on them.
        """
        now = self._now(self._alive)
        self._own |= {x for x in {*now, *self.was} if now.get(x) != self.was.get(x)}

    def changed(self) -> str | None:
        """The expression of a place that is not as it was, or None."""
        now = self._now(Facts())
        paths = {*now, *self.was} - self._own
        changed = sorted(x for x in paths if now.get(x) != self.was.get(x))
        return changed[0][0] if changed else None

    @contextmanager
    def held(self, label: str) -> Iterator[None]:
        """While a pullback runs: variables that were assigned since are as they were.

        Args:
            label: The rule, for the error.

        Raises:
            UnsupportedError: Something else was changed.
        """
        own = {owner for _, owner in self._own}
        then = [pair for key, pair in self._cells.items() if key not in own]
        with bound_to(then):
            path = self.changed()
            if path is not None:
                raise UnsupportedError(self._text(label, path))
            yield
            self.settle()

    def _text(self, label: str, path: str) -> str:
        names = ", ".join(dict.fromkeys(map(_name, self.functions)))
        return (
            f"{label}: a function that is an argument must read at the pullback what "
            f"it read at the value, but {names} reads {path}, which was changed since. "
            "Pass that value to the function as an argument, let it capture a copy, or "
            "change it after the backward pass."
        )

    def _now(
        self, facts: Facts, cells: dict[int, tuple[CellType, Any]] | None = None
    ) -> dict[Key, Any]:
        """The facts by their paths and owners."""
        held = {} if self._captured else captured_by(self.functions)
        hidden = self._hidden(held)
        found: dict[Key, Any] = {}
        facts.written = written = set[str]()
        search = Search(everything=True, written=written)
        for place in self._places(search, held, facts):
            path, value, owner = place
            own = path.partition(".")[0] in hidden or path.rpartition(".")[2] in written
            if value is None or own:
                continue
            if not self._captured and not is_outside(place, held):
                continue
            facts.keep(owner)
            found[path, id(owner)] = facts.of(value)
            if cells is not None and isinstance(owner, CellType):
                cells[id(owner)] = owner, content(owner)
        outside = states(search.words, search.codes, facts.texts)
        found.update(((path, 0), state) for path, state in outside)
        for f in () if self._captured else self.functions:
            found.update(_named_functions(f, hidden, facts, set()))
        return found

    def _places(
        self, search: Search, held: dict[int, Any], facts: Facts
    ) -> Iterator[Place]:
        """The places that the functions read, and those in classes they may reach."""
        places = [place for f in self.functions for place in search.of(f)]
        facts.flags = "flags" in search.words
        yield from places
        for x in held.values():
            search.reach(type(x))
        known: Any = None
        while known != (known := search.size()):
            for cls in facts.classes.values():
                search.reach(cls)
            yield from [*search.of_classes()]


def reads_of(values: Any) -> Reads | None:
    """What functions among values read; None if there are none."""
    if all(type(value) in PLAIN for value in values):
        return None
    functions = [x for value in values for x in functions_in(value)]
    return Reads(functions) if functions else None


def _name(f: Any) -> str:
    f = f.func if isinstance(f, partial) else f
    return getattr(f, "__qualname__", None) or type(f).__qualname__


def _named_functions(
    f: Any, hidden: set[Any], facts: Facts, seen: set[int]
) -> Iterator[tuple[Key, Any]]:
    """The functions that code calls by global names, and what they capture."""
    f = getattr(f, "__func__", getattr(f, "func", f))
    if not isinstance(f, FunctionType) or id(f) in seen:
        return
    seen.add(id(f))
    cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    held = {name: cell_value(cell) for name, cell in cells if name not in hidden}
    for value in held.values():
        yield from _named_functions(value, hidden, facts, seen)
    if is_closed(root_of(f)):
        return
    for name, _ in names_read(f.__code__).variables:
        value = f.__globals__.get(name)
        if name not in held and isinstance(value, FunctionType):
            inner = [facts.of(cell_value(cell)) for cell in value.__closure__ or ()]
            yield (f"{name}()", id(value)), (facts.of(value), tuple(inner))
            yield from _named_functions(value, hidden, facts, seen)


def is_outside(place: Place, held: dict[int, Any]) -> bool:
    """Whether a rule gets a value otherwise than with its functions."""
    owner = place.owner
    if owner is None or isinstance(owner, CellType):
        return False
    return id(owner) not in held


def captured_by(functions: list[Any]) -> dict[int, Any]:
    """By their ids, functions and all that they capture."""
    found: dict[int, Any] = {}
    ends = [*functions]
    while ends:
        x = ends.pop()
        if id(x) in found or type(x) in PLAIN or is_array_type(type(x)):
            continue
        if isinstance(x, type):  # of which the attributes are the program's
            continue
        found[id(x)] = x
        level = structure(x)
        ends.extend(() if level is None else level.values)
    return found
