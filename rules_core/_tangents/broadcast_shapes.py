"""Shapes that a tangent or a cotangent may have beside its primal's own.

A cotangent may be summed over the axes along which its primal was broadcast, for that
is the adjoint of broadcasting. A tangent may not: it has the shape of its primal. Axes
of length one may differ in both.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["same_without_ones", "summed_axes"]


def same_without_ones(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes differ by axes of length one alone.

    >>> from rules_core.extend import same_without_ones
    >>> same_without_ones((2, 1), (2,)), same_without_ones((2, 2), (2,))
    (True, False)
    """
    return [n for n in a if n != 1] == [n for n in b if n != 1]


def summed_axes(given: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """The axes over which a cotangent of shape `given` is summed for its primal.

    None where `shape` does not broadcast to `given`.

    >>> from rules_core.extend import summed_axes
    >>> summed_axes((5, 3, 4), (3, 1)), summed_axes((3,), (2,))
    ((0, 2), None)
    """
    lead = len(given) - len(shape)
    if lead < 0:
        return None
    pairs = list(zip(given[lead:], shape, strict=True))
    if any(own not in (1, length) for length, own in pairs):
        return None
    broadcast = (lead + i for i, (length, own) in enumerate(pairs) if length != own)
    return (*range(lead), *broadcast)
