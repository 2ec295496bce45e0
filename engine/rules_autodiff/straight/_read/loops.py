"""Loops, read: their heads, their bodies, and what they go over."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rules_autodiff.straight._program.blocks import Pull, Step
from rules_autodiff.straight._program.kinds import INT, MIXED, REAL, Kind, array, join
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Known, Value
from rules_autodiff.straight._program.written import Scatter

from .part import Part
from .syntax import (
    appended_names,
    is_leaving,
    is_name,
    own_statements,
    written_names,
)
from .variables import row_of
from .ways import joined, writes_lines

if TYPE_CHECKING:
    from .reader import Reader

__all__ = ["Loops"]

SWEEPS = (range, enumerate, zip, reversed)
LONG = 16  # entries of a tuple: a loop over more is not written once for each

Head = tuple[str, list[Any]]


class Loops(Part):
    """Reads loops, and follows the ways through them.

    Attributes:
        ways: What is known where the innermost loop starts again, and where it is left.
        head: The loop whose head is read.
        path: In which of their entries the loops over tuples are that are read.
    """

    ways: tuple[list[Any], list[Any]] = ([], [])
    path: tuple[Any, ...] = ()
    head: ast.For | None = None

    def __init__(self, reader: "Reader"):
        super().__init__(reader)
        self.lengths: dict[str, str] = {}  # of lists that loops go over

    # loops

    def do_while(self, node: ast.While) -> bool:
        reader = self.reader
        reader.branches = True
        self.enter(node)
        test = reader.expressions.test(node.test)
        reader.raw(f"while {test}:")
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self.loop(node, [], always=always)

    def do_for(self, node: ast.For) -> bool:
        return self.loop_over(self.sequence(node.iter), node)

    def loop_over(self, over: "Value | Sweep", node: ast.For) -> bool:
        reader = self.reader
        if isinstance(over, Value) and over.kind.has_parts:
            return self.unroll(node, over)
        reader.branches = True
        self.head = node
        text, targets = self.headed_by(over, node.target)
        reader.close()
        self.enter(node)
        reader.raw(f"for {text}:")
        return self.loop(node, targets, always=False)

    def unroll(self, node: ast.For, over: Value, read: Any = None) -> bool:
        """A loop over what is known one by one: its body once for each.

        Args:
            node: The loop.
            over: What it goes over.
            read: `read(body)` reads its body, and says whether its end is reached.
        """
        reader = self.reader
        read = read or reader.statements.body
        entries = [
            reader.variables.named(entry) for entry in reader.variables.iterated(over)
        ]
        if len(entries) > LONG or any(map(is_leaving, own_statements(node.body))):
            refuse("a loop over a long tuple, or one that is left early", node)
        path, fixed, goes_on = self.path, reader.fixed, True
        for place, entry in enumerate(entries):
            self.path, reader.fixed = (*path, node, place), fixed
            reader.locals |= {n.id for n in ast.walk(node.target) if is_name(n)}
            reader.statements.target(node.target, entry)
            self.fix(node.target, entry)
            goes_on = read(node.body)
            if not goes_on:
                break
        self.path, reader.fixed = path, fixed
        return goes_on and reader.statements.body(node.orelse)

    def fix(self, target: ast.expr, value: Value) -> None:
        """Note loop variables that are literals, where nothing else assigns them."""
        reader = self.reader
        if isinstance(target, ast.Name):
            stores = reader.facts.stores.get(target.id)
            once = stores == 1 or target.id in reader.comprised
            if value.constant is not ... and once:
                reader.fixed = {**reader.fixed, target.id: value}
        elif isinstance(target, ast.Tuple) and value.entries is not None:
            for part, entry in zip(target.elts, value.entries, strict=True):
                self.fix(part, entry)

    def enter(self, node: ast.AST) -> None:
        """Take up what was known at the head of a loop when it was read before."""
        reader = self.reader
        reader.close()
        kinds, owned = reader.snapshot()
        known, held = reader.facts.heads.get((node, self.path)) or ({}, owned)
        for name in [name for name in kinds if name in known]:
            kinds[name] = join(kinds[name], known[name]) or MIXED
        reader.restore((kinds, owned & held))

    def loop(self, node: Any, targets: list[Any], *, always: bool) -> bool:
        reader = self.reader
        head: Any = reader.snapshot()
        on: list[Any] = []
        out: list[Any] = []
        before = self.ways
        self.ways = (on, out)
        reader.depth += 1
        reader.indent += 1
        start = len(reader.items)
        for make in targets:
            make()
        goes_on = reader.statements.body(node.body)
        reader.close()
        if len(reader.items) == start or not writes_lines(reader.items[start:]):
            reader.raw("pass")
        reader.indent -= 1
        reader.depth -= 1
        self.ways = before
        if goes_on:
            on.append(reader.snapshot())
        self.remember(node, head, on)
        ends = [] if always else [head]
        found = joined([*ends, *([] if always else on)])
        if node.orelse and found is not None:
            reader.restore(found)
            reader.raw("else:")
            found = reader.snapshot() if reader.statements.inner(node.orelse) else None
        return reader.statements.meet([*([found] if found is not None else []), *out])

    def remember(self, node: ast.AST, head: Any, on: list[Any]) -> None:
        """Note the kinds at the head of a loop; they may make another reading due."""
        reader = self.reader
        kinds, owned = head
        place = node, self.path
        heads = reader.facts.heads
        known = dict(heads[place][0]) if place in heads else {}
        for name, kind in kinds.items():
            here = kind
            for way, _ in on:
                here = join(here, way.get(name, MIXED)) or MIXED
            known[name] = here
            reader.facts.changed |= here != kind
        held = owned.intersection(*[way for _, way in on])
        reader.facts.changed |= held != owned
        heads[place] = known, held

    def do_break(self, node: ast.Break) -> bool:
        self.ways[1].append(self.reader.snapshot())
        self.reader.raw("break")
        return False

    def do_continue(self, node: ast.Continue) -> bool:
        self.ways[0].append(self.reader.snapshot())
        self.reader.raw("continue")
        return False

    # what loops go over

    def sequence(self, node: ast.expr) -> "Value | Sweep":
        """The iterable of a loop."""
        reader = self.reader
        expressions = reader.expressions
        called = node.func if isinstance(node, ast.Call) else None
        f = expressions.read_any(called) if isinstance(called, ast.Name) else None
        if not (isinstance(f, Known) and f.value in SWEEPS):
            return reader.expressions.read(node)
        assert isinstance(node, ast.Call)
        options = reader.known_calls.options(node)
        if f.value is range:
            return Sweep("range", tuple(map(reader.expressions.untraced, node.args)))
        parts = tuple(map(self.sequence, node.args))
        name = f.value.__name__
        if any(isinstance(p, Sweep) or not p.kind.has_parts for p in parts):
            return Sweep(name, parts, options)
        if options.keys() - {"strict"} or (len(parts) != 1 and name != "zip"):
            refuse(f"such a call of {name} is not known", node)
        rows = [
            reader.variables.iterated(part) for part in parts if isinstance(part, Value)
        ]
        return row_of(known_items(name, rows, strict=bool(options.get("strict"))))

    def headed_by(self, over: "Value | Sweep", target: ast.expr) -> Head:
        """The text of a loop's head, and what assigns its variables in the body."""
        if isinstance(over, Value):
            return self.over_array(over, target)
        heads = {
            "range": self.over_range,
            "reversed": self.over_reversed,
            "enumerate": self.over_enumerate,
            "zip": self.over_zip,
        }
        return heads[over.name](over, target)

    def over_range(self, over: "Sweep", target: ast.expr) -> Head:
        """`for i in range(n)`."""
        if any(isinstance(b, Sweep) or b.kind is not INT for b in over.parts):
            refuse("a range must be of whole numbers", target)
        bounds = ", ".join(b.text for b in over.parts if isinstance(b, Value))
        return self.counted(f"range({bounds})", target)

    def over_reversed(self, over: "Sweep", target: ast.expr) -> Head:
        """`for i in reversed(range(n))`."""
        inner = over.parts[0] if len(over.parts) == 1 else None
        if not (isinstance(inner, Sweep) and inner.name == "range"):
            refuse("only ranges are reversed", target)
        text, _ = self.over_range(inner, target)
        name, _, rest = text.partition(" in ")
        return f"{name} in reversed({rest})", [lambda: self.made_count(target)]

    def counted(self, text: str, target: ast.expr) -> Head:
        reader = self.reader
        if not isinstance(target, ast.Name):
            refuse("such a loop variable is not known", target)
        reader.locals.add(target.id)
        self.head_assigns(reader.own(target.id))
        head = f"{reader.own(target.id)} in {text}"
        return head, [lambda: self.made_count(target)]

    def made_count(self, target: Any) -> None:
        reader = self.reader
        own = reader.own(target.id)
        reader.kinds[target.id] = INT
        reader.owned.discard(target.id)
        if own in reader.facts.active:  # it is a number with a derivative elsewhere
            step = Step(reader.line, "", (), reader.note_bar(own, REAL), REAL)
            reader.tangents.give(step, reader.tangents.zero(REAL, own))
            reader.step(step)

    def over_enumerate(self, over: "Sweep", target: ast.expr) -> Head:
        """`for i, v in enumerate(x)`."""
        known = len(over.parts) == 1 and not over.options
        if not known or not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            refuse("such an enumeration is not known", target)
        count, inner = target.elts
        (part,) = over.parts
        if isinstance(part, Sweep) and part.name != "zip":
            refuse("such an enumeration is not known", target)
        head, makers = self.headed_by(part, inner)
        index = head.partition(",")[0]

        def make() -> None:
            self.reader.statements.target(count, Value(index, INT, atom=True))

        return head, [make, *makers]

    def over_zip(self, over: "Sweep", target: ast.expr) -> Head:
        """`for a, b in zip(x, y)`."""
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(over.parts):
            refuse("such a loop over several arrays is not known", target)
        index, rows, items, makers = self.reader.temporary("i"), [], [], []
        for part, inner in zip(over.parts, target.elts, strict=True):
            if isinstance(part, Sweep):
                refuse("such a loop over several arrays is not known", target)
            held = self.held(part, inner)
            name = self.item_name(inner)
            items.append(name)
            rows.append(held.text)
            makers.append(self.maker(inner, held, name, index))
        strict = ", strict=True" if over.options.get("strict") else ""
        pairs = f"zip({', '.join(rows)}{strict})"
        return f"{index}, ({', '.join(items)},) in enumerate({pairs})", makers

    def over_array(self, over: Value, target: ast.expr) -> Head:
        """`for v in x`, of an array or list."""
        held, index = self.held(over, target), self.reader.temporary("i")
        name = self.item_name(target)
        head = f"{index}, {name} in enumerate({held.text})"
        return head, [self.maker(target, held, name, index)]

    def head_assigns(self, *names: str) -> None:
        self.reader.assigned.update(names)
        self.reader.headed.update(names)

    def item_name(self, target: ast.expr) -> str:
        """The name that a loop gives to its items."""
        reader = self.reader
        if not isinstance(target, ast.Name):
            return reader.temporary("v")
        reader.locals.add(target.id)
        return reader.own(target.id)

    def held(self, found: Value, target: ast.expr) -> Value:
        """The iterable of a loop, under a name that stays the loop's."""
        reader = self.reader
        if found.kind.name == "many":
            return self.held_list(found, target)
        if found.kind.name != "array" or found.unstable:
            refuse("a loop over such a value is not known", target)
        name = f"__h{target.lineno}_{target.col_offset}"
        reader.locals.add(name)
        reader.variables.assign(name, found)
        return reader.variables.variable(name)

    def held_list(self, found: Value, target: ast.expr) -> Value:
        """A list that a loop goes over, and that does not change in its body."""
        reader = self.reader
        reader.lists.entry_kind(found)
        body = [] if self.head is None else self.head.body
        growing = written_names(body).union(*map(appended_names, body))
        if not found.atom or found.text in {reader.own(name) for name in growing}:
            refuse("a loop over a list that changes, or has no name", target)
        self.lengths[found.text] = reader.lists.length(found).text
        return found

    def size_of(self, held: Value) -> str:
        """The text of the shape of an array, or of the length of a list."""
        listed = held.kind.name == "many"
        return self.lengths[held.text] if listed else f"{held.text}.shape"

    def maker(self, target: ast.expr, held: Value, name: str, index: str) -> Any:
        """The step that makes the item of an array the value of a loop variable."""
        reader = self.reader
        listed = held.kind.name == "many"
        kind = (
            held.kind.parts[0] if listed else array(held.kind.ndim - 1, held.kind.dtype)
        )

        def make() -> None:
            self.head_assigns(index, name)
            if isinstance(target, ast.Name):
                reader.kinds[target.id] = kind
                reader.owned.discard(target.id)
                if held.active and kind.is_real:
                    reader.facts.activate(name)
                carried = REAL if kind is INT else kind
                if name in reader.facts.active and carried.is_real:
                    self.item(held, index, name, carried)
                return
            active = held.active and kind.is_real
            if active:
                self.item(held, index, name, kind)
            reader.statements.target(target, Value(name, kind, active, atom=True))

        return make

    def item(self, held: Value, index: str, name: str, kind: Kind) -> None:
        """The step that takes an item, whose line is the head of the loop."""
        reader = self.reader
        step = Step(reader.line, "", (), reader.note_bar(name, kind), kind)
        reader.tangents.item(step, held, index, name)
        if held.active:
            reader.buffer(held.bar)
            step.pulls = [Pull(held.bar, held.kind, Scatter("{k0}"), "s0")]
            step.before = {"s0": self.size_of(held), "k0": index}
        reader.step(step)


@dataclass(frozen=True)
class Sweep:
    """The iterable of a loop whose length only the running program knows.

    Attributes:
        name: The builtin function: `range`, `zip`, `enumerate` or `reversed`.
        parts: Its arguments.
        options: Its keywords.
    """

    name: str
    parts: "tuple[Value | Sweep, ...]"
    options: dict[str, Any] = field(default_factory=dict)


def known_items(name: str, rows: list[list[Value]], *, strict: bool) -> list[Value]:
    """The items of `zip`, `enumerate` or `reversed` of what is known one by one."""
    if name == "reversed":
        return rows[0][::-1]
    if name == "enumerate":
        counts = [
            Value(str(i), INT, constant=i, atom=True) for i in range(len(rows[0]))
        ]
        rows = [counts, rows[0]]
    if strict and len({len(row) for row in rows}) > 1:
        refuse("a loop over tuples of several lengths")
    return [row_of(list(items)) for items in zip(*rows, strict=False)]
