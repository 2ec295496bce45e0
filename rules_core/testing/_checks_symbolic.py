"""A rule with `symbolic_zeros` treats `ZeroTangent()` like arrays of zeros."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from rules_core import ZeroTangent

from ._checks_linear import seeds
from ._differences import Vector
from ._leaf import StructureMismatch
from ._modes import Mode
from ._nodes import Fork, Reader
from ._report import Failure, NotRun

__all__ = ["symbolic_zeros_are_zeros"]


def symbolic_zeros_are_zeros(mode: Mode) -> str:
    """`ZeroTangent()` for the whole, for each part, for all but each part."""
    if not mode.resolve(mode.subject.primals).rule.symbolic_zeros:
        message = "the rule is not defined with symbolic_zeros=True"
        raise NotRun(message)
    cases = list(_with_zeros(mode))
    for label, coordinates, tangent in cases:
        _check(mode, label, coordinates, tangent)
    return ", ".join(label for label, _, _ in cases)


def _check(mode: Mode, label: str, coordinates: Vector, given: Any) -> None:
    must = f"with ZeroTangent() for {label} the rule must give what arrays of zeros do"
    try:
        actual = mode.read(mode.run(given).raw)
    except StructureMismatch as mismatch:
        message = f"{must}, but: {mismatch}"
        raise Failure(message) from None
    except Exception as error:
        message = f"{must}, but it raises {type(error).__name__}: {error}"
        raise Failure(message) from error
    expected = mode.image(coordinates)
    at = mode.subject.tolerance.differs(actual, expected)
    if at is not None:
        where = mode.codomain.labels[at]
        message = f"{must}: {expected[at]} at {where}, but it gives {actual[at]}"
        raise Failure(message)


def _with_zeros(mode: Mode) -> Iterator[tuple[str, Vector, Any]]:
    """The zero part, the coordinates of that tangent, and the tangent."""
    root, vector = mode.domain.root, seeds(mode)[0]
    whole = "dy" if mode.kind == "rrule" else "all tangents"
    if not isinstance(root, Fork):
        yield whole, np.zeros_like(vector), ZeroTangent()
        return
    places = dict(_places(root))
    for label, zeros in _choices(whole, root, list(places)):
        partial = vector.copy()
        for i in zeros:
            partial[places[i]] = 0.0
        yield label, partial, _tangent(root, partial, zeros)


def _places(root: Fork) -> Iterator[tuple[int, slice]]:
    """Where the coordinates of each part with a tangent are."""
    start = 0
    for i, node in enumerate(root.nodes):
        end = start + sum(leaf.dim for leaf in node.leaves())
        if next(node.leaves(), None) is not None:
            yield i, slice(start, end)
        start = end


def _choices(
    whole: str, root: Fork, parts: list[int]
) -> Iterator[tuple[str, Collection[int]]]:
    """Sets of parts to be zero; `parts` are those with a tangent."""
    yield whole, parts
    if len(parts) > 1:
        for i in parts:
            name = _name(root, i)
            yield name, (i,)
            yield f"all but {name}", [j for j in parts if j != i]


def _name(root: Fork, i: int) -> str:
    return f"{root.path}{root.parts.labels[i]}"


def _tangent(root: Fork, coordinates: Vector, zeros: Collection[int]) -> Any:
    reader = Reader(coordinates)
    built = [node.tangent(reader) for node in root.nodes]
    return root.parts.wrap(
        [ZeroTangent() if i in zeros else dx for i, dx in enumerate(built)]
    )
