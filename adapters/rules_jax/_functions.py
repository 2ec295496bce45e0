"""Callable arguments that close over traced values, as pytrees of what they capture.

A function is static to JAX. If it captures a tracer, a rule that takes the function
would have no way to give the captured value its gradient, so such a function becomes a
`Captured`: the same function, with the traced cells of its closure as children.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from types import CellType, FunctionType, MethodType
from typing import Any, final

import jax
from jax import tree_util

import rules_core as rc

from ._leaves import is_traced

__all__ = ["Captured", "convert_callables", "captures_tracer"]

_HOLE = object()  # where an array was


@tree_util.register_pytree_node_class
@final
class Captured:
    """A function whose captured arrays are leaves.

    Args:
        make: Rebuilds the function from the arrays; static.
        arrays: What it captures.
    """

    def __init__(self, make: _Make, arrays: Sequence[Any]) -> None:
        self.make, self.arrays = make, tuple(arrays)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.make(self.arrays)(*args, **kwargs)

    def tree_flatten(self) -> tuple[tuple[Any, ...], _Make]:
        """Children and static part."""
        return self.arrays, self.make

    @classmethod
    def tree_unflatten(cls, make: _Make, arrays: Any) -> Captured:
        """The reverse."""
        return cls(make, arrays)

    def __tangent_structure__(self) -> rc.Structure:
        """What it captures, by position, as JAX has it."""
        places = range(len(self.arrays))
        make = self.make
        return rc.Structure(
            Captured, "position", places, self.arrays, lambda x: Captured(make, x)
        )

    def __repr__(self) -> str:
        return f"Captured({self.make.function!r}, {len(self.arrays)} arrays)"


@final
class _Make:
    """How a function is built from its captured arrays."""

    def __init__(self, function: Any) -> None:
        self._form = _form(function)
        self.function = _rebuild(function, repeat(_HOLE))  # keeps no tracer alive
        self._hash = hash(self._form)

    def __call__(self, arrays: Sequence[Any]) -> Any:
        return _rebuild(self.function, iter(arrays))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Make) and self._form == other._form


def convert_callables(tree: Any) -> Any:
    """The tree with every function that captures tracers made a `Captured`."""
    leaves, treedef = tree_util.tree_flatten(tree)
    if not any(map(captures_tracer, leaves)):
        return tree
    return treedef.unflatten(map(_convert, leaves))


def captures_tracer(leaf: Any) -> bool:
    """Whether a leaf is a function that captures a traced value."""
    if not isinstance(leaf, (FunctionType, MethodType, partial)):
        return False
    return any(map(is_traced, captured(leaf)))


def hidden_tracer(value: Any) -> type | None:
    """The class of an object that holds a traced value and is closed to JAX.

    JAX takes an instance of a class that is not registered with it for a constant, so
    what is traced inside would lose its derivative.
    """
    return _hidden(value, None, set())


def _hidden(value: Any, closed: type | None, seen: set[int]) -> type | None:
    if is_traced(value):
        return closed
    level = None if id(value) in seen else rc.structure(value)
    if level is None:
        return None
    seen.add(id(value))
    open_to_us = isinstance(value, (FunctionType, MethodType, partial))
    if not open_to_us and not _is_container(value):
        closed = type(value)
    found = (_hidden(child, closed, seen) for child in level.values)
    return next((cls for cls in found if cls is not None), None)


def _convert(leaf: Any) -> Any:
    if not captures_tracer(leaf):
        return leaf
    return Captured(_Make(leaf), list(captured(leaf)))


def captured(value: Any) -> Iterator[Any]:
    """Arrays that a function captures, in a fixed order."""
    if isinstance(value, jax.Array):
        yield value
    elif isinstance(value, FunctionType):
        for cell in value.__closure__ or ():
            yield from captured(_contents(cell))
        for default in value.__defaults__ or ():
            yield from captured(default)
    elif isinstance(value, MethodType):
        yield from captured(value.__self__)
        yield from captured(value.__func__)
    elif isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from captured(part)
    elif _is_container(value):
        for leaf in tree_util.tree_leaves(value):
            yield from captured(leaf)


def _is_container(value: Any) -> bool:
    return not tree_util.all_leaves([value])


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled: a recursive function while it is defined
        return None


def _rebuild(value: Any, arrays: Iterator[Any]) -> Any:
    if value is _HOLE or isinstance(value, jax.Array):
        return next(arrays)
    if isinstance(value, FunctionType):
        return _rebuild_function(value, arrays)
    if isinstance(value, MethodType):
        instance = _rebuild(value.__self__, arrays)
        return MethodType(_rebuild(value.__func__, arrays), instance)
    if isinstance(value, partial):
        func = _rebuild(value.func, arrays)
        args = [_rebuild(x, arrays) for x in value.args]
        return partial(
            func, *args, **{k: _rebuild(x, arrays) for k, x in value.keywords.items()}
        )
    if _is_container(value):
        leaves, treedef = tree_util.tree_flatten(value)
        return treedef.unflatten([_rebuild(leaf, arrays) for leaf in leaves])
    return value


def _rebuild_function(function: FunctionType, arrays: Iterator[Any]) -> FunctionType:
    cells = tuple(
        CellType(_rebuild(_contents(cell), arrays))
        for cell in function.__closure__ or ()
    )
    defaults = tuple(_rebuild(x, arrays) for x in function.__defaults__ or ())
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        defaults or None,
        cells,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def _form(value: Any) -> Any:
    """Hashable description of everything about a function but its arrays."""
    if isinstance(value, jax.Array):
        return "array"
    if isinstance(value, FunctionType):
        cells = tuple(_form(_contents(cell)) for cell in value.__closure__ or ())
        return value.__code__, cells, tuple(map(_form, value.__defaults__ or ()))
    if isinstance(value, MethodType):
        return _form(value.__self__), _form(value.__func__)
    if isinstance(value, partial):
        keywords = tuple((k, _form(x)) for k, x in value.keywords.items())
        return _form(value.func), tuple(map(_form, value.args)), keywords
    if _is_container(value):
        leaves, treedef = tree_util.tree_flatten(value)
        return treedef, tuple(map(_form, leaves))
    from ._leaves import static_key

    return static_key(value)
