"""How the arguments of `Tangent(P, …)` name the entries of the tangent."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any

from ._structure import field_names

__all__ = ["entries"]

_Items = dict[Hashable, Any]


def entries(
    primal: type, items: tuple[Any, ...], fields: dict[str, Any]
) -> tuple[str, _Items]:
    """How entries are named (`"position"`, `"key"`, `"field"`), and the entries.

    Raises:
        TypeError: The arguments are not of the kind that the primal's class needs.
    """
    if issubclass(primal, (dict, MappingProxyType)):
        return "key", _of_mapping(primal, items, fields)
    if items and fields:
        given = f"{len(items)} entries and the fields {', '.join(fields)}"
        raise _error(primal, "entries or fields", given)
    if issubclass(primal, (tuple, list)) and not hasattr(primal, "_fields"):
        if fields:
            raise _error(primal, "entries", f"the fields {', '.join(fields)}")
        return "position", dict(enumerate(items))
    if not items:
        return "field", dict(fields)
    names = field_names(primal)
    if names is None:
        return "position", dict(enumerate(items))
    if len(names) != len(items):
        listed = f"{len(names)} entries ({', '.join(names)})"
        raise _error(primal, listed, str(len(items)))
    return "field", dict(zip(names, items, strict=True))


def _of_mapping(primal: type, items: tuple[Any, ...], fields: object) -> _Items:
    if fields or len(items) > 1 or not all(isinstance(m, Mapping) for m in items):
        raise _error(primal, "one mapping", "something else")
    return dict(items[0]) if items else {}


def _error(primal: type, must: str, got: str) -> TypeError:
    message = (
        f"the tangent of {primal.__qualname__} must be given {must}, but got {got}"
    )
    return TypeError(message)
