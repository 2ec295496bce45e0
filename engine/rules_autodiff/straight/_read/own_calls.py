"""Calls of the program's own functions, sums over comprehensions, and results."""

import ast
from dataclasses import replace
from types import FunctionType
from typing import Any

from rules_autodiff._python.opaque import is_opaque
from rules_autodiff.straight._guard.captures import Place
from rules_autodiff.straight._program.blocks import Pull, Return, Step, as_row
from rules_autodiff.straight._program.kinds import (
    Kind,
    has_functions,
    holds_objects,
    join,
    leaf_kinds,
    spread,
)
from rules_autodiff.straight._program.refused import Refused, Unlearned, refuse
from rules_autodiff.straight._program.values import (
    Closure,
    Known,
    Local,
    Partial,
    Value,
    bar_of,
    flat,
    function_value,
    rebuilt,
    with_entries,
)
from rules_autodiff.straight._program.words import function_in_words
from rules_core import Primitive, frule, rrule

from .parameters import bound
from .part import Part
from .rule_calls import has_rules
from .taped_calls import call_by_tape

__all__ = ["OwnCalls"]


class OwnCalls(Part):
    """Reads what leads out of the function and back into it."""

    # the function's value

    def give(self, value: Value, node: ast.AST) -> None:
        reader = self.reader
        if reader.changing:
            value = self.with_instance(value, node)
        whole = reader.variables.entered(reader.closures.settled(value))
        known = whole.kind if reader.result is None else join(reader.result, whole.kind)
        if known is None:
            refuse("it returns values of different kinds", node)
        reader.result = known
        leaves = flat(whole)
        if any(leaf.kind.name == "many" for leaf in leaves):
            refuse("it returns a list", node)
        reader.closures.check_returned(whole.kind, node)
        for place, leaf in enumerate(leaves):
            if reader.tracing and leaf.kind.is_real:
                step = Step(reader.line, "", (), f"__result{place}_bar", leaf.kind)
                if leaf.active:
                    step.pulls = [Pull(leaf.bar, leaf.kind, "{dz}")]
                reader.tangents.give(step, reader.tangents.dot(leaf))
                reader.step(step)
        text = as_row([x.text for x in leaves]) if whole.kind.has_parts else whole.text
        block = reader.block
        reader.close()
        reader.items.append(Return(reader.indent, text, reader.line, block))

    def with_instance(self, value: Value, node: ast.AST) -> Value:
        """The results of a method that changes its instance: value and instance."""
        reader = self.reader
        if holds_objects(value.kind):
            refuse("a method that changes its instance returns an instance", node)
        made = replace(reader.variables.variable(reader.changing), unstable=False)
        return with_entries(Kind("row"), [value, made])

    # functions of the program

    def call_written(self, f: Known, node: ast.Call) -> Value:
        function = f.value
        if type(function) is Primitive:
            if function.run is not function.fun:
                refuse(f"{function_in_words(function)} is given copies", node)
            place = Place(f.place, "{}.fun")
            if not self.has_rules(function.fun):
                if function.keep is not None:
                    refuse(f"{function_in_words(function)} declares its result", node)
                known = self.reader.captures.found(function.fun, place)
                return self.reader.known_calls.call(known, node)
            function = function.fun
        if self.has_rules(function):
            return self.call_ruled(f, node)
        name = function_in_words(function)
        if type(function) is not FunctionType or is_opaque(function):
            refuse(f"{name} is not written out", node)
        return self.invoke(function_value(f), *self.given(node), node)

    def has_rules(self, f: Any) -> bool:
        """Whether rules answer for a function: in forward mode those of either mode."""
        return has_rules(f, rrule, *([frule] if self.reader.tangents.wanted else []))

    def call_ruled(self, f: Known, node: ast.Call) -> Value:
        """A call of a function that has rules."""
        if any(isinstance(a, ast.Starred) for a in node.args):
            refuse("a starred argument of a function with rules", node)
        operands = [self.reader.expressions.read(a) for a in node.args]
        calls = self.reader.known_calls
        return calls.by_rule_alone(f, operands, calls.options(node), node)

    def call_value(self, f: Value | Local, node: ast.Call) -> Value:
        reader, closures = self.reader, self.reader.closures
        whole = closures.closed(f) if isinstance(f, Local) else closures.settled(f)
        if whole.kind.name == "object":
            whole = reader.objects.attribute(whole, "__call__", node)
        if whole.kind.name != "function":
            refuse("what is called is no function that is known", node)
        if isinstance(whole.kind.tag, Known):
            return reader.known_calls.call(whole.kind.tag, node)
        return self.invoke(whole, *self.given(node), node)

    def given(self, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of a call, by position and by name."""
        reader = self.reader
        values: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                items = reader.expressions.read_items(part.value)
                values += reader.variables.iterated(items)
            else:
                values.append(reader.expressions.read_given(part))
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            value = reader.expressions.read_given(keyword.value)
            found = {keyword.arg: value} if keyword.arg else self.by_name(value)
            if named.keys() & found.keys():
                refuse("an argument is given twice", node)
            named.update(found)
        return values, named

    def by_name(self, value: Value) -> dict[str, Value]:
        """The entries of a dict as arguments by name."""
        if value.kind.name != "dict" or not all(type(k) is str for k in value.kind.tag):
            refuse("a call with ** of no dict with texts as its keys")
        entries = self.reader.variables.entries_of(value)
        return dict(zip(value.kind.tag, entries, strict=True))

    def invoke(
        self, f: Value, values: list[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        """The value of a call of a function that is a value."""
        tag = f.kind.tag
        if isinstance(tag, Partial):
            inner, *rest = f.entries or ()
            count = len(rest) - len(tag.names)
            known = dict(zip(tag.names, rest[count:], strict=True))
            values, named = [*rest[:count], *values], {**known, **named}
            return self.invoke(inner, values, named, node)
        if isinstance(tag, Closure):
            return self.call_local(f, tag, values, named, node)
        written = isinstance(tag, Known) and type(tag.value) is FunctionType
        if not written or is_opaque(tag.value):
            refuse("such a function is called by way of another", node)
        function, place = tag.value, tag.place

        def default(name: str) -> Value | None:
            return self.default_of(function, place, name)

        before, captured = self.reader.unit.state(), dict(self.reader.captured)
        settling = self.reader.closures.settling
        try:
            full = bound(function, values, named, default, node)
            return self.call_form(function, place, full, None)
        except Unlearned:
            raise
        except Refused as refused:
            self.reader.unit.rewind(before)
            self.reader.captured = captured
            self.reader.closures.settling = settling
            return call_by_tape(self.reader, tag, values, named, refused)

    def invoke_changing(
        self, f: Known, values: list[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        """The value of a method that changes its instance, with that."""

        def default(name: str) -> Value | None:
            return self.default_of(f.value, f.place, name)

        full = bound(f.value, values, named, default, node)
        return self.call_form(f.value, f.place, full, None, changing=True)

    def call_local(
        self, f: Value, tag: Closure, values: Any, named: Any, node: ast.AST
    ) -> Value:
        """The value of a call of a function that the program defines."""
        held = dict(zip(tag.names, f.entries or (), strict=True))
        held |= {name: function_value(known) for name, known in tag.known}
        hidden = dict(tag.local.defaults)

        def default(name: str) -> Value | None:
            if name in hidden:
                return held[hidden[name]]
            return self.default_of(tag.local.function, tag.place, name)

        full = bound(tag.local.function, values, named, default, node)
        return self.call_form(tag.local.function, tag.place, full, f)

    def default_of(self, f: FunctionType, place: Place, name: str) -> Value | None:
        """The default value of a parameter; None if it has none."""
        found: Any = self.reader.captures.default(f, place, name)
        if found is None:
            return None
        if isinstance(found, Known):
            return function_value(found)
        return self.reader.captured_value(f"default_{name}", *found)

    def call_form(
        self,
        f: FunctionType,
        place: Place,
        values: list[Value],
        closure: Value | None,
        *,
        changing: bool = False,
    ) -> Value:
        """The value of a call of a function by the values of its parameters."""
        reader = self.reader
        held = [] if closure is None else list(closure.entries or ())
        passed, kinds = [], []
        for leaf in (leaf for x in (*values, *held) for leaf in flat(x)):
            if leaf.kind.name == "many":
                refuse("a list is passed on")
        for x in map(reader.closures.settled, (*values, *held)):
            parts = self.passed(x)
            kinds.append(x.kind if parts is None else spread(x.kind))
            passed += [x] if parts is None else parts
        own = None
        if closure is not None:
            own = replace(closure.kind, parts=tuple(kinds[len(values) :]))
        active = tuple(i for i, x in enumerate(passed) if x.active)
        with reader.unit.called_in_loop(bool(reader.depth)):
            given = tuple(kinds[: len(values)])
            form = reader.unit.form(f, place, given, active, own, changing=changing)
        if changing or holds_objects(form.kind):
            self.check_apart(values[changing:])
        if changing and not reader.tracing:
            refuse("a test changes an instance")
        if not active and (not form.kind.has_parts or not reader.tracing):
            if any(part.has_parts for part in form.kind.parts):
                refuse("a test asks for such a value")
            unstable = any(x.unstable for x in passed)
            alone = "" if reader.tangents.wanted else "[0]"
            text = f"{called(form, passed)}{alone}"
            return Value(text, form.kind, unstable=unstable)
        operands = [*map(reader.operations.steady, passed)]
        text = called(form, operands)
        followed = [x for x in operands if x.active]
        found = self.results(form.kind, text, f"{form.name}_back", followed)
        copies = [y for x, y in zip(passed, operands, strict=True) if x is not y]
        self.part_from(found, copies)
        return found

    def check_apart(self, values: list[Value]) -> None:
        """See that no result is an instance that changes later."""
        if any(map(changes_later, values)):
            refuse("a function is given an instance that changes, and may keep it")

    def passed(self, x: Value) -> list[Value] | None:
        """The values to pass for an argument, each for itself; None for it as it is."""
        if not x.kind.has_parts:
            return None
        whole = self.reader.variables.entered(x)
        leaves = flat(whole)
        plain = not x.active and not any(leaf.unstable for leaf in leaves)
        apart = has_functions(x.kind) or holds_objects(x.kind)
        return None if plain and not apart else leaves

    def part_from(self, found: Value, copies: list[Value]) -> None:
        """See to it that a result is no view of what was copied for the call."""
        names = as_row([x.text for x in copies])
        for leaf in flat(found) if copies else ():
            if leaf.kind.name == "array":
                self.reader.step(Step(self.reader.line, f"apart({leaf.text}, {names})"))

    def results(self, kind: Kind, text: str, back: str, operands: list[Value]) -> Value:
        """The results of a call, through which a derivative may pass."""
        reader = self.reader
        kinds = leaf_kinds(kind)
        names = [reader.temporary() for _ in kinds]
        kept, found = reader.temporary("r"), [reader.temporary("c") for _ in operands]
        row = as_row(names) if kind.has_parts else names[0]
        step = Step(reader.line, f"{row}, {kept} = {text}", (*names, kept))
        outs = [
            (bar_of(name, k), k) for name, k in zip(names, kinds, strict=True)
            if k.is_real
        ]  # fmt: skip
        if outs and operands:
            (step.out, step.kind), *rest = outs
            step.also = tuple(rest)
            step.calls = f"({', '.join(found)},) = {back}({{r}}, {{dz}})"
            step.after["r"] = kept
            step.pulls = [
                Pull(x.bar, x.kind, c) for x, c in zip(operands, found, strict=True)
            ]
        reader.tangents.call(step, row, text, operands, [bar for bar, _ in outs])
        reader.step(step)
        values = [
            Value(name, k, k.is_real and bool(operands), atom=True)
            for name, k in zip(names, kinds, strict=True)
        ]
        return rebuilt(kind, iter(values))


def called(form: Any, operands: list[Value]) -> str:
    """The text of a call of a written function."""
    return f"{form.name}({', '.join([*[x.text for x in operands], 'caps'])})"


def changes_later(x: Value) -> bool:
    """Whether a value is or holds an instance that changes."""
    own = x.unstable and x.kind.name == "object"
    return own or any(map(changes_later, x.entries or ()))
