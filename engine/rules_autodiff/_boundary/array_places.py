"""Arrays inside a value, by path; and tangents assembled from those of the arrays.

A place is the path of names that leads to an array, so that a value and its tangent, or
a dict in another order, are walked alike.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rules_core import (
    AbstractZero,
    NoTangent,
    StructuralTangent,
    ZeroTangent,
    backing,
    has_tangent,
    is_array,
    structure,
)

from .leave import container_of

__all__ = [
    "NUMPY",
    "Path",
    "arrays_of",
    "assembled",
    "at",
    "each_assembled",
    "leaves_of",
]

Path = tuple[Any, ...]
NUMPY = (np.ndarray, np.generic)


def arrays_of(x: Any) -> dict[Path, Any]:
    """The arrays that a framework differentiates, by their places in `x`.

    NumPy's own arrays among a framework's are constants, in values that the framework
    did not open, and so are numbers.
    """
    arrays = {p: a for p, a in leaves_of(x, (), {}) if is_array(a)}
    foreign = {p: a for p, a in arrays.items() if not isinstance(a, NUMPY)}
    return foreign or arrays


def leaves_of(x: Any, path: Path, seen: dict[int, Any]) -> Iterator[tuple[Path, Any]]:
    if is_array(x) or isinstance(x, float | complex):
        if has_tangent(x):
            yield path, x
        return
    level = structure(x)
    if level is None or id(x) in seen:
        return
    seen[id(x)] = x
    for name, value in zip(level.names, level.values, strict=True):
        yield from leaves_of(value, (*path, name), seen)


def at(x: Any, path: Sequence[Any]) -> Any:
    """The part of a value or of its tangent at a place."""
    for name in path:
        if isinstance(x, AbstractZero):
            break
        if isinstance(x, StructuralTangent):
            x = backing(x).get(name, ZeroTangent())
        else:
            level: Any = structure(x)
            x = level.values[level.names.index(name)]
    return x


def each_assembled(xs: Any, places: dict[Path, Any]) -> tuple[Any, ...]:
    """The tangents of arguments from those of their arrays."""
    return tuple([assembled(x, places, (i,)) for i, x in enumerate(xs)])


def assembled(x: Any, places: dict[Path, Any], path: Path = ()) -> Any:
    if path in places:
        return places[path]
    if not any(other[: len(path)] == path for other in places):
        return ZeroTangent() if has_tangent(x) else NoTangent()  # no tangent needed
    level: Any = structure(x)
    parts = [
        assembled(value, places, (*path, name))
        for name, value in zip(level.names, level.values, strict=True)
    ]
    return container_of(x, level, parts)
