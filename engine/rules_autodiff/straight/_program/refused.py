"""Why a program is left to the tape."""

import ast
from typing import Any, NoReturn

__all__ = ["Refused", "Unlearned", "refuse"]


class Refused(Exception):
    """A program is not in the language of the straight-line tier.

    Attributes:
        reason: What it does that the tier does not know.
        line: The line of the file on which it does that, if known.
    """

    def __init__(self, reason: str, node: ast.AST | None = None):
        super().__init__(reason)
        self.reason = reason
        self.line: int | None = getattr(node, "lineno", None)

    def at(self, node: Any) -> "Refused":
        """The same with the line of a statement, where none is known."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self


class Unlearned(Refused):
    """What a rule returns is not known before it has run once more."""


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Leave the program to the tape."""
    raise Refused(reason, node)
