"""Whether generated code may use its own derivative of a function.

Generated code contains the derivatives of our own pack. Another rule, an opt-out or an
overlay takes precedence, even if it is defined later; then the program uses the tape,
which looks up rules at each call.
"""

from types import FunctionType
from typing import Any

from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import HANDLERS, OVERLAYS
from rules_autodiff._python.opaque import DECLARED
from rules_core.extend import ATTRIBUTE, CHANGES, PACKS, find_table, is_watching

__all__ = ["CHANGES", "are_ours", "is_answered", "is_ours"]

MUTATING = (rrule_mutating.rules, frule_mutating.rules)


def is_answered(f: FunctionType) -> bool:
    """Whether a rule, opt-out or overlay replaces the code of a user's function."""
    if f in HANDLERS or f in DECLARED or f in MUTATING[0] or f in MUTATING[1]:
        return True
    return hasattr(f, ATTRIBUTE) and has_rules(f)


def has_rules(f: Any) -> bool:
    table = find_table(f)
    return table is not None and bool(rules_of(table))


def rules_of(table: Any) -> list[Any]:
    return [*table.rrule.rules, *table.frule.rules]


def are_ours(functions: Any) -> bool:
    """Whether the derivatives of functions are those in generated code.

    Never in debug mode, which checks rules.
    """
    return not is_watching() and all(map(is_ours, functions))


def is_ours(f: Any) -> bool:
    """Whether only our own pack has rules for a function, for all types."""
    if f in OVERLAYS or any(f in rules for rules in MUTATING):
        return False
    if isinstance(f, FunctionType) and f in DECLARED:
        return False
    PACKS.ensure(f)
    table = find_table(f)
    return table is None or all(map(is_of_pack, rules_of(table)))


def is_of_pack(rule: Any) -> bool:
    return bool(rule.module.partition(".")[0] == "rules_numpy")
