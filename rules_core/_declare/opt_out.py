"""Opting out: use no rule for some types of arguments."""

from __future__ import annotations

from itertools import product
from typing import Any

from rules_core._base.errors import RuleDefinitionError
from rules_core._dispatch.call_site import caller_location
from rules_core._dispatch.configs import RuleConfig
from rules_core._dispatch.registry import PACKS, is_permanent, table_for
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_signature import RuleSignature, read_types
from rules_core._rules.definition_checks import check_arity, check_config
from rules_core._rules.frule_rrule import frule, rrule
from rules_core._rules.lookup import table_of
from rules_core._rules.rule_kind import RuleKind

__all__ = ["no_frule", "no_rrule", "opt_out"]


def opt_out(
    kind: Any, f: Any, *types: Any, config: type[RuleConfig] | None = None
) -> None:
    """Disable the rules for calls of `f` with arguments of these types.

    The opt-out takes part in dispatch like a rule: it hides less specific rules, and a
    more specific rule still applies. Where it wins, `rrule(f, …)` returns None, so that
    the AD system differentiates the body of `f`.

    Args:
        kind: `rrule` or `frule`.
        f: The function.
        *types: One class, ABC, union or `Array` per argument in normal form. None at
            all: disable every rule of `f`, more specific ones included.
        config: Opt out for these configurations only.

    Raises:
        RuleDefinitionError: `kind` or a type is invalid.
        RuleClashError: A rule with these types exists.

    >>> from rules_core import no_rrule, NoTangent, opt_out, rrule
    >>> def total(x):
    ...     return sum(x)
    >>> @rrule.define(total)
    ... def total_rrule(x):
    ...     def total_pullback(dy):
    ...         return NoTangent(), [dy] * len(x)
    ...
    ...     return total(x), total_pullback
    >>> opt_out(rrule, total, tuple)
    >>> rrule(total, (1.0, 2.0)) is None, no_rrule(total, tuple)
    (True, True)
    """
    if kind not in (rrule, frule):
        message = f"opt_out must get rrule or frule first, but got {kind!r}."
        raise RuleDefinitionError(message)
    where = caller_location(f"opt_out({kind.kind})")
    check_config(config, "opt_out")
    table = table_for(kind.table_to_define(f).key, "opt_out")
    label = f"opt_out({kind.kind}, {table.label})"
    read = read_types(types, label)
    if types:
        check_arity(table, label, RuleSignature(read, len(read)))
    rule = Rule(
        kind.kind,
        table.key,
        None,
        where,
        read,
        variadic=None if types else (object,),
        config=config,
        persistent=is_permanent(where.module),
    )
    kind.register(table, rule)


def _declined(
    kind: RuleKind[Any], f: Any, types: tuple[Any, ...], config: type | None
) -> bool:
    check_config(config, f"no_{kind.kind}")
    table = table_of(f)
    if table is None:
        return False
    PACKS.ensure(table.key)
    read = read_types(types, f"no_{kind.kind}({table.label})")
    rules = getattr(table, kind.kind)
    winners = [rules.select(config or type(None), each) for each in product(*read)]
    return all(rule is not None and rule.opted_out for rule in winners)


def no_rrule(f: Any, *types: Any, config: type[RuleConfig] | None = None) -> bool:
    """Whether calls of `f` with arguments of these types are opted out of `rrule`.

    Args:
        f: The function.
        *types: One class or union per argument in normal form; a union needs an opt-out
            for each class.
        config: The configuration of the call.

    >>> from rules_core import no_rrule
    >>> no_rrule(abs, float)
    False
    """
    return _declined(rrule, f, types, config)


def no_frule(f: Any, *types: Any, config: type[RuleConfig] | None = None) -> bool:
    """Whether calls of `f` with arguments of these types are opted out of `frule`.

    Args:
        f: The function.
        *types: One class or union per argument in normal form; a union needs an opt-out
            for each class.
        config: The configuration of the call.

    >>> from rules_core import no_frule
    >>> no_frule(abs, float)
    False
    """
    return _declined(frule, f, types, config)
