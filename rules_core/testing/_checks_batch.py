"""Shape and batch rules match the function; rules treat stacks elementwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import Primitive, ShapeDtype, is_array

from ._differences import Vector
from ._leaf import describe, to_numpy
from ._modes import Mode
from ._nodes import Tip
from ._report import Failure, NotRun
from ._space import Space
from ._subject import Subject

__all__ = ["batches_are_right", "rule_batches", "shapes_are_right"]

COUNT = 3
# Relative difference between examples: small enough to stay in the domain.
SPREAD = 2.0**-7


def _primitive(subject: Subject) -> Primitive:
    handle = subject.handle
    if not isinstance(handle, Primitive):
        message = "not a primitive"
        raise NotRun(message)
    return handle


def shapes_are_right(subject: Subject) -> None:
    """The shape rule gives the shapes and dtypes of the value."""
    handle = _primitive(subject)
    rule = handle.shape_rule
    if rule is None:
        message = "no shape rule"
        raise NotRun(message)
    claimed = _shapes(rule(*map(_shape_of, subject.primals[1:]), **subject.kwargs))
    there = _shapes(subject.y)
    if len(claimed) != len(there):
        message = (
            f"the shape rule says {len(claimed)} arrays, the value has {len(there)}"
        )
        raise Failure(message)
    for mine, right in zip(claimed, there, strict=True):
        # Frameworks cast the value of an elementwise primitive to the dtype of its
        # rule.
        same = mine[0] == right[0] if handle.elementwise else mine == right
        if not same:
            message = f"the shape rule says {mine}, the value has {right}"
            raise Failure(message)


def _shape_of(x: Any) -> Any:
    return ShapeDtype(tuple(x.shape), to_numpy(x).dtype) if is_array(x) else x


def _shapes(y: Any) -> list[tuple[Any, Any]]:
    if isinstance(y, ShapeDtype):
        return [(tuple(y.shape), np.dtype(y.dtype))]
    if isinstance(y, (tuple, list)):
        return [pair for child in y for pair in _shapes(child)]
    if isinstance(y, dict):
        return [pair for key in sorted(y) for pair in _shapes(y[key])]
    array = to_numpy(y)
    return [(array.shape, array.dtype)]


def batches_are_right(subject: Subject) -> None:
    """The batch rule gives for a stack the function's results one by one."""
    rule = _primitive(subject).batch_rule
    if rule is None:
        message = "no batch rule"
        raise NotRun(message)
    movable = _movable(subject)
    for batched in _patterns(movable):
        examples = _examples(subject, batched)
        args = [
            _stack(xs) if b else xs[0]
            for xs, b in zip(zip(*examples, strict=True), batched, strict=True)
        ]
        out, out_batched = rule(COUNT, batched, *args, **subject.kwargs)
        expected = [subject.call((subject.f, *example)) for example in examples]
        _compare_batch(subject, out, out_batched, expected, batched)


def _movable(subject: Subject) -> list[bool]:
    """Which arguments are single arrays or numbers with a tangent."""
    parts = [subject.space.part(i).root for i in range(1, len(subject.primals))]
    if not any(isinstance(part, Tip) for part in parts):
        message = "no argument is an array"
        raise NotRun(message)
    return [isinstance(part, Tip) for part in parts]


def _patterns(movable: list[bool]) -> list[tuple[bool, ...]]:
    """Which arguments are batched: all, each alone, and all but each."""
    places = [i for i, moves in enumerate(movable) if moves]
    alone = [tuple(i == k for i in range(len(movable))) for k in places]
    others = [tuple(m and i != k for i, m in enumerate(movable)) for k in places]
    patterns = dict.fromkeys([tuple(movable), *alone, *others])
    return [pattern for pattern in patterns if any(pattern)]


def _examples(subject: Subject, batched: tuple[bool, ...]) -> list[tuple[Any, ...]]:
    """Arguments of each example: the point itself, and others near it."""
    mask = np.concatenate(
        [
            np.full(place.stop - place.start, moves)
            for place, moves in zip(
                subject.space.slices, (False, *batched), strict=True
            )
        ]
    )
    moves = [0.0, *(SPREAD * subject.rng.uniform(0.5, 1) for _ in range(COUNT - 1))]
    origin, spans = subject.space.origin, subject.space.spans
    return [subject.space.point(origin + t * spans * mask)[1:] for t in moves]


