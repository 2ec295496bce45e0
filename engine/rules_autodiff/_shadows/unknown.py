"""Cotangents that are not implemented, where a rule differentiates a function.

A rule gets the cotangents of all that the function takes and captures, wanted or not.
So one that is not implemented is no error there, if it is that of an argument: it is
handed to the rule's caller, who knows what is wanted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from rules_core import NotImplementedTangent

__all__ = ["handed_on", "note_unknown", "unknown_at"]


class Unknown:
    """Those of one reverse pass, by the ids of their slots."""

    def __init__(self, owner: Any):
        self.owner = owner
        self.found: dict[int, NotImplementedTangent] = {}


_PASS: ContextVar[Unknown | None] = ContextVar("_PASS", default=None)


@contextmanager
def handed_on(owner: Any) -> Iterator[None]:
    """While a reverse pass runs whose arguments have the slots `owner.slots`."""
    token = _PASS.set(Unknown(owner))
    try:
        yield
    finally:
        _PASS.reset(token)


def note_unknown(slot: Any, ct: NotImplementedTangent) -> None:
    """Keep the cotangent of an argument; for what is computed it is an error."""
    own = _PASS.get()
    if own is None or id(slot) not in set(map(id, _ends(own.owner.slots))):
        ct.throw("needed by the engine")
    own.found[id(slot)] = ct


def unknown_at(slot: Any) -> NotImplementedTangent | None:
    """The record of a slot."""
    own = _PASS.get()
    return own.found.get(id(slot)) if own is not None and own.found else None


def _ends(slots: Any) -> Iterator[Any]:
    """The slots of numbers and arrays, in containers too."""
    seen: set[int] = set()
    left = list(slots)
    while left:
        slot = left.pop()
        if slot is None or id(slot) in seen:
            continue
        seen.add(id(slot))
        if hasattr(slot, "parts"):
            left.extend(slot.parts)
        else:
            yield slot
