"""Expressions of a program, read."""

import ast
import operator
from dataclasses import replace
from enum import EnumType
from typing import Any

from rules_autodiff.straight._operations.table import OPERATORS
from rules_autodiff.straight._program.kinds import (
    BOOL,
    INT,
    MIXED,
    NONE,
    REAL,
    TEXT,
    Kind,
    join,
    kind_of,
)
from rules_autodiff.straight._program.refused import Refused, refuse
from rules_autodiff.straight._program.values import (
    UNKNOWN,
    Known,
    Value,
    function_value,
    with_entries,
)
from rules_autodiff.straight._program.words import function_in_words, syntax_in_words
from rules_autodiff.straight._program.written import Call

from .part import Part
from .variables import row_of
from .ways import joined, writes_lines

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
FOLDED: dict[type, Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
ANSWERS: dict[type, Any] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
ONCE = "once"  # the tag of a row that is an iterator
LARGE = 2**30  # literals from which on nothing is computed while code is written
TRUTHS = frozenset({"bool", "int", "real", "none", "text"})


class Expressions(Part):
    """Reads expressions: for each a `Value`, or something `Known`."""

    def read(self, node: ast.expr) -> Value:
        """The value of an expression."""
        return self.as_value(self.read_any(node), node)

    def as_value(self, found: Any, node: ast.expr) -> Value:
        """The value of an expression, if it has one."""
        if not isinstance(found, Value):
            name = function_in_words(getattr(found, "value", found))
            refuse(f"{name} is used as a value", node)
        value: Value = found
        check_kept(value, node)
        return value

    def read_items(self, node: ast.expr) -> Value:
        """The value of an expression that is gone through here, at once and once."""
        found = self.read_any(node)
        if isinstance(found, Value) and found.kind.tag is ONCE:
            return replace(found, kind=replace(found.kind, tag=None))
        return self.as_value(found, node)

    def read_given(self, node: ast.expr) -> Value:
        """The value of an expression, which may be a function."""
        found = self.read_any(node)
        if isinstance(found, Value):
            check_kept(found, node)
            return found
        return replace(function_value(found), fresh=isinstance(node, ast.Lambda))

    def read_any(self, node: ast.expr) -> Any:
        read = self.reader.expression_readers.get(type(node))
        if read is None:
            refuse(f"{syntax_in_words(type(node))} is not in its language", node)
        try:
            return read(node)
        except Refused as refused:
            raise refused.at(node) from None

    def read_constant(self, node: ast.Constant) -> Value:
        kind = TEXT if type(node.value) is str else kind_of(node.value)
        if kind is None or kind.name not in TRUTHS:
            refuse(f"the constant {node.value!r} is not in its language", node)
        if kind is REAL and repr(node.value) in ("inf", "nan"):
            refuse("an infinite literal is not in its language", node)
        return Value(repr(node.value), kind, constant=node.value, atom=True)

    def read_tuple(self, node: ast.Tuple) -> Value:
        if any(isinstance(entry, ast.Starred) for entry in node.elts):
            refuse("a starred entry is not in its language", node)
        return row_of([self.read_given(entry) for entry in node.elts])

    def read_list(self, node: ast.List) -> Value:
        if any(isinstance(entry, ast.Starred) for entry in node.elts):
            refuse("a starred entry is not in its language", node)
        entries = [self.read_given(entry) for entry in node.elts]
        return replace(with_entries(Kind("list"), entries), fresh=True)

    def read_dict(self, node: ast.Dict) -> Value:
        keys = tuple(key.value for key in node.keys if isinstance(key, ast.Constant))
        plain = len(keys) == len(node.keys) == len({*keys})
        if not plain or not all(type(key) in (str, int) for key in keys):
            refuse("a dict with other keys than literal texts and numbers", node)
        entries = [self.read_given(value) for value in node.values]
        return with_entries(Kind("dict", tag=keys), entries)

    # operators

    def read_bin_op(self, node: ast.BinOp) -> Value:
        x, y = self.read(node.left), self.read(node.right)
        return self.binary(type(node.op), x, y, node)

    def binary(self, op: type, x: Value, y: Value, node: ast.AST) -> Value:
        if op not in BINARY:
            refuse(f"the operator {syntax_in_words(op)} is not in its language", node)
        if x.kind.has_parts or y.kind.has_parts:
            return self.joined_rows(op, x, y, node)
        if x.kind is INT and y.kind is INT:
            known = folded(op, x.constant, y.constant)
            if known is not None:
                return Value(f"({known!r})", INT, constant=known, atom=True)
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
        return self.reader.operations.apply(by_x, [x], f"({x.text} * {x.text})")

    def joined_rows(self, op: type, x: Value, y: Value, node: ast.AST) -> Value:
        """`a + b` and `a * n` of tuples and lists."""
        reader = self.reader
        if y.kind.has_parts and x.kind is INT:
            x, y = y, x
        if x.kind.name not in ("row", "list"):
            refuse(f"an operator on {spoken(x.kind)} is not in its language", node)
        if op is ast.Mult and type(y.constant) is int:
            whole = with_entries(x.kind, reader.variables.entries_of(x) * y.constant)
            return replace(whole, fresh=True)
        if op is ast.Mult and y.kind is INT and x.kind.name == "list":
            return reader.lists.repeated(reader.variables.entries_of(x), y)
        plain = x.kind.name == y.kind.name and x.kind.name in ("row", "list")
        if op is not ast.Add or not plain:
            refuse("such an operator on tuples is not in its language", node)
        entries = [*reader.variables.entries_of(x), *reader.variables.entries_of(y)]
        return replace(with_entries(x.kind, entries), fresh=True)

    def operate(
        self, name: str, operands: list[Value], text: str, node: ast.AST
    ) -> Value:
        operation = OPERATORS.get(name)
        call = Call(kinds_of(operands), constants_of(operands))
        written = operation(call) if operation else None
        if written is None:
            what = " and ".join(spoken(k) for k in call.kinds)
            sign = text.replace("{}", "").strip("( )")
            refuse(f"the operator {sign} of {what} is not written out", node)
        return self.reader.operations.apply(written, operands, text)

    def read_unary_op(self, node: ast.UnaryOp) -> Value:
        x = self.read(node.operand)
        if isinstance(node.op, ast.Not):
            self.truth(x, node)
            if type(x.constant) is bool:
                return truth_value(not x.constant)
            return Value(f"(not {x.text})", BOOL)
        if isinstance(node.op, ast.USub) and type(x.constant) in (int, float):
            value = -x.constant
            return Value(f"({value!r})", x.kind, constant=value, atom=True)
        name, sign = UNARY[type(node.op)]
        return self.operate(name, [x], f"({sign}{{}})", node)

    def truth(self, x: Value, node: ast.AST) -> None:
        if x.kind.name not in TRUTHS:
            refuse(f"{spoken(x.kind)} is asked for its truth", node)

    def read_compare(self, node: ast.Compare) -> Value:
        parts = (node.left, *node.comparators)
        found = [self.read_any(part) for part in parts]
        if len(found) == 2 and all(map(is_member, found)):
            return compared_members(node.ops[0], *found)
        operands = [
            self.as_value(x, part) for x, part in zip(found, parts, strict=True)
        ]
        operands = [x.without_derivative() for x in operands]
        if any(x.kind.has_parts for x in operands):
            return self.compared_rows(node, operands)
        if any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            check_equality(operands, node)
        same = all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops)
        if not same and any(x.kind.name not in TRUTHS for x in operands):
            if len(operands) > 2 or type(node.ops[0]) not in COMPARED:
                refuse("a comparison of such values is not known", node)
            name, sign = COMPARED[type(node.ops[0])]
            return self.operate(name, operands, f"({{}} {sign} {{}})", node)
        if same and len(operands) == 2 and any(x.kind is NONE for x in operands):
            x, y = operands
            return truth_value((x.kind is y.kind) == isinstance(node.ops[0], ast.Is))
        if len(operands) == 2 and not same:
            answer = compared(node.ops[0], *[x.constant for x in operands])
            if answer is not None:
                return truth_value(answer)
        if same and not any(x.kind is NONE for x in operands):
            refuse("two values are asked whether they are the same", node)
        texts = [operands[0].text]
        for op, x in zip(node.ops, operands[1:], strict=True):
            texts += [spelled(op), x.text]
        return Value(f"({' '.join(texts)})", BOOL)

    def compared_rows(self, node: ast.Compare, operands: list[Value]) -> Value:
        """Whether a container, or a function, is None: it is not; or equal tuples."""
        if len(operands) == 2 and type(node.ops[0]) in (ast.Eq, ast.NotEq):
            return self.equal_rows(node, operands)
        (*_, op), nothing = node.ops, any(x.kind is NONE for x in operands)
        if len(operands) != 2 or not nothing or not isinstance(op, ast.Is | ast.IsNot):
            refuse("a comparison of such values is not known", node)
        return truth_value(isinstance(op, ast.IsNot))

    def equal_rows(self, node: ast.Compare, operands: list[Value]) -> Value:
        """Whether two tuples of integers are equal, such as shapes."""
        whole = any(x.kind.name != "row" for x in operands)
        if whole or any(k is not INT for x in operands for k in x.kind.parts):
            refuse("a comparison of such values is not known", node)
        x, y = operands
        sign = "==" if isinstance(node.ops[0], ast.Eq) else "!="
        if len(x.kind.parts) != len(y.kind.parts):
            return truth_value(sign == "!=")
        return Value(f"({x.text} {sign} {y.text})", BOOL)

    def read_bool_op(self, node: ast.BoolOp) -> Value:
        decided, operands = isinstance(node.op, ast.Or), []
        with self.reader.untraced():
            for part in node.values:
                operands.append(self.read(part))
                if operands[-1].constant is decided:
                    break  # what follows is not asked: it may be of no known kind
        for x in operands:
            self.truth(x, node)
        if any(x.kind is not BOOL for x in operands):
            refuse("and, or of other than truth values", node)
        operands = [x for x in operands if x.constant is not (not decided)]
        if not operands or operands[0].constant is decided:
            return truth_value(decided if operands else not decided)
        word = " or " if decided else " and "
        return Value(f"({word.join(x.text for x in operands)})", BOOL)

    def untraced(self, node: ast.expr) -> Value:
        """An expression of which no derivative is wanted, as one text."""
        with self.reader.untraced():
            return self.read(node)

    def settled(self, node: ast.expr) -> Any:
        """The literal that an expression is, or that a captured value is held to."""
        found = self.untraced(node)
        constant = literal(found)
        if constant is UNKNOWN and found.kind.name in ("int", "text"):
            number = self.reader.captured.get(found.text)
            if number is not None:
                return self.reader.captures.pin(number)
        return constant

    def test(self, node: ast.expr) -> str:
        """The text of what a branch or loop asks."""
        found = self.untraced(node)
        self.truth(found, node)
        return found.text

    def read_if_exp(self, node: ast.IfExp) -> Any:
        known = self.untraced(node.test).constant
        if type(known) is bool:
            return self.read_any(node.body if known else node.orelse)
        test = self.test(node.test)
        if not self.reader.tracing:
            x, y = self.read(node.body), self.read(node.orelse)
            kind = join(x.kind, y.kind)
            if kind is None:
                refuse("the two cases are of different kinds", node)
            return Value(f"({x.text} if {test} else {y.text})", kind)
        return self.branching_value(test, node)

    def branching_value(self, test: str, node: ast.IfExp) -> Any:
        """A conditional expression, as a branch."""
        reader = self.reader
        name = f"__w{node.lineno}_{node.col_offset}"
        reader.branches = True
        reader.locals.add(name)
        states = []
        before = reader.snapshot()
        for head, part in ((f"if {test}:", node.body), ("else:", node.orelse)):
            reader.restore(before)
            reader.raw(head)
            reader.indent += 1
            count = len(reader.items)
            reader.variables.assign(name, self.read_given(part))
            reader.close()
            if not writes_lines(reader.items[count:]):
                reader.raw("pass")
            reader.indent -= 1
            states.append(reader.snapshot())
        reader.restore(joined(states))
        if reader.kinds[name] is MIXED:
            refuse("the two cases are of different kinds", node)
        value = reader.variables.name_value(name)
        made = isinstance(value, Value) and value.kind.name == "object"
        return replace(value, fresh=name in reader.owned) if made else value


