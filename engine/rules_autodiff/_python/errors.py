"""The engine's error classes: each names the function and the user's own line."""

from typing import Any

from rules_core import RulesCoreError, UnsupportedError

from .lifted_code import note_failure

__all__ = ["EngineError", "SourceNotFound", "UnsupportedProgram"]


class EngineError(RulesCoreError):
    """A derivative that the engine could not compute.

    A program that catches it would continue without a valid derivative: the active runs
    raise it when they end.
    """

    __module__ = "rules_autodiff"

    def __init__(self, *args: Any):
        super().__init__(*args)
        note_failure(self)


class SourceNotFound(EngineError):
    """A function without source: the engine lifts a function's own source."""

    __module__ = "rules_autodiff"


class UnsupportedProgram(EngineError, UnsupportedError):
    """A program with an operation that the engine does not support."""

    __module__ = "rules_autodiff"


# What NumPy raises after an operation that has written its result already.
AFTERWARDS = (FloatingPointError, Warning)


def note_half_written(error: Exception) -> None:
    """Let the active runs end with an error if their programs catch this one.

    NumPy raises it when a part of an array has been written, the engine before.
    """
    failure = UnsupportedProgram(HALF_WRITTEN.format(error))
    failure.__cause__ = error
    note_failure(failure)


HALF_WRITTEN = (
    "A program must not go on after the error of an operation that writes into an "
    "array, of which NumPy has written a part, but it caught one: {}. Compute the new "
    "value first, and write it after that: x[...] = x / y."
)
