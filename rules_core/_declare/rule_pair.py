"""Registering the rules of a declaration (`scalar_rule`, `linear_rule`, …)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules_core._dispatch.registry import is_permanent
from rules_core._dispatch.rule import Location, Rule
from rules_core._dispatch.table import Table
from rules_core._primitives.primitive import acting_handle
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._rules.lookup import table_of

__all__ = ["called", "register_pair"]


def called(f: Any) -> Any:
    """The function that rules of `f` call: its primitive, if there is one."""
    acting = acting_handle(f)
    if acting is not None:
        return acting
    table = table_of(f)
    return f if table is None or table.primitive is None else table.primitive


def register_pair(
    table: Table,
    where: Location,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    types: tuple[tuple[type, ...], ...],
    **flags: Any,
) -> None:
    """Register an frule and an rrule of one declaration."""
    for kind, function in ((frule, forward), (rrule, backward)):
        rule = Rule(
            kind.kind,
            table.key,
            function,
            where,
            types,
            persistent=is_permanent(where.module),
            **flags,
        )
        kind.register(table, rule)
