"""Declaring transforms: linear primitives with a shape rule and a batch rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy._lists import dtype_of, entries_like, shape_of
from rules_scipy._steps import DECLARED

__all__ = [
    "Axes",
    "edges",
    "resized",
    "transform",
]


class Axes(NamedTuple):
    """The axes of a transform, and their lengths.

    Attributes:
        places: The axes, as the user gave them.
        lengths: For each the length that it is cut or filled to; None keeps it.
        norm: SciPy's option.
        kind: The type of a cosine or sine transform.
        orthogonalize: SciPy's option of those.
    """

    places: tuple[int, ...]
    lengths: tuple[int | None, ...]
    norm: str | None
    kind: int | None = None
    orthogonalize: bool | None = None


def transform(
    f: Any,
    adjoint: Callable[[Any, tuple[int, ...], Axes], Any],
    *,
    length: Callable[[int, int | None], int],
    dtype: Callable[[Any], Any],
) -> rc.Primitive:
    """The primitive of a transform.

    Args:
        f: The transform of SciPy.
        adjoint: `adjoint(dy, shape of x, axes)` in array-API code and calls of
            primitives.
        length: `length(n of x, n asked for)` is that of the result's last axis.
        dtype: `dtype(dtype of x)` is that of the result.
    """
    DECLARED[f] = "covered"
    made: rc.Primitive = rc.primitive(f, host=True, copy_in="overwrite_x")
    names = tuple(inspect.signature(f).parameters)[1:]

    def axes_of(shape: Any, options: tuple[Any, ...], plan: dict[str, Any]) -> Axes:
        return _axes(len(shape), dict(zip(names, options, strict=False)) | plan)

    def transform_shape(x: Any, *options: Any, **plan: Any) -> Any:
        shape, own = [*shape_of(x)], shape_of(x)
        axes = axes_of(own, options, plan)
        for axis, n in zip(axes.places, axes.lengths, strict=True):
            shape[axis] = shape[axis] if n is None else n
        if axes.places:
            last = axes.places[-1]
            shape[last] = length(own[last], axes.lengths[-1])
        return rc.ShapeDtype(tuple(shape), dtype(dtype_of(x)))

    def transform_batch(
        _size: int, in_batched: Any, x: Any, *options: Any, **plan: Any
    ) -> Any:
        if in_batched[0]:
            axes = axes_of(x.shape[1:], options, plan)
            options = _past_the_batch(names, axes, x, options)
        return made.run(x, *options, **plan), in_batched[0]

    def transform_adjoint(dy: Any, x: Any, *options: Any, **plan: Any) -> Any:
        shape = shape_of(x)
        return entries_like(x, adjoint(dy, shape, axes_of(shape, options, plan)))

    for rule in (transform_shape, transform_batch, transform_adjoint):
        rule.__qualname__ = f"{f.__name__}_{rule.__name__.partition('_')[2]}"
    rc.shape_rule.define(made)(transform_shape)
    rc.batch_rule.define(made)(transform_batch)
    rc.linear_rule(made, transform_adjoint, 0)
    return made


def _axes(ndim: int, options: dict[str, Any]) -> Axes:
    kind, orthogonalize = options.get("type"), options.get("orthogonalize")
    if "axis" in options:
        places, lengths = (options["axis"],), (options["n"],)
    else:
        places, lengths = _several(ndim, options["s"], options["axes"])
    return Axes(places, lengths, options["norm"], kind, orthogonalize)


def _several(ndim: int, s: Any, axes: Any) -> tuple[Any, Any]:
    """Axes and lengths of a transform over several axes; -1 keeps the length."""
    s = (s,) if isinstance(s, int) else s
    axes = (axes,) if isinstance(axes, int) else axes
    if axes is None:
        axes = range(-(ndim if s is None else len(s)), 0)
    lengths = [None] * len(axes) if s is None else s
    return tuple(axes), tuple(None if n == -1 else n for n in lengths)


def _past_the_batch(
    names: tuple[str, ...], axes: Axes, x: Any, options: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The options with axes counted from the end: a batch axis comes first."""
    count = x.ndim - 1
    places = tuple(i - count if i >= 0 else i for i in axes.places)
    given = dict(zip(names, options, strict=False))
    if "axis" in given:
        return tuple((given | {"axis": places[0]}).values())
    s = given["s"]
    s = (s,) if isinstance(s, int) else s
    return tuple((given | {"axes": places, "s": s}).values())


# pieces of adjoints


def resized(x: Any, shape: Any, axes: Axes) -> Any:
    """`x` cut, or filled with zeros, to the shape of an argument along the axes."""
    for axis in axes.places:
        x = _resized(x, shape[axis], axis)
    return x


def _resized(x: Any, n: int, axis: int) -> Any:
    length = x.shape[axis]
    if n <= length:
        return _part(x, axis, 0, n) if n < length else x
    xp = rc.array_namespace(x)
    shape = list(x.shape)
    shape[axis] = n - length
    zeros = xp.broadcast_to(xp.zeros_like(_part(x, axis, 0, 1)), tuple(shape))
    return concat([x, zeros], axis=axis)


def edges(x: Any, axis: int, first: float = 1.0, last: float = 1.0) -> Any:
    """`x` with the first and the last entry of an axis multiplied."""
    n = x.shape[axis]
    parts = [first * _part(x, axis, 0, 1), _part(x, axis, 1, n)]
    if n == 1:
        return parts[0] * last
    parts[1:] = [_part(x, axis, 1, n - 1), last * _part(x, axis, n - 1, n)]
    return concat(parts, axis=axis)


def _part(x: Any, axis: int, start: int, stop: int) -> Any:
    where: list[Any] = [slice(None)] * x.ndim
    where[axis] = slice(start, stop)
    return x[tuple(where)]