def check_kept(value: Value, node: ast.AST) -> None:
    """Refuse an iterator that is kept: it is used up when it is gone through."""
    if value.kind.tag is ONCE:
        refuse("an iterator is kept", node)


def is_member(found: Any) -> bool:
    """Whether an expression is a member of an enumeration that compares by identity."""
    cls = type(found.value) if isinstance(found, Known) else None
    own: Any = getattr(cls, "__eq__", None)
    return isinstance(cls, EnumType) and own is object.__eq__


def compared_members(op: ast.cmpop, x: Known, y: Known) -> Value:
    """Whether two members of enumerations are one, which a guard keeps so."""
    if not isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        refuse("members of enumerations are ordered")
    return truth_value((x.value is y.value) == isinstance(op, ast.Eq | ast.Is))


def truth_value(answer: bool) -> Value:
    return Value(str(answer), BOOL, constant=answer, atom=True)


def folded(op: type, x: Any, y: Any) -> int | None:
    """The value of an operator on literals that are whole numbers."""
    f = FOLDED.get(op)
    whole = f and type(x) is int and type(y) is int and max(abs(x), abs(y)) < LARGE
    if not whole or (y == 0 and op in (ast.FloorDiv, ast.Mod)):
        return None
    found: int = f(x, y) if f else 0
    return found


