"""File and line of a declaration that is a plain call."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from rules_core._base.errors import RuleDefinitionError

from .rule import Location

__all__ = ["caller_location", "refuse_bare"]


def caller_location(name: str, depth: int = 2) -> Location:
    """Location of the code that called the function that calls this one."""
    frame = sys._getframe(depth)  # noqa: SLF001  the documented way to ask for a caller
    module = frame.f_globals.get("__name__", "?")
    return Location(frame.f_code.co_filename, frame.f_lineno, module, name)


def refuse_bare(f: Any, name: str) -> None:
    """Raise an error for `@rrule.define` without its function.

    The code of the decorated function is a constant of the line that calls.

    Raises:
        RuleDefinitionError: `f` is the rule itself.
    """
    frame = sys._getframe(2)  # noqa: SLF001  the documented way to ask for a caller
    if type(f) is not FunctionType or f.__code__.co_firstlineno != frame.f_lineno:
        return
    if f.__name__ == "<lambda>" or f.__code__ not in frame.f_code.co_consts:
        return
    message = (
        f"@{name} must be told which function {f.__qualname__} is for, but is written "
        f"without one. Write @{name}(f)."
    )
    raise RuleDefinitionError(message)
