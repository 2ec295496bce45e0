"""Between the tangents of rules_core and JAX's flat lists.

`build` makes the one canonical tangent that a rule is given; `read` takes whatever an
author may return and finds the leaves that are wanted. Both walk a template's skeleton.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from jax import tree_util

import rules_core as rc

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
    for path, child in pairs:
        yield _key_of(path[0]), child
    if is_dataclass(node):
        for field in fields(node):  # None has no leaves, and so no path
            if getattr(node, field.name, 0) is None:
                yield field.name, None


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
        for key, child in _children(node):
            self.visit(child, _get(node, tangent, key, what), f"{what}{_suffix(key)}")

    def wants(self, node: Any) -> bool:
        if isinstance(node, Slot):
            return self.wanted[node.index]
        leaves = tree_util.tree_leaves(node)
        return any(isinstance(x, Slot) and self.wanted[x.index] for x in leaves)


def _suffix(key: Any) -> str:
    return f".{key}" if isinstance(key, str) else f"[{key!r}]"


def _get(node: Any, tangent: Any, key: Any, what: str) -> Any:
    """Entry `key` of a tangent for the container `node`."""
    if isinstance(node, dict):
        keys = tangent.keys() if hasattr(tangent, "keys") else ()
        return tangent[key] if key in keys else None
    if isinstance(key, int):
        return _item(node, tangent, key, what)
    if isinstance(tangent, dict):
        return tangent.get(key)
    if hasattr(node, "_fields") and type(tangent) in (tuple, list):
        return _item(node, tangent, node._fields.index(key), what)
    return getattr(tangent, key, None)


def _item(node: Any, tangent: Any, index: int, what: str) -> Any:
    try:
        items = list(tangent)
    except TypeError:
        items = []
    expected = len(list(_children(node)))
    if len(items) != expected:
        message = (
            f"{what} must have {expected} entries like its primal of type "
            f"{type(node).__name__}, but got {type(tangent).__name__} with "
            f"{len(items)}. Return one entry per element."
        )
        raise RuleOutputError(message)
    return items[index]
