"""Who answers for a function: whether straight-line code may call it as it does.

Written code has the derivatives of our own pack in it. A rule, an opt-out or an overlay
of somebody else goes before them, also one that is defined later; then the program is
the tape's, which asks at each call.
"""

from types import FunctionType
from typing import Any

from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import HANDLERS, OVERLAYS
from rules_core.extend import ATTRIBUTE, CHANGES, PACKS, find_table, is_watching

__all__ = ["CHANGES", "are_ours", "is_answered", "is_ours"]

MUTATING = (rrule_mutating.rules, frule_mutating.rules)


def is_answered(f: FunctionType) -> bool:
    """Whether a function of the user's is answered for, in place of its own code."""
    if f in HANDLERS or f in MUTATING[0] or f in MUTATING[1]:
        return True
    return hasattr(f, ATTRIBUTE) and has_rules(f)


def has_rules(f: Any) -> bool:
    table = find_table(f)
    return table is not None and bool(rules_of(table))


def rules_of(table: Any) -> list[Any]:
    return [*table.rrule.rules, *table.frule.rules]


def are_ours(functions: Any) -> bool:
    """Whether the derivatives of functions are those that written code has in it.

    In debug mode nobody's are: it watches rules.
    """
    return not is_watching() and all(map(is_ours, functions))


def is_ours(f: Any) -> bool:
    """Whether nobody but our own pack answers for a function, whatever the types."""
    if f in OVERLAYS or any(f in rules for rules in MUTATING):
        return False
    PACKS.ensure(f)
    table = find_table(f)
    return table is None or all(map(is_of_pack, rules_of(table)))


def is_of_pack(rule: Any) -> bool:
    return bool(rule.module.partition(".")[0] == "rules_numpy")
