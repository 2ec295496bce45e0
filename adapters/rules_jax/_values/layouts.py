"""Templates as layouts: how JAX opens what is registered with it as a pytree.

JAX knows the children of a registered class by attributes, keys or places. Where it
knows them by place, they are called by the attributes that hold them, as other hosts
call them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from jax import tree_util

import rules_core as rc
from rules_core.extend import LEAF

from .callables import Captured
from .leaves import Fixed, Slot, Template

__all__ = ["classes_by_place", "layout_of", "level_of"]


def layout_of(template: Template) -> Any:
    """The layout of a template's tree; made once for each template."""
    if template.layout is None:
        slots: list[int] = []
        template.layout = _layout(template.skeleton(), slots)
        if slots != list(range(template.count)):
            raise rc.UnsupportedError(_ORDER.format(template.skeleton()))
    return template.layout


_ORDER = (
    "a registered class must keep the number and the order of its children when JAX "
    "puts it together again, but one of {!r} does not. Correct its tree_unflatten."
)


def _layout(node: Any, slots: list[int]) -> Any:
    if isinstance(node, Slot):
        slots.append(node.index)
        return LEAF
    if isinstance(node, Fixed) or node is None:
        return ("static", None if node is None else node.value)
    cls: Any = type(node)
    values: Iterable[Any] = node
    if isinstance(node, dict):
        kind, builder, names, values = "mapping", cls, tuple(node), node.values()
    elif hasattr(node, "_fields"):
        kind, builder, names = "named", cls, cls._fields
    elif isinstance(node, (tuple, list)):
        kind, builder, names = "sequence", cls, tuple(range(len(node)))
    else:
        entries = _entries(node)
        kind, builder, names = "struct", _level(node, entries), tuple(entries)
        values = entries.values()
    return (kind, builder, names, tuple([_layout(value, slots) for value in values]))


def level_of(node: Any) -> rc.Structure:
    """One level of an instance of a registered class, its entries in their own order.

    A layout has them in the order of their leaves.
    """
    return _level(node, _entries(node))


def _level(node: Any, entries: dict[Any, Any]) -> rc.Structure:
    cls, view = type(node), rc.structure(node)
    if not all(isinstance(name, str) for name in entries):
        places = range(len(entries))
        return rc.Structure(cls, "position", places, entries.values(), list)
    names: Iterable[Any] = entries
    if view is not None and set(entries) == set(view.names):
        names = view.names
    shell = view.shell if view is not None and view.mutable else None
    values = [entries[name] for name in names]
    return rc.Structure(cls, "field", names, values, list, shell)


def _entries(node: Any) -> dict[Any, Any]:
    """Children in the order of their leaves, then fields that are static."""
    found = dict(_children(node))
    level = rc.structure(node)
    if level is not None and found.keys() <= set(level.names):
        for name, value in zip(level.names, level.values, strict=True):
            found.setdefault(name, Fixed(value))
    return found


def _children(node: Any) -> Iterator[tuple[Any, Any]]:
    """Children by their names, else by what JAX knows them by."""
    pairs, _ = tree_util.tree_flatten_with_path(node, is_leaf=lambda x: x is not node)
    keys = [_key_of(path[0]) for path, _ in pairs]
    children = [child for _, child in pairs]
    if not all(isinstance(key, str) for key in keys):
        keys = _attributes_of(node, children) or keys
    yield from zip(keys, children, strict=True)
    if is_dataclass(node):
        for field in fields(node):  # None has no leaves, and so no path
            if getattr(node, field.name, 0) is None:
                yield field.name, None


def _key_of(key: Any) -> Any:
    for name in ("name", "key", "idx"):
        if hasattr(key, name):
            return getattr(key, name)
    return key


def _attributes_of(node: Any, children: Sequence[Any]) -> list[Any] | None:
    """The attributes that hold what JAX knows by place."""
    level = rc.structure(node)
    if level is None:
        return None
    names = {
        id(value): name for name, value in zip(level.names, level.values, strict=True)
    }
    found = [names.get(id(child)) for child in children]
    return None if None in found else found


def classes_by_place(layout: Any) -> Iterator[type]:
    """Classes in a layout whose children have places and no names.

    What a function captures has places here and in a derived rule.
    """
    if layout[0] in ("leaf", "static"):
        return
    kind, level, _, children = layout
    if kind == "struct" and level.keyed == "position" and level.primal is not Captured:
        yield level.primal
    for child in children:
        yield from classes_by_place(child)
