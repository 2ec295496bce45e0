"""Arguments and captures of functions, as one vector of numbers and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np

import rules_core as rc
from rules_core.extend import (
    Opener,
    build_tangent,
    find_adapter,
    flatten,
    read_tangent,
)
from rules_scipy._axes import concat
from rules_scipy._functions import is_traced, stacked

__all__ = [
    "builder_of",
    "is_complex",
    "is_still",
    "joined",
    "leaves",
    "parts_of",
    "reader_of",
    "shapes_of",
    "split",
    "spread",
    "tangent_of",
    "unknown_with",
]


def _is_moving(x: Any) -> Any:
    if not rc.is_array(x):
        return None
    xp = rc.array_namespace(x)
    return x if xp.isdtype(x.dtype, ("real floating", "complex floating")) else None


_OPENER = Opener((float, complex), _is_moving)


def _layout(value: Any) -> tuple[Any, tuple[Any, ...]]:
    """The layout of a value, and the shape of each leaf with whether it is complex."""
    layout, found = parts_of(value)
    return layout, tuple((tuple(getattr(x, "shape", ())), is_complex(x)) for x in found)


rc.non_differentiable(_layout)


def is_complex(x: Any) -> bool:
    """Whether a number or an array is complex."""
    if not rc.is_array(x):
        return isinstance(x, complex)
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def parts_of(value: Any) -> tuple[Any, list[Any]]:
    """The layout of a value, and its leaves."""
    found: list[Any] = []
    return flatten(value, found, _OPENER), found


def is_still(x: Any, like: Any) -> bool:
    """Whether a leaf is complex, or a constant in a framework with arrays `like` it."""
    return is_complex(x) or (_is_frameworks(like) and not _is_frameworks(x))


def _is_frameworks(x: Any) -> bool:
    return rc.is_array(x) and not isinstance(x, np.ndarray | np.generic)


def shapes_of(value: Any) -> tuple[Any, ...]:
    """Of each leaf of a value its shape, and whether it is complex."""
    shapes: tuple[Any, ...] = _layout(value)[1]
    return shapes


def leaves(value: Any, tangent: Any, like: Any = None) -> list[Any]:
    """The leaves of a tangent, None for one that is zero.

    Frameworks find traced values in a list, but in no tangent of a function. Python's
    numbers are constants there, which have no tangent.

    Args:
        value: The primal.
        tangent: Its tangent.
        like: An array of the framework, for a cotangent.
    """
    layout, wanted = _layout(value)[0], _moving(value, like)
    return list(read_tangent(layout, tangent, wanted, "a tangent of an integrand"))


def _moving(value: Any, like: Any) -> list[bool]:
    numbers_move = not _is_frameworks(like)
    return [numbers_move or rc.is_array(x) for x in parts_of(value)[1]]


rc.non_differentiable(_moving)


def reader_of(value: Any, like: Any = None) -> Callable[[Any], list[Any]]:
    """`leaves` for many tangents of one value, whose layout is found once."""
    if _is_frameworks(like) or find_adapter(value, {}) is not None:
        return lambda tangent: leaves(value, tangent, like)
    layout, sizes = _layout(value)
    paths, wanted = list(_paths(layout, ())), [True] * len(sizes)

    def read(tangent: Any) -> list[Any]:
        try:
            found = [_at(tangent, path) for path in paths]
        except (AttributeError, IndexError, KeyError, TypeError):
            found = [None]
        if _NUMBERS.issuperset(map(type, found)):
            return found
        return list(read_tangent(layout, tangent, wanted, "a tangent of an integrand"))

    return read


def _paths(layout: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    """The way to each leaf: names, and whether they are fields of a tangent."""
    if layout[0] == "leaf":
        yield path
    elif layout[0] != "static":
        for name, child in zip(layout[2], layout[3], strict=True):
            yield from _paths(child, (*path, (layout[0] == "struct", name)))


def _at(tangent: Any, path: tuple[Any, ...]) -> Any:
    """A leaf in the form that the engine gives: fields, and entries of containers."""
    for is_field, name in path:
        tangent = rc.backing(tangent)[name] if is_field else tangent[name]
    return tangent


_NUMBERS = frozenset((float, complex, np.float64, np.complex128, np.ndarray))


def tangent_of(fun: Any, args: Any, found: Sequence[Any]) -> tuple[Any, Any]:
    """The tangents of a function and its arguments that have these leaves.

    None is a zero.
    """
    tangents: tuple[Any, Any] = _Builder(_layout((fun, args))[0])(found)
    return tangents


def builder_of(fun: Any, args: Any) -> Any:
    """`tangent_of` for many tangents of one function, whose layout is found once."""
    if find_adapter((fun, args), {}) is not None:
        return lambda found: tangent_of(fun, args, found)
    return _Builder(_layout((fun, args))[0])


@final
class _Builder:
    """Builds tangents of a function of NumPy and its arguments."""

    def __init__(self, layout: Any) -> None:
        self.layout = layout

    def __tangent_structure__(self) -> None:
        """A constant."""

    def __call__(self, found: Sequence[Any]) -> tuple[Any, Any]:
        zero = rc.ZeroTangent()
        if not found:
            return zero, zero
        given = iter([zero if x is None else x for x in found])
        dfun, dargs = build_tangent(self.layout, given)
        return dfun, dargs


def joined(found: Sequence[Any], shapes: Sequence[Any], unit: Any) -> Any:
    """One vector of leaves, in the dtype of `unit`."""
    if not found:
        return unit.reshape((-1,))[:0]
    if isinstance(unit, np.ndarray):
        return _joined_numbers(found, shapes) + unit.dtype.type(0.0)
    xp = rc.array_namespace(unit, *[x for x in found if x is not None])
    zero = xp.sum(unit) * 0.0
    parts = [
        xp.broadcast_to(zero, (math.prod(shape),))
        if leaf is None
        else xp.reshape(stacked(xp, leaf), (-1,)) + zero
        for leaf, (shape, _) in zip(found, shapes, strict=True)
    ]
    return concat(parts)


def _joined_numbers(found: Sequence[Any], shapes: Sequence[Any]) -> Any:
    if not any(shape for shape, _ in shapes):
        return np.array([0.0 if leaf is None else leaf for leaf in found])
    parts = [
        np.zeros(math.prod(shape)) if leaf is None else np.reshape(leaf, (-1,))
        for leaf, (shape, _) in zip(found, shapes, strict=True)
    ]
    return np.concatenate(parts)


def split(total: Any, shapes: Sequence[Any]) -> list[Any]:
    """The leaves of a vector."""
    parts, start = [], 0
    for shape, keeps_complex in shapes:
        stop = start + math.prod(shape)
        part = total[start:stop].reshape(shape)
        parts.append(part if keeps_complex or not is_complex(total) else part.real)
        start = stop
    return parts


def unknown_with(dy: Any, fun: Any, args: Any) -> tuple[Any, Any]:
    """Cotangents of a function and its arguments that are NaN if `dy` is, else zero.

    What moves a jump has no cotangent from the code, so none that NaN would reach.
    Where arrays can be read there was an error before.
    """
    zero = rc.ZeroTangent()
    shapes = shapes_of((fun, args))
    if not is_traced(dy) or not shapes:
        return zero, zero
    xp = rc.array_namespace(dy)
    size = sum(math.prod(shape) for shape, _ in shapes)
    return tangent_of(
        fun, args, split(xp.broadcast_to(xp.sum(dy) * 0.0, (size,)), shapes)
    )


def spread(dargs: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """One tangent for each argument."""
    if isinstance(dargs, rc.AbstractZero):
        return (rc.ZeroTangent(),) * len(args)
    return tuple(dargs)
