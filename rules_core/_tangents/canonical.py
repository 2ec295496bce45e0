"""The canonical tangent of a primal, and its zero.

`canonical(primal, leaf)` is the only walk through a primal. It gives a tree of the
shape of the canonical tangent with `leaf(x)` instead of each number, and `NoTangent()`
instead of every value without a tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, final

from rules_core._base.errors import UnsupportedError

from .containers import MutableTangent, Tangent, backing, make_tangent
from .leaves import is_number, number_type, zero_number
from .structure import Structure, structure
from .thunks import AbstractThunk
from .zeros import AbstractZero, NoTangent, NotImplementedTangent, ZeroTangent

__all__ = [
    "canonical",
    "has_own_tangent",
    "has_tangent",
    "tangent_type",
    "zero_tangent",
]


def has_tangent(primal: Any) -> bool:
    """Whether `primal` contains a differentiable number, cycles included.

    >>> from rules_core import has_tangent
    >>> has_tangent((1, "a", [2.0])), has_tangent((1, "a", []))
    (True, False)
    """
    return _reaches_number(primal, {})


def has_own_tangent(primal: Any, around: Iterable[int]) -> bool:
    """Whether a value contains a number other than by way of a value around it.

    Args:
        primal: The value.
        around: The ids of the values in which it stands.
    """
    return _reaches_number(primal, dict.fromkeys(around))


def _reaches_number(x: Any, seen: dict[int, Any]) -> bool:
    if is_number(x):
        return True
    if id(x) in seen or (level := structure(x)) is None:
        return False
    seen[id(x)] = x
    return any(_reaches_number(value, seen) for value in level.values)


def tangent_type(primal: Any) -> type:
    """The class of the canonical tangents of `primal`.

    Floating numbers and arrays have tangents of their own class; containers have
    `Tangent`, instances of mutable classes `MutableTangent`; all others, and containers
    without a floating number, `NoTangent`.

    Raises:
        UnsupportedError: `primal` is a NumPy array of objects.

    >>> from rules_core import tangent_type
    >>> [tangent_type(x).__name__ for x in (1.0, 1, "a", (1.0, 2), [1, 2])]
    ['float', 'NoTangent', 'NoTangent', 'Tangent', 'NoTangent']
    """
    if is_number(primal):
        return number_type(primal)
    level = structure(primal)
    if level is None or not has_tangent(primal):
        return NoTangent
    kind: type = MutableTangent if level.mutable else Tangent
    return kind


def zero_tangent(primal: Any) -> Any:
    """The zero of the tangent space of `primal`, ready for accumulation.

    Arrays are new; a mutable instance that occurs twice (or contains itself) has one
    `MutableTangent`, which occurs twice too. A tangent's zero is a tangent of its kind.

    Raises:
        UnsupportedError: `primal` contains an array of objects, or a list or dict that
            contains itself.

    >>> from rules_core import zero_tangent
    >>> zero_tangent((1.5, 2, [3j]))
    Tangent(tuple, 0.0, NoTangent(), Tangent(list, 0j))
    """
    return canonical(primal, zero_number)


def canonical(primal: Any, leaf: Callable[[Any], Any]) -> Any:
    """The tree of the canonical tangent of `primal`, with `leaf(x)` for each number."""
    return _Walk(leaf).visit(primal)


@final
class _Walk:
    """One walk through a primal, with a memo."""

    def __init__(self, leaf: Callable[[Any], Any]) -> None:
        self.leaf = leaf
        self.met: dict[int, tuple[Any, Any]] = {}  # keeps primals, so ids stay unique
        self.open: dict[int, Any] = {}

    def visit(self, x: Any) -> Any:
        if is_number(x):
            return self.leaf(x)
        if isinstance(x, AbstractZero):
            return x
        if isinstance(x, AbstractThunk):
            return ZeroTangent()
        if isinstance(x, NotImplementedTangent):
            x.throw("its zero is needed")
        level = structure(x)
        if level is None:
            return NoTangent()
        return self.shared(x, level) if level.mutable else self.value(x, level)

    def shared(self, x: Any, level: Structure) -> Any:
        """An instance of a mutable class: one tangent for all its occurrences."""
        if id(x) in self.met:
            return self.met[id(x)][1]
        if not has_tangent(x):
            return NoTangent()
        tangent = make_tangent(level, level.values)
        self.met[id(x)] = x, tangent
        for name, value in zip(level.names, level.values, strict=True):
            backing(tangent)[name] = self.visit(value)
        return tangent

    def value(self, x: Any, level: Structure) -> Any:
        """A container that is a value: its tangent cannot contain itself."""
        if id(x) in self.open:
            return _cycle(x)
        self.open[id(x)] = x
        entries = [self.visit(value) for value in level.values]
        del self.open[id(x)]
        if all(isinstance(entry, NoTangent) for entry in entries):
            return NoTangent()
        return make_tangent(level, entries)


def _cycle(x: Any) -> Any:
    # A recursive function captures itself: this adds no number to its tangent.
    if isinstance(x, FunctionType):
        return NoTangent()
    message = (
        f"a {type(x).__name__} must not hold itself to have a tangent: such a tangent "
        "is a value, which cannot. Hold it through an instance of a class."
    )
    raise UnsupportedError(message)
