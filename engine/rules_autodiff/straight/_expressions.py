"""Expressions of a program, read."""

import ast
import functools
from dataclasses import replace
from typing import Any

from rules_autodiff.straight._errors import Refused, refuse
from rules_autodiff.straight._kinds import (
    BOOL,
    INT,
    MIXED,
    REAL,
    TEXT,
    Kind,
    join,
    kind_of,
)
from rules_autodiff.straight._operations import (
    FUNCTIONS,
    METHODS,
    OPERATORS,
    SPREADING,
    Call,
)
from rules_autodiff.straight._reader import joined, writes_lines
from rules_autodiff.straight._values import UNKNOWN, Known, Local, Value, function_value
from rules_autodiff.straight._variables import Variables, row_of

__all__ = ["Expressions"]

BINARY = {
    ast.Add: ("add", "+"), ast.Sub: ("sub", "-"), ast.Mult: ("mul", "*"),
    ast.Div: ("truediv", "/"), ast.Pow: ("pow", "**"), ast.MatMult: ("matmul", "@"),
    ast.Mod: ("mod", "%"), ast.FloorDiv: ("floordiv", "//"),
    ast.BitAnd: ("and", "&"), ast.BitOr: ("or", "|"), ast.BitXor: ("xor", "^"),
}  # fmt: skip
UNARY = {ast.USub: ("neg", "-"), ast.UAdd: ("pos", "+"), ast.Invert: ("invert", "~")}
COMPARED = {
    ast.Lt: ("lt", "<"), ast.LtE: ("le", "<="), ast.Gt: ("gt", ">"),
    ast.GtE: ("ge", ">="), ast.Eq: ("eq", "=="), ast.NotEq: ("ne", "!="),
}  # fmt: skip
TRUTHS = frozenset({"bool", "int", "real", "none", "text"})


