"""The key, table and normal form of any callable."""

from __future__ import annotations

import copyreg
from functools import partial
from types import FunctionType
from typing import Any

from rules_core._dispatch.normal_form import binder_of
from rules_core._dispatch.registry import PACKS, find_again, find_table
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_key import Target, describe, target_of
from rules_core._dispatch.table import Table
from rules_core._primitives.primitive import Primitive

__all__ = [
    "all_arguments",
    "find_rule",
    "handle_of",
    "has_own_rules",
    "normal_form",
    "table_of",
    "unwrap",
]


def unwrap(f: Any) -> tuple[Target, tuple[partial[Any], ...]]:
    """The key of any callable, and the partials around it, the outermost first."""
    partials = []
    while isinstance(f, partial):
        partials.append(f)
        f = f.func
    return _target(f), tuple(partials)


def _target(f: Any) -> Target:
    if type(f) is Primitive:
        return Target(f.fun)
    if isinstance(f, (FunctionType, type)) or has_own_rules(f):
        return Target(f)
    target = target_of(f)
    if target.instance is f:
        PACKS.ensure(target.key)  # it may give this instance rules of its own
        if has_own_rules(f):
            return Target(f)
    # A method that is a primitive: the rules are those of the wrapped function.
    if type(target.key) is Primitive:
        return target._replace(key=target.key.fun)
    # The call of a class written in C: its instances may be keys themselves.
    if target.instance is f and not isinstance(target.key, FunctionType):
        return target if find_table(target.key) else Target(f)
    return target


def has_own_rules(f: Any) -> bool:
    """Whether this very object has a table: an instance, `np.add.reduce`.

    A table without any entry is left over from a test.
    """
    table = find_table(f)
    return table is not None and (table.primitive is not None or table.has_rules)


def all_arguments(
    partials: tuple[partial[Any], ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """All arguments of the inner function, including those of the partials."""
    for part in partials:
        args, kwargs = (*part.args, *args), {**part.keywords, **kwargs}
    return args, kwargs


def table_of(f: Any) -> Table | None:
    """The rule table of any callable, or None."""
    target, _ = unwrap(f)
    table = find_table(target.key)
    if table is None:
        PACKS.ensure(target.key)
        table = find_table(target.key)
    return table


def handle_of(key: Any) -> Any:
    """The primitive of a key if it has one, otherwise the key itself."""
    table = find_table(key)
    return key if table is None or table.primitive is None else table.primitive


def find_rule(kind: str, f: Any, module: str, name: str, signature: str) -> Rule:
    """The registered rule with this description, for unpickling a `Rule`."""
    return find_again(kind, unwrap(f)[0].key, module, name, signature)


def _reduce(rule: Rule) -> Any:
    # The name of a decorated function refers to its primitive.
    named = handle_of(rule.key)
    return find_rule, (rule.kind, named, rule.module, rule.name, rule.signature)


copyreg.pickle(Rule, _reduce)


def normal_form(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as a rule receives them: positional, with defaults filled in.

    Raises:
        TypeError: `f` itself rejects these arguments.

    >>> from rules_core import normal_form
    >>> def scale(x, factor=2.0, *, flag=False): ...
    >>> normal_form(scale, (1.0,), {"flag": True})
    ((1.0, 2.0), {'flag': True})
    """
    target, partials = unwrap(f)
    args, kwargs = all_arguments(partials, args, kwargs)
    if target.bound:
        args = (target.instance, *args)
    table = find_table(target.key)
    binder = (
        binder_of(target.key, describe(target.key)) if table is None else table.binder
    )
    return binder(args, kwargs)