def _stack(xs: Any) -> Any:
    return np.stack([to_numpy(x) for x in xs])


def _aligned(xs: Any, rank: int) -> Any:
    """The stack, its arrays given axes of length one up to a common rank."""
    stack = _stack(xs)
    return stack.reshape(COUNT, *(1,) * (rank + 1 - stack.ndim), *stack.shape[1:])


def _compare_batch(
    subject: Subject, out: Any, out_batched: Any, expected: list[Any], batched: Any
) -> None:
    several = isinstance(out, tuple)
    outs, flags = (out, out_batched) if several else ((out,), (out_batched,))
    columns = list(
        zip(*(y if isinstance(y, tuple) else (y,) for y in expected), strict=True)
    )
    if not isinstance(flags, tuple) or not len(outs) == len(flags) == len(columns):
        message = (
            f"the batch rule must return (out, out_batched), {len(columns)} of each, "
            f"but got {describe(out)} and {describe(out_batched)}"
        )
        raise Failure(message)
    for k, (got, flag, column) in enumerate(zip(outs, flags, columns, strict=True)):
        want, stack = _stack(column), to_numpy(got)
        shape = want.shape if flag else want.shape[1:]
        if stack.shape != shape:
            message = (
                f"with in_batched={batched} output {k} has shape {stack.shape}, but "
                f"must have {shape}, as out_batched says {bool(flag)}"
            )
            raise Failure(message)
        stack = np.broadcast_to(stack, want.shape)
        if np.any(subject.tolerance.excess(stack, want) > 0):
            message = (
                f"with in_batched={batched} output {k} is not that of each example"
            )
            raise Failure(message)


def rule_batches(mode: Mode) -> None:
    """The rule of an elementwise primitive treats stacked elements independently."""
    subject = mode.subject
    if not _primitive(subject).elementwise:
        message = "not an elementwise primitive"
        raise NotRun(message)
    movable = tuple(_movable(subject))
    examples = _examples(subject, movable)
    columns = zip(zip(*examples, strict=True), movable, strict=True)
    rank = max(
        np.ndim(x) for x, moves in zip(examples[0], movable, strict=True) if moves
    )
    stacked = tuple(_aligned(xs, rank) if moves else xs[0] for xs, moves in columns)
    whole, *singles = (_like(mode, args) for args in (stacked, *examples))
    _check_rule(whole, singles)


def _like(mode: Mode, args: tuple[Any, ...]) -> Mode:
    """This rule at other arguments."""
    subject = mode.subject
    other = type(mode)(Subject(subject.f, args, subject.kwargs, config=subject.config))
    other.missing = dict(mode.missing)
    return other


def _check_rule(whole: Mode, singles: list[Mode]) -> None:
    if whole.resolve(whole.subject.primals) is None:
        message = "the rule's annotations do not admit a stack of arrays"
        raise NotRun(message)
    tangents = [_seed(mode) for mode in singles]
    images = [mode.image(t) for mode, t in zip(singles, tangents, strict=True)]
    got = whole.image(_interleave(singles[0].domain, tangents))
    want = _interleave(singles[0].codomain, images)
    at = whole.subject.tolerance.differs(got, want)
    if at is not None:
        label = whole.codomain.labels[at]
        message = f"on a stack {label} is {got[at]}, by itself {want[at]}"
        raise Failure(message)


def _seed(mode: Mode) -> Vector:
    seeds = mode.subject.cotangents if mode.kind == "rrule" else mode.directions()
    return seeds[0]


def _interleave(space: Space, vectors: list[Vector]) -> Vector:
    """Coordinates of the stack from those of the examples, leaf by leaf."""
    ends = np.cumsum([leaf.dim for leaf in space.leaves])
    pieces = [np.split(vector, ends[:-1]) for vector in vectors]
    return np.concatenate(
        [piece for leaf in zip(*pieces, strict=True) for piece in leaf]
    )
