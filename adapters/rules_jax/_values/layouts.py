"""Templates as layouts: how JAX opens what is registered with it as a pytree.

JAX knows the children of a registered class by attributes, keys or places. Where it
knows them by place, they are called by the attributes that hold them, as other hosts
call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, final

from jax import tree_util

import rules_core as rc
from rules_core.extend import LEAF, Opener

from .callables import Captured
from .leaves import Fixed, Slot, Template

__all__ = ["PytreeOpener", "classes_by_place", "layout_of", "level_of"]


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


@final
class PytreeOpener(Opener):
    """Opens registered classes as JAX does, all others as rules_core does."""

    def level(self, value: Any) -> rc.Structure | None:
        """One level of a container; None for what is none."""
        if isinstance(value, Fixed):
            return None
        return level_of(value) if is_registered(value) else rc.structure(value)


def is_registered(value: Any) -> bool:
    """Whether JAX opens a value of a class that is not one of Python's containers."""
    return not isinstance(value, dict) and not tree_util.all_leaves([value])


def child_names(node: Any) -> tuple[tuple[Any, ...], bool]:
    """Names of the children in the order of their leaves; whether these are attributes.

    Children by place are called by the attributes that hold them, if there are such.
    """
    pairs, treedef = tree_util.tree_flatten_with_path(
        node, is_leaf=lambda x: x is not node
    )
    keys = [_key_of(path[0]) for path, _ in pairs]
    held = _attributes_of(treedef, [object() for _ in keys])
    if held is not None and not all(isinstance(key, str) for key in keys):
        keys = held
    return tuple(keys), keys == held


def treedef_of(node: Any) -> Any:
    """JAX's structure of one level."""
    return tree_util.tree_structure(node, is_leaf=lambda x: x is not node)


# The engine runs the code around them, on values that carry derivatives.
rc.non_differentiable(is_registered)
rc.non_differentiable(child_names)
rc.non_differentiable(treedef_of)


def _level(node: Any, entries: dict[Any, Any]) -> rc.Structure:
    cls, view = type(node), rc.structure(node)
    if not all(isinstance(name, str) for name in entries):
        places = range(len(entries))
        build = _builder(node, list(entries))
        return rc.Structure(cls, "position", places, entries.values(), build)
    names: Sequence[Any] = list(entries)
    if view is not None and set(entries) == set(view.names):
        names = view.names
    values = [entries[name] for name in names]
    build = _builder(node, names)
    if view is None or not view.mutable:
        return rc.Structure(cls, "field", names, values, build)

    def fill(shell: Any, values: Sequence[Any]) -> None:
        made = rc.structure(build(values))
        assert made is not None
        view.fill(shell, made.values)

    return rc.Structure(cls, "field", names, values, fill, view.shell)


def _builder(node: Any, names: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """How JAX puts an instance together, from entries by these names."""
    treedef, (children, _) = treedef_of(node), child_names(node)

    def build(values: Sequence[Any]) -> Any:
        given = dict(zip(names, values, strict=True))
        return treedef.unflatten([given[name] for name in children])

    return build


def _entries(node: Any) -> dict[Any, Any]:
    """Children in the order of their leaves, then fields that are static."""
    (names, held), level = child_names(node), rc.structure(node)
    fields = {} if level is None else dict(zip(level.names, level.values, strict=True))
    if held:
        found = {name: fields[name] for name in names}
    else:
        children = tree_util.tree_leaves(node, is_leaf=lambda x: x is not node)
        found = dict(zip(names, children, strict=True))
    if found.keys() <= fields.keys():
        for name, value in fields.items():
            found.setdefault(name, Fixed(value))
    return found


def _key_of(key: Any) -> Any:
    for name in ("name", "key", "idx"):
        if hasattr(key, name):
            return getattr(key, name)
    return key


def _attributes_of(treedef: Any, children: Sequence[Any]) -> list[Any] | None:
    """The attributes in which a class puts its children; None if that is unknown."""
    try:
        made = treedef.unflatten(children)
    except Exception:  # of a class that looks into them, as for their shape
        return None
    level = rc.structure(made)
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
