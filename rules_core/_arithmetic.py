"""Sums and multiples of containers' tangents, and of containers and their tangents.

Cyclic graphs of mutable instances are followed once: each function carries a memo of
what it has met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ._arrays import is_array
from ._entries import Entries, backing, keyed, like, primal_type, titled
from ._errors import UnsupportedError
from ._structure import Structure, structure
from ._thunks import unthunk
from ._zeros import AbstractZero, ZeroTangent

__all__ = ["check_alike", "is_scalar", "move", "scaled", "total"]

_T = TypeVar("_T", bound=Entries)


def is_scalar(x: Any) -> bool:
    """Whether a tangent can be scaled by `x`: a number or a 0-d array."""
    if is_array(x):
        return tuple(x.shape) == ()
    return hasattr(x, "__complex__") or hasattr(x, "__float__")


def scaled(tangent: _T, fn: Callable[[Any], Any], memo: dict[int, Any]) -> _T:
    """The tangent with a linear function applied to every number in it."""
    known: _T | None = memo.get(id(tangent))
    if known is not None:
        return known
    result = memo[id(tangent)] = like(tangent, {})
    for name, value in backing(tangent).items():
        inner = isinstance(value, Entries)
        backing(result)[name] = scaled(value, fn, memo) if inner else fn(value)
    return result


def total(a: Any, b: Any, memo: dict[tuple[int, int], Any]) -> Any:
    """The sum of two tangents; a field that one of them lacks is the other's."""
    if not (isinstance(a, Entries) and isinstance(b, Entries)):
        return a + b
    if (known := memo.get((id(a), id(b)))) is not None:
        return known
    check_alike(a, b)
    result = memo[id(a), id(b)] = like(a, {})
    mine, theirs = backing(a), backing(b)
    for name in mine | theirs:
        both = name in mine and name in theirs
        one = mine if name in mine else theirs
        value = total(mine[name], theirs[name], memo) if both else one[name]
        backing(result)[name] = value
    return result


def check_alike(a: Entries, b: Entries) -> None:
    """Raise unless two tangents belong to one class and, by position, one length."""
    if primal_type(a) is not primal_type(b) or type(a) is not type(b):
        message = (
            f"only tangents of the same class can be added, but got {titled(a)} and "
            f"{titled(b)}"
        )
        raise TypeError(message)
    counts = len(backing(a)), len(backing(b))
    if keyed(a) == "position" and counts[0] != counts[1]:
        message = (
            f"two tangents {titled(a)} must have equally many entries to be added, but "
            f"got {counts[0]} and {counts[1]}"
        )
        raise TypeError(message)


def move(primal: Any, tangent: Any, memo: dict[int, Any]) -> Any:
    """The primal moved along a tangent: `x + dx`, a new object like the primal."""
    if isinstance(tangent, AbstractZero):
        return primal
    level = structure(primal)
    if level is None or not isinstance(tangent, Entries):
        return primal + tangent
    if (known := memo.get(id(primal))) is not None:
        return known
    _check_fields(level, tangent)
    if level.mutable:
        memo[id(primal)] = shell = level.shell()
        return level.fill(shell, _moved(level, tangent, memo))
    return _rebuilt(level, _moved(level, tangent, memo))


def _moved(level: Structure, tangent: Entries, memo: dict[int, Any]) -> list[Any]:
    items = backing(tangent)
    return [
        move(value, unthunk(items.get(name, ZeroTangent())), memo)
        for name, value in zip(level.names, level.values, strict=True)
    ]


def _rebuilt(level: Structure, values: list[Any]) -> Any:
    try:
        return level.rebuild(values)
    except Exception as error:
        message = (
            f"a {level.primal.__qualname__} must be built from its {len(values)} "
            f"entries after adding a tangent, but that raised {error!r}. Give the "
            "class a constructor that accepts them, or register it with optree."
        )
        raise UnsupportedError(message) from error


def _check_fields(level: Structure, tangent: Entries) -> None:
    items = backing(tangent)
    unknown = [name for name in items if name not in level.names]
    if unknown or (level.keyed == "position" and len(items) != len(level.names)):
        message = (
            f"{titled(tangent)} must have the entries of the primal that it is added "
            f"to, {list(level.names)}, but got {list(items)}"
        )
        raise TypeError(message)
