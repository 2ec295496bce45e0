"""What functions with rules return: learned while the tape calls them.

A rule tells nothing of the kind of its result before it has run. So where written code
would need to know, the next run by the tape takes notes.
"""

from typing import Any

from rules_autodiff.straight._program.kinds import Kind, kind_of

__all__ = ["LEARNED", "Learned", "sort_of"]

LESSON = 1000  # calls of rules that are noted after it was asked for
SORTS = 1000  # of calls that are remembered
CONSTANTS = frozenset({int, bool, type(None), str})


def sort_of(x: Any) -> Any:
    """What of an argument decides on the kind of a result: its kind, or a constant."""
    return (type(x), x) if type(x) in CONSTANTS else kind_of(x) or type(x)


class Learned:
    """The kinds of results, by rule and the sorts of its arguments.

    Attributes:
        left: How many calls are still noted.
    """

    def __init__(self) -> None:
        self.left = 0
        self.kinds: dict[Any, Kind | None] = {}

    def start(self) -> None:
        """Take notes from here on."""
        self.left = LESSON

    def note(self, found: Any, y: Any) -> None:
        """Note the kind of a call's result; None where it has several."""
        self.left -= 1
        if found.kwargs or found.bound or len(self.kinds) >= SORTS:
            return
        key = found.rule, tuple(map(sort_of, found.args))
        kind = kind_of(y)
        self.kinds[key] = kind if self.kinds.get(key, kind) == kind else None

    def kind(self, rule: Any, sorts: tuple[Any, ...]) -> Kind | None:
        """The kind of a result, None if it is not known."""
        return self.kinds.get((rule, sorts))


LEARNED = Learned()
