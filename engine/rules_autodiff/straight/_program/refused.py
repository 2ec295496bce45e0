"""Why a program uses the tape."""

import ast
from typing import Any, NoReturn

__all__ = ["Refused", "Unlearned", "refuse"]


class Refused(Exception):
    """The straight-line tier does not support a program.

    Attributes:
        reason: The unsupported operation.
        line: Its line in the file, if known.
    """

    def __init__(self, reason: str, node: ast.AST | None = None):
        super().__init__(reason)
        self.reason = reason
        self.line: int | None = getattr(node, "lineno", None)

    def at(self, node: Any) -> "Refused":
        """This error with the line of a statement, if it has none."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self


class Unlearned(Refused):
    """The result of a rule is unknown before another run."""


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Let the program use the tape."""
    raise Refused(reason, node)