class Expressions(Variables):
    """Reads expressions: for each a `Value`, or something `Known`."""

    def read(self, node: ast.expr) -> Value:
        """The value of an expression."""
        found: Any = self.read_any(node)
        if not isinstance(found, Value):
            name = getattr(getattr(found, "value", None), "__name__", "a function")
            refuse(f"{name} is used as a value", node)
        return found

    def read_given(self, node: ast.expr) -> Value:
        """The value of an expression, which may be a function."""
        found = self.read_any(node)
        return found if isinstance(found, Value) else function_value(found)

    def read_any(self, node: ast.expr) -> Any:
        reader = getattr(self, f"read_{type(node).__name__}", None)
        if reader is None:
            refuse(f"a {type(node).__name__} is not in its language", node)
        try:
            return reader(node)
        except Refused as refused:
            raise refused.at(node) from None

    def read_Constant(self, node: ast.Constant) -> Value:
        kind = TEXT if type(node.value) is str else kind_of(node.value)
        if kind is None or kind.name not in TRUTHS:
            refuse(f"the constant {node.value!r} is not in its language", node)
        if kind is REAL and repr(node.value) in ("inf", "nan"):
            refuse("an infinite literal is not in its language", node)
        return Value(repr(node.value), kind, constant=node.value, atom=True)

    def read_Name(self, node: ast.Name) -> Any:
        return self.name_value(node.id)

    def read_Tuple(self, node: ast.Tuple) -> Value:
        if any(isinstance(entry, ast.Starred) for entry in node.elts):
            refuse("a starred entry is not in its language", node)
        return row_of([self.read_given(entry) for entry in node.elts])

    # operators

    def read_BinOp(self, node: ast.BinOp) -> Value:
        x, y = self.read(node.left), self.read(node.right)
        return self.binary(type(node.op), x, y, node)

    def binary(self, op: type, x: Value, y: Value, node: ast.AST) -> Value:
        if op not in BINARY:
            refuse(f"the operator {op.__name__} is not in its language", node)
        name, sign = BINARY[op]
        if name == "mul" and x.active and x.text == y.text:
            return self.square(x, node)
        return self.operate(name, [x, y], f"({{}} {sign} {{}})", node)

    def square(self, x: Value, node: ast.AST) -> Value:
        """`x * x`, of which the derivative is taken once."""
        written = OPERATORS["pow"](Call((x.kind, INT), (UNKNOWN, 2)))
        if written is None:
            refuse(f"the square of {spoken(x.kind)} is not written out", node)
        by_x = replace(written, pulls=written.pulls[:1])
        return self.apply(by_x, [x], f"({x.text} * {x.text})")

    def operate(
        self, name: str, operands: list[Value], text: str, node: ast.AST
    ) -> Value:
        operation = OPERATORS.get(name)
        call = Call(kinds_of(operands), constants_of(operands))
        written = operation(call) if operation else None
        if written is None:
            what = " and ".join(spoken(k) for k in call.kinds)
            refuse(f"the operator {name} of {what} is not written out", node)
        return self.apply(written, operands, text)

    def read_UnaryOp(self, node: ast.UnaryOp) -> Value:
        x = self.read(node.operand)
        if isinstance(node.op, ast.Not):
            self.truth(x, node)
            return Value(f"(not {x.text})", BOOL)
        if isinstance(node.op, ast.USub) and type(x.constant) in (int, float):
            value = -x.constant
            return Value(f"({value!r})", x.kind, constant=value, atom=True)
        name, sign = UNARY[type(node.op)]
        return self.operate(name, [x], f"({sign}{{}})", node)

    def truth(self, x: Value, node: ast.AST) -> None:
        if x.kind.name not in TRUTHS:
            refuse(f"{spoken(x.kind)} is asked for its truth", node)

    def read_Compare(self, node: ast.Compare) -> Value:
        operands = [self.read(part) for part in (node.left, *node.comparators)]
        operands = [x.without_derivative() for x in operands]
        same = all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        if not same and any(x.kind.name not in TRUTHS for x in operands):
            if len(operands) > 2 or type(node.ops[0]) not in COMPARED:
                refuse("a comparison of such values is not known", node)
            name, sign = COMPARED[type(node.ops[0])]
            return self.operate(name, operands, f"({{}} {sign} {{}})", node)
        if same and any(x.kind.name == "array" for x in operands):
            if not any(x.kind is NONE for x in operands):
                refuse("two arrays are asked whether they are the same", node)
        parts = [operands[0].text]
        for op, x in zip(node.ops, operands[1:], strict=True):
            parts += [spelled(op), x.text]
        return Value(f"({' '.join(parts)})", BOOL)

    def read_BoolOp(self, node: ast.BoolOp) -> Value:
        before, self.tracing = self.tracing, False
        try:
            operands = [self.read(part) for part in node.values]
        finally:
            self.tracing = before
        for x in operands:
            self.truth(x, node)
        if any(x.kind is not BOOL for x in operands):
            refuse("and, or of other than truth values", node)
        word = " and " if isinstance(node.op, ast.And) else " or "
        return Value(f"({word.join(x.text for x in operands)})", BOOL)

    def untraced(self, node: ast.expr) -> Value:
        """An expression of which no derivative is wanted, as one text."""
        before, self.tracing = self.tracing, False
        try:
            return self.read(node)
        finally:
            self.tracing = before

    def test(self, node: ast.expr) -> str:
        """The text of what a branch or loop asks."""
        found = self.untraced(node)
        self.truth(found, node)
        return found.text

    def read_IfExp(self, node: ast.IfExp) -> Any:
        test = self.test(node.test)
        if not self.tracing:
            x, y = self.read(node.body), self.read(node.orelse)
            kind = join(x.kind, y.kind)
            if kind is None:
                refuse("the two cases are of different kinds", node)
            return Value(f"({x.text} if {test} else {y.text})", kind)
        return self.branching_value(test, node)

    def branching_value(self, test: str, node: ast.IfExp) -> Any:
        """A conditional expression, as a branch."""
        name = f"__w{node.lineno}_{node.col_offset}"
        self.branches = True
        self.locals.add(name)
        states = []
        before = self.snapshot()
        for head, part in ((f"if {test}:", node.body), ("else:", node.orelse)):
            self.restore(before)
            self.raw(head)
            self.indent += 1
            count = len(self.items)
            self.assign(name, self.read_given(part))
            self.close()
            if not writes_lines(self.items[count:]):
                self.raw("pass")
            self.indent -= 1
            states.append(self.snapshot())
        self.restore(joined(states))
        if self.kinds[name] is MIXED:
            refuse("the two cases are of different kinds", node)
        return self.name_value(name)

    # attributes and calls

    def read_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.read_any(node.value)
        if isinstance(owner, Known):
            found = self.captures.of_attribute(owner, node.attr)
            if isinstance(found, Known):
                return found
            return self.captured_value(node.attr, *found)
        if owner.kind.name != "array" or node.attr not in ATTRIBUTES:
            what = spoken(owner.kind)
            refuse(f"the attribute {node.attr} of {what} is not known", node)
        written = self.known_method(node.attr, [owner], {}, node)
        return self.apply(written, [owner], f"{{}}.{node.attr}")

    def known_method(
        self, name: str, operands: list[Value], options: Any, node: ast.AST
    ) -> Any:
        operation = METHODS.get(name)
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call) if operation else None
        if written is None:
            refuse(f"the method {name} is not written out for this", node)
        return written

    def read_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            owner = self.read_any(node.func.value)
            if isinstance(owner, Value):
                return self.method_call(owner, node.func.attr, node)
        f = self.read_any(node.func)
        if isinstance(f, Known):
            return self.call(f, node)
        return self.call_value(f, node)

    def method_call(self, owner: Value, name: str, node: ast.Call) -> Value:
        if owner.kind.name != "array" or name in ATTRIBUTES:
            refuse(f"the method {name} of {spoken(owner.kind)}", node)
        operands = [owner, *map(self.read, node.args)]
        options = self.options(node)
        written = self.known_method(name, operands, options, node)
        text = f"{{}}.{name}({arguments(len(node.args), options)})"
        return self.apply(written, operands, text)

    def options(self, node: ast.Call) -> dict[str, Any]:
        """The keywords of a call, which must be literals."""
        found = {}
        for keyword in node.keywords:
            value = self.untraced(keyword.value)
            constant = literal(value)
            if keyword.arg is None or constant is UNKNOWN:
                refuse("a keyword must be given by a literal", node)
            found[keyword.arg] = constant
        return found

    def call(self, f: Known, node: ast.Call) -> Value:
        special = SPECIAL.get(f.value)
        if special is not None:
            found: Value | None = getattr(self, special)(f, node)
            if found is not None:
                return found
        operation = FUNCTIONS.get(f.value) if hashable(f.value) else None
        if operation is None:
            return self.call_written(f, node)
        if any(isinstance(a, ast.Starred) for a in node.args):
            refuse("a starred argument is not in its language", node)
        operands = self.operands(f.value, node)
        self.unit.relied.add(f.value)
        options = self.options(node)
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call)
        name = getattr(f.value, "__name__", str(f.value))
        if written is None:
            what = ", ".join(map(spoken, call.kinds))
            refuse(f"{name}({what}) is not written out", node)
        own = self.unit.constant(name, f.value)
        if f.value in SPREADING:
            inner = ", ".join(["{}"] * len(operands))
            rest = "".join(f", {k}={v!r}" for k, v in options.items())
            return self.apply(written, operands, f"{own}([{inner}]{rest})")
        text = f"{own}({arguments(len(operands), options)})"
        return self.apply(written, operands, text)

    def operands(self, f: Any, node: ast.Call) -> list[Value]:
        if f not in SPREADING:
            return [self.read(a) for a in node.args]
        first = node.args[0] if len(node.args) == 1 else None
        if not isinstance(first, ast.Tuple | ast.List):
            refuse("what is put together must be spelled out", node)
        return [self.read(entry) for entry in first.elts]

    def call_written(self, f: Known, node: ast.Call) -> Value:
        raise NotImplementedError

    def call_value(self, f: Value | Local, node: ast.Call) -> Value:
        raise NotImplementedError

    def call_sum(self, f: Known, node: ast.Call) -> Value | None:
        raise NotImplementedError

    def call_len(self, _f: Known, node: ast.Call) -> Value | None:
        """The length of a row or array."""
        if len(node.args) != 1 or node.keywords:
            return None
        x = self.untraced(node.args[0])
        if x.kind.name == "row":
            count = len(x.kind.parts)
            return Value(str(count), INT, constant=count, atom=True)
        if x.kind.name == "array":
            return Value(f"{x.text}.shape[0]", INT)
        return None


