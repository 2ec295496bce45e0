"""From a function's syntax tree to blocks of steps with known kinds.

The program is read from top to bottom, as often as it takes until the kinds at the
heads of its loops no longer change.
"""

from dataclasses import replace
from types import FunctionType
from typing import Any

from rules_autodiff.straight._guard.captures import Captures, Place
from rules_autodiff.straight._program.blocks import Block, Line, Pull, Return, Step
from rules_autodiff.straight._program.kinds import MIXED, Kind, join
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Value, bar_of
from rules_autodiff.straight._program.written import Scatter, Written
from rules_autodiff.straight._runtime import helpers

__all__ = ["Facts", "Reader", "joined", "settled_names", "writes_lines"]

RESERVED = frozenset(
    {*helpers.HELPERS, "type", "float", "reversed", "enumerate", "caps"}
)


class Facts:
    """What is known of a function from reading it before.

    Attributes:
        heads: The kinds of variables at the head of each loop, by its place.
        active: Variables that carry a derivative somewhere.
        written: Variables over arrays that the program writes into.
        grown: Variables whose entries, as those of a list, are written or added to.
        stores: How often variables are assigned in the text.
        changed: Whether something became known that was not.
    """

    def __init__(self) -> None:
        self.heads: dict[Any, tuple[dict[str, Kind], set[str]]] = {}
        self.active: set[str] = set()
        self.written: set[str] = set()
        self.buffered: set[str] = set()
        self.grown: set[str] = set()
        self.stores: dict[str, int] = {}
        self.changed = False

    def activate(self, name: str) -> None:
        if name not in self.active:
            self.active.add(name)
            self.changed = True


