"""Whose code an exception comes from: notes that name the rule, and texts of callbacks.

XLA reports an exception in a callback as one text, with every frame of the program
before the error itself, and without notes. What it is given here has one frame.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import rules_core as rc

__all__ = ["CallbackError", "for_callback", "happened_in", "note", "noted", "place"]

_OWN = str(Path(__file__).parent)


class CallbackError(RuntimeError):
    """An exception in NumPy code that compiled code calls."""


def place(rule: Any) -> str:
    """A rule, its function and its line."""
    return f"{rule.kind} {rule.name} for {rule.target} at {rule.location}"


def happened_in(rule: Any) -> str:
    """The note of an exception in a rule's code."""
    return f"This happened in {place(rule)}."


def note(error: BaseException | None, text: str) -> None:
    """Add where an exception happened, unless it says so or is said already."""
    known = not isinstance(error, Exception) or isinstance(error, rc.RulesCoreError)
    if known or text in getattr(error, "__notes__", ()):
        return
    error.add_note(text)  # type: ignore[union-attr]  # an Exception, as asked above


@contextmanager
def noted(rule: Any) -> Iterator[None]:
    """Let exceptions of an author's code name its rule."""
    try:
        yield
    except Exception as error:
        note(error, happened_in(rule))
        raise


def for_callback(name: str, error: Exception) -> Exception:
    """The exception that XLA is to report for one in the code of a host function."""
    told = error
    if not isinstance(error, rc.RulesCoreError):
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [x for x in frames if not x.filename.startswith(_OWN)]
        lines = traceback.format_list(theirs) + traceback.format_exception_only(error)
        told = CallbackError(f"in {name}\n{''.join(lines).rstrip()}")
    return told.with_traceback(_alone())


def _alone() -> TracebackType:
    """A trace of one frame that nobody called: that of a generator at rest."""
    frame = _SLEEPER.gi_frame
    return TracebackType(None, frame, frame.f_lasti, frame.f_lineno)


def _sleep() -> Any:
    yield


_SLEEPER = _sleep()
next(_SLEEPER)
