"""Kinds of results, observed while the tape runs a program.

The kind of a rule's result is unknown before it has run, and so is that of a function
that is not written out. If generated code needs to know it, the next run by the tape
records it.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from rules_autodiff._python.handlers import HANDLERS
from rules_autodiff._python.lifted_code import ByIdentity
from rules_autodiff.straight._program.kinds import Kind, kind_of

__all__ = ["LEARNED", "AnyOf", "Learned", "sort_of"]

LESSON = 1000  # recorded calls of rules after a request
CALLS = 300  # recorded calls of programs after a request
SORTS = 1000  # cached calls
PROGRAM_SORTS = 50  # cached calls of one program
CONSTANTS = frozenset({int, bool, type(None), str})
SEVERAL = Kind("mixed")  # of results of different kinds, or of no kind


def sort_of(x: Any) -> Any:
    """The part of an argument that decides a result's kind: its kind, or a constant."""
    return (type(x), x) if type(x) in CONSTANTS else kind_of(x) or type(x)


class AnyOf(NamedTuple):
    """The sort of a constant of a class whose value is unknown."""

    cls: type


def is_case(sorts: tuple[Any, ...], wider: tuple[Any, ...]) -> bool:
    """Whether a call is one of those that wider sorts describe."""
    return len(sorts) == len(wider) and all(map(is_one_of, sorts, wider))


def is_one_of(sort: Any, wider: Any) -> bool:
    if type(wider) is AnyOf:
        return type(sort) is tuple and sort[0] is wider.cls
    return bool(sort == wider)


def common(found: set[Kind]) -> Kind | None:
    """The only kind; None if there is none, or more than one."""
    return found.pop() if len(found) == 1 else None


class Learned:
    """The kinds of results, by rule or program and the sorts of its arguments.

    Attributes:
        left: The remaining calls of rules to record.
        calls: The remaining calls of programs to record.
    """

    def __init__(self) -> None:
        self.left = self.calls = 0
        self.kinds: dict[Any, Kind] = {}
        self.programs = ByIdentity()  # by code: sorts → kind

    def start(self) -> None:
        """Start recording."""
        self.left, self.calls = LESSON, CALLS

    def note(self, found: Any, y: Any) -> None:
        """Record the kind of a call's result."""
        self.left -= 1
        if found.kwargs or found.bound:
            return
        if len(self.kinds) >= SORTS:
            self.kinds.clear()  # programs in use are learned again
        key = found.rule, tuple(map(sort_of, found.args))
        kind = kind_of(y) or SEVERAL
        self.kinds[key] = kind if self.kinds.get(key, kind) == kind else SEVERAL

    def kind(self, rule: Any, sorts: tuple[Any, ...]) -> Kind | None:
        """The kind of a rule's result, None if it is unknown.

        A constant whose value is unknown has `AnyOf` as its sort: then all recorded
        calls must have results of one kind.
        """
        if not any(type(sort) is AnyOf for sort in sorts):
            return self.kinds.get((rule, sorts))
        own = {its: kind for (other, its), kind in self.kinds.items() if other is rule}
        return common({kind for its, kind in own.items() if is_case(its, sorts)})

    def watched(
        self, f: FunctionType, derived: Callable[..., Any]
    ) -> Callable[..., Any]:
        """A lifted program whose results are recorded."""

        def call_watched(*args: Any, **kwargs: Any) -> Any:
            y = derived(*args, **kwargs)
            if self.calls > 0:
                self.note_call(f, args, kwargs, y)
            return y

        return call_watched

    def note_call(self, f: FunctionType, args: Any, kwargs: Any, y: Any) -> None:
        """Record the kind of a program's result."""
        self.calls -= 1
        kinds: dict[Any, Kind] | None = self.programs.get(f.__code__)
        if kinds is None:
            kinds = {}
            self.programs.put(f.__code__, kinds)
        if len(kinds) < PROGRAM_SORTS:
            names = tuple(sorted(kwargs))
            sorts = *map(sort_of, args), names, *[sort_of(kwargs[n]) for n in names]
            kind = kind_of(y) or SEVERAL
            kinds[sorts] = kind if kinds.get(sorts, kind) == kind else SEVERAL

    def kind_of_program(self, f: FunctionType, sorts: tuple[Any, ...]) -> Kind | None:
        """The kind of a program's result, None if it is unknown."""
        known: dict[Any, Kind] = self.programs.get(f.__code__) or {}
        return common({kind for its, kind in known.items() if is_case(its, sorts)})


LEARNED = Learned()


def _without_notes(_run: Any, *_args: Any) -> None:
    """A run over the code of another derivative: there is nothing to differentiate."""


HANDLERS[Learned.note_call] = _without_notes
