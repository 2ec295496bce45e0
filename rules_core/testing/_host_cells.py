"""A call in a host as a function of its differentiable leaves, for the cells of a host.

What is the host's own (how its arrays are made, read and differentiated) is given by
functions, so that a host's `cells` list transformations and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rules_core import has_tangent, structure
from rules_core._hosts.layouts import Opener, flatten, leaf_paths, statics, unflatten

from ._report import NotRun

__all__ = ["FlatFunction", "HostArrays"]


def _same(x: Any) -> Any:
    return x


@final
@dataclass(frozen=True, slots=True)
class HostArrays:
    """A host's arrays, as `FlatFunction` needs to know them.

    Attributes:
        opener: What the host computes with. NumPy's arrays, floats and complex numbers
            are to be converted.
        to_numpy: The NumPy array of a host's array that has data.
        like: `(dx, x)` ↦ `dx`, in NumPy, as an array of the host with the dtype of `x`.
        is_smooth: Whether an array of the host has a tangent.
        conj: Between the complex cotangents of rules_core and the host's.
    """

    __module__ = "rules_core.testing"

    opener: Opener
    to_numpy: Callable[[Any], Any]
    like: Callable[[Any, Any], Any]
    is_smooth: Callable[[Any], bool]
    conj: Callable[[Any], Any] = _same


@final
class FlatFunction:
    """A call as a function of its differentiable arrays, with flat results.

    Args:
        host: The host's arrays.
        f: A primitive, or a function that calls one.
        primals: Its arguments, with NumPy leaves.
        kwargs: Its keyword arguments.

    Attributes:
        leaves: Every array of the arguments, in the host.
        where: Which of them the function is of.
        moving: These.
        out: The layout of the result, once the function ran.
        smooth: Which arrays of the result have a tangent.
    """

    __module__ = "rules_core.testing"

    def __init__(
        self, host: HostArrays, f: Any, primals: Any, kwargs: dict[str, Any]
    ) -> None:
        self.host, self.f, self.kwargs = host, f, kwargs
        self.leaves: list[Any] = []
        self.layout = flatten(tuple(primals), self.leaves, host.opener)
        _check_opened(self.layout)
        self.where = [i for i, x in enumerate(self.leaves) if host.is_smooth(x)]
        self.moving = tuple([self.leaves[i] for i in self.where])
        self.out: Any = None
        self.smooth: list[bool] = []

    def full(self, *moving: Any) -> tuple[Any, ...]:
        """Every array of the result."""
        leaves = list(self.leaves)
        for i, x in zip(self.where, moving, strict=True):
            leaves[i] = x
        args = unflatten(self.layout, leaves)
        found: list[Any] = []
        out = flatten(self.f(*args, **self.kwargs), found, self.host.opener)
        if self.out is not None and _is_reordered(self.out, out):
            found = _in_order(self.out, out, found)
        else:
            self.out = out
        self.smooth = [self.host.is_smooth(y) for y in found]
        return tuple(found)

    def __call__(self, *moving: Any) -> tuple[Any, ...]:
        """The arrays of the result that have a tangent."""
        return tuple([y for y in self.full(*moving) if self.host.is_smooth(y)])

    def at(self, leaves: Sequence[Any]) -> FlatFunction:
        """A copy of the call at other arrays, integers included."""
        made = FlatFunction(self.host, self.f, (), self.kwargs)
        made.layout, made.leaves, made.where = self.layout, list(leaves), self.where
        made.moving = tuple([leaves[i] for i in self.where])
        return made

    def given(self, tangents: Any) -> tuple[Any, ...]:
        """Tangents of the differentiable arrays, in the host."""
        flat = list(self._beside(self.layout, tuple(tangents)))
        return tuple([self.host.like(flat[i], self.leaves[i]) for i in self.where])

    def cotangents(self, cotangent: Any) -> tuple[Any, ...]:
        """Cotangents of the differentiable results, as the host has them."""
        host, ys = self.host, self.full(*self.moving)
        pairs = zip(self._beside(self.out, cotangent), ys, strict=True)
        smooth = [(dy, y) for dy, y in pairs if host.is_smooth(y)]
        return tuple([host.conj(host.like(dy, y)) for dy, y in smooth])

    def inputs(self, found: Sequence[Any]) -> Any:
        """Cotangents per primal, in NumPy; None where a leaf can have none.

        Args:
            found: One per differentiable array; None is zero.
        """
        host = self.host
        flat: list[Any] = [None] * len(self.leaves)
        for i, dx in zip(self.where, found, strict=True):
            if dx is None:
                flat[i] = np.zeros_like(host.to_numpy(self.leaves[i]))
            else:
                flat[i] = host.to_numpy(host.conj(dx))
        return unflatten(_without_static(self.layout), flat)

    def outputs(self, found: Sequence[Any]) -> Any:
        """Tangents of the result, in NumPy; None where there are none."""
        rest = iter(found)
        flat = [
            self.host.to_numpy(next(rest)) if smooth else None for smooth in self.smooth
        ]
        return unflatten(_without_static(self.out), flat)

    def value(self, found: Sequence[Any]) -> Any:
        """The result in NumPy, from all of its arrays."""
        return unflatten(self.out, [self.host.to_numpy(y) for y in found])

    def _beside(self, layout: Any, tree: Any) -> Iterator[Any]:
        """The leaves of a tree with the structure of a layout."""
        kind = layout[0]
        if kind == "leaf":
            yield tree
        elif kind != "static":
            _, _, names, children = layout
            if kind == "struct":
                entry = self._fields(tree).__getitem__
            elif kind == "named":
                entry = tree.__getattribute__
            else:
                entry = tree.__getitem__
            for name, child in zip(names, children, strict=True):
                yield from self._beside(child, entry(name))

    def _fields(self, tree: Any) -> dict[Any, Any]:
        level = self.host.opener.level(tree)
        assert level is not None
        return dict(zip(level.names, level.values, strict=True))


def _is_reordered(first: Any, second: Any) -> bool:
    """Whether dicts have their keys in another order: a framework may sort them."""
    if first[0] != second[0] or first[0] in ("leaf", "static"):
        return False
    if first[2] != second[2]:
        return first[0] == "mapping" and set(first[2]) == set(second[2])
    return any(map(_is_reordered, first[3], second[3]))


def _in_order(first: Any, second: Any, leaves: Sequence[Any]) -> list[Any]:
    """The leaves of the second layout in the order of the first."""
    named = dict(zip(leaf_paths(second, ""), leaves, strict=True))
    return [named[path] for path in leaf_paths(first, "")]


def _check_opened(layout: Any) -> None:
    """Raise `NotRun` if the host cannot take apart an instance that has a tangent."""
    for value in statics(layout):
        if not callable(value) and structure(value) is not None and has_tangent(value):
            name = type(value).__qualname__
            message = (
                f"an instance of {name} is a constant to this framework: register the "
                "class there as a container"
            )
            raise NotRun(message)


def _without_static(layout: Any) -> Any:
    kind = layout[0]
    if kind == "leaf":
        return layout
    if kind == "static":
        return ("static", None)
    _, builder, names, children = layout
    return (kind, builder, names, tuple(map(_without_static, children)))
