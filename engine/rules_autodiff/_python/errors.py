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