class Reader:
    """The state of one reading; what reads expressions and statements builds on it.

    Attributes:
        unit: The functions that are written together, and what they capture.
        function: The function that is read.
        place: Where a guard finds the function.
        kinds: The kinds of the variables, here.
        owned: Variables over arrays that nothing else leads to, here.
        written: Variables over arrays that the program writes into, anywhere.
        tracing: Whether derivatives are followed; not in tests of branches.
    """

    def __init__(self, unit: Any, function: FunctionType, place: Place, facts: Facts):
        self.unit, self.function, self.place, self.facts = unit, function, place, facts
        self.captures: Captures = unit.captures
        self.kinds: dict[str, Kind] = {}
        self.owned: set[str] = set()
        self.written: set[str] = set()
        self.locals: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.items: list[Line | Block | Return] = []
        self.block: Block | None = None
        self.indent, self.depth, self.line = 1, 0, 0
        self.tracing = True
        self.branches = False
        self.count, self.blocks = 0, 0
        self.bars: dict[str, Kind] = {}
        self.captured: dict[str, int] = {}
        self.assigned: set[str] = set()  # variables that are assigned in the body
        self.headed: set[str] = set()  # those that are assigned in the heads of loops
        self.result: Any = None
        self.lengths: dict[str, str] = {}  # of lists that loops go over
        self.fixed: dict[str, Value] = {}  # variables that are literals, here
        self.comprised: set[str] = set()  # variables of comprehensions that are read
        self.closure: Kind | None = None  # of the function, if it is a local one
        self.parameters: list[tuple[str, Kind]] = []

    # names

    def own(self, name: str) -> str:
        """The name of a user's variable in written code."""
        name = self.renamed.get(name, name)
        return f"{name}__v" if name in RESERVED else name

    def temporary(self, stem: str = "") -> str:
        """A name that no user's variable has."""
        self.count += 1
        return f"__{stem}{self.count}"

    def captured_value(self, name: str, number: int, kind: Kind) -> Value:
        text = f"{name}__c{number}"
        self.captured[text] = number
        return Value(text, kind, atom=True)

    # lines and steps

    def raw(self, text: str) -> None:
        """A line of control flow."""
        self.close()
        self.items.append(Line(self.indent, text, self.line))

    def close(self) -> None:
        """End the current block."""
        self.block = None

    def step(self, step: Step) -> Step:
        """Add a step to the current block."""
        if self.block is None:
            self.blocks += 1
            self.block = Block(self.blocks, self.depth, self.indent)
            self.items.append(self.block)
        self.block.steps.append(step)
        self.assigned.update(step.assigns)
        return step

    def note_bar(self, name: str, kind: Kind) -> str:
        """The cotangent of a variable."""
        bar = bar_of(name, kind)
        self.bars[bar] = kind
        return bar

    # operations

    def atom(self, value: Value) -> Value:
        """The value under a name, if it is no name or literal already."""
        if value.atom or value.kind.name == "row":
            return value
        name = self.temporary()
        if not self.tracing:
            return value
        self.step(Step(self.line, f"{name} = {value.text}", (name,)))
        return replace(value, text=name, atom=True)

    def apply(self, written: Written, operands: list[Value], text: str) -> Value:
        """The result of an operation; a step where a derivative passes through."""
        if any(x.kind.name == "many" for x in operands):
            refuse("a list is used in such a way")
        pulls = written.pulls or (None,) * len(operands)
        pairs = list(zip(operands, pulls, strict=False))
        follows = self.tracing and written.kind.is_real
        active = follows and any(x.active and pull is not None for x, pull in pairs)
        unstable = not written.fresh and any(x.unstable for x in operands)
        if any(x.active and pull is None for x, pull in pairs) and active:
            blocked = [x for x, pull in pairs if x.active and pull is None]
            if any(x.kind.is_real for x in blocked):
                refuse("a derivative by one of the operands is not written out")
        text = written.text or text
        if not active:
            return Value(
                self.filled(text, operands), written.kind, fresh=written.fresh,
                unstable=unstable,
            )  # fmt: skip
        step = Step(self.line)
        named = self.named_operands(pairs)
        for place, (x, pull) in enumerate(named):
            if x.active and pull is not None:
                step.pulls.append(self.pull_of(x, pull, place))
        name = self.temporary()
        step.text = f"{name} = {self.filled(text, [x for x, _ in named])}"
        step.assigns, step.out, step.kind = (
            (name,),
            bar_of(name, written.kind),
            written.kind,
        )
        values = [x for x, _ in named]
        for wanted in step.fields:
            self.mean(step, wanted, values, name)
        self.step(step)
        return Value(
            name, written.kind, active=True, atom=True, fresh=written.fresh,
            unstable=unstable,
        )  # fmt: skip

    def named_operands(self, pairs: list[Any]) -> list[Any]:
        """The operands, those under a name that are to be kept."""
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
            found.append((self.atom(x) if needed or x.active else x, pull))
        return found

    def pull_of(self, x: Value, pull: Any, place: int) -> Pull:
        if isinstance(pull, Scatter):
            self.buffer(x.bar)
        return Pull(x.bar, x.kind, pull, f"s{place}")

    def buffer(self, bar: str) -> None:
        if bar not in self.facts.buffered:
            self.facts.buffered.add(bar)
            self.facts.changed = True

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
        name = self.temporary()
        self.step(Step(self.line, f"{name} = {x.text}.copy()", (name,)))
        return Value(name, x.kind, atom=True)

    def steady(self, x: Value) -> Value:
        """The same with its derivative: a copy, through which that passes."""
        if not x.unstable or x.kind.name != "array":
            return x
        name = self.temporary()
        step = Step(self.line, f"{name} = {x.text}.copy()", (name,))
        if x.active:
            step.out, step.kind = bar_of(name, x.kind), x.kind
            step.pulls = [Pull(x.bar, x.kind, "{dz}")]
        self.step(step)
        return Value(name, x.kind, x.active, atom=True, fresh=True)

    def filled(self, text: str, operands: list[Value]) -> str:
        if "{" not in text:
            return text
        return text.format(*[x.text for x in operands])

    # joining ways

    def snapshot(self) -> tuple[dict[str, Kind], set[str]]:
        return dict(self.kinds), set(self.owned)

    def restore(self, state: Any) -> None:
        self.kinds, self.owned = dict(state[0]), set(state[1])


def joined(states: list[Any]) -> Any:
    """What is known where several ways meet; None where none leads."""
    if not states:
        return None
    kinds, owned = dict(states[0][0]), set(states[0][1])
    for other, held in states[1:]:
        owned &= held
        for name in {**kinds, **other}:
            if name in kinds and name in other:
                kinds[name] = join(kinds[name], other[name]) or MIXED
            elif name in other:
                kinds[name] = other[name]
    return kinds, owned


def writes_lines(items: list[Any]) -> bool:
    """Whether some line of forward code comes of them, whatever is kept."""
    for item in items:
        if isinstance(item, Block):
            if item.is_active or any(step.text for step in item.steps):
                return True
        elif isinstance(item, Return) or item.text:
            return True
    return False


def settled_names(items: list[Any]) -> set[str]:
    """Variables that are assigned once, on every way and before any return."""
    found: set[str] = set()
    counts: dict[str, int] = {}
    early = True
    for item in items:
        early = early and not isinstance(item, Return)
        if isinstance(item, Block):
            for step in item.steps:
                for name in step.assigns:
                    counts[name] = counts.get(name, 0) + 1
                    if early and item.indent == 1:
                        found.add(name)
    return {name for name in found if counts[name] == 1}
