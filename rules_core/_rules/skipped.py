"""Warnings for rules that match no call of some types.

An AD system that finds no rule differentiates the function's own code. If the function
has rules, this is rarely intended: `RuleSkippedWarning` names the argument that does
not match. It is issued once per combination of types.
"""

from __future__ import annotations

import warnings
from typing import Any

from rules_core._base.arrays import is_array_type, type_name
from rules_core._base.errors import AmbiguousRulesError, DebugError
from rules_core._dispatch.fitting import has_config, misfits, parameter, reasons
from rules_core._dispatch.registry import find_table
from rules_core._dispatch.rule import Rule, union
from rules_core._dispatch.table import RuleSet, Table
from rules_core._tangents.canonical import has_tangent

from .debug_mode import is_watching
from .lookup import all_arguments, unwrap

__all__ = [
    "RuleSkippedWarning",
    "rules_skipped_by",
    "skipped_rules",
    "skipped_text",
    "warn_if_skipped",
]

_FEW = 3


class RuleSkippedWarning(UserWarning):
    """A function has rules, and none matches the types of a call."""


def warn_if_skipped(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: Any = None
) -> None:
    """Warn if `f` has rules and none matches this call.

    For AD systems that found no rule and will differentiate the body of `f`;
    `resolve_primitive` calls it. For an opted-out call there is no warning.

    Args:
        f: The function.
        args: The arguments of the call.
        kwargs: Its keyword arguments.
        config: The configuration of the AD system.

    Raises:
        DebugError: Rules are skipped, in debug mode.

    Warns: RuleSkippedWarning: Rules are skipped; once per combination of types.

    >>> import warnings
    >>> from rules_core import rrule, warn_if_skipped
    >>> def half(x): ...
    >>> @rrule.define(half)
    ... def half_rrule(x: str): ...
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_skipped(half, (1.0,), {})
    >>> print(caught[0].message)
    half(float) is differentiated without its rules, for none of them applies:
      rrule half_rrule(str) at ... does not: argument 1 (x) is float, not str.
    Annotate x as str | float, leave the annotation out, or decline with opt_out.
    """
    table, types = _call(f, args, kwargs)
    if table is None or not skipped_rules(table, type(config), types):
        return
    key = type(config), tuple(map(type_name, types))
    if key in table.told or not any(map(has_tangent, (*args, *kwargs.values()))):
        return
    text = skipped_text(table, type(config), types)
    if is_watching():
        raise DebugError(text)
    warnings.warn(text, RuleSkippedWarning, stacklevel=3)
    table.told.add(key)


def _call(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Table | None, tuple[type, ...]]:
    target, partials = unwrap(f)
    table = find_table(target.key)
    if table is None or not (table.rrule.rules or table.frule.rules):
        return None, ()
    args, kwargs = all_arguments(partials, args, kwargs)
    if target.bound:
        args = (target.instance, *args)
    return table, tuple(map(type, table.binder(args, kwargs)[0]))


def rules_skipped_by(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], config: type
) -> tuple[list[Rule], tuple[type, ...]]:
    """The rules that a call skips, as in `skipped_rules`, and the types of its call."""
    table, types = _call(f, args, kwargs)
    return ([] if table is None else skipped_rules(table, config, types)), types


def skipped_rules(table: Table, config: type, types: tuple[type, ...]) -> list[Rule]:
    """The rules that a call of these types skips, the nearest first.

    None if a rule of either kind applies, since it serves both modes, if the call is
    opted out, or if all rules are for other configs.
    """
    kinds = table.rrule, table.frule
    if any(_answers(kind, config, types) for kind in kinds):
        return []
    rules = [rule for kind in kinds for rule in kind.rules]
    rules = [r for r in rules if not r.opted_out and has_config(r, config)]
    return sorted(rules, key=lambda rule: len(misfits(rule, types)))


def _answers(kind: RuleSet, config: type, types: tuple[type, ...]) -> bool:
    """Whether a rule or opt-out applies, or the call is ambiguous (an error)."""
    try:
        return kind.select(config, types) is not None
    except AmbiguousRulesError:
        return True


def skipped_text(table: Table, config: type, types: tuple[type, ...]) -> str:
    """The warning for a call that skips rules."""
    rules, names = skipped_rules(table, config, types), table.binder.names or ()
    lines = [
        f"  {rule.kind} {rule.name}({rule.signature}) at {rule.location} does not: "
        f"{'; '.join(reasons(rule, config, types, names))}."
        for rule in rules[:_FEW]
    ]
    call = f"{table.label}({', '.join(map(type_name, types))})"
    head = f"{call} is differentiated without its rules, for none of them applies:"
    return "\n".join((head, *lines, _cure(rules[0], types, names)))


def _cure(rule: Rule, types: tuple[type, ...], names: tuple[str, ...]) -> str:
    wrong = misfits(rule, types)
    if not wrong:
        return "Define a rule that takes as many arguments, or decline with opt_out."
    i = wrong[0]
    name = names[i] if i < len(names) else f"argument {i + 1}"
    also = "rules_core.Array" if is_array_type(types[i]) else type_name(types[i])
    classes = parameter(rule, i)
    arrays = also == "rules_core.Array" and all(map(is_array_type, classes))
    annotation = also if arrays else f"{union(classes)} | {also}"
    return (
        f"Annotate {name} as {annotation}, leave the annotation out, or decline with "
        "opt_out."
    )
