"""What functions that rules call back read, at the value and at the pullback.

    y = solve_ivp(f, …)    # f reads a global variable
    G = 0.5                # and so does the pullback, which calls f again

What functions read must be at the pullback what it was at the value, or these are of
two functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import CellType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from rules_core._base.arrays import is_array_type
from rules_core._base.errors import UnsupportedError
from rules_core._base.opaque_modules import OURS, is_closed, root_of
from rules_core._primitives.primitive import Primitive
from rules_core._tangents.structure import structure

from .captured_variables import bound_to, content
from .code_names import cell_value, names_read
from .expected_values import expecting, sample
from .functions_in import PLAIN, functions_in, is_function
from .outside_states import may_read, states
from .read_places import Place, Search
from .read_trail import Trail
from .value_facts import Facts

__all__ = ["Reads", "reads_of", "text_of_change"]

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
        objects: Arguments that a program may change, as instances.
        own: Whether variables that the functions assign themselves are put back too:
            where their value was computed from them, the pullback must be as well.
        without: Functions that are not looked at.

    Attributes:
        functions: The functions.
        objects: The arguments.
        was: Of each place what stood there, in short.
        varies: Whether anything was read but modules of libraries.
        own: As the argument.
        value: Samples of the results of the call, or nothing.
    """

    def __init__(
        self,
        functions: list[Any],
        *,
        captured: bool = True,
        hidden: Names = lambda _: set(),
        objects: Iterable[Any] = (),
        own: bool = False,
        without: Iterable[Any] = (),
    ) -> None:
        self.functions, self._captured, self._hidden = functions, captured, hidden
        self._without = without
        self.objects, self.own = [*objects], own
        self.varies = bool(self.objects)
        self.value: list[Any] = []
        self._alive = Facts()  # what was looked at, whose ids stay valid
        self._cells: dict[int, tuple[CellType, Any]] = {}
        self._own = _own_of(functions)
        self._trail: Trail | None = None  # of what is as it was
        self.was = self._now(self._alive, self._cells)
        self.varies |= bool(self._cells)

    def note(self, results: Iterable[Any]) -> None:
        """Keep the value of the call, in NumPy, for pullbacks that compute it again."""
        self.value = [sample(x) for x in results if x.dtype.kind in "fc"]

    def settle(self) -> None:
        """Leave out what the functions changed themselves since then.

        Counters, logs and caches: no call depends on them.
        """
        if self._holds():
            return
        now = self._now(self._alive)
        self._own |= {x for x in {*now, *self.was} if now.get(x) != self.was.get(x)}

    def changed(self) -> str | None:
        """The expression of a place that is not as it was, or None."""
        if self._holds():
            return None
        now = self._now(Facts())
        paths = {*now, *self.was} - self._own
        changed = sorted(x for x in paths if now.get(x) != self.was.get(x))
        if changed:
            self._trail = None
        return changed[0][0] if changed else None

    def _holds(self) -> bool:
        """Whether a search would find what the last one found, which counts as then."""
        return self._trail is not None and self._trail.holds()

    def captured(self) -> list[tuple[CellType, Any]]:
        """Captured variables that no function assigns, and what they were bound to."""
        own = set() if self.own else {owner for _, owner in self._own}
        return [pair for key, pair in self._cells.items() if key not in own]

    def refuse_changes(self, label: str) -> None:
        """Raise an error if something was changed, captured variables included.

        Args:
            label: The rule, for the error.

        Raises:
            UnsupportedError: It was.
        """
        path = self.changed()
        if path is not None:
            raise UnsupportedError(self._text(label, path))

    @contextmanager
    def held(self, label: str) -> Iterator[None]:
        """While a pullback runs: variables that were assigned since are as they were.

        Args:
            label: The rule, for the error.

        Raises:
            UnsupportedError: Something else was changed.
        """
        with bound_to(self.captured()):
            self.refuse_changes(label)
            with expecting(self.functions, self.value, label):
                yield
            self.settle()

    def _text(self, label: str, path: str) -> str:
        if path.startswith(_OBJECT):
            return (
                f"{label}: an argument must be at the pullback what it was at the "
                f"value, but {path} was changed since. Pass a copy of it, or the "
                "numbers that are in it, or change it after the backward pass."
            )
        return text_of_change(label, self.functions, path)

    def _now(
        self, facts: Facts, cells: dict[int, tuple[CellType, Any]] | None = None
    ) -> dict[Key, Any]:
        """The facts by their paths and owners."""
        held = {} if self._captured else captured_by(self.functions)
        hidden = self._hidden(held)
        found: dict[Key, Any] = {}
        facts.written = written = set[str]()
        search = Search(everything=True, written=written)
        search.leave_out(self._without)
        for place in self._places(search, held, facts):
            path, value, owner = place
            own = path.partition(".")[0] in hidden or path.rpartition(".")[2] in written
            if value is None:
                continue
            put_back = isinstance(owner, CellType) and (self.own or not own)
            if put_back and cells is not None:
                cells[id(owner)] = owner, content(owner)
            if own:
                self.varies |= self.own
                continue
            if not self._captured and not is_outside(place, held):
                continue
            facts.keep(owner)
            key = path, id(owner)  # of several values, as the defaults of a function
            found[key] = (*found.get(key, ()), facts.of(value))
            self.varies |= not _is_library(value)
        outside = states(search.words, search.codes, facts.texts)
        for path, state in outside:
            found[path, 0] = state
            self.varies = True
        for f in () if self._captured else self.functions:
            found.update(_named_functions(f, hidden, facts, set()))
        for x in self.objects:
            found[f"{_OBJECT} {type(x).__qualname__}", id(x)] = facts.of(x)
        self._trail = search.trail if self._is_plain(search) else None
        return found

    def _is_plain(self, search: Search) -> bool:
        """Whether the look-ups of a search decide what it finds."""
        if self.objects or not self._captured or not search.trail.plain:
            return False
        is_settled = "flags" not in search.words
        return is_settled and not may_read(search.words, search.codes)

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


