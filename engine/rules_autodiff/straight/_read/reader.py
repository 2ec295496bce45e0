"""From a function's syntax tree to blocks of steps with known kinds.

The program is read from top to bottom, as often as it takes until the kinds at the
heads of its loops no longer change.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

from rules_autodiff.straight._guard.captures import Captures, Place
from rules_autodiff.straight._program.blocks import Block, Line, Return, Step
from rules_autodiff.straight._program.kinds import Kind
from rules_autodiff.straight._program.values import Value, bar_of
from rules_autodiff.straight._runtime import helpers

from .builtins import Builtins
from .closures import Closures
from .comprehensions import Comprehensions
from .expressions import Expressions
from .facts import Facts
from .indexing import Indexing
from .known_calls import KnownCalls
from .language import builtin_readers, expression_readers, statement_readers
from .lists import Lists
from .loops import Loops
from .objects import Objects
from .operations import Operations
from .own_calls import OwnCalls
from .statements import Statements
from .tangents import Tangents
from .variables import Variables

__all__ = ["Reader"]

RESERVED = frozenset(
    {
        *helpers.HELPERS, "type", "float", "reversed", "enumerate", "caps", "np",
        "math", "abs", "bool", "int", "len", "max", "min", "range", "zip",
    }
)  # fmt: skip

# What changes while a function is read.
HELD = (
    "kinds", "owned", "items", "block", "indent", "depth", "line", "bars", "captured",
    "assigned", "headed", "locals", "result", "fixed", "comprised", "branches",
)  # fmt: skip


class Reader:
    """One reading of a function: its state, and the parts that read the language.

    A part reads one part of the language, and asks the others by way of its reader.

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
        self.result: Kind | None = None  # of the function's value, so far
        self.fixed: dict[str, Value] = {}  # variables that are literals, here
        self.comprised: set[str] = set()  # variables of comprehensions that are read
        self.closure: Kind | None = None  # of the function, if it is a local one
        self.changing = ""  # the parameter whose instance the function changes
        self.parameters: list[tuple[str, Kind]] = []

        self.operations, self.tangents = Operations(self), Tangents(self)
        self.variables, self.lists = Variables(self), Lists(self)
        self.expressions, self.indexing = Expressions(self), Indexing(self)
        self.known_calls, self.own_calls = KnownCalls(self), OwnCalls(self)
        self.builtins, self.comprehensions = Builtins(self), Comprehensions(self)
        self.statements, self.loops = Statements(self), Loops(self)
        self.closures, self.objects = Closures(self), Objects(self)

        self.expression_readers = expression_readers(self)
        self.statement_readers = statement_readers(self)
        self.builtin_readers = builtin_readers(self)

    # names

    def own(self, name: str) -> str:
        """The name of a user's variable in written code."""
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

    def buffer(self, bar: str) -> None:
        if bar not in self.facts.buffered:
            self.facts.buffered.add(bar)
            self.facts.changed = True

    def atom(self, value: Value) -> Value:
        """The value under a name, if it is no name or literal already."""
        if value.atom or value.kind.name == "row":
            return value
        name = self.temporary()
        if not self.tracing:
            return value
        self.step(Step(self.line, f"{name} = {value.text}", (name,)))
        return replace(value, text=name, atom=True)

    @contextmanager
    def untraced(self) -> Iterator[None]:
        """Reads of which no derivative is wanted: each value is one text."""
        before, self.tracing = self.tracing, False
        try:
            yield
        finally:
            self.tracing = before

    # joining ways

    def snapshot(self) -> tuple[dict[str, Kind], set[str]]:
        return dict(self.kinds), set(self.owned)

    def restore(self, state: Any) -> None:
        self.kinds, self.owned = dict(state[0]), set(state[1])

    # what comes to nothing

    def mark(self) -> Any:
        """The state of the reading, between two blocks."""
        held = {name: copy.copy(getattr(self, name)) for name in HELD}
        loops = self.loops.ways, self.loops.path, self.loops.head
        lengths = [len(ways) for ways in self.loops.ways]
        parts = loops, self.closures.settling, self.statements.hoisted
        return held, parts, lengths, self.unit.state()

    def rewind(self, mark: Any) -> None:
        """Forget what was read since."""
        held, (loops, settling, hoisted), lengths, unit = mark
        self.loops.ways, self.loops.path, self.loops.head = loops
        self.closures.settling, self.statements.hoisted = settling, hoisted
        vars(self).update({name: copy.copy(value) for name, value in held.items()})
        for ways, length in zip(self.loops.ways, lengths, strict=True):
            del ways[length:]
        self.unit.rewind(unit)