def compared(op: ast.cmpop, x: Any, y: Any) -> bool | None:
    """The answer to a comparison of literals, if both are."""
    if type(x) is not type(y) or type(x) not in (int, str) or type(op) not in ANSWERS:
        return None
    return bool(ANSWERS[type(op)](x, y))


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


def spelled(op: ast.cmpop) -> str:
    words = {ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}
    sign = words.get(type(op)) or COMPARED[type(op)][1]
    if sign in ("in", "not in"):
        refuse("a search is not in its language")
    return sign


def spoken(kind: Kind) -> str:
    """The description of a kind, for messages."""
    if kind.name == "array":
        names = {"d": "float64", "?": "bool", "l": "int64"}
        axes = "1 axis" if kind.ndim == 1 else f"{kind.ndim} axes"
        return f"an array of {names[kind.dtype]} with {axes}"
    words = {"real": "a number", "int": "a whole number", "bool": "a truth value",
             "none": "None", "text": "a text", "row": "a tuple",
             "list": "a list", "dict": "a dict", "mixed": "a value of several kinds",
             "function": "a function", "many": "a list",
             "object": "an instance"}  # fmt: skip
    return words[kind.name]


def check_equality(operands: list[Value], node: ast.AST) -> None:
    """Leave to the tape what finds a result of an earlier call by comparing floats.

    The tape refuses a constant that is returned after that: its derivative is lost.
    """
    unknown = [x for x in operands if literal(x) is UNKNOWN]
    if len(unknown) > 1 and any(x.kind.is_real for x in unknown):
        refuse("it asks whether floats are equal that are no literals", node)
