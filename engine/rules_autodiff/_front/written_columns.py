"""Jacobians by generated code in forward mode: several columns at once, or one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import without_const
from rules_autodiff.straight._tier.arguments import check_flat
from rules_autodiff.straight._tier.forward import Push
from rules_autodiff.straight._tier.tier import Left

__all__ = ["written_blocks"]

ENTRIES = 250_000  # of a tangent with lanes, from which a pass has fewer
LANES = 16  # of a pass, at least


def written_blocks(
    f: Any,
    args: Any,
    kwargs: Any,
    active: tuple[int, ...],
    chunk_size: int | None,
    *,
    now: bool,
) -> list[Any]:
    """The output, the argument and its blocks, for each active argument.

    Raises:
        Left: There is no such code.
    """
    order = tuple(sorted(active))
    xs = [args[i] for i in order]
    check_flat(xs)
    ends = np.cumsum([np.size(x) for x in xs])
    out, tangents = columns(f, args, kwargs, order, xs, int(ends[-1]), chunk_size, now)
    found = {}
    for i, x, end in zip(order, xs, ends, strict=True):
        parts = [t[..., end - np.size(x) : end] for t in tangents]
        blocks = [[part.reshape(part.shape[:-1] + np.shape(x))] for part in parts]
        found[i] = out, x, blocks
    return [found[i] for i in active]


def columns(
    f: Any,
    args: Any,
    kwargs: Any,
    order: tuple[int, ...],
    xs: list[Any],
    count: int,
    chunk_size: int | None,
    now: bool,
) -> tuple[Any, list[Any]]:
    """The output, and for each of its leaves the columns along one more axis."""
    # Writes into arguments that are not differentiated are the caller's to see.
    arrays = [i for i, x in enumerate(without_const(args)) if type(x) is np.ndarray]
    writing = set(arrays) <= set(order) and not kwargs
    if count > 1:
        try:
            push = Push(f, args, kwargs, order, now=now, writing=writing, lanes=True)
            width = chunk_size or max(LANES, ENTRIES // count)
            passes = [push.push(dots) for dots in in_lanes(xs, count, width)]
            return joined(passes, np.concatenate)
        except Left:
            pass  # not several at once
    push = Push(f, args, kwargs, order, now=now, writing=writing)
    passes = [push.push(dots) for dots in one_by_one(xs, count)]
    return joined(passes, np.stack)


def joined(passes: list[Any], join: Any) -> tuple[Any, list[Any]]:
    """The output of the first pass, and the tangents of all."""
    out, first = passes[0]
    rows = [dys if type(first) is tuple else (dys,) for _, dys in passes]
    return out, [join(parts, -1) for parts in zip(*rows, strict=True)]


def in_lanes(xs: list[Any], count: int, width: int) -> Iterator[list[Any]]:
    """The tangents of the arguments for each pass: unit vectors, side by side."""
    for first in range(0, count, width):
        lanes = np.eye(count, min(width, count - first), -first)
        start, dots = 0, []
        for x in xs:
            rows = lanes[start : start + np.size(x)]
            dots.append(rows.reshape((*np.shape(x), -1)))
            start += np.size(x)
        yield dots


def one_by_one(xs: list[Any], count: int) -> Iterator[list[Any]]:
    """The tangents of the arguments for each entry of them."""
    for column in range(count):
        start, dots = 0, []
        for x in xs:
            dots.append(unit(x, column - start))
            start += np.size(x)
        yield dots


def unit(x: Any, place: int) -> Any:
    """A unit vector, or zeros where the place is in another argument."""
    if type(x) is not np.ndarray:
        return 1.0 if place == 0 else 0.0
    made = np.zeros(x.shape)
    if 0 <= place < x.size:
        made.reshape(-1)[place] = 1.0
    return made