_OBJECT = "one of type"
# Places in which functions write, found in one call and left out in the others.
_OWN: WeakKeyDictionary[Any, set[Key]] = WeakKeyDictionary()


def _own_of(functions: list[Any]) -> set[Key]:
    """The places of the functions' own, so far."""
    if not functions:
        return set()
    f = functions[0]
    f = getattr(f, "__func__", getattr(f, "func", f))
    return _OWN.setdefault(f, set()) if isinstance(f, FunctionType) else set()


def reads_of(
    values: Any, *, objects: Any = (), own: bool = False, without: Any = ()
) -> Reads | None:
    """What functions among values read; None if nothing can change.

    Args:
        values: Arguments of a call, and functions.
        objects: Those of the arguments that may be instances.
        own: As in `Reads`.
        without: As in `Reads`.
    """
    if all(type(value) in PLAIN for value in values):
        return None
    functions = [x for value in values for x in functions_in(value)]
    changeable = [x for x in objects if _is_changeable(x)]
    if not functions and not changeable:
        return None
    reads = Reads(functions, objects=changeable, own=own, without=without)
    return reads if reads.varies else None


def _is_library(x: Any) -> bool:
    """Whether a value is a module of a library, which no program changes."""
    return isinstance(x, ModuleType) and is_closed(x.__name__.partition(".")[0])


def _is_changeable(x: Any) -> bool:
    """Whether an argument is an object of the program with contents."""
    if type(x) in PLAIN or is_array_type(type(x)) or isinstance(x, type | ModuleType):
        return False
    return not (isinstance(x, Primitive) or is_function(x) or root_of(type(x)) in OURS)


def text_of_change(label: str, functions: Iterable[Any], path: str) -> str:
    """The error of a place that was changed, which functions read."""
    names = ", ".join(dict.fromkeys(map(_name, functions)))
    return (
        f"{label}: a function that runs later, for a derivative or in a compiled "
        "program, must read at the pullback what it read at the value, but "
        f"{names} reads {path}, which was changed since. "
        "Pass that value to the function as an argument, let it capture a copy, or "
        "change it after the backward pass."
    )


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
