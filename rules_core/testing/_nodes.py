"""The tree of a `Space`: leaves with a tangent, leaves without, and branches.

Every node has equal methods. `leaves` and `static` list the leaves below; `tangent` and
`point` build a tangent or a primal from the coordinates of a `Reader`; `read` and
`values` give the coordinates of a tangent (canonical or raw) or of a primal; `map`
gives the primal with its leaves changed, and `keep` applied to the static ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from rules_core import (
    AbstractThunk,
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    unthunk,
)

from ._containers import Branch, branch, strangers
from ._differences import Vector
from ._leaf import Leaf, StructureMismatch, describe, dtype_of
from ._misuse import CheckCallError
from ._seeded import Seeded

__all__ = ["DerivativeMissing", "Node", "Reader", "forced", "grow"]


class DerivativeMissing(Exception):
    """A `NotImplementedTangent` has no coordinates.

    Attributes:
        path: Its place.
        tangent: The tangent.
    """

    def __init__(self, path: str, tangent: Any) -> None:
        self.path, self.tangent = path, tangent
        super().__init__(f"{path}: {tangent!r}")


def forced(tangent: Any) -> Any:
    """A tangent with all its outer thunks computed."""
    while isinstance(tangent, AbstractThunk):
        tangent = unthunk(tangent)
    return tangent


class Reader:
    """Returns consecutive pieces of a coordinate vector."""

    __slots__ = ("at", "vector")

    def __init__(self, vector: Vector) -> None:
        self.vector, self.at = vector, 0

    def take(self, count: int) -> Vector:
        """The next `count` coordinates."""
        start, self.at = self.at, self.at + count
        return self.vector[start : self.at]


def grow(primal: Any, path: str) -> Node:
    """The tree of a primal."""
    if isinstance(primal, Seeded):
        message = (
            f"{path} is Seeded, but only whole positional arguments can be: give one "
            "tangent for all that the argument holds."
        )
        raise CheckCallError(message)
    dtype = dtype_of(primal)
    if getattr(primal, "requires_grad", False):
        primal = primal.detach()  # torch's record is not needed
    if dtype is not None:
        return Tip(Leaf(path, primal, dtype, tuple(np.shape(primal))))
    parts = branch(primal)
    if parts is None:
        return Static(primal, path)
    pairs = zip(parts.children, parts.labels, strict=True)
    return Fork(parts, [grow(child, path + label) for child, label in pairs], path)


@final
@dataclass(frozen=True, slots=True)
class Tip:
    """A leaf with a tangent."""

    leaf: Leaf

    @property
    def path(self) -> str:
        return self.leaf.path

    def leaves(self) -> Iterator[Leaf]:
        yield self.leaf

    def static(self) -> Iterator[str]:
        yield from ()

    def tangent(self, reader: Reader) -> Any:
        return self.leaf.decode(reader.take(self.leaf.dim))

    point = tangent

    def read(self, tangent: Any) -> Iterator[Vector]:
        tangent = forced(tangent)
        if tangent is None or isinstance(tangent, AbstractZero):
            yield np.zeros(self.leaf.dim)
        elif isinstance(tangent, NotImplementedTangent):
            raise DerivativeMissing(self.path, tangent)
        else:
            yield self.leaf.encode(tangent)

    def values(self, primal: Any) -> Iterator[Vector]:
        yield self.leaf.encode(primal)

    def map(self, change: Callable[[Leaf], Any], keep: Callable[[Any], Any]) -> Any:
        return change(self.leaf)


@final
@dataclass(frozen=True, slots=True)
class Static:
    """A leaf without a tangent: an integer, a string, a function."""

    primal: Any
    path: str

    def leaves(self) -> Iterator[Leaf]:
        yield from ()

    def static(self) -> Iterator[str]:
        yield self.path

    def tangent(self, reader: Reader) -> Any:
        return NoTangent()

    def point(self, reader: Reader) -> Any:
        return self.primal

    def read(self, tangent: Any) -> Iterator[Vector]:
        yield from ()

    def values(self, primal: Any) -> Iterator[Vector]:
        yield from ()

    def map(self, change: Callable[[Leaf], Any], keep: Callable[[Any], Any]) -> Any:
        return keep(self.primal)


@final
@dataclass(frozen=True, slots=True)
class Fork:
    """A container or an instance of a class.

    `hollow`: it has a tangent even without a differentiable leaf, as the tuple of
    arguments does, whose tangent is the tuple of their tangents.
    """

    parts: Branch
    nodes: list[Node]
    path: str
    hollow: bool = False

    def leaves(self) -> Iterator[Leaf]:
        for node in self.nodes:
            yield from node.leaves()

    def static(self) -> Iterator[str]:
        for node in self.nodes:
            yield from node.static()

    def tangent(self, reader: Reader) -> Any:
        if not self.hollow and next(self.leaves(), None) is None:
            return NoTangent()
        return self.parts.wrap([node.tangent(reader) for node in self.nodes])

    def point(self, reader: Reader) -> Any:
        return self.parts.rebuild([node.point(reader) for node in self.nodes])

    def read(self, tangent: Any) -> Iterator[Vector]:
        tangent = forced(tangent)
        if unknown := strangers(tangent, self.parts.keys):
            message = (
                f"{self.path}: its tangent has {sorted(map(repr, unknown))} as well"
            )
            raise StructureMismatch(message)
        for key, node in zip(self.parts.keys, self.nodes, strict=True):
            yield from node.read(self.child(tangent, key))

    def child(self, tangent: Any, key: Any) -> Any:
        """The tangent of one child, from a tangent of the whole."""
        if tangent is None or isinstance(
            tangent, (AbstractZero, NotImplementedTangent)
        ):
            return tangent
        try:
            return self.parts.read(tangent, key)
        except (TypeError, LookupError, AttributeError):
            message = f"{self.path}: no {key!r} in {describe(tangent)}"
            raise StructureMismatch(message) from None

    def values(self, primal: Any) -> Iterator[Vector]:
        parts = branch(primal)
        if parts is None or set(parts.keys) != set(self.parts.keys):
            message = f"{self.path}: {describe(self.parts.children)} expected, got "
            raise StructureMismatch(message + describe(primal))
        # By key: a framework may sort the keys of a dict.
        named = dict(zip(parts.keys, parts.children, strict=True))
        for key, node in zip(self.parts.keys, self.nodes, strict=True):
            yield from node.values(named[key])

    def map(self, change: Callable[[Leaf], Any], keep: Callable[[Any], Any]) -> Any:
        return self.parts.rebuild([node.map(change, keep) for node in self.nodes])


Node: TypeAlias = Tip | Static | Fork
