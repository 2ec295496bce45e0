r"""The tangent space at a primal, with coordinates.

The tangents of any primal form a real vector space \(\mathbb R^n\). A `Space` is a
chart of it: it turns tangents into coordinate vectors and back, and displaces the
primal along one. The checks are then linear algebra for every kind of primal. A complex
entry has two coordinates, its real and its imaginary part, so that the dot product of
coordinates is \(\langle a, b\rangle = \operatorname{Re} \sum \bar a\, b\).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from types import FunctionType
from typing import Any, final

import numpy as np

from rules_core import is_array
from rules_core._rules.lookup import has_own_rules

from ._containers import Branch
from ._differences import Vector
from ._leaf import Leaf, like, to_numpy
from ._nodes import Fork, Node, Reader, Static, grow

__all__ = ["Space"]


@final
class Space:
    """The tangent space at `primal`.

    Args:
        primal: Arrays, numbers, containers and instances of classes, nested at will.
        name: The beginning of the paths to its leaves.

    Attributes:
        leaves: Leaves that have a tangent, in the order of their coordinates.
        static: Paths of the leaves without tangent.
        dim: Number of real coordinates.

    >>> import numpy as np
    >>> from rules_core.testing import Space
    >>> space = Space((2.0, np.array([1 + 2j]), 3), "x")
    >>> space.dim, space.labels, space.static
    (3, ['x[0]', 'x[1][0].real', 'x[1][0].imag'], ['x[2]'])
    >>> space.coordinates(space.tangent([1.0, 0.0, 5.0]))
    array([1., 0., 5.])
    """

    __module__ = "rules_core.testing"

    def __init__(self, primal: Any, name: str = "x", root: Node | None = None) -> None:
        self.primal = primal
        self.root = grow(primal, name) if root is None else root
        self.leaves = list(self.root.leaves())
        self.static = list(self.root.static())
        self.dim = sum(leaf.dim for leaf in self.leaves)

    @classmethod
    def product(cls, primals: tuple[Any, ...], names: Sequence[str]) -> Space:
        """The space at a callable and its arguments; its tangents are plain tuples.

        A called function, or an instance with rules of its own, is the key of its rules
        and is not copied: a copy would have no rules.
        """
        parts = Branch(
            keys=tuple(range(len(primals))),
            labels=tuple(names),
            children=primals,
            rebuild=tuple,
            wrap=tuple,
            read=lambda tangents, i: tangents[i],
        )
        nodes = [grow(x, name) for x, name in zip(primals, names, strict=True)]
        if isinstance(primals[0], FunctionType) or has_own_rules(primals[0]):
            nodes[0] = Static(primals[0], names[0])
        return cls(primals, root=Fork(parts, nodes, "", hollow=True))

    @property
    def slices(self) -> tuple[slice, ...]:
        """The coordinates of each factor of a product, as slices."""
        assert isinstance(self.root, Fork)
        dims = [sum(leaf.dim for leaf in node.leaves()) for node in self.root.nodes]
        ends = list(accumulate(dims))
        return tuple(slice(end - dim, end) for dim, end in zip(dims, ends, strict=True))

    def part(self, i: int) -> Space:
        """The space of one factor of a product."""
        assert isinstance(self.root, Fork)
        return Space(self.primal[i], root=self.root.nodes[i])

    @property
    def labels(self) -> list[str]:
        """A name for each coordinate."""
        return [label for leaf in self.leaves for label in leaf.labels()]

    @property
    def is_complex(self) -> bool:
        """Whether a leaf is complex."""
        return any(leaf.is_complex for leaf in self.leaves)

    @property
    def eps(self) -> float:
        """Unit round-off of the coarsest dtype; zero without leaves."""
        return max((leaf.eps for leaf in self.leaves), default=0.0)

    def tangent(self, coordinates: Any) -> Any:
        """The canonical tangent with these coordinates."""
        return self.root.tangent(Reader(np.asarray(coordinates, dtype=np.float64)))

    def point(self, coordinates: Any) -> Any:
        """The primal whose coordinates, as a point of this space, are these."""
        return self.root.point(Reader(np.asarray(coordinates, dtype=np.float64)))

    def coordinates(self, tangent: Any) -> Vector:
        """Coordinates of a canonical or raw tangent: zeros, None and thunks included.

        Raises:
            StructureMismatch: It does not have the structure of the primal.
            DerivativeMissing: A `NotImplementedTangent` is inside.
        """
        return _joined(self.root.read(tangent))

    def values(self, primal: Any) -> Vector:
        """Coordinates of another primal of this structure, as a point.

        Raises:
            StructureMismatch: It has another structure.
        """
        return _joined(self.root.values(primal))

    @property
    def origin(self) -> Vector:
        """Coordinates of the primal itself, as a point."""
        return self.values(self.primal)

    @property
    def spans(self) -> Vector:
        """The scale on which each coordinate varies: its size, or that of its leaf."""
        return _joined(leaf.spans() for leaf in self.leaves)

    def random(self, rng: np.random.Generator) -> Vector:
        """Coordinates of a random tangent, each on the scale of the primal's entry."""
        return rng.standard_normal(self.dim) * self.spans

    def like_primal(self, coordinates: Vector) -> Any:
        """The tangent in containers of the primal's own kind, None where there is none.

        Frameworks take tangents in this form.
        """
        reader = Reader(coordinates)
        return self.root.map(
            lambda leaf: leaf.decode(reader.take(leaf.dim)), lambda _static: None
        )

    def copy(self) -> Any:
        """The primal again, sharing no array and no container with it."""
        return self.root.map(Leaf.copy, _copied)

    def map(self, change: Callable[[Leaf], Any]) -> Any:
        """The primal with every leaf that has a tangent changed."""
        return self.root.map(change, lambda static: static)

    def plain(self) -> Any:
        """The primal with NumPy's arrays instead of other libraries' arrays."""
        return self.root.map(lambda leaf: _in_numpy(leaf.primal), _in_numpy)

    def wide(self) -> Any:
        """The primal in double precision."""
        return self.map(_widened)


def _widened(leaf: Leaf) -> Any:
    wide = np.complex128 if leaf.is_complex else np.float64
    return like(leaf.primal, to_numpy(leaf.primal).astype(wide))


def _in_numpy(x: Any) -> Any:
    if not is_array(x) or isinstance(x, (np.ndarray, np.generic)):
        return x
    return np.array(to_numpy(x))  # a copy: JAX's memory is read-only


def _copied(static: Any) -> Any:
    """A copy, since integer and boolean arrays may be written to as well."""
    return static.copy() if isinstance(static, np.ndarray) else static


def _joined(pieces: Iterable[Vector]) -> Vector:
    parts = list(pieces)
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0), *parts])
