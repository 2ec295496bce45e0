"""Straight-line pieces of a program, forward and backward.

A block is a run of steps without control flow. At its end the forward code records its
number and its residuals; the reverse code reads the records from the last to the first,
and for each goes through the block's steps backwards.
"""

import re
from dataclasses import dataclass, field

from .kinds import Kind
from .written import Scatter

__all__ = [
    "FIELD", "Block", "Line", "Pull", "Return", "Step", "as_row", "fields_of", "filled",
]  # fmt: skip

FIELD = re.compile(r"\{(\w+)\}")


def fields_of(text: str) -> list[str]:
    """The names of a text's fields."""
    return FIELD.findall(text)


def filled(text: str, meaning: dict[str, str]) -> str:
    """The text with its fields replaced."""
    return FIELD.sub(lambda found: meaning[found[1]], text)


def as_row(names: list[str]) -> str:
    """The text of a tuple."""
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


@dataclass
class Pull:
    """The cotangent from a step to one operand.

    Attributes:
        bar: The name of the operand's cotangent.
        kind: The operand's kind.
        text: The cotangent, or a `Scatter` into zeros.
        shape: The field of the operand's shape, or of a list's length.
        loose: Whether the cotangent may be 0.0 instead of an array.
    """

    bar: str
    kind: Kind
    text: "str | Scatter"
    shape: str = ""
    loose: bool = False

    @property
    def fields(self) -> list[str]:
        if isinstance(self.text, Scatter):
            named = fields_of(self.text.key) + fields_of(self.text.value)
            return [*named, self.shape]
        return fields_of(self.text)


@dataclass
class Step:
    """One line of forward code with its backward step.

    Attributes:
        line: The line of the user's file.
        text: The forward line; may be empty.
        assigns: The names that it assigns.
        out: The name of the result's cotangent; empty if it has none.
        kind: The result's kind.
        pulls: The cotangents of the operands.
        before: By field, its text, to be read before the step.
        after: By field, its text, to be read after the step.
        keeps: Whether the result's cotangent is unchanged: `y += v`.
        taken: The text that reads the cotangent of a part: `y[i] = v`.
        cleared: The text that clears that part.
        calls: The text that calls a reverse function, and names its results.
        also: The cotangents of further results, with their kinds.
        tangent: In forward mode the line that gives the tangent of the result: `{out}`
            is that tangent, `{z}` the result.
        late: Whether that line follows the step.
        changes: Whether that line changes the tangent in place.
    """

    line: int
    text: str = ""
    assigns: tuple[str, ...] = ()
    out: str = ""
    kind: Kind | None = None
    pulls: list[Pull] = field(default_factory=list)
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    keeps: bool = False
    taken: str = ""
    cleared: str = ""
    calls: str = ""
    also: tuple[tuple[str, Kind], ...] = ()  # the cotangents of further results
    tangent: str = ""
    late: bool = False
    changes: bool = False

    @property
    def fields(self) -> list[str]:
        """The fields in the backward step."""
        own = [f for t in (self.taken, self.cleared, self.calls) for f in fields_of(t)]
        named = own + [f for pull in self.pulls for f in pull.fields]
        return [f for f in dict.fromkeys(named) if f != "dz"]


@dataclass
class Block:
    """Steps without control flow in between.

    Attributes:
        number: Its number among the blocks of the function.
        depth: The number of enclosing loops.
        indent: Its indentation in the forward code.
        steps: Its steps.
        saved: The names of its residuals, in the reverse code.
    """

    number: int
    depth: int
    indent: int
    steps: list[Step] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        return any(step.out for step in self.steps)


@dataclass
class Line:
    """A literal line of forward code."""

    indent: int
    text: str
    line: int


@dataclass
class Return:
    """A return statement: the value, then all residuals."""

    indent: int
    text: str
    line: int
    block: Block | None
