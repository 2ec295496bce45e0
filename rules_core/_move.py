"""The sum of a primal and its tangent: a new primal."""

from __future__ import annotations

from typing import Any

from ._errors import UnsupportedError
from ._structural import StructuralTangent, backing, titled
from ._structure import Structure, structure
from ._thunks import unthunk
from ._zeros import AbstractZero, ZeroTangent

__all__ = ["move"]


def move(primal: Any, tangent: Any, memo: dict[int, Any]) -> Any:
    """The primal moved along a tangent: `x + dx`, a new object like the primal."""
    if isinstance(tangent, AbstractZero):
        return primal
    level = structure(primal)
    if level is None or not isinstance(tangent, StructuralTangent):
        return primal + tangent
    if (known := memo.get(id(primal))) is not None:
        return known
    _check_fields(level, tangent)
    if level.mutable:
        memo[id(primal)] = shell = level.shell()
        return level.fill(shell, _moved(level, tangent, memo))
    return _rebuilt(level, _moved(level, tangent, memo))


def _moved(
    level: Structure, tangent: StructuralTangent, memo: dict[int, Any]
) -> list[Any]:
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


def _check_fields(level: Structure, tangent: StructuralTangent) -> None:
    unknown = [name for name in backing(tangent) if name not in level.names]
    if unknown or (level.keyed == "position" and len(tangent) != len(level.names)):
        message = (
            f"{titled(tangent)} must have the entries of the primal that it is added "
            f"to, {list(level.names)}, but got {list(backing(tangent))}"
        )
        raise TypeError(message)
