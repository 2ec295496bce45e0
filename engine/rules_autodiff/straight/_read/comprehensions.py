"""Comprehensions, and sums over them, as the loops that they are."""

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rules_autodiff.straight._program.kinds import INT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Known, Value, with_entries

from .lists import many
from .loops import LONG, Sweep
from .part import Part
from .variables import has_locals, is_temporary, row_of

__all__ = ["Comprehensions"]


class Comprehensions(Part):
    """Reads comprehensions."""

    def call_sum(self, _f: Known, node: ast.Call) -> Value | None:
        """`sum`, also of a comprehension."""
        reader = self.reader
        first = node.args[0] if len(node.args) in (1, 2) and not node.keywords else None
        if first is None:
            return None
        start = reader.expressions.read(node.args[1]) if len(node.args) > 1 else zero()
        if not isinstance(first, ast.GeneratorExp | ast.ListComp):
            return self.sum_of(reader.expressions.read_items(first), start, node)
        name = self.hidden_name(node)
        reader.variables.assign(name, start)
        self.run_through(node, first, lambda element: added(name, element))
        return reader.variables.variable(name)

    def sum_of(self, value: Value, start: Value, node: ast.Call) -> Value:
        """`sum` of a list, or of what is of known length."""
        reader = self.reader
        if value.kind.name == "many":
            if start.constant != 0:
                refuse("a sum of a list that starts elsewhere", node)
            return reader.lists.sum_of_list(value)
        total = start
        for entry in reader.variables.iterated(value):
            total = reader.expressions.binary(ast.Add, total, entry, node)
        return total

    def read_list_comp(self, node: ast.ListComp) -> Value:
        """`[e for v in x]`; entries that are known one by one stay so."""
        reader = self.reader
        part = node.generators[0]
        if len(node.generators) == 1 and not part.ifs and reader.tracing:
            over = self.counted_out(reader.loops.sequence(part.iter))
            if isinstance(over, Value) and over.kind.has_parts:
                return self.entry_by_entry(node, over)
        else:
            over = None
        name = self.hidden_name(node)
        reader.lists.hold(name, "[]", many(), [])
        self.run_through(node, node, lambda element: appended(name, element), over)
        return replace(reader.variables.variable(name), fresh=True)

    def counted_out(self, over: Value | Sweep) -> Value | Sweep:
        """A short range of literals as a tuple."""
        if not isinstance(over, Sweep) or over.name != "range":
            return over
        bounds = [part.constant for part in over.parts if isinstance(part, Value)]
        if not all(type(bound) is int for bound in bounds):
            return over
        counts = range(*bounds)
        if len(counts) > LONG:
            return over
        return row_of([Value(repr(i), INT, constant=i, atom=True) for i in counts])

    def entry_by_entry(self, node: ast.ListComp, over: Value) -> Value:
        reader = self.reader
        loop: Any = reader.unit.made_loop(node, node.generators, node.elt, ast.Expr)
        found: list[Value] = []

        def keep(_body: Any) -> bool:
            entry = reader.expressions.read_given(loop.body[0].value)
            found.append(self.named_once(entry))
            return True

        with self.inside(loop):
            reader.loops.unroll(loop, over, keep)
        return replace(with_entries(Kind("list"), found), fresh=True)

    def named_once(self, value: Value) -> Value:
        """The value under a name, as the next entry may change what it is made of."""
        if value.kind.name == "many" or has_locals(value):
            refuse("a list of lists, or of local functions")
        if value.active and is_temporary(value.text):
            return value
        return self.reader.variables.named(value)

    def hidden_name(self, node: ast.expr) -> str:
        if not self.reader.tracing:
            refuse("a test asks for a comprehension", node)
        name = f"__n{node.lineno}_{node.col_offset}"
        self.reader.locals.add(name)
        return name

    def run_through(
        self,
        node: ast.expr,
        comprehension: ast.GeneratorExp | ast.ListComp,
        made_of: Callable[[Any], ast.stmt],
        over: Value | Sweep | None = None,
    ) -> None:
        """Read a comprehension as a loop around a statement."""
        reader = self.reader
        parts = comprehension.generators
        loop: Any = reader.unit.made_loop(node, parts, comprehension.elt, made_of)
        with self.inside(loop):
            if over is None:
                over = reader.loops.sequence(loop.iter)
            reader.loops.loop_over(over, loop)

    @contextmanager
    def inside(self, loop: ast.stmt) -> Iterator[None]:
        """Have the variables of a comprehension, which are gone after it."""
        reader = self.reader
        before, comprised = set(reader.locals), reader.comprised
        names = self.hidden(loop)
        reader.comprised = comprised | names
        yield
        reader.comprised = comprised
        for name in names:
            reader.kinds.pop(name, None)
        reader.locals -= names - before

    def hidden(self, loop: ast.stmt) -> set[str]:
        """The variables of a comprehension, which must be no others of the program."""
        parts = [part for part in ast.walk(loop) if isinstance(part, ast.For)]
        nodes = [n for part in parts for n in ast.walk(part.target)]
        names = {n.id for n in nodes if isinstance(n, ast.Name)}
        if names & self.reader.kinds.keys():
            refuse("a comprehension reuses the name of a variable", parts[0].target)
        return names


def zero() -> Value:
    return Value("0", INT, constant=0, atom=True)


def added(name: str, element: ast.expr) -> ast.stmt:
    """`name = name + element`."""
    total = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), element)
    return ast.Assign([ast.Name(name, ast.Store())], total)


def appended(name: str, element: ast.expr) -> ast.stmt:
    """`name.append(element)`."""
    method = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    return ast.Expr(ast.Call(method, [element], []))
