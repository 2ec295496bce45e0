"""Where a declaration stands that is no function, or that forgets to name one."""

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
    """Refuse `@rrule.define` without `(f)`, which would define nothing and say nothing.

    The function that is being decorated is made by the very line that calls, of which
    its code is a constant.

    Raises:
        RuleDefinitionError: `f` is the rule, and nobody said what it is for.
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
