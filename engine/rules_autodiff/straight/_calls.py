"""Calls of the program's own functions, sums over comprehensions, and results."""

import ast
from types import FunctionType
from typing import Any

from rules_autodiff._opaque import is_opaque
from rules_autodiff.straight._blocks import Pull, Step
from rules_autodiff.straight._captures import Place
from rules_autodiff.straight._errors import refuse
from rules_autodiff.straight._kinds import INT, Kind, join
from rules_autodiff.straight._loops import Loops
from rules_autodiff.straight._reader import row_of
from rules_autodiff.straight._values import Known, Value, bar_of
from rules_autodiff.straight._writer import Return

__all__ = ["Calls"]


class Calls(Loops):
    """Reads what leads out of the function and back into it.

    Attributes:
        result: The kind of the function's value, as far as it is known.
    """

    result: Kind | None = None

    # the function's value

    def give(self, value: Value, node: ast.AST) -> None:
        entries = [value] if value.kind.name != "row" else self.entries_of(value, node)
        kind = value.kind if value.entries is None else row_of(entries).kind
        known = kind if self.result is None else joined_result(self.result, kind)
        if known is None:
            refuse("it returns values of different kinds", node)
        self.result = known
        for place, entry in enumerate(entries):
            if self.tracing and entry.kind.is_real:
                step = Step(self.line, "", (), f"__result{place}_bar", entry.kind)
                if entry.active:
                    step.pulls = [Pull(entry.bar, entry.kind, "{dz}")]
                self.step(step)
        block = self.block
        self.close()
        self.items.append(Return(self.indent, value.text, self.line, block))

    def entries_of(self, value: Value, node: ast.AST) -> list[Value]:
        if any(kind.name == "row" for kind in value.kind.parts):
            refuse("it returns a tuple of tuples", node)
        if value.entries is not None:
            return list(value.entries)
        return [Value(value.text, kind) for kind in value.kind.parts]

    # functions of the program

    def call_written(self, f: Known, node: ast.Call) -> Value:
        function = f.value
        name = getattr(function, "__qualname__", repr(function))
        if type(function) is not FunctionType or is_opaque(function):
            refuse(f"{name} is not written out", node)
        operands = [self.passed(x) for x in self.arguments_of(function, f.place, node)]
        kinds = tuple(x.kind for x in operands)
        active = tuple(i for i, x in enumerate(operands) if x.active)
        form = self.unit.form(function, f.place, kinds, active)
        text = f"{form.name}({', '.join([*[x.text for x in operands], 'caps'])})"
        if not active:
            return Value(f"{text}[0]", form.kind)
        return self.call_form(form, text, [operands[i] for i in active])

    def passed(self, x: Value) -> Value:
        """An argument: a name, in memory that is not written to."""
        if x.active and x.kind.name == "row":
            refuse("a tuple with a derivative is passed on")
        return self.steady(x)

    def call_form(self, form: Any, text: str, operands: list[Value]) -> Value:
        """The results of a call through which a derivative passes."""
        kind = form.kind
        kinds = kind.parts if kind.name == "row" else (kind,)
        names = [self.temporary() for _ in kinds]
        kept, found = self.temporary("r"), [self.temporary("c") for _ in operands]
        row = names[0] if kind.name != "row" else f"({', '.join(names)},)"
        step = Step(self.line, f"{row}, {kept} = {text}", (*names, kept))
        outs = [
            (bar_of(name, k), k) for name, k in zip(names, kinds, strict=True)
            if k.is_real
        ]  # fmt: skip
        if outs:
            (step.out, step.kind), *rest = outs
            step.also = tuple(rest)
            step.calls = f"({', '.join(found)},) = {form.name}_back({{r}}, {{dz}})"
            step.after["r"] = kept
            step.pulls = [
                Pull(x.bar, x.kind, c) for x, c in zip(operands, found, strict=True)
            ]
        self.step(step)
        values = [
            Value(name, k, k.is_real, atom=True)
            for name, k in zip(names, kinds, strict=True)
        ]
        return values[0] if kind.name != "row" else row_of(values)

    def arguments_of(
        self, f: FunctionType, place: Place, node: ast.Call
    ) -> list[Value]:
        """The arguments of a call, in the order of the parameters."""
        code = f.__code__
        names = code.co_varnames[: code.co_argcount]
        given = dict(zip(names, map(self.read, node.args), strict=False))
        if len(node.args) > len(names):
            refuse("a call with too many arguments", node)
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                refuse("a call by such keywords", node)
            given[keyword.arg] = self.read(keyword.value)
        missing = len(names) - len(f.__defaults__ or ())
        for index, name in enumerate(names):
            if name not in given:
                if index < missing:
                    refuse(f"a call without a value for {name}", node)
                given[name] = self.default_of(f, place, index - missing)
        return [given[name] for name in names]

    def default_of(self, f: FunctionType, place: Place, index: int) -> Value:
        found = self.captures.default(f, place, index)
        if isinstance(found, Known):
            refuse("a function is the default value of an argument")
        return self.captured_value(f"default{index}", *found)

    # sum(… for …)

    def call_sum(self, _f: Known, node: ast.Call) -> Value | None:
        """`sum` of a comprehension, as the loop that it is."""
        first = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if not isinstance(first, ast.GeneratorExp | ast.ListComp):
            return None
        if not self.tracing or len(first.generators) != 1:
            refuse("such a comprehension is not in its language", node)
        (part,) = first.generators
        total = f"__n{node.lineno}_{node.col_offset}"
        self.locals.add(total)
        self.assign(total, Value("0", INT, constant=0, atom=True))
        hidden = self.hide(part.target)
        loop = self.unit.made_loop(node, part, first.elt, total)
        # `do_For` reads what is looped over outside of the comprehension's scope
        self.do_For(loop)
        self.kinds.update(hidden)
        return self.variable(total)

    def hide(self, target: ast.expr) -> dict[str, Kind]:
        """Give the variables of a comprehension names of their own."""
        names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
        for name in names:
            if name in self.locals or name in self.renamed:
                refuse("a comprehension reuses the name of a variable", target)
        return {}


def joined_result(one: Kind, other: Kind) -> Kind | None:
    """The kind of a function's value where it may be either; rows entry by entry."""
    if one.name == other.name == "row" and len(one.parts) == len(other.parts):
        parts = [join(x, y) for x, y in zip(one.parts, other.parts, strict=True)]
        return Kind("row", parts=tuple([p for p in parts if p])) if all(parts) else None
    return join(one, other)
