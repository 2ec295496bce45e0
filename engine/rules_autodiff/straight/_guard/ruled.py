"""The rule for a call of known kinds, from any author."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rules_autodiff._hooks.run import Run
from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import HANDLERS, OVERLAYS
from rules_core import rrule
from rules_core.extend import reads_of_rule

__all__ = ["CLASSES", "Ruled", "rule_of"]

MUTATING = (rrule_mutating.rules, frule_mutating.rules)
FLOATS = (float, np.float64)
# By the name of a kind, the classes of its values.
CLASSES: dict[str, tuple[type, ...]] = {
    "real": FLOATS, "int": (int, np.int64), "bool": (bool, np.bool_),
    "none": (type(None),), "text": (str,), "array": (np.ndarray,),
}  # fmt: skip


@dataclass(frozen=True)
class Ruled:
    """A function whose calls of certain kinds use a rule.

    Attributes:
        function: The function.
        handle: The called object: the function, or a primitive of it.
        classes: The possible classes of arguments.
        rule: The rule at the time of generation.
        whole: Whether it also applies to integers.
        mode: `rrule` or `frule`.
    """

    function: Any
    handle: Any
    classes: tuple[tuple[type, ...], ...]
    rule: Any
    whole: bool = True
    mode: Any = rrule

    def holds(self) -> bool:
        """Whether this rule still applies."""
        if any(map(is_replaced, (self.function, self.handle))):
            return False
        return self.rule is answer(self.function, self.classes, self.mode)

    def reads_variables(self) -> bool:
        """Whether the rule reads what the program may change before the pullback."""
        return reads_of_rule(self.rule) is not None


def rule_of(
    f: Any, handle: Any, args: tuple[tuple[type, ...], ...], mode: Any = rrule
) -> Ruled | None:
    """The rule for calls in normal form, by the possible classes of each argument.

    None if there is none or more than one. A float may also be an integer.
    """
    if is_replaced(f) or is_replaced(handle):
        return None
    for whole in (True, False):
        choices = [(*c, int) if whole and c == FLOATS else c for c in args]
        classes = tuple(product(*choices))
        rule = answer(f, classes, mode)
        if rule is not None:
            return Ruled(f, handle, classes, rule, whole, mode)
    return None


def is_replaced(f: Any) -> bool:
    """Whether a handler replaces the calls of a function."""
    return f in HANDLERS or f in OVERLAYS or any(f in rules for rules in MUTATING)


def answer(f: Any, classes: tuple[tuple[type, ...], ...], mode: Any) -> Any:
    """The only rule for calls with arguments of any of these classes."""
    first, *others = found(f, classes, mode)
    return first if all(rule is first for rule in others) else None


def found(f: Any, classes: tuple[tuple[type, ...], ...], mode: Any) -> Iterator[Any]:
    table = mode.table(f, Run.config)
    return (table[types] for types in classes)