# Builtins that are read in a way of their own, by the names of methods.
SPECIAL: dict[Any, str] = {
    functools.partial: "call_partial",
    sum: "call_sum",
    len: "call_len",
}
ATTRIBUTES = frozenset({"T", "mT", "shape", "size", "ndim"})


def hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def literal(value: Value) -> Any:
    """The constant that a value is, also a row of constants."""
    if value.entries is not None and value.kind.name == "row":
        parts = tuple(literal(entry) for entry in value.entries)
        return UNKNOWN if any(part is UNKNOWN for part in parts) else parts
    return value.constant


def kinds_of(operands: list[Value]) -> tuple[Kind, ...]:
    return tuple(x.kind for x in operands)


def constants_of(operands: list[Value]) -> tuple[Any, ...]:
    return tuple(literal(x) for x in operands)


def arguments(count: int, options: dict[str, Any]) -> str:
    """The text of a call's arguments, with fields."""
    named = [f"{k}={v!r}" for k, v in options.items()]
    named = [text.replace("{", "{{").replace("}", "}}") for text in named]
    return ", ".join(["{}"] * count + named)


def spelled(op: ast.cmpop) -> str:
    words = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
    sign = words.get(type(op)) or COMPARED[type(op)][1]
    if sign in ("in", "not in"):
        refuse("a search is not in its language")
    return sign


def spoken(kind: Kind) -> str:
    """A kind in words."""
    if kind.name == "array":
        names = {"d": "float64", "?": "bool", "l": "int64"}
        return f"an array of {names[kind.dtype]} with {kind.ndim} axes"
    words = {"real": "a number", "int": "a whole number", "bool": "a truth value",
             "none": "None", "text": "a text", "row": "a tuple",
             "function": "a function"}  # fmt: skip
    return words[kind.name]
