"""What functions that rules call back read from outside, then and later.

A rule knows what its functions capture: the tape gives it to the pullback as it was.
What they read from globals, classes and modules must not have been changed.
"""

from types import FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.lifted_code import NESTED
from rules_autodiff._refusals import name_of, refused, rule_of
from rules_core.extend import Reads, functions_in

__all__ = ["check_reads_of", "reads_of"]

PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, str, type(None)})


def reads_of(values: Any) -> Reads | None:
    """What functions among the arguments of a rule read; None if there are none."""
    if all(type(value) in PLAIN for value in values):
        return None
    functions = [x for value in values for x in functions_in(value)]
    if not functions:
        return None
    return Reads(functions, captured=False, hidden=names_of_hooks)


def check_reads_of(reads: Reads, f: Any, rule: Any) -> None:
    """Refuse the pullback of a rule if something was changed."""
    path = reads.changed()
    if path is not None:
        refused("read later", name_of(f), rule_of(rule), path)


def names_of_hooks(held: dict[int, Any]) -> set[Any]:
    """The variables by which lifted functions call the hooks of a run."""
    lifted = [x.__code__ for x in held.values() if isinstance(x, FunctionType)]
    return {NESTED.get(code) for code in lifted}
