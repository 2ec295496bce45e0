"""Requests to the tier, and calls that it leaves to the tape."""

from typing import NoReturn

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
]

# What pays, generated Python code, or compiled code; or, for generated code that is
# differentiated itself, Python code at once and compiled code if it pays.
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
