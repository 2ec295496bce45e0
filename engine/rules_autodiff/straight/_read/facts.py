"""Facts about a function from an earlier reading."""

from typing import Any

from rules_autodiff.straight._program.kinds import Kind

__all__ = ["Facts"]


class Facts:
    """Facts about a function from an earlier reading.

    Attributes:
        heads: The kinds of variables at the head of each loop, by its place.
        active: Variables that carry a derivative somewhere.
        written: Variables over arrays that the program writes into.
        grown: Variables whose entries, as those of a list, are written or added to.
        stores: How often variables are assigned in the text.
        changing: Variables over instances that change.
        changed: Whether something became known that was not.
    """

    def __init__(self) -> None:
        self.heads: dict[Any, tuple[dict[str, Kind], set[str]]] = {}
        self.active: set[str] = set()
        self.written: set[str] = set()
        self.buffered: set[str] = set()
        self.grown: set[str] = set()
        self.changing: set[str] = set()
        self.stores: dict[str, int] = {}
        self.changed = False

    def activate(self, name: str) -> None:
        if name not in self.active:
            self.active.add(name)
            self.changed = True
