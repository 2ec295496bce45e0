"""Entries of the Jacobian that others outweigh: each group of coordinates alone.

Along a random direction a small partial derivative disappears in the tolerance of a
large one. Here the coordinates of one argument, or of one size, move alone, and those
of one size are observed alone. Round-off of the large entries may be in the small ones,
so only gross errors count, and only where the finite differences are certain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from ._differences import Vector
from ._jacobian import Indices
from ._leaf import Leaf
from ._modes import Mode
from ._report import Failure
from ._space import Space
from ._subject import Subject

__all__ = ["check_outweighed"]

FEW, MOST = 4, 8  # coordinates of a leaf that move one by one; groups at most
FOLD = 1000.0  # entries of one group differ by less
CERTAIN, GROSS = 0.1, 0.25


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Coordinates that move, or are observed, together.

    Attributes:
        label: The first of them.
        vector: A random vector, zero in all others.
    """

    label: str
    vector: Vector


def check_outweighed(mode: Mode) -> None:
    """Compare each group of arguments with each group of results.

    Raises:
        Failure: A derivative is wrong by more than a quarter of its size.
    """
    subject = mode.subject
    columns = [group for group in _columns(mode) if np.any(group.vector)]
    rows = list(_groups(subject.out, subject.out.origin, invert=True))
    if len(columns) * len(rows) < 2:
        return
    images: dict[int, Vector] = {}
    for column in columns:
        _check_column(mode, column, rows, images)


def _columns(mode: Mode) -> Iterator[Group]:
    subject = mode.subject
    free = mode.implemented.copy()
    for i in subject.seeded:
        free[subject.space.slices[i]] = 0.0
    for group in _groups(subject.space, subject.space.origin):
        yield Group(group.label, group.vector * free)


def _groups(space: Space, origin: Vector, *, invert: bool = False) -> Iterator[Group]:
    """Groups of a space; their vectors have the sizes of the entries, or inverse."""
    rng = np.random.default_rng(0)
    spans = _sizes(space, origin)
    random = rng.choice((-1.0, 1.0), space.dim) * rng.uniform(0.5, 1.0, space.dim)
    with np.errstate(all="ignore"):
        weights = random / spans if invert else random * spans
    for members in _members(space, spans)[:MOST]:
        vector = np.zeros(space.dim)
        vector[members] = weights[members]
        if np.all(np.isfinite(vector)):
            yield Group(space.labels[members[0]], vector)


def _sizes(space: Space, origin: Vector) -> Vector:
    """The size of each coordinate; of the parts of a complex number its modulus."""
    sizes = np.where(origin == 0, space.spans, np.abs(origin))
    for leaf, place in _leaves(space):
        if leaf.is_complex:
            sizes[place] = np.repeat(np.hypot(*sizes[place].reshape(-1, 2).T), 2)
    return sizes


def _leaves(space: Space) -> list[tuple[Leaf, Indices]]:
    """The leaves, each with its coordinates."""
    ends = np.cumsum([leaf.dim for leaf in space.leaves])
    places = np.split(np.arange(space.dim), ends[:-1])
    return list(zip(space.leaves, places, strict=True))


def _members(space: Space, spans: Vector) -> list[Indices]:
    """The coordinates of each group; a complex number is not taken apart."""
    found = []
    for leaf, place in _leaves(space):
        if place.size <= FEW:
            found += np.split(place, np.arange(0, place.size, 1 + leaf.is_complex)[1:])
            continue
        with np.errstate(all="ignore"):
            bands = np.floor(np.log(spans[place]) / np.log(FOLD))
        found += [place[bands == band] for band in np.unique(bands)]
    return [members for members in found if members.size]


def _check_column(
    mode: Mode, column: Group, rows: list[Group], images: dict[int, Vector]
) -> None:
    subject = mode.subject
    slope = _slope(subject, column.vector)
    if slope is None:
        return
    value, error = slope
    pushed = mode.image(column.vector) if mode.kind == "frule" else None
    for i, row in enumerate(rows):
        w = row.vector
        if pushed is None and i not in images:
            images[i] = mode.image(w)
        given, along = (pushed, w) if pushed is not None else (images[i], column.vector)
        dot = partial(_dot, error=_total(np.abs(w), error), atol=subject.tolerance.atol)
        if dot(given, along, w, value):
            continue
        message = (
            f"∂{row.label}/∂{column.label} (others outweigh it): the rule gives "
            f"{_total(given, along):.6g}, finite differences {_total(w, value):.6g} "
            f"± {_total(np.abs(w), error):.1g}, on the scale of the entries"
        )
        raise Failure(message)


def _slope(subject: Subject, v: Vector) -> tuple[Vector, Vector] | None:
    """The derivative along a direction and its error bound, where there is one."""
    try:
        slope = subject.slope(v)
    except Exception:  # the function may need what moves together
        return None
    return (slope.value, slope.error) if slope.side == "both" else None


def _dot(
    given: Vector, along: Vector, w: Vector, value: Vector, *, error: float, atol: float
) -> bool:
    """Whether two products agree grossly, or the true one is not certain."""
    actual, expected = _total(given, along), _total(w, value)
    size = max(_total(np.abs(given), np.abs(along)), _total(np.abs(w), np.abs(value)))
    if not np.isfinite([actual, expected, size, error]).all():
        return True
    if error > CERTAIN * abs(expected):
        return True
    return abs(actual - expected) <= GROSS * size + error + atol


def _total(a: Vector, b: Vector) -> float:
    """The dot product, in which zero times infinity is zero."""
    with np.errstate(all="ignore"):
        return float(np.sum(np.where((a == 0) | (b == 0), 0.0, a * b)))
