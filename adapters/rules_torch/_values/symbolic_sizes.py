"""Sizes that a compiler does not know yet, taken out of layouts and put back.

With dynamic shapes a size of a tensor is a `torch.SymInt`. As a constant in a layout it
would be the size that the compiler happened to trace with; so operators take sizes as
arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

__all__ = ["NUMBER", "filled", "interleaved", "lifted"]

# The layout of a number that is an argument of an operator, or of a graph's entry.
NUMBER = ("number",)


def lifted(layout: Any, numbers: list[Any]) -> Any:
    """A layout without symbols; its sizes are appended to `numbers`.

    Of what is no size, as the quotient of two, the compiler is asked for the value, and
    compiles again where it is another one.
    """
    kind = layout[0]
    if kind == "static":
        value = layout[1]
        if isinstance(value, torch.SymInt):
            numbers.append(value)
            return NUMBER
        return ("static", _fixed(value))
    if kind == "leaf":
        return layout
    kind, builder, names, children = layout
    return (kind, builder, names, tuple([lifted(x, numbers) for x in children]))


def _fixed(value: Any) -> Any:
    if isinstance(value, torch.SymFloat):
        return float(value)
    if isinstance(value, torch.SymBool):
        return bool(value)
    if isinstance(value, (slice, range)):
        parts = [_index(part) for part in (value.start, value.stop, value.step)]
        return type(value)(*parts)
    if isinstance(value, torch.Size):
        return torch.Size(map(int, value))
    if type(value) is set:  # it may be changed
        return set(value)
    return value


def _index(part: Any) -> Any:
    return int(part) if isinstance(part, torch.SymInt) else part


def filled(layout: Any, numbers: Sequence[Any]) -> Any:
    """The layout again, with numbers in it."""
    return _fill(layout, iter(numbers))


def _fill(layout: Any, numbers: Iterator[Any]) -> Any:
    kind = layout[0]
    if kind == "number":
        return ("static", next(numbers))
    if kind in ("leaf", "static"):
        return layout
    kind, builder, names, children = layout
    return (kind, builder, names, tuple([_fill(x, numbers) for x in children]))


def interleaved(
    layout: Any, tensors: Sequence[Any], numbers: Sequence[Any]
) -> list[Any]:
    """Tensors and numbers in one list, in the order of the layout."""
    return list(_leaves(layout, iter(tensors), iter(numbers)))


def _leaves(
    layout: Any, tensors: Iterator[Any], numbers: Iterator[Any]
) -> Iterator[Any]:
    kind = layout[0]
    if kind == "leaf":
        yield next(tensors)
    elif kind == "number":
        yield next(numbers)
    elif kind != "static":
        for child in layout[3]:
            yield from _leaves(child, tensors, numbers)
