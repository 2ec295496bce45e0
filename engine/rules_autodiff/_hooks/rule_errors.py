"""Errors raised while a derivative is computed, which the program may not catch.

The program would go on in a branch that it does not take without derivatives, and the
derivative would belong to another function. What the function raises by itself, the
program may catch as usual.
"""

from copy import deepcopy
from typing import Any

from rules_autodiff._python.lifted_code import note_failure
from rules_autodiff._refusals import note_operation, note_place
from rules_core import RulesCoreError

__all__ = [
    "explained", "explained_mutating", "explained_operation", "explained_write",
]  # fmt: skip


def explained(error: Exception, f: Any, args: Any, kwargs: Any) -> None:
    """Name the function in the error of a rule, and note it unless `f` raises it."""
    note_place(error, f)
    if not raises_itself(f, args, kwargs, error):
        note_failure(error)


def explained_operation(error: Exception, f: Any, args: Any) -> None:
    """Explain an error of an operation with a rule of the engine's own."""
    if not raises_itself(f, args, {}, error):
        note_operation(error, f"of {f.__name__}")
        note_failure(error)


def explained_write(error: Exception) -> None:
    """Note an error raised where a derivative is written; the program's value is."""
    note_operation(error, "of what is written into an array")
    note_failure(error)


def explained_mutating(_run: Any, error: Exception, f: Any, args: Any) -> None:
    """Note the error of a mutating rule, unless the function raises it on copies."""
    note_place(error, f)
    try:
        copies = deepcopy(args)
    except Exception:
        note_failure(error)
        return
    if not raises_itself(f, copies, {}, error):
        note_failure(error)


def raises_itself(f: Any, args: Any, kwargs: Any, error: Exception) -> bool:
    """Whether a function raises by itself what its rule has raised."""
    if isinstance(error, RulesCoreError):
        return False
    try:
        f(*args, **kwargs)
    except Exception as own:
        return isinstance(error, type(own)) or isinstance(own, type(error))
    return False
