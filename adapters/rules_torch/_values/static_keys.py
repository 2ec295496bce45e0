"""Keys of layouts: two are equal only where no function could tell the values apart.

Python's own equality takes `2`, `2.0` and `True` for one value, `0.0` and `-0.0` too,
and asks objects, which may say anything.
"""

from __future__ import annotations

from typing import Any

import torch

import rules_core as rc

__all__ = ["exact"]

_ATOMS = (bool, int, str, bytes, type(None), torch.dtype, torch.device)


class _Same:
    """Stands for one object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Same and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def exact(value: Any) -> Any:
    """A key of a value: of its type and parts, or of its identity.

    >>> exact((1, 0.0)) == exact((1, 0.0))
    True
    >>> exact(1) == exact(True), exact(0.0) == exact(-0.0)
    (False, False)
    """
    cls = type(value)
    if cls in _ATOMS:
        return (cls, value)
    if cls in (float, complex):  # whose text tells signed zeros apart
        return (cls, repr(value))
    if cls in (slice, range):
        return (cls, *map(exact, (value.start, value.stop, value.step)))
    if cls in (tuple, list, torch.Size):
        return (cls, *map(exact, value))
    if cls in (set, frozenset):
        return (cls, frozenset(map(exact, value)))
    if cls is dict:
        return (cls, *[(exact(key), exact(item)) for key, item in value.items()])
    if (
        cls is rc.Structure
        and value.keyed == "field"
        and isinstance(value.primal, type)
    ):
        return (cls, _Same(value.primal), value.names)
    return value.exact_key() if hasattr(cls, "exact_key") else _Same(value)
