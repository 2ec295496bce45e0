"""Kinds of the results of rules, observed while the tape calls them.

The kind of a rule's result is unknown before it has run. If generated code needs to
know it, the next run by the tape records it.
"""

from typing import Any

from rules_autodiff.straight._program.kinds import Kind, kind_of

__all__ = ["LEARNED", "Learned", "sort_of"]

LESSON = 1000  # recorded calls of rules after a request
SORTS = 1000  # cached calls
CONSTANTS = frozenset({int, bool, type(None), str})


def sort_of(x: Any) -> Any:
    """The part of an argument that decides a result's kind: its kind, or a constant."""
    return (type(x), x) if type(x) in CONSTANTS else kind_of(x) or type(x)


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
        """The kind of a result, None if it is unknown."""
        return self.kinds.get((rule, sorts))


LEARNED = Learned()
