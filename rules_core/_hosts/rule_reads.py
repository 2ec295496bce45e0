"""What an author's rule reads besides its arguments, at the value and at the pullback.

    @rrule.define(f)
    def f_rrule(x):
        return f(x), lambda dy: (NoTangent(), dy * weights[0])

A program may write into `weights` before the pullback, which is then that of another
function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any

from rules_core._base.errors import UnsupportedError
from rules_core._base.opaque_modules import OURS, root_of
from rules_core._dispatch.rule import UNASKED
from rules_core._primitives.primitive import Primitive

from .captured_variables import bound_to, content
from .code_names import cell_value, names_read
from .function_reads import Reads, text_of_change
from .read_places import Place, Search

__all__ = ["ConstantReads", "RuleReads", "reads_of_rule"]

# Values that nothing can be written into.
_WHOLE = (
    int, float, complex, str, bytes, type(None), type, FunctionType,
    BuiltinFunctionType, CodeType,
)  # fmt: skip


class RuleReads:
    """What the code of a rule reads that a program may change.

    Args:
        function: The rule, its partials, or its adjoint.
        own: The function that the rule is for. What it reads is a matter of the value,
            unless the pullback calls it too.
        whole: Whether all of it may run at the pullback, as partials do.

    Attributes:
        function: As the argument.
        constants: Globals and attributes that the pullback may read, each with its
            namespace, name and expression.
        cells: Captured variables that it may read.
        deep: Whether the rule reads values that may be written into: arrays,
            containers, instances.
        without: Functions that are not looked at.
    """

    __slots__ = ("cells", "constants", "deep", "function", "without")

    def __init__(self, function: Any, own: Any, *, whole: bool) -> None:
        self.function, self.deep = function, False
        self.constants: list[tuple[Any, str, str]] = []
        self.cells: list[CellType] = []
        ours = function.__closure__ or () if _is_ours(function) else ()
        later = _run_later(function, own, whole=whole)
        self.without = () if any(f is own for f in later) else (own,)
        written, names = set[str](), set[str]()
        for f in later:
            for place in self._places(f, written):
                if any(place.owner is cell for cell in ours):
                    continue
                self._note(place)
                names.add(place.path.partition(".")[0])
        for place in self._places(function, written):
            self.deep |= not _is_whole(place.value)
        self.deep |= not written.isdisjoint(names)

    def _places(self, f: Any, written: set[str]) -> Iterator[Place]:
        search = Search(everything=True, written=written)
        search.leave_out(self.without)
        for place in search.of(f):
            if place.value is not None and not _is_definition(place):
                yield place

    def _note(self, place: Place) -> None:
        owner, name = place.owner, place.path.rpartition(".")[2]
        space = vars(owner) if isinstance(owner, (ModuleType, type)) else owner
        if not _is_whole(place.value):
            self.deep = True
        elif isinstance(owner, CellType):
            if _is_full(owner):  # a variable of the rule itself is none yet
                self.cells.append(owner)
        elif isinstance(space, Mapping) and space.get(name) is place.value:
            self.constants.append((space, name, place.path))
        else:
            self.deep = True

    def then(self) -> Reads | ConstantReads:
        """What stands there now."""
        if self.deep:
            return Reads([self.function], without=self.without)
        return ConstantReads(self)


class ConstantReads:
    """What the variables of a rule were bound to: as `Reads`, where nothing is deep.

    Args:
        rule: Where they are.
    """

    __slots__ = ("_cells", "_rule", "_was")

    own = False

    def __init__(self, rule: RuleReads) -> None:
        self._rule = rule
        self._was = [owner.get(name) for owner, name, _ in rule.constants]
        self._cells = [(cell, content(cell)) for cell in rule.cells]

    def settle(self) -> None:
        """Nothing: a rule that assigns its variables reads deeply."""

    def captured(self) -> list[tuple[CellType, Any]]:
        """Captured variables, and what they were bound to."""
        return self._cells

    def changed(self) -> str | None:
        """The expression of a place that is not as it was, or None."""
        for (owner, name, path), was in zip(
            self._rule.constants, self._was, strict=True
        ):
            if owner.get(name) is not was:
                return path
        return None

    def refuse_changes(self, label: str) -> None:
        """Raise an error if something was changed."""
        path = self.changed()
        if path is not None:
            raise UnsupportedError(text_of_change(label, [self._rule.function], path))

    def held(self, label: str) -> AbstractContextManager[None]:
        """While a pullback runs: captured variables are bound to what they were.

        Raises:
            UnsupportedError: Another was changed.
        """
        self.refuse_changes(label)
        return bound_to(self._cells) if self._cells else _NOTHING


_NOTHING = nullcontext()


def reads_of_rule(rule: Any) -> RuleReads | None:
    """What a rule of a program reads that may change; None for nothing."""
    found = rule.outside
    if found is UNASKED:
        found = rule.outside = _look(rule)
    reads: RuleReads | None = found
    return reads


def _look(rule: Any) -> RuleReads | None:
    function, whole = rule.authors_partials or rule.function, False
    if function is None or rule.constant or rule.module.partition(".")[0] in OURS:
        return None
    if function is rule.authors_partials or root_of(function) in OURS:
        whole = True  # of a short form: all of it may run at the pullback
    if root_of(function) in OURS:
        if not rule.again:
            return None
        function = rule.again[0]
    reads = RuleReads(function, rule.key, whole=whole)
    return reads if reads.deep or reads.constants or reads.cells else None


def _run_later(function: Any, own: Any, *, whole: bool) -> list[Any]:
    """What may run at the pullback: functions inside of a rule, and those it names."""
    if whole or not isinstance(function, FunctionType):
        return [function]
    cells = dict(
        zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    )
    inner = [code for code in function.__code__.co_consts if type(code) is CodeType]
    later: list[Any] = [
        FunctionType(
            code,
            function.__globals__,
            closure=tuple([cells.get(x, CellType()) for x in code.co_freevars]),
        )
        for code in inner
    ]
    in_pullback = {name for code in inner for name, _ in names_read(code).variables}
    for name, attribute in names_read(function.__code__).variables:
        value = cell_value(cells[name]) if name in cells else None
        value = function.__globals__.get(name) if value is None else value
        if isinstance(value, ModuleType) and attribute is not None:
            value = getattr(value, attribute, None)
        value = value.fun if isinstance(value, Primitive) else value
        if isinstance(value, _CALLED) and (value is not own or name in in_pullback):
            later.append(value)
    return later


_CALLED = (FunctionType, MethodType, partial)


def _is_ours(f: Any) -> bool:
    """Whether a function is a short form's, which holds those of the program."""
    return isinstance(f, FunctionType) and root_of(f) in OURS


def _is_definition(place: Place) -> bool:
    """Whether a place is where a module, function or class was defined."""
    value = place.value
    if isinstance(value, (ModuleType, CodeType)) or root_of(type(value)) in OURS:
        return True
    name = place.path.rpartition(".")[2]
    return name == getattr(value, "__name__", None)


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  whether it raises
    except ValueError:
        return False
    return True


def _is_whole(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_whole, value))
    return isinstance(value, _WHOLE) or type(value).__name__ == "ufunc"
