"""Between tangents and flat lists: what a rule is given, and what its author returned.

`build` makes the one canonical tangent that a rule is given; `read` takes whatever an
author may return and finds the leaves that are wanted. Both walk a layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, final

from rules_core._base.errors import NoTangentError
from rules_core._tangents.containers import MutableTangent, StructuralTangent, Tangent
from rules_core._tangents.project import missing_entry, named_entries
from rules_core._tangents.structure import Structure, entry_path, structure
from rules_core._tangents.thunks import AbstractThunk, unthunk
from rules_core._tangents.zeros import (
    AbstractZero,
    NoTangent,
    NotImplementedTangent,
    ZeroTangent,
)

from .layouts import count_leaves, keyed_of

__all__ = ["build", "read"]

NONE = NoTangent()


def build(layout: Any, leaves: Iterable[Any], *, symbolic: bool = False) -> Any:
    """The canonical tangent of a value with these tangents of its leaves.

    Args:
        layout: Of the value.
        leaves: A tangent for each leaf: an array, a zero, or `NoTangent()` where the
            leaf has none; a container of which every entry is `NoTangent()` is
            `NoTangent()` itself. An iterator is left where the value ends.
        symbolic: Whether the zero tangent of a number that is a constant of the call is
            `ZeroTangent()`.

    >>> from rules_core.extend import Opener, build_tangent, flatten
    >>> layout = flatten([1.0, 2, (3.0,)], [], Opener(float))
    >>> build_tangent(layout, [0.5, 0.25])
    Tangent(list, 0.5, NoTangent(), Tangent(tuple, 0.25))
    """
    return _built(layout, iter(leaves), symbolic)


def _built(layout: Any, leaves: Iterator[Any], symbolic: bool) -> Any:
    kind = layout[0]
    if kind == "leaf":
        return next(leaves)
    if kind == "static":
        return _of_constant(layout[1], symbolic)
    _, builder, names, children = layout
    items = [_built(child, leaves, symbolic) for child in children]
    if all(isinstance(item, NoTangent) for item in items):
        return NONE
    if kind == "sequence":
        return Tangent(builder, *items)
    fields: dict[Any, Any] = dict(zip(names, items, strict=True))
    if kind == "mapping":
        return Tangent(builder, fields)
    if kind == "named":
        return Tangent(builder, **fields)
    return _of_struct(builder, items, fields)


def _of_constant(value: Any, symbolic: bool) -> Any:
    if not isinstance(value, (float, complex)):
        return NONE
    return ZeroTangent() if symbolic else type(value)(0)


def _of_struct(level: Structure, items: list[Any], fields: dict[Any, Any]) -> Any:
    if level.keyed == "position":
        return Tangent(level.primal, *items)
    if level.keyed == "key":
        return Tangent(level.primal, fields)
    return (MutableTangent if level.mutable else Tangent)(level.primal, **fields)


def read(
    layout: Any,
    tangent: Any,
    wanted: Sequence[bool],
    path: str,
    *,
    rule: Any = None,
    what: str | None = None,
    lazy: bool = False,
    open: Callable[[Any], Structure | None] = structure,
) -> list[Any]:
    """The leaves of a tangent as its author gave it, None for zeros.

    Only what is wanted is looked at. Leaves are not projected.

    Args:
        layout: Of the primal.
        tangent: A canonical tangent or anything equivalent: zeros, None, thunks, bare
            containers, tuples and dicts for instances, an instance of the primal's
            class.
        wanted: One flag per leaf.
        path: What errors call the primal; the name of an entry is appended.
        rule: The rule that gave the tangent; it may not give `NoTangent()` then.
        what: What an error about `NoTangent()` calls the tangent; `path` by default.
        lazy: Whether leaves that are thunks or `NotImplementedTangent` are left so, for
            a host that may find them unused.
        open: How an instance of the primal's class is taken apart.

    Raises:
        NoTangentError: A wanted leaf is `NoTangent()`.
        DerivativeNotImplemented: A wanted leaf is a `NotImplementedTangent`.
        ProjectionError: The structure does not fit the primal's.

    >>> from rules_core.extend import Opener, flatten, read_tangent
    >>> layout = flatten({"w": 1.0, "b": (2.0, 3.0)}, [], Opener(float))
    >>> read_tangent(layout, {"w": None, "b": [0.5, None]}, [True] * 3, "p")
    [None, 0.5, None]
    """
    named = path if what is None else what
    blamed = None if rule is None or rule.constant else rule
    reader = _Reader(wanted, path, blamed, named, lazy, open)
    reader.visit(layout, tangent, "")
    return reader.found


@final
class _Reader:
    """One walk through a layout and a tangent; fills `found`."""

    def __init__(
        self,
        wanted: Sequence[bool],
        path: str,
        rule: Any,
        what: str,
        lazy: bool,
        open: Callable[[Any], Structure | None],
    ) -> None:
        self.wanted, self.path, self.rule, self.what = wanted, path, rule, what
        self.lazy, self.open = lazy, open
        self.found: list[Any] = []

    def visit(self, layout: Any, tangent: Any, at: str) -> None:
        kind = layout[0]
        if kind == "leaf":
            self.found.append(self.leaf(tangent, at))
        elif kind != "static":
            self.container(layout, tangent, at)

    def leaf(self, tangent: Any, at: str) -> Any:
        if not self.wanted[len(self.found)]:
            return None
        if self.lazy and isinstance(tangent, AbstractThunk):
            return tangent
        return self.settled(tangent, at)

    def container(self, layout: Any, tangent: Any, at: str) -> None:
        start, count = len(self.found), count_leaves(layout)
        if any(self.wanted[start : start + count]):
            tangent = self.settled(tangent, at)
        else:
            tangent = None
        if tangent is None or isinstance(tangent, NotImplementedTangent):
            self.found += [tangent] * count
            return
        given = self.entries(layout, tangent, at)
        keyed = keyed_of(layout)
        whole = isinstance(tangent, StructuralTangent)  # missing entries are zero
        for name, child in zip(layout[2], layout[3], strict=True):
            inner = entry_path(at, keyed, name)
            if name not in given and not whole:
                self.check_unwanted(child, inner)
            self.visit(child, given.get(name), inner)

    def check_unwanted(self, layout: Any, at: str) -> None:
        """Refuse a plain mapping without an entry that is wanted."""
        start = len(self.found)
        if any(self.wanted[start : start + count_leaves(layout)]):
            path = f"{self.path}{at}"
            raise missing_entry(path)

    def settled(self, tangent: Any, at: str) -> Any:
        """A tangent that is no thunk; None where it is zero."""
        while isinstance(tangent, AbstractThunk):
            tangent = unthunk(tangent)
        if tangent is None:
            return None
        if isinstance(tangent, AbstractZero):
            if self.rule is not None and isinstance(tangent, NoTangent):
                raise NoTangentError(self.rule, f"{self.what}{at}")
            return None
        if isinstance(tangent, NotImplementedTangent) and not self.lazy:
            tangent.throw(f"{self.path}{at}")
        return tangent

    def entries(self, layout: Any, tangent: Any, at: str) -> Mapping[Any, Any]:
        """An author's tangents of the entries of a container."""
        kind, primal, names, _ = layout
        if kind == "struct":
            primal, names = primal.primal, primal.names  # in the order of the class
            level = self.open(tangent) if type(tangent) is primal else None
            # An instance may have other entries as well.
            if level is not None and set(level.names) >= set(names):
                return dict(zip(level.names, level.values, strict=True))
        path = f"{self.path}{at}"
        return named_entries(keyed_of(layout), primal, names, tangent, path)
