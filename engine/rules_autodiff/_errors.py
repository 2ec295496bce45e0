"""The engine's error classes: each names the function and the user's own line."""

from rules_core import RulesCoreError, UnsupportedError

__all__ = ["EngineError", "SourceNotFound", "UnsupportedProgram"]


class EngineError(RulesCoreError):
    """A derivative that the engine could not compute."""

    __module__ = "rules_autodiff"


class SourceNotFound(EngineError):
    """The engine lifts a function's own source, and this function has none."""

    __module__ = "rules_autodiff"


class UnsupportedProgram(EngineError, UnsupportedError):
    """A program that does something whose derivative the engine does not support."""

    __module__ = "rules_autodiff"
