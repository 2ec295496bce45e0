"""Text from blocks in forward mode: each step, and the tangent of its result."""

import re
from dataclasses import dataclass, field

from rules_autodiff.straight._program.blocks import (
    Block,
    Line,
    Return,
    Step,
    as_row,
    fields_of,
    filled,
)
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import dot_of

from .folding import folded
from .writer import indented

__all__ = ["TangentWriter"]

RESULT = frozenset({"z", "sz"})  # fields of what a step assigns
# Texts that may be another tangent itself, which the program changes in place.
SHARED = re.compile(r"\w+|wide(_lanes)?\(\w+, .*\)")
# In lanes the tangent of an entry is a row of its array's, which may be written to.
ENTRY = re.compile(r"\w+\[.*\]")


@dataclass
class TangentWriter:
    """The text of one function that gives its value and the tangent of that.

    Attributes:
        name: Its name in generated code.
        parameters: The names of the arguments.
        captured: The names of captured values with their places in `caps`.
        items: Lines and blocks in the order of the program.
        results: The names of the results' tangents; without arguments' tangents the
            function gives its value alone.
        dots: The names of the arguments' tangents.
        zeros: Tangents of other arguments, which may get one, with their first values.
        lanes: Whether tangents have one more axis, with one entry per direction.
    """

    name: str
    parameters: list[str]
    captured: dict[str, int]
    items: list[Line | Block | Return]
    results: list[str]
    dots: list[str]
    zeros: list[tuple[str, str]]
    lanes: bool
    forward: list[tuple[str, int]] = field(default_factory=list)
    backward: list[tuple[str, int]] = field(default_factory=list)
    kinds: dict[str, Kind] = field(default_factory=dict)

    def write(self) -> None:
        """Fill `forward`, lines of text with the lines of the user's file."""
        steps = [
            s for item in self.items if isinstance(item, Block) for s in item.steps
        ]
        self.changing = any(step.changes for step in steps)
        body: list[tuple[str, int]] = []
        for item in self.items:
            if isinstance(item, Block):
                for step in item.steps:
                    texts = self.lines(step)
                    body += [(indented(item.indent, t), step.line) for t in texts]
            elif isinstance(item, Line):
                body.append((indented(item.indent, item.text), item.line))
            else:
                dots = f", {as_row(self.results)}" if self.dots else ""
                text = f"return {item.text}{dots}"
                body.append((indented(item.indent, text), item.line))
        names = [*self.parameters, "caps", *self.dots]
        self.forward = [(f"def {self.name}({', '.join(names)}):", 0)]
        for name, place in self.captured.items():
            self.forward.append((indented(1, f"{name} = caps[{place}]"), 0))
        if self.lanes and self.dots:
            self.forward.append((indented(1, f"__lanes = {self.dots[0]}.shape[-1]"), 0))
        for name, zero in self.zeros if self.dots else ():
            self.forward.append((indented(1, f"{name} = {zero}"), 0))
        self.forward += folded(body)

    def lines(self, step: Step) -> list[str]:
        """A step, with the line of its tangent before or after it."""
        own = [step.text] if step.text else []
        if not self.dots:  # none of its arguments has a tangent
            return own
        if not step.tangent:
            if step.out and not step.calls:
                refuse("the tangent of a step is not written out")
            return own
        z = step.assigns[0] if step.assigns else ""
        if RESULT.intersection(fields_of(step.tangent)):
            if z and mentions(step.tangent, z):  # what the step replaces
                own, last = [f"__new = {step.text.partition(' = ')[2]}"], f"{z} = __new"
                return [*own, self.tangent(step, "__new"), last]
            return [*own, self.tangent(step, z)]
        tangent = self.tangent(step, z)
        return [*own, tangent] if step.late else [tangent, *own]

    def tangent(self, step: Step, z: str) -> str:
        out = dot_of(step.out)
        text = step.tangent
        is_array = step.kind is not None and step.kind.name == "array"
        if is_array and self.changing and not step.changes:
            made = text.partition(" = ")[2]
            if SHARED.fullmatch(made):
                text = f"{{out}} = ({made}).copy()"
        if self.lanes and not (is_array or step.changes):
            made = text.partition(" = ")[2]
            if ENTRY.fullmatch(made):
                text = f"{{out}} = {made}.copy()"
        return filled(text, {"out": out, "z": z, "sz": f"{z}.shape"})


def mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None
