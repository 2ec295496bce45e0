"""Sums and multiples of containers' tangents, and of containers and their tangents.

Cyclic graphs of mutable instances are walked once, with a memo. Authors may write a
plain tuple, list or dict for a tangent: it is added and scaled entry by entry, like its
`Tangent`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rules_core._base.arrays import is_array
from rules_core._base.errors import UnsupportedError

from .base import AbstractTangent
from .container_entries import Entries, backing, keyed, like, primal_type, titled
from .structure import Structure, structure
from .thunks import BARE, unthunk
from .zeros import AbstractZero, ZeroTangent

__all__ = ["check_alike", "is_scalar", "move", "none_is_zero", "scaled", "total"]

_T = TypeVar("_T", bound=Entries)


def is_scalar(x: Any) -> bool:
    """Whether a tangent can be scaled by `x`: a number or a 0-d array."""
    if is_array(x):
        return tuple(x.shape) == ()
    return hasattr(x, "__complex__") or hasattr(x, "__float__")


def scaled(tangent: _T, fn: Callable[[Any], Any], memo: dict[int, Any]) -> _T:
    """The tangent with a linear function applied to every number in it."""
    earlier: _T | None = memo.get(id(tangent))
    if earlier is not None:
        return earlier
    result = memo[id(tangent)] = like(tangent, {})
    for name, value in backing(tangent).items():
        backing(result)[name] = _scaled_entry(value, fn, memo)
    return result


def _scaled_entry(value: Any, fn: Callable[[Any], Any], memo: dict[int, Any]) -> Any:
    if isinstance(value, Entries):
        return scaled(value, fn, memo)
    if isinstance(value, BARE) and (level := structure(value)) is not None:
        return level.rebuild([_scaled_entry(entry, fn, memo) for entry in level.values])
    return value if value is None else fn(value)


def total(a: Any, b: Any, memo: dict[tuple[int, int], Any]) -> Any:
    """The sum of two tangents; a missing field counts as zero."""
    if not (isinstance(a, Entries) and isinstance(b, Entries)):
        return _total_of_others(a, b, memo)
    if (earlier := memo.get((id(a), id(b)))) is not None:
        return earlier
    check_alike(a, b)
    result = memo[id(a), id(b)] = like(a, {})
    mine, theirs = backing(a), backing(b)
    for name in mine | theirs:
        both = name in mine and name in theirs
        one = mine if name in mine else theirs
        value = total(mine[name], theirs[name], memo) if both else one[name]
        backing(result)[name] = value
    return result


def _total_of_others(a: Any, b: Any, memo: dict[tuple[int, int], Any]) -> Any:
    a, b = none_is_zero(a), none_is_zero(b)
    containers = isinstance(a, (Entries, *BARE)), isinstance(b, (Entries, *BARE))
    if all(containers):
        return _total_of_bare(a, b, memo)
    if any(containers) and not isinstance(b if containers[0] else a, AbstractTangent):
        message = f"a tangent {_title(a)} and a tangent {_title(b)} cannot be added"
        raise TypeError(message)
    return a + b


def _total_of_bare(a: Any, b: Any, memo: dict[tuple[int, int], Any]) -> Any:
    mine, theirs = _items(a), _items(b)
    alike = _class(a) is _class(b)
    if not alike or (len(mine) != len(theirs) and not isinstance(a, dict)):
        message = (
            "two tangents must have one class and one length to be added, but got "
            f"{_title(a)} of {len(mine)} and {_title(b)} of {len(theirs)}"
        )
        raise TypeError(message)
    sums = {
        name: total(mine.get(name), theirs.get(name), memo) for name in mine | theirs
    }
    entries = next((x for x in (a, b) if isinstance(x, Entries)), None)
    if entries is not None:
        return like(entries, sums)
    level = structure(a)
    return sums if level is None or type(a) is dict else level.rebuild([*sums.values()])


def none_is_zero(x: Any) -> Any:
    """A tangent in an author's form; None is zero."""
    return ZeroTangent() if x is None else x


def _items(x: Any) -> dict[Any, Any]:
    """The entries of a container's tangent, plain or not."""
    if isinstance(x, Entries):
        return backing(x)
    level = structure(x)
    return {} if level is None else dict(zip(level.names, level.values, strict=True))


def _class(x: Any) -> type:
    return primal_type(x) if isinstance(x, Entries) else type(x)


def _title(x: Any) -> str:
    return titled(x) if isinstance(x, Entries) else type(x).__qualname__


def check_alike(a: Entries, b: Entries) -> None:
    """Raise an error unless two tangents have one class and, by position, length."""
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
    """The primal moved by a tangent: `x + dx`, a new object like the primal."""
    if tangent is None or isinstance(tangent, AbstractZero):
        return primal
    level = structure(primal)
    if level is None or not isinstance(tangent, (Entries, *BARE)):
        return primal + tangent
    if (earlier := memo.get(id(primal))) is not None:
        return earlier
    _check_fields(level, tangent)
    if level.mutable:
        memo[id(primal)] = shell = level.shell()
        return level.fill(shell, _moved(level, tangent, memo))
    return _rebuilt(level, _moved(level, tangent, memo))


def _moved(level: Structure, tangent: Any, memo: dict[int, Any]) -> list[Any]:
    items = _items(tangent)
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


def _check_fields(level: Structure, tangent: Any) -> None:
    items = _items(tangent)
    unknown = [name for name in items if name not in level.names]
    if unknown or (level.keyed == "position" and len(items) != len(level.names)):
        message = (
            f"{_title(tangent)} must have the entries of the primal that it is added "
            f"to, {list(level.names)}, but got {list(items)}"
        )
        raise TypeError(message)
