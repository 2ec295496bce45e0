"""Closure conversion: a pullback becomes a plan and the tensors that it captures.

PyTorch must own what a backward pass needs: saved as tensors, residuals are seen by
saved-tensor hooks, checked for writes, freed after use and differentiated again. A
pullback is a Python closure, so its tensors are taken out and later put back into a
copy of it. Where that is impossible the plan says what stands in the way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any, NamedTuple

import torch
from torch import Tensor

import rules_core as rc

from .parts import (
    ATOMS,
    attributes_of,
    captured,
    fixed,
    hides_tensor,
    is_atom,
    is_constant,
    reaches_tensor,
    stored_variables,
    take_apart,
    writable,
)

__all__ = [
    "TENSORS",
    "Plan",
    "convert",
    "holds_numbers",
    "is_bare",
    "rebuild",
    "rebuild_apart",
]

TENSORS = frozenset((Tensor, torch.nn.Parameter))


class _Slot(NamedTuple):
    """Stands for one of the tensors that were taken out."""

    place: int


class _Items(list[Any]):
    """Stands for a tuple whose items were taken apart."""


class _Node:
    """A value that holds tensors: how to make it again from its parts."""

    __slots__ = ("make", "parts")

    def __init__(self, make: Callable[..., Any], parts: Sequence[Any]) -> None:
        self.make, self.parts = make, tuple(parts)


class _Lent:
    """An object that held no tensor; `node` makes it again as it was then.

    Pullbacks share it, so that what they count in it is seen, until one puts a tensor
    in: another run, at other values, must not find that. A function with assigned
    variables is made again in any case, with those of the others.
    """

    __slots__ = ("assigned", "leaf", "node", "value")

    def __init__(self, value: Any, leaf: Any) -> None:
        self.value, self.leaf = value, leaf
        self.node: Any = None
        self.assigned = False


def _is_begun(template: Any) -> bool:
    """Whether an object is met inside of itself; functions may contain themselves."""
    if type(template) is not _Lent:
        return template is _Cycle
    return template.node is None and not isinstance(template.value, FunctionType)


class _Function:
    """A function that holds tensors in its cells, defaults or attributes."""

    __slots__ = ("attributes", "cells", "defaults", "fn")

    def __init__(self, function: FunctionType) -> None:
        self.fn = (function.__code__, function.__globals__, function.__name__)
        self.cells: list[_Cell] = []
        self.defaults: Any = None
        self.attributes: dict[str, Any] = {}


class _Cycle:
    """Marks a container whose parts are being visited."""


class _Cell:
    """A cell; functions that share one share it again after rebuilding."""

    __slots__ = ("content",)

    def __init__(self) -> None:
        self.content: Any = None


# How to make a pullback again: a template without its tensors, the function that fills
# it, and the text of what could not be looked into (None where all is well). A tuple,
# for it is made in every call.
Plan = tuple[Any, Callable[[Any, Iterable[Any]], Any], str | None]


def convert(pullback: Any, leaf: Any = Tensor) -> tuple[Plan, list[Any]]:
    """The plan of a pullback and the tensors that it captures, in order.

    The common kinds, a closure or a `Pullback` over tensors, constants and tuples of
    them, take a short way; everything else is walked.
    """
    if leaf is Tensor:
        short = _convert_shortly(pullback)
        if short is not None:
            return short
    walker = _Walker(leaf)
    template = walker.walk(pullback)
    return (template, _make_general, walker.obstacle), walker.tensors


def _convert_shortly(pullback: Any) -> tuple[Plan, list[Any]] | None:
    """A closure or a `Pullback` over tensors and constants; None for all others."""
    if type(pullback) is FunctionType:
        if not _is_bare_code(pullback):
            return None
        values = captured(pullback)
        make: Any = _make_closure
        head: Any = (pullback.__code__, pullback.__globals__, pullback.__name__)
    elif type(pullback) is rc.Pullback and _is_plain_function(pullback.fn):
        values, make, head = list(pullback.residuals), _make_pullback, pullback.fn
    else:
        return None
    if TENSORS.issuperset(map(type, values)):
        return ((head, None), make, None), values
    tensors: list[Tensor] = []
    contents = _flat(values, tensors)
    return None if contents is None else (((head, contents), make, None), tensors)


def _flat(values: Iterable[Any], tensors: list[Tensor]) -> list[Any] | None:
    """`values` with their tensors taken out; None unless the others are constants."""
    contents: list[Any] = []
    for value in values:
        cls = type(value)
        if cls in TENSORS:
            tensors.append(value)
            contents.append(_Slot)
        elif cls in ATOMS or _is_plain_function(value):
            contents.append(value)
        elif cls is tuple:
            items = _flat(value, tensors)
            if items is None:
                return None
            contents.append(_Items(items))
        else:
            return None
    return contents


def _is_plain_function(value: Any) -> bool:
    return (
        type(value) is FunctionType
        and value.__closure__ is None
        and _is_bare_code(value)
    )


def _is_bare_code(function: FunctionType) -> bool:
    return not (
        function.__defaults__ or function.__kwdefaults__ or attributes_of(function)
    )


def is_bare(plan: Plan) -> bool:
    """Whether the pullback captures tensors alone, so that all else is in its code."""
    template, make, _ = plan
    return make in (_make_closure, _make_pullback) and template[1] is None


def holds_numbers(plan: Plan, given: Callable[[], Iterable[Any]]) -> bool:
    """Whether a pullback captures floats or NumPy arrays.

    Args:
        plan: Of the pullback.
        given: Gives the values that do not count, for the rule was given them.
    """
    contents = plan[0] if plan[1] is _make_general else plan[0][1]
    if contents is None or not _has_number(contents, set()):
        return False
    return _has_number(contents, set(map(id, given())))


def _has_number(template: Any, seen: set[int]) -> bool:
    kind = type(template)
    if kind in ATOMS:
        return kind in (float, complex) and id(template) not in seen
    if kind is _Slot or template is _Slot or id(template) in seen:
        return False
    if kind in (_Items, list):
        parts: Iterable[Any] = template
    elif kind is _Node:
        parts = template.parts
    elif kind is _Function:
        contents = [cell.content for cell in template.cells]
        parts = [*contents, *template.defaults, *template.attributes.values()]
    else:
        held = template.value if kind is _Lent else template
        return not _is_plain_function(held) and _reaches_number(held)
    seen.add(id(template))  # functions may contain themselves
    return any(_has_number(part, seen) for part in parts)


def _reaches_number(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    arrays = (numpy.ndarray, numpy.generic) if numpy else ()
    return reaches_tensor(value, (float, complex, *arrays))


def rebuild(plan: Plan, tensors: Iterable[Tensor]) -> Any:
    """The pullback again, with `tensors` in the places of those taken out."""
    return plan[1](plan[0], tensors)


def rebuild_apart(plan: Plan, tensors: Iterable[Tensor]) -> Any:
    """A copy with containers of its own: its writes stay in this copy."""
    if plan[1] is not _make_general:
        return rebuild(plan, tensors)
    return _Builder(tuple(tensors), apart=True).build(plan[0])


def _make_closure(template: Any, tensors: Iterable[Tensor]) -> Any:
    head, contents = template
    values = tensors if contents is None else _filled(contents, tensors)
    code, scope, name = head
    return FunctionType(code, scope, name, None, tuple(map(CellType, values)))


def _make_pullback(template: Any, tensors: Iterable[Tensor]) -> Any:
    fn, contents = template
    return partial(fn, *(tensors if contents is None else _filled(contents, tensors)))


def _filled(contents: list[Any], tensors: Iterable[Tensor]) -> list[Any]:
    taken = iter(tensors)
    return [
        next(taken)
        if c is _Slot
        else tuple(_filled(c, taken))
        if type(c) is _Items
        else c
        for c in contents
    ]


def _make_general(template: Any, tensors: Iterable[Tensor]) -> Any:
    return _Builder(tuple(tensors)).build(template)


class _Walker:
    """Takes the tensors out of a value; each object is visited once."""

    def __init__(self, leaf: Any) -> None:
        self.tensors: list[Any] = []
        self.obstacle: str | None = None
        self._leaf = leaf
        self._seen: dict[int, Any] = {}
        self._alive: list[Any] = []  # ids stay valid as long as their objects live
        self._lent: list[_Lent] = []  # functions alone
        self._assigned: set[int] = set()  # cells of variables that code assigns

    def walk(self, value: Any) -> Any:
        """The template of `value`: itself where it holds no tensor."""
        template = self.visit(value)
        for lent in self._lent:
            cells = lent.value.__closure__ or ()
            lent.assigned = any(id(cell) in self._assigned for cell in cells)
        return template

    def visit(self, value: Any) -> Any:
        """The template of what a value holds; each object is visited once."""
        if isinstance(value, self._leaf):
            return self._slot(value)
        if is_atom(value):
            return value
        seen = self._seen.get(id(value))
        if seen is _Cycle:
            self.obstacle = (
                f"an object of type {_name(type(value))} that contains itself"
            )
        if seen is not None:
            return seen
        if not hides_tensor(value, self._leaf):
            return self._lend(value)
        self._alive.append(value)
        self._seen[id(value)] = _Cycle
        template = self._seen[id(value)] = self._open(value)
        return template

    def _lend(self, value: Any) -> Any:
        """Take apart a container without tensors, if a pullback may put one in.

        None of its parts holds one either, so none can stand in the way.
        """
        if is_atom(value) or isinstance(value, (type, self._leaf)):
            return value
        if is_constant(value):
            return value
        seen = self._seen.get(id(value))
        if seen is not None:
            return value if _is_begun(seen) else seen
        self._alive.append(value)
        if isinstance(value, FunctionType):
            return self._lend_function(value)
        if (parts := fixed(value)) is not None:
            make, items = parts
            held = [self._lend(item) for item in items]
            same = all(a is b for a, b in zip(held, items, strict=True))
            found = self._seen[id(value)] = value if same else _Node(make, held)
            return found
        if (parts := writable(value)) is None:
            return value
        make, items = parts
        lent = self._seen[id(value)] = _Lent(value, self._leaf)
        lent.node = _Node(make, [self._lend(item) for item in items])
        return lent

    def _lend_function(self, function: FunctionType) -> Any:
        if _is_plain_function(function):
            return function
        lent = self._seen[id(function)] = _Lent(function, self._leaf)
        self._lent.append(lent)
        lent.node = self._filled(function, _Function(function))
        return lent

    def _slot(self, tensor: Any) -> Any:
        self.tensors.append(tensor)
        return _Slot(len(self.tensors) - 1)

    def _open(self, value: Any) -> Any:
        if isinstance(value, FunctionType):
            template = self._seen[id(value)] = _Function(value)
            return self._filled(value, template)
        cls = value if isinstance(value, type) else type(value)
        if hides_tensor(cls, self._leaf):
            self.obstacle = f"the class {_name(cls)}"
            return value
        parts = take_apart(value)
        if parts is None:
            self.obstacle = f"an object of type {_name(cls)}"
            return value
        make, items = parts
        return _Node(make, [self.visit(item) for item in items])

    def _filled(self, function: FunctionType, template: _Function) -> _Function:
        """The template of a function, with what it captures in it."""
        cells = function.__closure__ or ()
        variables = zip(function.__code__.co_freevars, cells, strict=True)
        stored = stored_variables(function.__code__)
        self._assigned.update(id(cell) for name, cell in variables if name in stored)
        template.cells = [self._cell(cell) for cell in cells]
        defaults = (function.__defaults__, function.__kwdefaults__)
        template.defaults = tuple(self.visit(part) for part in defaults)
        own = attributes_of(function).items()
        template.attributes = {name: self.visit(part) for name, part in own}
        return template

    def _cell(self, cell: CellType) -> _Cell:
        seen = self._seen.get(id(cell))
        if isinstance(seen, _Cell):
            return seen
        self._alive.append(cell)
        made = self._seen[id(cell)] = _Cell()
        try:
            made.content = self.visit(cell.cell_contents)
        except ValueError:  # not filled yet
            made.content = _Cell
        return made


class _Builder:
    """Puts tensors back into a template."""

    def __init__(self, tensors: tuple[Tensor, ...], *, apart: bool = False) -> None:
        self._tensors, self._apart = tensors, apart
        self._made: dict[int, Any] = {}

    def build(self, template: Any) -> Any:
        if type(template) is _Slot:
            return self._tensors[template.place]
        if type(template) is _Lent:
            return self._lent(template)
        if type(template) not in (_Node, _Function):
            return template
        made = self._made.get(id(template))
        if made is None:
            build = self._node if type(template) is _Node else self._function
            made = self._made[id(template)] = build(template)
        return made

    def _lent(self, lent: _Lent) -> Any:
        shared = not (lent.assigned or self._apart)
        if shared and not hides_tensor(lent.value, lent.leaf):
            return lent.value
        return self.build(lent.node)

    def _node(self, node: _Node) -> Any:
        return node.make(*map(self.build, node.parts))

    def _function(self, template: _Function) -> FunctionType:
        cells = {id(cell): (cell, self._cell(cell)) for cell in template.cells}
        order = tuple(self._made[id(cell)] for cell in template.cells)
        made = self._made[id(template)] = FunctionType(*template.fn, None, order)
        for cell, target in cells.values():
            if cell.content is not _Cell and target == CellType():
                target.cell_contents = self.build(cell.content)
        made.__defaults__, made.__kwdefaults__ = map(self.build, template.defaults)
        for name, part in template.attributes.items():
            made.__dict__[name] = self.build(part)
        return made

    def _cell(self, template: _Cell) -> CellType:
        made = self._made.get(id(template))
        if made is None:
            made = self._made[id(template)] = CellType()
        return made


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
