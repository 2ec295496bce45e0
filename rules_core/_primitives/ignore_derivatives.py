"""`ignore_derivatives`: a value without its derivative, in every framework."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, CellType, FunctionType, MethodType
from typing import Any, TypeVar, overload

from rules_core._tangents.structure import structure

from .find_host import adapter_of
from .primitive import Primitive

__all__ = ["ignore_derivatives", "without_captured"]

R = TypeVar("R")
T = TypeVar("T")

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, partial, Primitive)


@overload
def ignore_derivatives(f: Callable[[], R]) -> R: ...
@overload
def ignore_derivatives(f: T) -> T: ...
def ignore_derivatives(f: Any) -> Any:
    """`f()` if `f` is a plain function, otherwise `f` itself, without derivative.

    The value is a constant for every AD system: `d ignore_derivatives(x) = 0`. The
    captured values of a function are constant too while it runs, so values that it
    stores in a list or an outer variable have no derivative. Values that it reads from
    mutable containers and attributes it must stop itself.

    Args:
        f: A function of no arguments, or a value: an array of any framework, a number,
            or a container of them.

    >>> import numpy as np
    >>> from rules_core import ignore_derivatives
    >>> ignore_derivatives(lambda: 2.0) + ignore_derivatives(1.0)
    3.0
    """
    if not isinstance(f, _FUNCTIONS):
        return _stop(f)
    return _stop(without_captured(f, _stop, lambda made: made()))


def without_captured(f: Any, stop: Callable[[Any], Any], call: Any) -> Any:
    """`call(f)` with the captured values of `f` stopped; it sets the real variables.

    Mutable containers are not copied: `f` may store values in them.

    Args:
        f: The function.
        stop: Returns a value without its derivative.
        call: Calls the function.
    """
    if isinstance(f, partial):
        made: Any = partial(f.func, *map(stop, f.args), **_values(f.keywords, stop))
        return without_captured(f.func, stop, lambda g: call(with_arguments(g, made)))
    if not isinstance(f, FunctionType) or not f.__closure__:
        return call(f)
    cells = [_stopped_cell(cell, stop) for cell in f.__closure__]
    contents = [_content(cell) for cell in cells]
    parts = f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(cells)
    made = FunctionType(*parts)
    made.__kwdefaults__ = f.__kwdefaults__
    try:
        return call(made)
    finally:
        for cell, own, old in zip(f.__closure__, cells, contents, strict=True):
            if own is not cell and _content(own) is not old:
                cell.cell_contents = _content(own)


def with_arguments(f: Any, given: Any) -> Any:
    return partial(f, *given.args, **given.keywords)


def _values(named: dict[str, Any], stop: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: stop(value) for name, value in named.items()}


def _stopped_cell(cell: CellType, stop: Callable[[Any], Any]) -> CellType:
    """A cell with the stopped value; the original cell if the value does not change."""
    value = _content(cell)
    level = structure(value)
    if level is not None and (level.mutable or callable(value)):
        return cell
    stopped = stop(value)
    return cell if stopped is value else CellType(stopped)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty
        return None


def _stop(x: Any) -> Any:
    adapter = adapter_of(type(x))
    if adapter is not None:
        return adapter.stop_gradient(x)
    level = structure(x)
    if level is None:
        return x
    stopped = [_stop(value) for value in level.values]
    if all(new is old for new, old in zip(stopped, level.values, strict=True)):
        return x
    return level.rebuild(stopped)
