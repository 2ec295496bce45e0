"""Requests to the tier, and calls that it leaves to the tape."""

import re
from typing import NoReturn

from rules_autodiff.straight._program.refused import in_place

__all__ = [
    "AUTO",
    "COMPILED",
    "INNER",
    "PINNED",
    "STRAIGHT",
    "Left",
    "NotCompiled",
    "asked",
    "leave",
    "raised",
]

# What pays, generated Python code, or compiled code; or, for generated code that is
# differentiated itself, Python code at once and compiled code if it pays.
GENERATED = re.compile(r"__p\d+$")  # of the names of generated functions
AUTO, STRAIGHT, COMPILED, INNER = range(4)
PINNED = {"straight": STRAIGHT, "compiled": COMPILED}


def asked(tier: str) -> int:
    """The request that a tier's name stands for."""
    return PINNED.get(tier, AUTO)


class Left(Exception):
    """A call uses the tape; the reason is the exception's text."""


class NotCompiled(Left):
    """Compiled code, which the caller requires, does not serve a call."""


def leave(reason: str) -> NoReturn:
    """Let a call use the tape."""
    raise Left(reason) from None


def raised(error: Exception) -> str:
    """The reason that generated code raised an error, with its place in the program."""
    reason = f"it raised {type(error).__name__}: {error}"
    if type(error) is AssertionError and not error.args:
        reason = "the program raises an error, which the tape raises as its own"
    if isinstance(error, ArithmeticError) and type(error).__module__.startswith(
        "rules"
    ):
        reason = f"only the tape serves at these values: {error}"
    trace, place = error.__traceback__, None
    while trace is not None:
        code = trace.tb_frame.f_code
        if GENERATED.search(code.co_name) and not code.co_filename.startswith("<"):
            place = code, trace.tb_lineno
        trace = trace.tb_next
    if place is None:
        return reason
    name = GENERATED.sub("", place[0].co_name)
    return in_place(reason, name, place[0].co_filename, place[1])
