"""Lazy values: thunks, in-place halves and `needs`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from rules_core import (
    AbstractThunk,
    AbstractZero,
    InplaceableThunk,
    NotImplementedTangent,
    StructuralTangent,
    Thunk,
    accumulate,
    backing,
    unthunk,
)

from ._checks_linear import seeds
from ._checks_result import first_outcome
from ._checks_writes import snapshot
from ._differences import Vector
from ._leaf import Leaf
from ._modes import Mode
from ._nodes import Fork, Node, Tip, forced
from ._report import Failure, NotRun

__all__ = ["accumulates", "needs_are_met", "thunks_keep_their_promise"]


def thunks_in(raw: Any, path: str) -> Iterator[tuple[str, AbstractThunk]]:
    """The thunks in a raw tangent, not computed."""
    if isinstance(raw, AbstractThunk):
        yield path, raw
    elif isinstance(raw, StructuralTangent):
        # Reading a field would compute it; the backing does not.
        for key, child in backing(raw).items():
            yield from thunks_in(child, f"{path}.{key}")
    elif isinstance(raw, (tuple, list)):
        for i, child in enumerate(raw):
            yield from thunks_in(child, f"{path}[{i}]")
    elif isinstance(raw, dict):
        for key, child in raw.items():
            yield from thunks_in(child, f"{path}[{key!r}]")


def _named_thunks(mode: Mode, raw: Any) -> list[tuple[str, AbstractThunk]]:
    if mode.kind == "frule":
        return list(thunks_in(raw, "dy"))
    pairs = zip(mode.subject.names, raw, strict=True)
    return [named for name, c in pairs for named in thunks_in(c, name)]


def thunks_keep_their_promise(mode: Mode) -> str:
    """A thunk is not computed before it is returned, and its function is pure."""
    raw = first_outcome(mode).raw
    lazy = _named_thunks(mode, raw)
    if not lazy:
        message = "the rule returns nothing lazy"
        raise NotRun(message)
    for path, item in lazy:
        function = _function_of(item)
        if function is None:
            message = f"the thunk of {path} was forced before it was returned"
            raise Failure(message)
        _check_pure(path, function)
    return ", ".join(path for path, _ in lazy)


def _function_of(item: AbstractThunk) -> Any:
    """The function of a thunk that is not yet computed, otherwise None."""
    while isinstance(item, InplaceableThunk):
        item = item.value
    if isinstance(item, Thunk):
        return item._fn  # noqa: SLF001  what is checked is the thunk's inside
    return lambda: unthunk(item)


def _check_pure(path: str, function: Any) -> None:
    """An adapter may trace the function of a thunk more than once."""
    first = snapshot(forced(function()), path)
    try:
        second = snapshot(forced(function()), path)
    except Exception as error:
        message = f"the thunk of {path} cannot be computed twice: {error!r}"
        raise Failure(message) from error
    if first != second:
        message = f"the thunk of {path} gives another value when computed again"
        raise Failure(message)


def accumulates(mode: Mode) -> None:
    """Adding the cotangent to a nonzero buffer, in place or not, gives the sum."""
    values, additions = first_outcome(mode).raw, first_outcome(mode).raw
    nodes: list[tuple[Node, Any, Any]] = [(mode.codomain.root, values, additions)]
    if mode.kind == "rrule":
        nodes = [
            (mode.codomain.part(i).root, values[i], additions[i])
            for i in range(len(values))
            if i not in mode.missing
        ]
    for node, value, addition in nodes:
        for leaf, value_leaf, addition_leaf in _pairs(node, value, addition):
            _check_sum(mode, leaf, value_leaf, addition_leaf)


def _pairs(node: Node, a: Any, b: Any) -> Iterator[tuple[Leaf, Any, Any]]:
    """The leaves with a tangent, and the corresponding values of two raw tangents."""
    if isinstance(node, Tip):
        yield node.leaf, a, b
        return
    if isinstance(node, Fork):
        for key, child in zip(node.parts.keys, node.nodes, strict=True):
            pair = node.child(forced(a), key), node.child(forced(b), key)
            yield from _pairs(child, *pair)


def _check_sum(mode: Mode, leaf: Leaf, value: Any, addition: Any) -> None:
    value = forced(value)
    if value is None or isinstance(value, (AbstractZero, NotImplementedTangent)):
        return
    start = mode.subject.rng.standard_normal(leaf.dim)
    buffer, ready = leaf.decode(start), leaf.encode(value)
    total = leaf.encode(forced(accumulate(buffer, addition, owned=True)))
    at = mode.subject.tolerance.differs(total, leaf.encode(leaf.decode(start)) + ready)
    if at is not None:
        label = list(leaf.labels())[at]
        message = (
            f"{label}: {start[at]:.6g} + {ready[at]:.6g} accumulates to {total[at]:.6g}"
        )
        raise Failure(message)


def needs_are_met(mode: Mode) -> None:
    """The needed cotangents do not depend on which others are omitted."""
    subject = mode.subject
    call = mode.resolve(subject.primals)
    if not call.rule.needs:
        message = "the rule does not ask for needs"
        raise NotRun(message)
    if isinstance(subject.f, partial):
        message = "a partial holds arguments of the rule: check the function inside it"
        raise NotRun(message)
    first = len(subject.primals) - len(call.args)
    for i in range(len(call.args)):
        place = subject.space.slices[i + first]
        if i + first in mode.missing or place.start == place.stop:
            continue
        needs = tuple(j == i for j in range(len(call.args)))
        _check_needs(mode, needs, place, subject.names[i + first])
    mode.run(mode.domain.tangent(seeds(mode)[0]), (False,) * len(call.args))


def _check_needs(mode: Mode, needs: tuple[bool, ...], place: slice, name: str) -> None:
    seed = seeds(mode)[0]
    if mode.kind == "frule":
        seed = _only(seed, place)
    tangent = mode.domain.tangent(seed)
    few, all_of_them = mode.run(tangent, needs).raw, mode.run(tangent).raw
    part = place if mode.kind == "rrule" else slice(None)
    actual, expected = mode.read(few)[part], mode.read(all_of_them)[part]
    if mode.subject.tolerance.differs(actual, expected) is not None:
        message = (
            f"with needs={needs} the part of {name} is {actual}; when everything is "
            f"needed it is {expected}"
        )
        raise Failure(message)


def _only(vector: Vector, place: slice) -> Vector:
    result = np.zeros_like(vector)
    result[place] = vector[place]
    return result
