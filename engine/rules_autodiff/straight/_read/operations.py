"""Operations of known kinds: a step of forward code with its way back."""

from typing import Any

from rules_autodiff.straight._program.blocks import Pull, Step
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value, bar_of, dot_of
from rules_autodiff.straight._program.written import Scatter, Written

from .part import Part

__all__ = ["Operations"]


class Operations(Part):
    """Writes operations down."""

    def apply(self, written: Written, operands: list[Value], text: str) -> Value:
        """The result of an operation; a step where a derivative passes through."""
        if any(x.kind.name == "many" for x in operands):
            refuse("a list is used in such a way")
        pulls = written.pulls or (None,) * len(operands)
        pairs = list(zip(operands, pulls, strict=False))
        follows = self.reader.tracing and written.kind.is_real
        active = follows and any(x.active and pull is not None for x, pull in pairs)
        unstable = not written.fresh and any(x.unstable for x in operands)
        if any(x.active and pull is None for x, pull in pairs) and active:
            blocked = [x for x, pull in pairs if x.active and pull is None]
            if any(x.kind.is_real for x in blocked):
                refuse("a derivative by one of the operands is not written out")
        text = written.text or text
        if not active:
            return Value(
                filled(text, operands), written.kind, fresh=written.fresh,
                unstable=unstable,
            )  # fmt: skip
        step = Step(self.reader.line)
        named = self.named_operands(pairs)
        for place, (x, pull) in enumerate(named):
            if x.active and pull is not None:
                step.pulls.append(self.pull_of(x, pull, place))
        name = self.reader.temporary()
        step.text = f"{name} = {filled(text, [x for x, _ in named])}"
        step.assigns, step.out, step.kind = (
            (name,),
            bar_of(name, written.kind),
            written.kind,
        )
        values = [x for x, _ in named]
        if self.reader.tangents.wanted:
            tangent = self.reader.tangents.of_operation(written, named, text)
            self.reader.tangents.give(step, tangent)
        else:
            for wanted in step.fields:
                self.mean(step, wanted, values, name)
        self.reader.step(step)
        return Value(
            name, written.kind, active=True, atom=True, fresh=written.fresh,
            unstable=unstable,
        )  # fmt: skip

    def named_operands(self, pairs: list[Any]) -> list[Any]:
        """The operands, those under a name that are to be kept."""
        if self.reader.tangents.wanted:  # any of them may occur twice
            return [(self.reader.atom(x), pull) for x, pull in pairs]
        texts = [pull for x, pull in pairs if x.active and pull is not None]
        kept = {
            field
            for text in texts
            for field in Pull("", pairs[0][0].kind, text).fields
            if field
        }
        found = []
        for place, (x, pull) in enumerate(pairs):
            needed = str(place) in kept or f"s{place}" in kept
            found.append((self.reader.atom(x) if needed or x.active else x, pull))
        return found

    def pull_of(self, x: Value, pull: Any, place: int) -> Pull:
        if isinstance(pull, Scatter):
            self.reader.buffer(x.bar)
        return Pull(x.bar, x.kind, pull, f"s{place}")

    def mean(self, step: Step, wanted: str, values: list[Value], name: str) -> None:
        """Say what a field of a cotangent means in the forward code."""
        if wanted == "z":
            step.after[wanted] = name
        elif wanted == "sz":
            step.after[wanted] = f"{name}.shape"
        elif wanted.startswith("s"):
            step.before[wanted] = f"{values[int(wanted[1:])].text}.shape"
        else:
            step.before[wanted] = self.stable(values[int(wanted)]).text

    def stable(self, x: Value) -> Value:
        """The value in memory that the program does not write into."""
        if not x.unstable or x.kind.name != "array":
            return x
        name = self.reader.temporary()
        self.reader.step(Step(self.reader.line, f"{name} = {x.text}.copy()", (name,)))
        return Value(name, x.kind, atom=True)

    def steady(self, x: Value) -> Value:
        """A copy of a value, through which its derivative passes."""
        if not x.unstable or x.kind.name != "array":
            return x
        name = self.reader.temporary()
        step = Step(self.reader.line, f"{name} = {x.text}.copy()", (name,))
        if x.active:
            step.out, step.kind = bar_of(name, x.kind), x.kind
            step.pulls = [Pull(x.bar, x.kind, "{dz}")]
            self.reader.tangents.give(step, f"{dot_of(x.bar)}.copy()")
        self.reader.step(step)
        return Value(name, x.kind, x.active, atom=True, fresh=True)


def filled(text: str, operands: list[Value]) -> str:
    """The text with those of the operands in its fields."""
    return text.format(*[x.text for x in operands]) if "{" in text else text
