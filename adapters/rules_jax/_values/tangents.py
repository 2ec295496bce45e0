"""Between the tangents of rules_core and JAX's flat lists.

`build` makes the one canonical tangent that a rule is given; `read` takes whatever an
author may return and finds the leaves that are wanted. Both walk a template's skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from jax import tree_util

import rules_core as rc
from rules_core.extend import entries_given

from .callables import Captured
from .leaves import Fixed, Slot, Template
from .project import RuleOutputError

__all__ = ["build", "read"]

NONE = rc.NoTangent()


def build(template: Template, leaves: Sequence[Any], *, symbolic: bool = False) -> Any:
    """The canonical tangent with these leaves.

    `leaves[i]` is an array, a zero, or `NoTangent()` where the primal has no tangent;
    a container of which every leaf is `NoTangent()` is `NoTangent()` itself. A number
    that is a constant of the call has a zero tangent.
    """
    if template.single():
        return leaves[0]
    return _build(template.skeleton(), leaves, symbolic)


def _build(node: Any, leaves: Sequence[Any], symbolic: bool) -> Any:
    if isinstance(node, Slot):
        return leaves[node.index]
    if isinstance(node, Fixed) or node is None:
        return _of_constant(node, symbolic)
    children = {key: _build(child, leaves, symbolic) for key, child in _children(node)}
    if all(isinstance(child, rc.NoTangent) for child in children.values()):
        return NONE
    return _tangent_of(node, children)


def _of_constant(node: Fixed | None, symbolic: bool) -> Any:
    if node is None or not isinstance(node.value, (float, complex)):
        return NONE
    return rc.ZeroTangent() if symbolic else type(node.value)(0)


def _tangent_of(node: Any, children: dict[Any, Any]) -> Any:
    if isinstance(node, dict):
        return rc.Tangent(type(node), children)
    if isinstance(node, (tuple, list)) and not hasattr(node, "_fields"):
        return rc.Tangent(type(node), *children.values())
    if not all(isinstance(key, str) for key in children):
        return rc.Tangent(type(node), *children.values())
    view = rc.structure(node)
    mutable = view is not None and view.mutable
    make = rc.MutableTangent if mutable else rc.Tangent
    return make(type(node), **children)


def _children(node: Any) -> Iterator[tuple[Any, Any]]:
    """One level of a skeleton: keys as authors know them, and children."""
    if isinstance(node, dict):
        yield from node.items()
    elif hasattr(node, "_fields"):
        yield from zip(node._fields, node, strict=True)
    elif isinstance(node, (tuple, list)):
        yield from enumerate(node)
    else:
        yield from _registered_children(node)


def _registered_children(node: Any) -> Iterator[tuple[Any, Any]]:
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


def _attributes_of(node: Any, children: Sequence[Any]) -> list[Any] | None:
    """The attributes that hold what JAX knows by place, as other hosts call them."""
    level = rc.structure(node)
    if level is None:
        return None
    names = {
        id(value): name for name, value in zip(level.names, level.values, strict=True)
    }
    found = [names.get(id(child)) for child in children]
    return None if None in found else found


def refuse_places(templates: Sequence[Template], rule: Any) -> None:
    """Refuse objects whose children JAX knows by place, where a rule asks for names."""
    if not rule.name.startswith("derived by "):
        return
    for template in templates:
        for node in _nodes(template.skeleton()):
            message = (
                f"{rule_label(rule)}: an argument or the result holds a "
                f"{type(node).__name__}, whose arrays JAX knows by their places "
                "and a derived rule by their names. "
                "Register the class with jax.tree_util.register_dataclass, or write "
                "the rules."
            )
            raise rc.UnsupportedError(message)


def _nodes(node: Any) -> Iterator[Any]:
    """The objects in a skeleton whose children have places and no names."""
    if isinstance(node, (Slot, Fixed)) or node is None:
        return
    # What a function captures has places here and in a derived rule.
    plain = isinstance(node, (dict, tuple, list, Captured))
    for key, child in _children(node):
        if not plain and not isinstance(key, str):
            yield node
        yield from _nodes(child)


def _key_of(key: Any) -> Any:
    for name in ("name", "key", "idx"):
        if hasattr(key, name):
            return getattr(key, name)
    return key


def read(
    template: Template,
    tangent: Any,
    wanted: Sequence[bool],
    what: str,
    rule: Any = None,
) -> list[Any]:
    """Leaves of an author's tangent, None for zero; only wanted ones are looked at.

    Args:
        template: Of the primal.
        tangent: A canonical tangent or anything equivalent: zeros, None, thunks, bare
            containers, an instance of the primal's class.
        wanted: One flag per array of the template.
        what: Names the argument in an error, and the rule if `rule` does not.
        rule: The rule that gave the tangent; it may not be `NoTangent()` then.

    Raises:
        NoTangentError: A wanted leaf is `NoTangent()`.
        DerivativeNotImplemented: A wanted leaf is a `NotImplementedTangent`.
        RuleOutputError: The structure does not fit the primal's.
    """
    out: list[Any] = [None] * template.count
    named = what if rule is None else f"{rule_label(rule)}: {what}"
    reader = _Reader(out, wanted, rule, len(named) - len(what))
    reader.visit(template.skeleton(), tangent, named)
    return out


def rule_label(rule: Any) -> str:
    """`rrule foo_rrule for foo at pack.py:12`."""
    return f"{rule.kind} {rule.name} for {rule.target} at {rule.location}"


class _Reader:
    def __init__(
        self, out: list[Any], wanted: Sequence[bool], rule: Any, head: int
    ) -> None:
        self.out, self.wanted, self.head = out, wanted, head
        self.rule = None if rule is None or rule.constant else rule

    def visit(self, node: Any, tangent: Any, what: str) -> None:
        if not self.wants(node):
            return
        while isinstance(tangent, rc.AbstractThunk):
            tangent = rc.unthunk(tangent)
        if self.rule is not None and isinstance(tangent, rc.NoTangent):
            raise rc.NoTangentError(self.rule, what[self.head :])
        if tangent is None or isinstance(tangent, rc.AbstractZero):
            return
        if isinstance(tangent, rc.NotImplementedTangent):
            tangent.throw(what)
        if isinstance(node, Slot):
            self.out[node.index] = tangent
            return
        given = _given(node, tangent, what)
        for key, child in _children(node):
            self.visit(child, given.get(key), f"{what}{_suffix(key)}")

    def wants(self, node: Any) -> bool:
        if isinstance(node, Slot):
            return self.wanted[node.index]
        leaves = tree_util.tree_leaves(node)
        return any(isinstance(x, Slot) and self.wanted[x.index] for x in leaves)


def _suffix(key: Any) -> str:
    return f".{key}" if isinstance(key, str) else f"[{key!r}]"


def _given(node: Any, tangent: Any, what: str) -> Mapping[Any, Any]:
    """What an author gave for the entries of a container.

    Raises:
        RuleOutputError: The structure does not fit the primal's.
    """
    children = dict(_children(node))
    if type(tangent) is type(node) and not hasattr(node, "_fields"):
        own = dict(_children(tangent))  # of an instance, without what is static
        if own.keys() == children.keys():
            return own
    tree = _tangent_of(node, _all_fields(node, children))
    try:
        return entries_given(tree, tangent, what)
    except rc.ProjectionError as error:
        raise RuleOutputError(str(error).removeprefix("the tangent of ")) from None


def _all_fields(node: Any, children: dict[Any, Any]) -> dict[Any, Any]:
    """The children and, of an instance, its static fields."""
    if isinstance(node, (dict, tuple, list)):
        return children
    level = rc.structure(node)
    if level is None or not children.keys() <= set(level.names):
        return children
    return {name: children.get(name) for name in level.names}
