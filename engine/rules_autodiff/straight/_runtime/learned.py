"""Kinds of the results of rules, observed while the tape calls them.

The kind of a rule's result is unknown before it has run. If generated code needs to
know it, the next run by the tape records it.
"""

from typing import Any, NamedTuple

from rules_autodiff.straight._program.kinds import Kind, kind_of

__all__ = ["LEARNED", "AnyOf", "Learned", "sort_of"]

LESSON = 1000  # recorded calls of rules after a request
SORTS = 1000  # cached calls
CONSTANTS = frozenset({int, bool, type(None), str})


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


class Learned:
    """The kinds of results, by rule and the sorts of its arguments.

    Attributes:
        left: The remaining calls to record.
    """

    def __init__(self) -> None:
        self.left = 0
        self.kinds: dict[Any, Kind | None] = {}

    def start(self) -> None:
        """Start recording."""
        self.left = LESSON

    def note(self, found: Any, y: Any) -> None:
        """Record the kind of a call's result; None if it has several."""
        self.left -= 1
        if found.kwargs or found.bound or len(self.kinds) >= SORTS:
            return
        key = found.rule, tuple(map(sort_of, found.args))
        kind = kind_of(y)
        self.kinds[key] = kind if self.kinds.get(key, kind) == kind else None

    def kind(self, rule: Any, sorts: tuple[Any, ...]) -> Kind | None:
        """The kind of a result, None if it is unknown.

        A constant whose value is unknown has `AnyOf` as its sort: then all recorded
        calls must have results of one kind.
        """
        if not any(type(sort) is AnyOf for sort in sorts):
            return self.kinds.get((rule, sorts))
        fitting = {
            kind
            for (other, its), kind in self.kinds.items()
            if other is rule and is_case(its, sorts)
        }
        return fitting.pop() if len(fitting) == 1 else None


LEARNED = Learned()
