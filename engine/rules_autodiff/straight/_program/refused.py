"""Why a program uses the tape."""

import ast
import linecache
from types import CodeType, FunctionType
from typing import Any, NoReturn

from .kinds import TANGENT

__all__ = ["REREAD", "Refused", "Unlearned", "in_place", "refuse"]

OURS = frozenset({"rules_autodiff", "rules_core"})
# By the name of a file of generated code that is read again, for each line the function
# of the program, its file and line.
REREAD: dict[str, list[tuple[str, str, int]]] = {}


class Refused(Exception):
    """The straight-line tier does not support a program.

    Attributes:
        reason: The unsupported operation.
        line: Its line in the file, if known.
        code: The function of the program that it stands in, if known.
    """

    def __init__(self, reason: str, node: ast.AST | None = None):
        super().__init__(reason)
        self.reason = reason
        self.line: int | None = getattr(node, "lineno", None)
        self.code: CodeType | None = None

    def at(self, node: Any) -> "Refused":
        """This error with the line of a statement, if it has none."""
        if self.line is None:
            self.line = getattr(node, "lineno", None)
        return self

    def within(self, f: FunctionType) -> "Refused":
        """This error with the function that was read, if it has none.

        In a function of ours it is that of the line of the program that needs it.
        """
        if self.code is not None:
            return self
        package = (f.__module__ or "").partition(".")[0]  # it may have none
        if package in OURS and not f.__code__.co_filename.startswith(TANGENT):
            needed = f"a function of {package} that it needs"
            self.reason, self.line = f"{needed} is not written out", None
        else:
            self.code = f.__code__
        return self

    @property
    def placed(self) -> str:
        """The reason, with the place in the program."""
        if self.code is None:
            return self.reason
        name, file = self.code.co_qualname, self.code.co_filename
        return in_place(self.reason, name, file, self.line)


class Unlearned(Refused):
    """The result of a rule is unknown before another run."""


def refuse(reason: str, node: ast.AST | None = None) -> NoReturn:
    """Let the program use the tape."""
    raise Refused(reason, node)


def in_place(reason: str, name: str, file: str, line: int | None) -> str:
    """A reason with the function, the line and its text, as far as they are known."""
    if file.startswith(TANGENT):  # generated code, which is read again
        places = REREAD.get(file, [])
        known = line is not None and 0 < line <= len(places) and places[line - 1][2]
        return in_place(reason, *places[line - 1]) if line and known else reason
    name = name.rpartition("<locals>.")[2]
    if not line:
        return f"{reason} (in {name})"
    text = linecache.getline(file, line).strip()
    return f"{reason} ({name}, line {line}{': ' * bool(text)}{text})"
