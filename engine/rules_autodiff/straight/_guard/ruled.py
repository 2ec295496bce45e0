"""Which rule answers a call of known kinds, whoever wrote it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rules_autodiff._hooks.run import Run
from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import HANDLERS, OVERLAYS
from rules_core import rrule

__all__ = ["CLASSES", "Ruled", "rule_of"]

MUTATING = (rrule_mutating.rules, frule_mutating.rules)
FLOATS = (float, np.float64)
# By the name of a kind, the classes of such values.
CLASSES: dict[str, tuple[type, ...]] = {
    "real": FLOATS, "int": (int, np.int64), "bool": (bool, np.bool_),
    "none": (type(None),), "text": (str,), "array": (np.ndarray,),
}  # fmt: skip


@dataclass(frozen=True)
class Ruled:
    """A function whose calls of certain kinds a rule answers.

    Attributes:
        function: The function.
        handle: What the program calls: the function, or a primitive of it.
        classes: The classes of arguments that such calls may have.
        rule: The rule that answered when the code was written.
        whole: Whether it answers too where a number is a whole one.
    """

    function: Any
    handle: Any
    classes: tuple[tuple[type, ...], ...]
    rule: Any
    whole: bool = True

    def holds(self) -> bool:
        """Whether the same rule answers still."""
        if any(map(is_replaced, (self.function, self.handle))):
            return False
        return self.rule is answer(self.function, self.classes)


def rule_of(f: Any, handle: Any, args: tuple[tuple[type, ...], ...]) -> Ruled | None:
    """The rule for calls in normal form, by the classes that each argument may have.

    None where there is none, or not one. What stands for a float may be a whole number.
    """
    if is_replaced(f) or is_replaced(handle):
        return None
    for whole in (True, False):
        given = [(*c, int) if whole and c == FLOATS else c for c in args]
        classes = tuple(product(*given))
        rule = answer(f, classes)
        if rule is not None:
            return Ruled(f, handle, classes, rule, whole)
    return None


def is_replaced(f: Any) -> bool:
    """Whether something else is done in place of calling a function."""
    return f in HANDLERS or f in OVERLAYS or any(f in rules for rules in MUTATING)


def answer(f: Any, classes: tuple[tuple[type, ...], ...]) -> Any:
    """The one rule for calls with arguments of any of these classes."""
    first, *others = found(f, classes)
    return first if all(rule is first for rule in others) else None


def found(f: Any, classes: tuple[tuple[type, ...], ...]) -> Iterator[Any]:
    table = rrule.table(f, Run.config)
    return (table[types] for types in classes)
