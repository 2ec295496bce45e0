"""Statements of a program, read."""

import ast
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff._hooks.stored_places import may_store, stores_of
from rules_autodiff._lift.skipped_stores import places_in
from rules_autodiff.straight._program.blocks import Step
from rules_autodiff.straight._program.kinds import NONE, Kind
from rules_autodiff.straight._program.refused import Refused, Unlearned, refuse
from rules_autodiff.straight._program.values import (
    Known,
    Value,
    function_value,
    with_entries,
)
from rules_autodiff.straight._program.words import syntax_in_words

from .expressions import check_kept
from .indexing import Key
from .part import Part
from .variables import is_temporary
from .ways import joined, writes_lines

__all__ = ["NOTHING", "Statements"]

NOTHING = Value("None", NONE, constant=None, atom=True)
LEAVING = (ast.Return, ast.Break, ast.Continue)
CONDITIONAL = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.GeneratorExp)


class Statements(Part):
    """Reads statements, and follows the ways through branches.

    Attributes:
        hoisted: The assignments in a test that were made before it.
    """

    hoisted: frozenset[ast.NamedExpr] = frozenset()

    def body(self, nodes: list[ast.stmt]) -> bool:
        """Read statements; whether their end can be reached."""
        for node in nodes:
            self.reader.line = node.lineno
            read = self.reader.statement_readers.get(type(node))
            if read is None:
                refuse(f"{syntax_in_words(type(node))} is not in its language", node)
            try:
                goes_on = read(node)
            except Refused as refused:
                raise refused.at(node) from None
            if goes_on is False:
                return False
        return True

    def inner(self, nodes: list[ast.stmt]) -> bool:
        """The statements below a head."""
        reader = self.reader
        reader.indent += 1
        before = len(reader.items)
        goes_on = self.body(nodes)
        reader.close()
        if len(reader.items) == before or not writes_lines(reader.items[before:]):
            reader.raw("pass")
        reader.indent -= 1
        return goes_on

    # simple statements

    def do_pass(self, _node: ast.Pass) -> None:
        pass

    def do_expr(self, node: ast.Expr) -> None:
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            owner, name = call.func.value, call.func.attr
            if self.reader.lists.is_list_name(owner) and name in ("append", "extend"):
                self.grow(owner.id, name, call)
                return
        if isinstance(call, ast.Constant):
            return
        found = self.reader.expressions.read_any(call)  # it may raise
        if isinstance(found, Value):
            check_kept(found, call)
        if isinstance(found, Value):
            self.reader.variables.named(found)

    def grow(self, name: str, method: str, call: ast.Call) -> None:
        """`out.append(v)`, or `out.extend` by entries that are known one by one."""
        reader = self.reader
        if len(call.args) != 1 or call.keywords:
            refuse("such an addition to a list", call)
        value = reader.expressions.read(call.args[0])
        alone = method == "append"
        for entry in [value] if alone else reader.variables.iterated(value):
            reader.lists.append(name, entry)

    def do_assert(self, node: ast.Assert) -> None:
        reader = self.reader
        reader.branches = True
        reader.raw(f"assert {reader.expressions.test(node.test)}")

    def do_raise(self, node: ast.Raise) -> bool:
        self.reader.branches = True
        self.reader.raw("raise AssertionError")  # the tape raises the program's own
        return False

    def do_ann_assign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.target(node.target, self.reader.expressions.read_given(node.value))

    def do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name) or self.reader.indent > 1:
                refuse("what is deleted is no variable, or not always", node)
            self.reader.kinds.pop(target.id, None)

    def do_import(self, node: ast.Import) -> None:
        for part in node.names:
            name, _, inner = part.name.partition(".")
            if inner and not part.asname:
                refuse("a module in a package is imported", node)
            module = self.module(part.name, node)
            self.reader.variables.assign(part.asname or name, module)

    def do_import_from(self, node: ast.ImportFrom) -> None:
        reader = self.reader
        if node.level or not node.module:
            refuse("a relative import", node)
        owner = self.module(node.module, node).kind.tag
        for part in node.names:
            found = reader.captures.of_attribute(owner, part.name)
            if isinstance(found, Known):
                value = function_value(found)
            else:
                value = reader.captured_value(part.name, *found)
            reader.variables.assign(part.asname or part.name, value)

    def module(self, name: str, node: ast.AST) -> Value:
        """A module that is imported already."""
        if name not in sys.modules:
            refuse("a module is imported for the first time", node)
        return function_value(self.reader.captures.module(name))

    def do_try(self, node: ast.Try) -> bool:
        """`try`, whose body succeeds: where it raises, the tape runs the program."""
        if node.finalbody and any(isinstance(n, LEAVING) for n in ast.walk(node)):
            refuse("a try statement with finally is left early", node)
        if self.may_store(stores_of(self.reader.function.__code__)):
            refuse("a try statement in a function that stores", node)
        goes_on = self.body(node.body) and self.body(node.orelse)
        return goes_on and self.body(node.finalbody)

    def do_with(self, node: ast.With) -> bool:
        """`with np.errstate(…)`, as it stands."""
        reader = self.reader
        (item, *more) = node.items
        call = item.context_expr
        called = call.func if isinstance(call, ast.Call) else None
        f = reader.expressions.read_any(called) if called else None
        known = isinstance(f, Known) and f.value is np.errstate
        if more or item.optional_vars or not known or not isinstance(call, ast.Call):
            refuse("a with statement of another kind", node)
        if call.args:
            refuse("a with statement of another kind", node)
        given = reader.known_calls.options(call)
        options = ", ".join(f"{k}={v!r}" for k, v in given.items())
        reader.branches = True
        reader.raw(f"with {reader.unit.constant('errstate', np.errstate)}({options}):")
        return self.inner(node.body)

    def do_assign(self, node: ast.Assign) -> None:
        expressions, rows = self.reader.expressions, ast.Tuple | ast.List
        unpacks = len(node.targets) == 1 and isinstance(node.targets[0], rows)
        calls = unpacks and isinstance(node.value, ast.Call)
        read = expressions.read_items if calls else expressions.read_given
        value = read(node.value)
        if len(node.targets) > 1:
            value = replace(self.reader.variables.named(value), fresh=False)
        for target in node.targets:
            self.target(target, value)

    def target(self, node: ast.expr, value: Value) -> None:
        if isinstance(node, ast.Name):
            self.reader.variables.assign(node.id, value)
        elif isinstance(node, ast.Subscript):
            self.reader.indexing.store(node, value)
        elif isinstance(node, ast.Attribute):
            self.reader.objects.store(node, value)
        elif isinstance(node, ast.Tuple | ast.List):
            self.unpack(node.elts, value, node)
        elif isinstance(node, ast.Starred):
            self.target(node.value, value)
        else:
            refuse("such a target is not in its language", node)

    def unpack(self, targets: list[ast.expr], value: Value, node: ast.AST) -> None:
        entries = [
            x if x.active and is_temporary(x.text) else self.reader.variables.named(x)
            for x in self.unpacked(targets, value, node)
        ]
        for target, entry in zip(targets, entries, strict=True):
            self.target(target, entry)

    def unpacked(
        self, targets: list[ast.expr], value: Value, node: ast.AST
    ) -> list[Value]:
        """The entries of what is unpacked, those for a starred target as a list."""
        if value.kind.name == "array":
            return self.parts_of(value, len(targets))
        entries = self.reader.variables.iterated(value)
        stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if stars:
            (first,) = stars
            last = len(entries) - len(targets) + first + 1
            if last < first:
                refuse("too few entries are unpacked", node)
            middle = with_entries(Kind("list"), entries[first:last])
            entries = [*entries[:first], middle, *entries[last:]]
        if len(entries) != len(targets):
            refuse("a tuple of another length is unpacked", node)
        return entries

    def parts_of(self, value: Value, count: int) -> list[Value]:
        """The entries of an array, which has as many as there are targets."""
        reader = self.reader
        if not reader.tracing:
            refuse("a test unpacks an array")
        value = reader.atom(value)
        reader.step(Step(reader.line, f"of_length({value.text}, {count})"))
        ndim = value.kind.ndim - 1
        keys = [Key(str(i), [], ndim, view=True, repeated=False) for i in range(count)]
        return [reader.indexing.part(value, key) for key in keys]

    def do_aug_assign(self, node: ast.AugAssign) -> None:
        value = self.reader.expressions.read(node.value)
        sign = {ast.Add: "+", ast.Sub: "-"}.get(type(node.op), "")
        if isinstance(node.target, ast.Name):
            self.change_variable(node, node.target, value, sign)
        elif isinstance(node.target, ast.Subscript):
            self.change_part(node, node.target, value, sign)
        elif isinstance(node.target, ast.Attribute):
            self.change_attribute(node, node.target, value)
        else:
            refuse("such a target is not in its language", node)

    def change_variable(
        self, node: ast.AugAssign, target: ast.Name, value: Value, sign: str
    ) -> None:
        """`y += v`: in place where `y` is an array, and else a new value."""
        reader, binary = self.reader, self.reader.expressions.binary
        if target.id not in reader.locals:
            refuse("a variable of another function is changed", node)
        old = reader.variables.variable(target.id)
        if old.kind.name == "list":
            refuse("a list is added to in place", node)
        if old.kind.name != "array":
            new = binary(type(node.op), old, value, node)
            reader.variables.assign(target.id, new)
        elif sign:
            reader.indexing.add_to_all(target.id, value, sign, node)
        else:
            self.change_all(target, binary(type(node.op), old, value, node))

    def change_attribute(
        self, node: ast.AugAssign, target: ast.Attribute, value: Value
    ) -> None:
        """`name.attribute += value`, of values that do not change in place."""
        reader = self.reader
        old = reader.known_calls.read_attribute(
            ast.copy_location(
                ast.Attribute(target.value, target.attr, ast.Load()), target
            )
        )
        if not isinstance(old, Value) or old.kind.name not in ("real", "int"):
            refuse("an attribute is changed in place", node)
        new = reader.expressions.binary(type(node.op), old, value, node)
        reader.objects.store(target, new)

    def change_part(
        self, node: ast.AugAssign, target: ast.Subscript, value: Value, sign: str
    ) -> None:
        """`y[key] += v`, in place where it can be."""
        reader = self.reader
        if sign and reader.indexing.add_to_part(target, value, sign):
            return
        old = reader.indexing.read_subscript(as_read(target))
        if old.kind.name == "array" and reader.lists.is_list_name(target.value):
            refuse("an array in a list is changed in place", node)
        new = reader.expressions.binary(type(node.op), old, value, node)
        if old.kind.name == "array" and new.kind.dtype != old.kind.dtype:
            refuse("an array of whole numbers is changed to floats", node)
        reader.indexing.store(target, new)

    def change_all(self, target: ast.Name, new: Value) -> None:
        """`y *= v` for an array, in place."""
        old = self.reader.kinds[target.id]
        if new.kind != old:
            refuse("an array is changed in place to one of another kind", target)
        own = ast.Name(target.id, ast.Load())
        whole = ast.Subscript(own, ast.Constant(...), ast.Store())
        whole = ast.fix_missing_locations(ast.copy_location(whole, target))
        self.reader.indexing.store(whole, new)

    # branches

    def hoist(self, test: ast.expr) -> None:
        """Assign what a test assigns, before it: it is asked once."""
        found = [n for n in ast.walk(test) if isinstance(n, ast.NamedExpr)]
        for node in found:
            inside = [n for n in ast.walk(test) if is_conditional(n)]
            if any(node is n for outer in inside for n in ast.walk(outer)):
                refuse("a test assigns on one of several ways", node)
            self.check_first(node, test)
            value = self.reader.expressions.read_given(node.value)
            self.reader.variables.assign(node.target.id, value)
        self.hoisted = frozenset({*found})

    def check_first(self, node: ast.NamedExpr, around: ast.AST) -> None:
        """See that no variable is read before an expression assigns it."""
        if node.target.id in self.reader.function.__code__.co_cellvars:
            refuse("a test assigns what a local function reads", node)
        names = [n for n in ast.walk(around) if isinstance(n, ast.Name)]
        places = [(n.lineno, n.col_offset) for n in names if n.id == node.target.id]
        if min(places) < (node.lineno, node.col_offset):
            refuse("an expression assigns what it has read", node)

    def read_named_expr(self, node: ast.NamedExpr) -> Any:
        if node not in self.hoisted:
            refuse("an expression assigns a variable", node)
        return self.reader.variables.name_value(node.target.id)

    def do_if(self, node: ast.If) -> bool:
        reader = self.reader
        self.hoist(node.test)
        known = reader.expressions.untraced(node.test).constant
        if type(known) is bool:
            return self.body(node.body if known else node.orelse)
        reader.branches = True
        test = reader.expressions.test(node.test)
        before = reader.snapshot()
        states: list[Any] = []
        reader.raw(f"if {test}:")
        left = self.way(node.body, states)
        reader.restore(before)
        if node.orelse:
            reader.raw("else:")
            other = self.way(node.orelse, states)
            if left and other:
                raise left
        else:
            states.append(before)
        return self.meet(states)

    def way(self, nodes: list[ast.stmt], states: list[Any]) -> Refused | None:
        """A branch; if it is not in the language, why: whoever takes it is left."""
        reader = self.reader
        mark = reader.mark()
        try:
            if self.inner(nodes):
                states.append(reader.snapshot())
        except Refused as refused:
            if isinstance(refused, Unlearned) and reader.unit.patient:
                raise
            if self.stores(nodes):
                raise  # to skip it may be to read a cache, which the tape detects
            reader.rewind(mark)
            reader.indent += 1
            reader.raw(f"raise unfollowed({left_text(refused)!r})")
            reader.indent -= 1
            return refused
        return None

    def stores(self, nodes: list[ast.stmt]) -> bool:
        """Whether statements may store to what outlives the call."""
        code = self.reader.function.__code__
        outer = frozenset((*code.co_names, *code.co_freevars))
        return self.may_store(places_in(nodes, outer))

    def may_store(self, places: Iterable[Any]) -> bool:
        """Whether places outlive the call."""
        own = {("items", (name,)) for name in self.reader.owned}
        return may_store(self.reader.function, [p for p in places if p[:2] not in own])

    def meet(self, states: list[Any]) -> bool:
        found = joined(states)
        if found is not None:
            self.reader.restore(found)
        return found is not None

    def do_return(self, node: ast.Return) -> bool:
        if node.value is None:
            self.reader.own_calls.give(NOTHING, node)
            return False
        value = self.reader.expressions.read_given(node.value)
        self.reader.own_calls.give(value, node)
        return False


def as_read(target: ast.Subscript) -> ast.Subscript:
    made = ast.Subscript(target.value, target.slice, ast.Load())
    return ast.copy_location(made, target)


def left_text(refused: Refused) -> str:
    """Why a branch is left to the tape."""
    place = f"line {refused.line} is left to the tape" if refused.line else "left"
    return f"{place}: {refused.reason}"


def is_conditional(node: ast.AST) -> bool:
    """Whether parts of an expression are computed on some ways only, or elsewhere."""
    chained = isinstance(node, ast.Compare) and len(node.ops) > 1
    return chained or isinstance(node, CONDITIONAL)
