"""Entries of the tape for what a program writes outside of arrays."""

from dataclasses import MISSING
from typing import Any

from rules_autodiff._shadows.saved_state import read_attribute, write_attribute

from .sweep import putting_back

__all__ = ["AppendEntry", "AttributeEntry", "ItemEntry", "StateEntry"]


class StateEntry:
    """A list, dict, set or object that was changed: its state on the other side."""

    __slots__ = ("load", "other", "save", "target")

    def __init__(self, target: Any, save: Any, load: Any):
        self.target, self.save, self.load = target, save, load
        self.other = save(target)

    def reverse(self, below: Any) -> None:
        self.undo(below)

    @putting_back
    def undo(self, below: Any) -> None:
        below.changing(self.target)
        here = self.save(self.target)
        self.load(self.target, self.other)
        self.other = here

    redo = undo


class AppendEntry:
    """`owner.append(item)`."""

    __slots__ = ("item", "owner")

    def __init__(self, owner: Any, item: Any):
        self.owner, self.item = owner, item

    def reverse(self, below: Any) -> None:
        self.undo(below)

    @putting_back
    def undo(self, below: Any) -> None:
        below.changing(self.owner)
        list.pop(self.owner)

    @putting_back
    def redo(self, below: Any) -> None:
        below.note_append(self.owner, self.item)
        list.append(self.owner, self.item)


class AttributeEntry:
    """`owner.name = …` of an instance, a class or a module."""

    __slots__ = ("name", "other", "owner")

    def __init__(self, owner: Any, name: str):
        self.owner, self.name = owner, name
        self.other = read_attribute(owner, name)

    def reverse(self, below: Any) -> None:
        self.undo(below)

    @putting_back
    def undo(self, below: Any) -> None:
        below.note_attribute(self.owner, self.name)
        here = read_attribute(self.owner, self.name)
        if here is self.other:  # a write that failed, which was caught
            return
        try:
            write_attribute(self.owner, self.name, self.other)
        except AttributeError:  # computed by C code and read-only: that one failed too
            return
        self.other = here

    redo = undo


class ItemEntry:
    """`owner[key] = …` of a list or dict, where a missing key was added at the end."""

    __slots__ = ("key", "other", "owner")

    def __init__(self, owner: Any, key: Any):
        self.owner, self.key = owner, key
        self.other = self.read()

    def read(self) -> Any:
        if type(self.owner) is list or self.key in self.owner:
            return self.owner[self.key]
        return MISSING

    def reverse(self, below: Any) -> None:
        self.undo(below)

    @putting_back
    def undo(self, below: Any) -> None:
        below.note_item(self.owner, self.key)
        here = self.read()
        if self.other is MISSING:
            del self.owner[self.key]
        else:
            self.owner[self.key] = self.other
        self.other = here

    redo = undo
