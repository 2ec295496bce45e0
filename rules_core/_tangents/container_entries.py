"""Entries of a container's tangent: their names and their storage.

`Entries` stores and compares; it has no public names, so that every field name stays
free for fields. The functions `backing`, `keyed` and `primal_type` read its attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from reprlib import recursive_repr
from types import MappingProxyType
from typing import Any, Self, TypeVar

from rules_core._base.arrays import array_namespace, is_array

from .structure import field_names
from .thunks import unthunk
from .zeros import ZeroTangent

__all__ = [
    "Entries",
    "assign",
    "backing",
    "blank",
    "keyed",
    "like",
    "primal_type",
    "titled",
]

_Items = dict[Any, Any]
_T = TypeVar("_T", bound="Entries")


class Entries:
    """One tangent per entry of a container of class `primal`."""

    __slots__ = ("__items", "__keyed", "__primal")

    __items: _Items
    __keyed: str
    __primal: Any

    def __init__(self, primal: Any, /, *items: Any, **fields: Any) -> None:
        if not isinstance(primal, type):
            message = (
                f"{type(self).__name__} must be given the class of the primal first, "
                f"but got {primal!r}"
            )
            raise TypeError(message)
        assign(self, primal, *_named(primal, items, fields))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Entries):
            return NotImplemented
        if type(self) is not type(other) or self.__primal is not other.__primal:
            return False
        mine, theirs = self.__items, other.__items
        return all(
            _equal(mine.get(name, ZeroTangent()), theirs.get(name, ZeroTangent()))
            for name in mine | theirs
        )

    def __hash__(self) -> int:
        return hash((type(self), self.__primal))  # entries may be unhashable

    def __copy__(self) -> Self:
        return like(self, self.__items)

    def __reduce__(self) -> Any:
        return blank, (type(self),), (self.__primal, self.__keyed, self.__items)

    def __setstate__(self, state: tuple[Any, str, _Items]) -> None:
        assign(self, *state)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *map(str, self.__items)]

    @recursive_repr("...")
    def __repr__(self) -> str:
        head = f"{type(self).__name__}({self.__primal.__qualname__}"
        return f"{head}{_shown(self.__keyed, self.__items)})"


_ITEMS = Entries.__dict__["_Entries__items"].__get__
_KEYED = Entries.__dict__["_Entries__keyed"].__get__
_PRIMAL = Entries.__dict__["_Entries__primal"].__get__


def backing(tangent: Entries) -> dict[Any, Any]:
    """The entries of a tangent as a dict, thunks not computed; not a copy.

    Keys are positions, the keys of a dict, or field names; absent fields are absent.

    >>> from rules_core import Tangent, backing
    >>> backing(Tangent(tuple, 1.0, 2.0))
    {0: 1.0, 1: 2.0}
    """
    given: Any = tangent
    if not isinstance(given, Entries):
        return {"data": given.data}  # a sparse matrix, which is the tangent of one
    items: dict[Any, Any] = _ITEMS(tangent)
    return items


def keyed(tangent: Entries) -> str:
    """The kind of entry names: `"position"`, `"key"` or `"field"`."""
    how: str = _KEYED(tangent)
    return how


def primal_type(tangent: Entries) -> type:
    """The class of a tangent's primal, the `P` of `Tangent(P, …)`."""
    cls: type = _PRIMAL(tangent)
    return cls


def titled(tangent: Entries) -> str:
    """The name of a tangent in errors."""
    return f"{type(tangent).__name__}({primal_type(tangent).__qualname__}, …)"


def blank(cls: type[_T]) -> _T:
    """An instance for `assign` to complete."""
    return object.__new__(cls)


def assign(tangent: Entries, primal: Any, kind: str, items: _Items) -> None:
    """Set all attributes of a tangent, even of an immutable one."""
    object.__setattr__(tangent, "_Entries__primal", primal)
    object.__setattr__(tangent, "_Entries__keyed", kind)
    object.__setattr__(tangent, "_Entries__items", items)


def like(tangent: _T, items: Mapping[Any, Any]) -> _T:
    """A tangent of this kind with other entries."""
    result = blank(type(tangent))
    assign(result, primal_type(tangent), keyed(tangent), dict(items))
    return result


def _named(
    primal: type, items: tuple[Any, ...], fields: dict[str, Any]
) -> tuple[str, _Items]:
    """The names of entries in the arguments of `Tangent(P, …)`, and the entries."""
    if issubclass(primal, (dict, MappingProxyType)):
        return "key", _of_mapping(primal, items, fields)
    if items and fields:
        entries = f"{len(items)} entries and the fields {', '.join(fields)}"
        raise _error(primal, "entries or fields", entries)
    if issubclass(primal, (tuple, list)) and not hasattr(primal, "_fields"):
        if fields:
            raise _error(primal, "entries", f"the fields {', '.join(fields)}")
        return "position", _numbered(items)
    if items and (names := field_names(primal)) is not None:
        if len(names) != len(items):
            listed = f"{len(names)} entries ({', '.join(names)})"
            raise _error(primal, listed, str(len(items)))
        return "field", dict(zip(names, items, strict=True))
    return ("position", _numbered(items)) if items else ("field", fields)


def _numbered(items: Iterable[Any]) -> _Items:
    return dict(enumerate(items))


def _of_mapping(primal: type, items: tuple[Any, ...], fields: object) -> _Items:
    if fields or len(items) > 1 or not all(isinstance(m, Mapping) for m in items):
        raise _error(primal, "one mapping", "something else")
    return dict(items[0]) if items else {}


def _error(primal: type, must: str, got: str) -> TypeError:
    name = primal.__qualname__
    return TypeError(f"the tangent of {name} must be given {must}, but got {got}")


def _equal(a: Any, b: Any) -> bool:
    a, b = unthunk(a), unthunk(b)
    if a is b:
        return True
    if is_array(a) and is_array(b):
        xp = array_namespace(a, b)
        return tuple(a.shape) == tuple(b.shape) and bool(xp.all(a == b))
    return bool(a == b)


def _shown(kind: str, items: _Items) -> str:
    if kind == "key":
        return f", {items!r}"
    if kind == "position":
        return "".join(f", {value!r}" for value in items.values())
    return "".join(f", {name}={value!r}" for name, value in items.items())
