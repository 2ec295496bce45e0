"""Containers inside a primal: rebuilding them, and reading their tangents.

`rules_core` defines the structure of containers; this module adds the tangent of one
container: written in canonical form, read in every form that authors may return.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from rules_core import Primitive, StructuralTangent, backing, structure
from rules_core._tangents.containers import make_tangent

__all__ = ["Branch", "branch", "strangers"]


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """One container of a nested primal.

    Attributes:
        keys: One key per child: an index, a mapping's key or a field's name.
        labels: The path suffix of each child, such as `[0]` or `.slope`.
        children: The children.
        rebuild: A primal of this kind from other children.
        wrap: The canonical tangent from the children's tangents.
        read: The tangent of the child with a given key, from a tangent of the whole.
    """

    keys: tuple[Any, ...]
    labels: tuple[str, ...]
    children: tuple[Any, ...]
    rebuild: Callable[[Sequence[Any]], Any]
    wrap: Callable[[Sequence[Any]], Any]
    read: Callable[[Any, Any], Any]


def branch(primal: Any) -> Branch | None:
    """The parts of `primal`; None for leaves and for containers without children."""
    if isinstance(primal, Primitive):
        return None
    level = structure(primal)
    if level is None:
        return None
    return Branch(
        keys=level.names,
        labels=tuple(level.paths("")),
        children=level.values,
        rebuild=level.rebuild,
        wrap=partial(make_tangent, level),
        read=_READERS[level.keyed],
    )


def _item(tangent: Any, key: Any) -> Any:
    """An element of a sequence's tangent, or of the plain sequence."""
    return tangent[key]


def _entry(tangent: Any, key: Any) -> Any:
    """An entry of a dict's tangent, or of the plain dict; missing ones are zero."""
    return tangent.get(key)


def _field(tangent: Any, key: str) -> Any:
    """A field of a class's tangent, or of a plain dict, tuple or instance."""
    return tangent.get(key) if isinstance(tangent, dict) else getattr(tangent, key)


def strangers(tangent: Any, keys: tuple[Any, ...]) -> set[Any]:
    """Entries of a tangent that the primal does not have."""
    if isinstance(tangent, StructuralTangent):
        tangent = backing(tangent)
    if isinstance(tangent, (tuple, list)) and not hasattr(tangent, "_fields"):
        return set(range(len(tangent))) - set(range(len(keys)))
    return set(tangent) - set(keys) if isinstance(tangent, dict) else set()


_READERS = {"field": _field, "key": _entry, "position": _item}
