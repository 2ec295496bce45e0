"""Straight pieces of a program, forward and backward.

A block is a run of steps without control flow in it. At its end the forward code notes
which block it was, and the values that the way back needs; the reverse code takes the
notes from the last to the first, and for each goes through the block's steps backwards.
"""

import re
from dataclasses import dataclass, field

from .kinds import Kind
from .written import Scatter

__all__ = [
    "Block", "Line", "Pull", "Return", "Step", "as_row", "fields_of", "filled",
]  # fmt: skip

FIELD = re.compile(r"\{(\w+)\}")


def fields_of(text: str) -> list[str]:
    """The names of a text's fields."""
    return FIELD.findall(text)


def filled(text: str, meaning: dict[str, str]) -> str:
    """The text with what its fields mean."""
    return FIELD.sub(lambda found: meaning[found[1]], text)


def as_row(names: list[str]) -> str:
    """The text of a tuple."""
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


@dataclass
class Pull:
    """The cotangent that a step gives to one operand.

    Attributes:
        bar: The name of the operand's cotangent.
        kind: The operand's kind.
        text: The cotangent, or a `Scatter` into zeros.
        shape: The field of the operand's shape, or of a list's length.
        loose: Whether the cotangent may be 0.0 in place of an array.
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
    """One line of forward code with the way back.

    Attributes:
        line: The line of the user's file.
        text: The forward line; empty where there is none.
        assigns: The names that it assigns.
        out: The name of the result's cotangent; empty where it has none.
        kind: The result's kind.
        pulls: The cotangents of the operands.
        before: By field, the text of what it means, to be read before the step.
        after: The same, to be read after the step.
        keeps: Whether the result's cotangent stays as it is: `y += v`.
        taken: The text that takes the cotangent where it is a part: `y[i] = v`.
        cleared: The text that clears that part.
        calls: The text that calls a reverse function, and names what that returns.
        also: The cotangents of further results, with their kinds.
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

    @property
    def fields(self) -> list[str]:
        """The fields that the way back names."""
        own = [f for t in (self.taken, self.cleared, self.calls) for f in fields_of(t)]
        named = own + [f for pull in self.pulls for f in pull.fields]
        return [f for f in dict.fromkeys(named) if f != "dz"]


@dataclass
class Block:
    """Steps without control flow in between.

    Attributes:
        number: Its number among the blocks of the function.
        depth: How many loops it stands in.
        indent: Its indentation in the forward code.
        steps: What it does.
        saved: The names of what is kept, in the reverse code.
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
    """A line of forward code as it stands."""

    indent: int
    text: str
    line: int


@dataclass
class Return:
    """A return statement: the value, then all that the way back needs."""

    indent: int
    text: str
    line: int
    block: Block | None
