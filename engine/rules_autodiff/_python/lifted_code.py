"""Lifted code objects, and the runs whose hooks their frames call."""

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from rules_core.extend import ByIdentity

__all__ = [
    "NESTED",
    "ByIdentity",
    "hooks_of",
    "is_lifted",
    "is_lifted_code",
    "note_failure",
    "runs_under_way",
]


NESTED = ByIdentity()  # of lifted code, outer and inner, its name for the hooks


def is_lifted(function: FunctionType) -> bool:
    """Whether ``function`` was made by lifted code: its body already calls hooks."""
    return is_lifted_code(function.__code__)


def is_lifted_code(code: CodeType) -> bool:
    """Whether a frame with this code runs lifted user code."""
    return NESTED.get(code) is not None


def hooks_of(generator: Any) -> Any:
    """The run whose hooks a generator calls; None for code that is not lifted."""
    return hooks_in(generator.gi_frame)


def hooks_in(frame: Any) -> Any:
    """The run whose hooks a frame calls; None for code that is not lifted."""
    name = NESTED.get(frame.f_code)
    return None if name is None else frame.f_locals.get(name)


def runs_under_way() -> Iterator[Any]:
    """The runs whose programs wait for the current call."""
    frame: Any = sys._getframe(1)  # noqa: SLF001  (no other way to the frames)
    while frame is not None:
        run = hooks_in(frame)
        if run is not None:
            yield run
        frame = frame.f_back


def note_failure(error: Exception) -> None:
    """Let the active runs end with an error, even if their programs catch it."""
    for run in runs_under_way():
        run.failure = run.failure or error
