"""Statements of a program, read."""

import ast
from dataclasses import replace
from typing import Any

from rules_autodiff.straight._blocks import Block, Pull, Step
from rules_autodiff.straight._errors import Refused, refuse
from rules_autodiff.straight._indexing import Indexing
from rules_autodiff.straight._kinds import INT, REAL, Kind, array, join
from rules_autodiff.straight._operations import Scatter
from rules_autodiff.straight._reader import is_temporary, joined, row_of
from rules_autodiff.straight._values import Known, Value, bar_of
from rules_autodiff.straight._writer import Return

__all__ = ["Statements"]

ITERATED = (range, enumerate, zip, reversed)


class Statements(Indexing):
    """Reads statements, and follows the ways through them.

    Attributes:
        ways: What is known where the innermost loop starts again, and where it is left.
    """

    ways: tuple[list[Any], list[Any]] = ([], [])

    def body(self, nodes: list[ast.stmt]) -> bool:
        """Read statements; whether their end can be reached."""
        for node in nodes:
            self.line = node.lineno
            reader = getattr(self, f"do_{type(node).__name__}", None)
            if reader is None:
                refuse(f"{type(node).__name__} is not in its language", node)
            try:
                goes_on = reader(node)
            except Refused as refused:
                raise refused.at(node) from None
            if goes_on is False:
                return False
        return True

    def inner(self, nodes: list[ast.stmt]) -> bool:
        """The statements below a head."""
        self.indent += 1
        before = len(self.items)
        goes_on = self.body(nodes)
        self.close()
        if len(self.items) == before or not writes_lines(self.items[before:]):
            self.raw("pass")
        self.indent -= 1
        return goes_on

    # simple statements

    def do_Pass(self, _node: ast.Pass) -> None:
        pass

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            refuse("an expression that is not used", node)

    def do_Assert(self, node: ast.Assert) -> None:
        self.branches = True
        self.raw(f"assert {self.test(node.test)}")

    def do_Raise(self, node: ast.Raise) -> bool:
        self.branches = True
        self.raw("raise AssertionError")  # the tape raises the program's own
        return False

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            refuse("a declaration without a value", node)
        self.target(node.target, self.read(node.value))

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.read(node.value)
        if len(node.targets) > 1:
            value = replace(self.named(value), fresh=False)
        for target in node.targets:
            self.target(target, value)

    def named(self, value: Value) -> Value:
        """The value under a name of its own, which assignments do not change."""
        if value.entries is not None:
            return row_of([self.named(entry) for entry in value.entries])
        if value.constant is not ... or value.text in self.captured:
            return value
        if value.kind.name == "array" and value.unstable:
            refuse("a second name for an array that is written to")
        name = self.temporary("m")  # may have several uses: no step is renamed to them
        step = Step(self.line, f"{name} = {value.text}", (name,))
        if value.active:
            step.out, step.kind = bar_of(name, value.kind), value.kind
            step.pulls = [Pull(value.bar, value.kind, "{dz}")]
        self.step(step)
        fresh = value.fresh and not value.atom
        return Value(name, value.kind, value.active, atom=True, fresh=fresh)

    def target(self, node: ast.expr, value: Value) -> None:
        if isinstance(node, ast.Name):
            self.assign(node.id, value)
        elif isinstance(node, ast.Subscript):
            self.store(node, value)
        elif isinstance(node, ast.Tuple | ast.List):
            self.unpack(node.elts, value, node)
        else:
            refuse("such a target is not in its language", node)

    def unpack(self, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
        parts = value.kind.parts
        if value.kind.name != "row" or len(parts) != len(targets):
            refuse("only tuples of known length are unpacked", node)
        if value.entries is None:
            entries = [
                self.named(Value(f"{value.text}[{i}]", kind))
                for i, kind in enumerate(parts)
            ]
        else:
            entries = [
                x if x.active and is_temporary(x.text) else self.named(x)
                for x in value.entries
            ]
        for target, entry in zip(targets, entries, strict=True):
            self.target(target, entry)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        target, op = node.target, node.op
        value = self.read(node.value)
        sign = {ast.Add: "+", ast.Sub: "-"}.get(type(op))
        if isinstance(target, ast.Name):
            if target.id not in self.locals:
                refuse("a variable of another function is changed", node)
            old = self.variable(target.id)
            if old.kind.name != "array":
                self.assign(target.id, self.binary(type(op), old, value, node))
            elif sign:
                self.add_to_all(target.id, value, sign, node)
            else:
                refuse("an array is changed in place by such an operator", node)
        elif isinstance(target, ast.Subscript):
            if not (sign and self.add_to_part(target, value, sign)):
                old = self.read_Subscript(as_read(target))
                self.store(target, self.binary(type(op), old, value, node))
        else:
            refuse("such a target is not in its language", node)

    # branches

    def do_If(self, node: ast.If) -> bool:
        self.branches = True
        test = self.test(node.test)
        before, states = self.snapshot(), []
        self.raw(f"if {test}:")
        if self.inner(node.body):
            states.append(self.snapshot())
        self.restore(before)
        if node.orelse:
            self.raw("else:")
            if self.inner(node.orelse):
                states.append(self.snapshot())
        else:
            states.append(before)
        return self.meet(states)

    def meet(self, states: list[Any]) -> bool:
        found = joined(states)
        if found is not None:
            self.restore(found)
        return found is not None

    def do_Return(self, node: ast.Return) -> bool:
        if node.value is None:
            refuse("it returns nothing", node)
        value = self.read(node.value)
        self.give(value, node)
        return False

    def give(self, value: Value, node: ast.AST) -> None:
        """The value of the function."""
        raise NotImplementedError

    # loops

    def do_While(self, node: ast.While) -> bool:
        self.branches = True
        self.enter(node)
        test = self.test(node.test)
        self.raw(f"while {test}:")
        always = isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self.loop(node, [], always=always)

    def do_For(self, node: ast.For) -> bool:
        self.branches = True
        text, targets = self.iterated(node.iter, node.target)
        self.close()
        self.enter(node)
        self.raw(f"for {text}:")
        return self.loop(node, targets, always=False)

    def enter(self, node: ast.AST) -> None:
        """Take up what was known at the head of a loop when it was read before."""
        self.close()
        kinds, owned = self.snapshot()
        known, held = self.facts.heads.get(node, ({}, owned))
        for name in [name for name in kinds if name in known]:
            before = known[name]
            kind = None if before is None else join(kinds[name], before)
            if kind is None:
                del kinds[name]
            else:
                kinds[name] = kind
        self.restore((kinds, owned & held))

    def loop(self, node: Any, targets: list[Any], *, always: bool) -> bool:
        head: Any = self.snapshot()
        on: list[Any] = []
        out: list[Any] = []
        before = self.ways
        self.ways = (on, out)
        self.depth += 1
        self.indent += 1
        start = len(self.items)
        for make in targets:
            make()
        goes_on = self.body(node.body)
        self.close()
        if len(self.items) == start or not writes_lines(self.items[start:]):
            self.raw("pass")
        self.indent -= 1
        self.depth -= 1
        self.ways = before
        if goes_on:
            on.append(self.snapshot())
        self.remember(node, head, on)
        ends = [] if always else [head]
        found = joined([*ends, *([] if always else on)])
        if node.orelse and found is not None:
            self.restore(found)
            self.raw("else:")
            found = self.snapshot() if self.inner(node.orelse) else None
        return self.meet([*([found] if found is not None else []), *out])

    def remember(self, node: ast.AST, head: Any, on: list[Any]) -> None:
        """Note the kinds at the head of a loop; they may make another reading due."""
        kinds, owned = head
        known = dict(self.facts.heads[node][0]) if node in self.facts.heads else {}
        for name, kind in kinds.items():
            here: Kind | None = kind
            for way, _ in on:
                other = way.get(name)
                here = None if here is None or other is None else join(here, other)
            known[name] = here
            self.facts.changed |= here != kind
        held = owned.intersection(*[way for _, way in on])
        self.facts.changed |= held != owned
        self.facts.heads[node] = known, held

    def do_Break(self, node: ast.Break) -> bool:
        self.ways[1].append(self.snapshot())
        self.raw("break")
        return False

    def do_Continue(self, node: ast.Continue) -> bool:
        self.ways[0].append(self.snapshot())
        self.raw("continue")
        return False

    # what loops go over

    def iterated(self, node: ast.expr, target: ast.expr) -> tuple[str, list[Any]]:
        """The text of a loop's head, and what assigns its variables in the body."""
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        f = self.read_any(node.func) if named else None  # type: ignore[attr-defined]
        if isinstance(f, Known) and f.value in ITERATED and isinstance(node, ast.Call):
            if node.keywords:
                refuse("a loop over such a call is not known", node)
            over = getattr(self, f"over_{f.value.__name__}")
            found: tuple[str, list[Any]] = over(node, target)
            return found
        return self.over_array(node, target)

    def over_range(self, node: ast.Call, target: ast.expr) -> tuple[str, list[Any]]:
        """`for i in range(n)`."""
        bounds = [self.untraced(a) for a in node.args]
        if any(b.kind is not INT for b in bounds):
            refuse("a range must be of whole numbers", node)
        text = f"range({', '.join(b.text for b in bounds)})"
        return self.counted(text, target, node)

    def over_reversed(self, node: ast.Call, target: ast.expr) -> tuple[str, list[Any]]:
        """`for i in reversed(range(n))`."""
        (inner,) = node.args
        f = self.read_any(inner.func) if isinstance(inner, ast.Call) else None
        if not (isinstance(f, Known) and f.value is range):
            refuse("only ranges are reversed", node)
        text, _ = self.over_range(inner, target)  # type: ignore[arg-type]
        name, _, rest = text.partition(" in ")
        return f"{name} in reversed({rest})", [lambda: self.made_count(target)]

    def counted(
        self, text: str, target: ast.expr, node: ast.AST
    ) -> tuple[str, list[Any]]:
        if not isinstance(target, ast.Name):
            refuse("such a loop variable is not known", node)
        self.locals.add(target.id)
        self.head_assigns(self.own(target.id))
        head = f"{self.own(target.id)} in {text}"
        return head, [lambda: self.made_count(target)]

    def made_count(self, target: Any) -> None:
        own = self.own(target.id)
        self.kinds[target.id] = INT
        self.owned.discard(target.id)
        if own in self.facts.active:  # it is a number with a derivative elsewhere
            self.step(Step(self.line, "", (), self.note_bar(own, REAL), REAL))

    def over_enumerate(self, node: ast.Call, target: ast.expr) -> tuple[str, list[Any]]:
        """`for i, v in enumerate(x)`."""
        if len(node.args) != 1 or not isinstance(target, ast.Tuple):
            refuse("such an enumeration is not known", node)
        count, inner = target.elts
        head, makers = self.over_array(node.args[0], inner)
        index = head.partition(",")[0]

        def make() -> None:
            self.assign(count.id, Value(index, INT, atom=True))  # type: ignore[attr-defined]

        return head, [make, *makers]

    def over_zip(self, node: ast.Call, target: ast.expr) -> tuple[str, list[Any]]:
        """`for a, b in zip(x, y)`."""
        if not isinstance(target, ast.Tuple) or len(target.elts) != len(node.args):
            refuse("such a loop over several arrays is not known", node)
        index, rows, items, makers = self.temporary("i"), [], [], []
        for part, inner in zip(node.args, target.elts, strict=True):
            held = self.held(part)
            name = self.item_name(inner)
            items.append(name)
            rows.append(held.text)
            makers.append(self.maker(inner, held, name, index))
        head = f"{index}, ({', '.join(items)},) in enumerate(zip({', '.join(rows)}))"
        return head, makers

    def over_array(self, node: ast.expr, target: ast.expr) -> tuple[str, list[Any]]:
        """`for v in x`."""
        held, index = self.held(node), self.temporary("i")
        name = self.item_name(target)
        head = f"{index}, {name} in enumerate({held.text})"
        return head, [self.maker(target, held, name, index)]

    def head_assigns(self, *names: str) -> None:
        self.assigned.update(names)
        self.headed.update(names)

    def item_name(self, target: ast.expr) -> str:
        """The name that a loop gives to its items."""
        if not isinstance(target, ast.Name):
            return self.temporary("v")
        self.locals.add(target.id)
        return self.own(target.id)

    def held(self, node: ast.expr) -> Value:
        """What a loop goes over, under a name that stays the loop's."""
        found = self.read(node)
        if found.kind.name != "array" or found.unstable:
            refuse("a loop over such a value is not known", node)
        name = f"__h{node.lineno}_{node.col_offset}"
        self.locals.add(name)
        self.assign(name, found)
        return self.variable(name)

    def maker(self, target: ast.expr, held: Value, name: str, index: str) -> Any:
        """What makes the item of an array the value of a loop variable."""
        kind = array(held.kind.ndim - 1, held.kind.dtype)

        def make() -> None:
            self.head_assigns(index, name)
            if isinstance(target, ast.Name):
                self.kinds[target.id] = kind
                self.owned.discard(target.id)
                if held.active and kind.is_real:
                    self.facts.activate(name)
                carried = REAL if kind is INT else kind
                if name in self.facts.active and carried.is_real:
                    self.item(held, index, self.note_bar(name, carried), carried)
                return
            active = held.active and kind.is_real
            if active:
                self.item(held, index, self.note_bar(name, kind), kind)
            self.target(target, Value(name, kind, active, atom=True))

        return make

    def item(self, held: Value, index: str, bar: str, kind: Kind) -> None:
        """The step that takes an item, whose line is the head of the loop."""
        step = Step(self.line, "", (), bar, kind)
        if held.active:
            self.buffer(held.bar)
            step.pulls = [Pull(held.bar, held.kind, Scatter("{k0}"), "s0")]
            step.before = {"s0": f"{held.text}.shape", "k0": index}
        self.step(step)


def as_read(target: ast.Subscript) -> ast.Subscript:
    made = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(made, target)


def writes_lines(items: list[Any]) -> bool:
    """Whether some line of forward code comes of them, whatever is kept."""
    for item in items:
        if isinstance(item, Block):
            if item.is_active or any(step.text for step in item.steps):
                return True
        elif isinstance(item, Return) or item.text:
            return True
    return False
