"""Loops, read: their heads, their bodies, and what they go over."""

import ast
from typing import Any

from rules_autodiff.straight._blocks import Pull, Step
from rules_autodiff.straight._errors import refuse
from rules_autodiff.straight._kinds import INT, REAL, Kind, array, join
from rules_autodiff.straight._operations import Scatter
from rules_autodiff.straight._reader import joined
from rules_autodiff.straight._statements import Statements, writes_lines
from rules_autodiff.straight._values import Known, Value

__all__ = ["Loops"]

ITERATED = (range, enumerate, zip, reversed)


class Loops(Statements):
    """Reads loops, and follows the ways through them.

    Attributes:
        ways: What is known where the innermost loop starts again, and where it is left.
    """

    ways: tuple[list[Any], list[Any]] = ([], [])

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
