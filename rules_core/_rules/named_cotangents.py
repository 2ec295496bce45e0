"""Cotangents by name: `{"x": dx}` in place of one cotangent per argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rules_core._base.errors import (
    CotangentCountError,
    CotangentNameError,
    ProjectionError,
)
from rules_core._dispatch.registry import find_table
from rules_core._dispatch.rule import Rule
from rules_core._tangents.canonical import has_tangent
from rules_core._tangents.zeros import NoTangent, NotImplementedTangent

__all__ = ["ordered_cotangents"]


def ordered_cotangents(
    rule: Rule, found: Any, count: int, primals: Sequence[Any] | None = None
) -> tuple[Any, ...]:
    """The result of a pullback, as one cotangent per argument of its rule.

    Args:
        rule: The rrule.
        found: A tuple in this order, or a dict by the names of arguments, with a tuple
            under the name of `*args`. What a dict leaves out is not implemented, or has
            no tangent.
        count: The number of cotangents, that of the function itself included.
        primals: The rule's arguments, if they are known: those without a tangent get
            `NoTangent()` if the dict leaves them out.

    Raises:
        CotangentCountError: `found` is neither, or too short or too long.
        CotangentNameError: A name is not that of an argument.
    """
    if type(found) is tuple and len(found) == count:
        return found
    if not isinstance(found, dict):
        raise CotangentCountError(rule, count, found)
    table = find_table(rule.key)
    assert table is not None
    head = () if table.method else (NoTangent(),)
    names = (table.binder.names or ())[: count - len(head)]
    star = table.binder.star
    shown = names if star is None else (*names, f"*{star}")
    for name in found:
        if name not in names and (star is None or name != star):
            raise CotangentNameError(rule, shown, name)
    found = _spread(star, len(names), found, count - len(head))
    missing = [_missing(rule, i, names) for i in range(count - len(head))]
    if primals is not None:
        pairs = zip(primals, missing, strict=True)
        missing = [dx if has_tangent(x) else NoTangent() for x, dx in pairs]
    keys = (*names, *range(len(names), len(missing)))
    return (*head, *(found.get(k, dx) for k, dx in zip(keys, missing, strict=True)))


def _spread(star: str | None, first: int, found: dict[Any, Any], count: int) -> Any:
    """The cotangents with those of `*args`, a tuple by its name, under positions."""
    if star is None or star not in found:
        return found
    rest, expected = found[star], count - first
    if not isinstance(rest, (tuple, list)) or len(rest) != expected:
        got = f"{len(rest)} of them" if isinstance(rest, (tuple, list)) else "one value"
        must = f"be a tuple of {expected} cotangents, one for each argument"
        path = f"*{star}"
        raise ProjectionError(path, must, got)
    others = {name: dx for name, dx in found.items() if name != star}
    return others | dict(enumerate(rest, start=first))


def _missing(rule: Rule, i: int, names: Sequence[str]) -> Any:
    name = repr(names[i]) if i < len(names) else str(i)
    info = f"the pullback of {rule.label} returns no cotangent of argument {name}"
    where = rule.where
    return NotImplementedTangent(info, "", where.module, where.file, where.line)
