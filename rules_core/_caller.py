"""Where a declaration that is no function (`opt_out`, `non_differentiable`) stands."""

from __future__ import annotations

import sys

from ._rule import Location

__all__ = ["caller_location"]


def caller_location(name: str, depth: int = 2) -> Location:
    """Location of the code that called the function that calls this one."""
    frame = sys._getframe(depth)  # noqa: SLF001  the documented way to ask for a caller
    module = frame.f_globals.get("__name__", "?")
    return Location(frame.f_code.co_filename, frame.f_lineno, module, name)
