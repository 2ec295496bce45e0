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
from rules_core.extend import stored_cells

from .leaves import is_traced
from .static_keys import ById, static_key, structure_key

__all__ = ["Captured", "captured", "captures_tracer", "convert_callables"]

_HOLE = object()  # where an array was


@final
class _Lent:
    """A container that held no array, and how to make it again as it was then.

    Runs of a pullback share it, so that what they count in it is seen, until one puts
    an array in: another run, at other values, must not find that.
    """

    def __init__(self, value: Any) -> None:
        self.value = value
        self.leaves, self.treedef = tree_util.tree_flatten(value)

    def now(self) -> Any:
        """The container, or a copy of what it was."""
        if _has_arrays(self.value):
            return self.treedef.unflatten(self.leaves)
        return self.value


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
        """Captured values by position, as JAX has them."""
        places = range(len(self.arrays))
        make = self.make
        return rc.Structure(
            Captured, "position", places, self.arrays, lambda x: Captured(make, x)
        )

    @property
    def captured_function(self) -> Any:
        """The function without its arrays."""
        return self.make.function

    def __repr__(self) -> str:
        return f"Captured({self.make.function!r}, {len(self.arrays)} arrays)"


@final
class _Make:
    """How a function is built from its captured arrays."""

    def __init__(self, function: Any) -> None:
        self._form = _form(function)
        self.function = _Rebuild(repeat(_HOLE))(function)  # keeps no tracer alive
        self._hash = hash(self._form)

    def __call__(self, arrays: Sequence[Any]) -> Any:
        try:
            return _Rebuild(iter(arrays))(self.function)
        except StopIteration:
            name = getattr(self.function, "__qualname__", repr(self.function))
            message = (
                f"{name} runs several times in JAX, and keeps an array of one run "
                "where the next one finds it. Compute it before and capture it, or "
                "compute it in every run."
            )
            raise rc.UnsupportedError(message) from None

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


def hides(leaf: Any, cls: type, seen: set[int] | None = None) -> bool:
    """Whether what JAX takes for a constant holds an array, or tracer, of a class."""
    seen = set() if seen is None else seen
    if isinstance(leaf, cls):
        return True
    level = None if id(leaf) in seen else rc.structure(leaf)
    if level is None:
        return False
    seen.add(id(leaf))
    return any(hides(child, cls, seen) for child in level.values)


def _convert(leaf: Any) -> Any:
    if not captures_tracer(leaf):
        return leaf
    return Captured(_Make(leaf), list(captured(leaf)))


def captured(value: Any) -> Iterator[Any]:
    """Arrays that a function captures, in a fixed order."""
    return _captured(value, set())


def _captured(value: Any, seen: set[int]) -> Iterator[Any]:
    if value is _HOLE or isinstance(value, jax.Array):
        yield value
    elif isinstance(value, FunctionType):
        if id(value) not in seen:  # a recursive function captures itself
            seen.add(id(value))
            for part in parts_of(value):
                yield from _captured(part, seen)
    elif isinstance(value, MethodType):
        yield from _captured(value.__self__, seen)
        yield from _captured(value.__func__, seen)
    elif isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _captured(part, seen)
    elif _is_container(value):
        for leaf in tree_util.tree_leaves(value):
            yield from _captured(leaf, seen)


def parts_of(function: FunctionType) -> Iterator[Any]:
    """Captured values of a function: cells of its closure, then defaults."""
    yield from map(_contents, function.__closure__ or ())
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _is_container(value: Any) -> bool:
    return not tree_util.all_leaves([value])


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet filled: a recursive function while it is defined
        return None


@final
class _Rebuild:
    """Rebuilds functions with other arrays; a function met twice is made once."""

    def __init__(self, arrays: Iterator[Any]) -> None:
        self.arrays = arrays
        self.made: dict[int, FunctionType] = {}

    def __call__(self, value: Any) -> Any:
        if value is _HOLE or isinstance(value, jax.Array):
            return next(self.arrays)
        if isinstance(value, FunctionType):
            return self.made.get(id(value)) or self._function(value)
        if isinstance(value, MethodType):
            instance = self(value.__self__)
            return MethodType(self(value.__func__), instance)
        if isinstance(value, partial):
            func = self(value.func)
            args = [self(x) for x in value.args]
            return partial(
                func, *args, **{k: self(x) for k, x in value.keywords.items()}
            )
        if isinstance(value, _Lent):
            return value.now()
        if _is_container(value):
            if not _has_arrays(value):
                return _Lent(value)
            leaves, treedef = tree_util.tree_flatten(value)
            return treedef.unflatten([self(leaf) for leaf in leaves])
        return value

    def _function(self, function: FunctionType) -> FunctionType:
        if not function.__closure__ and not _has_arrays(function):
            return function
        cells = function.__closure__ or ()
        stored = stored_cells(function)
        named = zip(function.__code__.co_freevars, cells, strict=True)
        pairs = [(old, _cell(old, shared=name in stored)) for name, old in named]
        made = FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            None,
            tuple(new for _, new in pairs),
        )
        made.__qualname__ = function.__qualname__
        self.made[id(function)] = made
        for old, new in pairs:
            if new is not old:
                new.cell_contents = self(_contents(old))
        made.__defaults__ = tuple(map(self, function.__defaults__ or ())) or None
        keywords = (function.__kwdefaults__ or {}).items()
        made.__kwdefaults__ = {name: self(x) for name, x in keywords} or None
        made.__dict__.update(function.__dict__)
        return made


def _stored(function: FunctionType) -> Iterator[CellType]:
    """The cells that a function assigns."""
    cells = function.__closure__ or ()
    named = zip(function.__code__.co_freevars, cells, strict=True)
    return (cell for name, cell in named if name in stored_cells(function))


def _has_arrays(value: Any) -> bool:
    return any(True for _ in captured(value))


def _cell(old: CellType, *, shared: bool) -> CellType:
    """A cell for new contents; that of a constant is shared if the function assigns it.

    The program may assign it as well, as the variable of a loop.
    """
    if old == CellType() or (shared and not _is_remade(old.cell_contents)):
        return old
    return CellType()


def _is_remade(value: Any) -> bool:
    """Whether a run of the function gets its own in place of a value."""
    if isinstance(value, partial):
        parts = (value.func, *value.args, *value.keywords.values())
        return any(map(_is_remade, parts))
    if isinstance(value, MethodType):
        return _is_remade(value.__self__)
    return isinstance(value, _Lent) or _is_container(value) or _has_arrays(value)


def _form(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """Hashable description of everything about a function but its arrays."""
    if isinstance(value, jax.Array):
        return "array"
    if isinstance(value, FunctionType):
        if id(value) in seen:
            return "itself", seen.index(id(value))
        seen = (*seen, id(value))
        stored = tuple(map(ById, _stored(value)))
        parts = tuple(_form(part, seen) for part in parts_of(value))
        attributes = tuple((k, static_key(x)) for k, x in vars(value).items())
        return value.__code__, parts, stored, attributes
    if isinstance(value, MethodType):
        return _form(value.__self__, seen), _form(value.__func__, seen)
    if isinstance(value, partial):
        keywords = tuple((k, _form(x, seen)) for k, x in value.keywords.items())
        args = tuple(_form(x, seen) for x in value.args)
        return _form(value.func, seen), args, keywords
    if _is_container(value):
        leaves, treedef = tree_util.tree_flatten(value)
        parts = tuple(_form(leaf, seen) for leaf in leaves)
        own = None if _has_arrays(value) else ById(value)  # which may be written to
        return treedef, structure_key(treedef), parts, own
    return static_key(value)
