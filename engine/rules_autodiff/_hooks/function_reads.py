"""What functions that rules call back read from outside, then and later.

    for k in (1, 2, 3):
        y += quad(lambda t: k * t, 0, x)[0]

A rule has copies of what its functions capture, if it carries a derivative. While the
pullback runs every captured variable is bound to what it was. What functions read from
globals, classes and modules must not have been changed.
"""

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

import numpy as np

from rules_autodiff._python.lifted_code import NESTED
from rules_autodiff._python.values import INERT
from rules_autodiff._refusals import name_of, refused, rule_of
from rules_core import structure
from rules_core.extend import Reads, bound_to, content, functions_in, reads_of_rule

__all__ = ["ReadsThen", "reads_of"]

PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, str, type(None)})


class ReadsThen:
    """What a rule and functions read from outside and what they captured, as it was.

    Args:
        functions: Those among the arguments of the rule, which has copies of what they
            capture.
        rule: What the rule itself reads, or None.

    Attributes:
        reads: What the functions read from outside; None without functions.
        own: What the rule reads, or None.
        cells: The variables that they captured, with their values then.
    """

    def __init__(self, functions: list[Any], rule: Any) -> None:
        self.reads, self.own, self.cells = None, None, []
        if functions:
            self.reads = Reads(functions, captured=False, hidden=names_of_hooks)
            self.cells = cells_of(functions)
        if rule is not None:
            self.own = rule.then()
            self.cells = [*self.cells, *self.own.captured()]

    def replay(self, pull: Callable[..., Any], *args: Any) -> Any:
        """Run a pullback with the values that captured variables had then."""
        with bound_to(self.cells):
            return pull(*args)

    def check(self, f: Any, rule: Any) -> None:
        """Refuse the pullback of a rule if something was changed."""
        path = None if self.reads is None else self.reads.changed()
        if path is not None:
            refused("read later", name_of(f), rule_of(rule), path)
        path = None if self.own is None else self.own.changed()
        if path is not None:
            refused("rule reads later", name_of(f), rule_of(rule), path)

    def settle(self) -> None:
        """Leave out what the rule changed itself."""
        if self.own is not None:
            self.own.settle()


def reads_of(call: Any) -> ReadsThen | None:
    """What a rule and the functions among its arguments read; None for nothing."""
    rule = reads_of_rule(call.rule)
    values = call.args
    if all(type(value) in PLAIN for value in values):
        return None if rule is None else ReadsThen([], rule)
    functions = [x for value in values for x in functions_in(value)]
    return ReadsThen(functions, rule) if functions or rule is not None else None


def names_of_hooks(held: dict[int, Any]) -> set[Any]:
    """The variables by which lifted functions call the hooks of a run."""
    lifted = [x.__code__ for x in held.values() if isinstance(x, FunctionType)]
    return {NESTED.get(code) for code in lifted}


def cells_of(functions: list[Any]) -> list[tuple[CellType, Any]]:
    """The variables that functions capture, and those captured by what these hold."""
    seen: dict[int, Any] = {}
    cells: dict[int, CellType] = {}
    ends = [*functions]
    while ends:
        x = ends.pop()
        if id(x) in seen or type(x) in INERT or isinstance(x, np.ndarray):
            continue
        seen[id(x)] = x
        if isinstance(x, FunctionType):
            hooks = NESTED.get(x.__code__)
            pairs = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
            own = [cell for name, cell in pairs if name != hooks]
            cells |= {id(cell): cell for cell in own}
            ends += map(content, own)
            continue
        level = structure(x)
        ends.extend(() if level is None else level.values)
    return [(cell, content(cell)) for cell in cells.values()]
