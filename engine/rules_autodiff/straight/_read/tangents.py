"""Tangents of the steps of a program, where it is written out in forward mode.

A step gives its result and, beside it, the tangent of its result: by the same texts as
cotangents where an operation is elementwise, and by the call itself where it is linear.
With lanes, tangents are several at once, along one more axis at the end.
"""

import re
from typing import Any

from rules_autodiff.straight._program.blocks import Step, as_row, fields_of
from rules_autodiff.straight._program.kinds import REAL, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value, dot_of
from rules_autodiff.straight._program.written import JOINT, OWN, Written

from .part import Part

__all__ = ["Tangents"]

FIELD = re.compile(r"\{(\w+)\}")
LANES = "__lanes"  # their number, in generated code


class Tangents(Part):
    """Writes the tangents of values down; no texts in reverse mode."""

    @property
    def wanted(self) -> bool:
        return bool(self.reader.unit.mode != "reverse")

    @property
    def in_lanes(self) -> bool:
        return bool(self.reader.unit.mode == "lanes")

    def dot(self, x: Value) -> str:
        """The tangent of a value; zeros if it carries none."""
        return dot_of(x.bar) if x.active else self.zero(x.kind, x.text)

    def zero(self, kind: Kind, text: str) -> str:
        """The text of a zero tangent."""
        if kind.name == "array":
            lanes = f"(*{text}.shape, {LANES})"
            return f"np_zeros({lanes if self.in_lanes else f'{text}.shape'})"
        if kind.name == "row":
            lanes = f"np_zeros(({len(kind.parts)}, {LANES}))"
            return lanes if self.in_lanes else f"((0.0,) * {len(kind.parts)})"
        return f"np_zeros({LANES})" if self.in_lanes else "0.0"

    def zeros_of_list(self, text: str) -> str:
        """The text of the tangent of a list without derivatives."""
        return f"zero_entries({text}{f', {LANES}' if self.in_lanes else ''})"

    def give(self, step: Step, text: str, *, late: bool = False) -> None:
        """Let a step assign the tangent of its result."""
        if self.wanted:
            step.tangent, step.late = f"{{out}} = {text}", late

    def change(self, step: Step, text: str) -> None:
        """Let a step change the tangent of an array or list in place."""
        if self.wanted:
            step.tangent, step.changes = f"{{out}}{text}", True

    def part(self, owner: Value, key: str) -> str:
        """The tangent of a part of an array."""
        return f"{dot_of(owner.bar)}[{self.key(key)}]"

    def key(self, key: str) -> str:
        """A key of an array, for its tangent."""
        if not self.in_lanes or "..." not in key or key == "...":
            return key
        if key[0] == "(":
            return f"{key[:-2]}, slice(None),)"
        return f"{key.rstrip(',')}, :"

    def store(self, step: Step, key: str, value: Value, sign: str = "") -> None:
        """Let a step write a tangent into a part of one."""
        if not self.wanted:
            return
        text = dot_of(value.bar) if value.active else "0.0"
        self.change(step, f"[{self.key(key)}] {sign}= {text}")

    def item(self, step: Step, held: Value, index: str, name: str) -> None:
        """Let a step take the tangent of an item that a loop goes over."""
        kind = step.kind or REAL
        text = f"{dot_of(held.bar)}[{index}]" if held.active else self.zero(kind, name)
        self.give(step, text)

    def call(
        self, step: Step, row: str, text: str, operands: list[Value], bars: list[str]
    ) -> None:
        """Let a step call a function of the program with tangents, and take theirs."""
        if self.wanted and not operands:
            step.text = f"{row} = {text}"
        elif self.wanted:
            dots = "".join([f", {dot_of(x.bar)}" for x in operands])
            step.text = f"{row}, {as_row([*map(dot_of, bars)])} = {text[:-1]}{dots})"

    # operations

    def of_operation(self, written: Written, named: list[Any], text: str) -> str:
        """The tangent of an operation's result.

        Args:
            written: The operation.
            named: Its operands, with the texts of their cotangents.
            text: The text of the call, with fields.
        """
        pushes = self.pushes(written, named)
        widened = self.in_lanes and written.lanes is None
        operands = [x for x, _ in named]
        active = [
            i for i, (x, pull) in enumerate(named) if x.active and pull is not None
        ]
        if any(pushes[i] == JOINT for i in active):
            return self.by_call(text, operands, active, joint=True)
        parts = []
        for i in active:
            push = pushes[i]
            if push is None:
                refuse("several tangents of such an operation are not written out")
            if push == OWN:
                if widened:
                    refuse("several tangents of such an operation are not written out")
                parts.append(self.by_call(text, operands, [i]))
            else:
                filled = self.filled(push, operands, i, widened=widened)
                array = widened and written.kind.name == "array"
                parts.append(
                    filled.replace("{z}", "{z}[..., None]") if array else filled
                )
        total = parts[0]
        for part in parts[1:]:
            total += f" - {part[1:]}" if part[0] == "-" else f" + {part}"
        texts = [str(pushes[i]) for i in active]
        if written.kind.name == "array" and is_narrow(texts, operands, active):
            lanes = "_lanes" if self.in_lanes else ""
            return f"wide{lanes}({total}, {{sz}})"
        return total

    def pushes(self, written: Written, named: list[Any]) -> Any:
        if self.in_lanes and written.lanes is not None:
            return (*written.lanes, *[None] * len(named))
        if written.pushes is not None:
            return (*written.pushes, *[None] * len(named))
        followed = [x for x, pull in named if x.active and pull is not None]
        if written.kind is not REAL or any(x.kind is not REAL for x in followed):
            refuse("the tangent of such an operation is not written out")
        return written.pulls  # of numbers a linear map is its own transpose

    def by_call(
        self,
        text: str,
        operands: list[Value],
        active: list[int],
        *,
        joint: bool = False,
    ) -> str:
        """The call of a linear operation on tangents; of the others zeros, if joint."""
        texts = [x.text for x in operands]
        for i, x in enumerate(operands):
            if i in active:
                texts[i] = dot_of(x.bar)
            elif joint:
                texts[i] = self.zero(x.kind, x.text)
        return text.format(*texts)

    def filled(
        self, push: str, operands: list[Value], place: int, *, widened: bool
    ) -> str:
        """A text with the operands in its fields; those of the result stay."""

        def meaning(found: re.Match[str]) -> str:
            name = found[1]
            if name == "dz":
                return dot_of(operands[place].bar)
            if name == "z":
                return "{z}"
            if name == "sz":
                return "{sz}"
            if name[0] == "s":
                return f"{operands[int(name[1:])].text}.shape"
            x = operands[int(name)]
            return (
                f"{x.text}[..., None]" if widened and x.kind.name == "array" else x.text
            )

        return FIELD.sub(meaning, push)


def is_narrow(texts: list[str], operands: list[Value], active: list[int]) -> bool:
    """Whether a tangent may lack the full shape of an elementwise result."""
    if any(text in (OWN, JOINT) for text in texts):
        return False
    fields = {field for text in texts for field in fields_of(text)}
    if fields & {"z", "sz"}:
        return False
    arrays = {i for i, x in enumerate(operands) if x.kind.name == "array"}
    known = {i for i in arrays if str(i) in fields or i in active}
    return not known or known != arrays
