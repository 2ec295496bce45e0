"""Jacobians by generated code in forward mode: several columns at once, or one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rules_autodiff._boundary.enter import without_const
from rules_autodiff.straight._tier.arguments import check_flat
from rules_autodiff.straight._tier.forward import Push
from rules_autodiff.straight._tier.left import COMPILED, Left, leave

__all__ = ["written_blocks", "written_hessian"]

# Entries of a tangent with lanes, from which a pass has fewer: arrays should fit in the
# cache, but a loop of numbers costs the same for any number of lanes.
ENTRIES, ENTRIES_OF_LOOPS = 16_000, 250_000
LANES = 16  # of a pass, at least
FEW = 3  # columns that are computed one after the other: small arrays cost more


def written_blocks(
    f: Any,
    args: Any,
    kwargs: Any,
    active: tuple[int, ...],
    chunk_size: int | None,
    *,
    now: int,
) -> list[Any]:
    """The output, the argument and its blocks, for each active argument.

    Raises:
        Left: There is no such code.
    """
    order = active if len(active) == 1 else tuple(sorted(active))
    xs = [args[i] for i in order]
    check_flat(xs)
    sizes = [x.size if type(x) is np.ndarray else 1 for x in xs]
    if 0 in sizes:
        leave("an argument is empty")
    out, tangents = columns(f, args, kwargs, order, sizes, chunk_size, now=now)
    found, start = {}, 0
    for i, x, size in zip(order, xs, sizes, strict=True):
        parts = [t[..., start : start + size] for t in tangents]
        blocks = [[part.reshape(part.shape[:-1] + np.shape(x))] for part in parts]
        found[i] = out, x, blocks
        start += size
    return [found[i] for i in active]


def columns(
    f: Any,
    args: Any,
    kwargs: Any,
    order: tuple[int, ...],
    sizes: list[int],
    chunk_size: int | None,
    *,
    now: int,
) -> tuple[Any, list[Any]]:
    """The output, and for each of its leaves the columns along one more axis."""
    xs, count = [args[i] for i in order], sum(sizes)
    writing = len(args) == len(order) or hides_writes(args, kwargs, order)
    if count > FEW and now != COMPILED:
        try:
            push = Push(f, args, kwargs, order, now=now, writing=writing, lanes=True)
            width = chunk_size or lanes_of(push, count)
            passes = [push.push(dots) for dots in in_lanes(xs, sizes, count, width)]
            return joined(passes, np.concatenate)
        except Left:
            pass  # not several at once
    push = Push(f, args, kwargs, order, now=now, writing=writing)
    passes = push.pushes([*one_by_one(xs, sizes, count)])
    out, first = passes[0]
    if type(first) is float or type(first) is np.float64:
        return out, [np.array([dy for _, dy in passes], float)]
    return joined([(y, expanded(dys)) for y, dys in passes], np.concatenate)


def written_hessian(
    f: Any, args: Any, kwargs: Any, active: tuple[int, ...], *, now: int
) -> list[Any]:
    """For each active argument the blocks of its columns, one for each active one.

    Raises:
        Left: There is no code for a second derivative.
    """
    order = tuple(sorted(active))
    xs = [args[i] for i in order]
    check_flat(xs)
    sizes = [x.size if type(x) is np.ndarray else 1 for x in xs]
    if 0 in sizes:
        leave("an argument is empty")
    push = Push(f, args, kwargs, order, now=now, writing=False)
    found = [push.gradient(dots) for dots in one_by_one(xs, sizes, sum(sizes))]
    rows = [np.stack(parts, -1) for parts in zip(*found, strict=True)]
    blocks, start = {}, 0
    for i, x, size in zip(order, xs, sizes, strict=True):
        parts = [row[..., start : start + size] for row in rows]
        shaped = [part.reshape(part.shape[:-1] + np.shape(x)) for part in parts]
        by_place = dict(zip(order, shaped, strict=True))
        blocks[i] = [[by_place[k].copy()] for k in active]
        start += size
    return [blocks[i] for i in active]


def hides_writes(args: Any, kwargs: Any, order: tuple[int, ...]) -> bool:
    """Whether no array is the caller's to see written: it is not differentiated."""
    arrays = {i for i, x in enumerate(without_const(args)) if type(x) is np.ndarray}
    return arrays <= set(order) and not kwargs


def lanes_of(push: Push, count: int) -> int:
    """How many columns a pass computes."""
    entries = ENTRIES_OF_LOOPS if push.written.unit.loops else ENTRIES
    return max(LANES, entries // count)


def joined(passes: list[Any], join: Any) -> tuple[Any, list[Any]]:
    """The output of the first pass, and the tangents of all."""
    out, first = passes[0]
    if len(passes) == 1:
        return out, [*first] if type(first) is tuple else [first]
    rows = [dys if type(first) is tuple else (dys,) for _, dys in passes]
    return out, [join(parts, -1) for parts in zip(*rows, strict=True)]


def expanded(dys: Any) -> Any:
    """Tangents as columns."""
    if type(dys) is tuple:
        return tuple([np.expand_dims(dy, -1) for dy in dys])
    return np.expand_dims(dys, -1)


def in_lanes(
    xs: list[Any], sizes: list[int], count: int, width: int
) -> Iterator[list[Any]]:
    """The tangents of the arguments for each pass: unit vectors, side by side."""
    for first in range(0, count, width):
        lanes = np.zeros((count, min(width, count - first)))
        n = lanes.shape[1]
        lanes.reshape(-1)[first * n : (first + n) * n : n + 1] = 1.0
        start, dots = 0, []
        for x, size in zip(xs, sizes, strict=True):
            rows = lanes[start : start + size]
            dots.append(rows.reshape(np.shape(x) + rows.shape[1:]))
            start += size
        yield dots


def one_by_one(xs: list[Any], sizes: list[int], count: int) -> Iterator[list[Any]]:
    """The tangents of the arguments for each entry of them."""
    for column in range(count):
        start, dots = 0, []
        for x, size in zip(xs, sizes, strict=True):
            dots.append(unit(x, column - start))
            start += size
        yield dots


def unit(x: Any, place: int) -> Any:
    """A unit vector, or zeros where the place is in another argument."""
    if type(x) is not np.ndarray:
        return 1.0 if place == 0 else 0.0
    made = np.zeros(x.shape)
    if 0 <= place < x.size:
        made.reshape(-1)[place] = 1.0
    return made
