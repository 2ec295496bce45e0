"""`ignore_derivatives(f)`: `f` runs as a separate program without derivatives.

Its captured values are constants, C functions need no rule, and values that it stores
in lists and attributes stay when the outer run undoes its writes.
"""

import functools
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

import rules_core
from rules_autodiff._python.handlers import handler
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._refusals import refused
from rules_autodiff._replacements.builtins import without_derivative
from rules_autodiff._shadows.saved_state import written_by
from rules_autodiff._tape.fast.run import reverse_run
from rules_core.extend import without_captured

from .captured_writes import reach

__all__: list[str] = []

FUNCTIONS = (
    FunctionType, MethodType, BuiltinFunctionType, functools.partial,
    rules_core.Primitive,
)  # fmt: skip


@handler(rules_core.ignore_derivatives)
def handle_ignore(run: Any, f: Any) -> Any:
    if not isinstance(f, FUNCTIONS):
        return without_derivative(f)
    stop = Stopping(run)
    value = without_captured(f, stop, lambda made: run_apart(run, made))
    stop.check()
    return without_derivative(value)


class Stopping:
    """Stops the derivatives of active values; copies of arrays are read-only."""

    def __init__(self, run: Any):
        self.run = run
        self.copies: list[tuple[Any, Any]] = []

    def __call__(self, x: Any) -> Any:
        if not self.run.is_active(x):
            return x
        if isinstance(x, np.ndarray):
            self.copies.append((x, x.copy()))
            return self.copies[-1][1]
        return without_derivative(x)

    def check(self) -> None:
        for original, copy in self.copies:
            if not np.array_equal(original, copy, equal_nan=True):
                refused("ignored", "writes into an array that carries a derivative")


def run_apart(run: Any, f: Any) -> Any:
    """Call a function in a run without derivatives."""
    apart = reverse_run(PLAIN)
    outside: set[int] = set()
    reach(f, outside)
    value = apart.call(f)
    if written_by(apart.changes) & outside:
        refused("ignored", "writes into an array of the program")
    for entry in apart.changes:
        for owner in (getattr(entry, "owner", None), getattr(entry, "target", None)):
            if run.is_active(owner):
                refused("ignored", "puts a value with a derivative into an object")
    apart.functions.clear()  # their cells refer to the run
    return value
