"""Calls of what the table of operations knows, and attributes, read."""

import ast
from typing import Any

import numpy as np

from rules_autodiff.straight._guard.captures import Method
from rules_autodiff.straight._guard.trust import is_ours
from rules_autodiff.straight._operations.table import FUNCTIONS, METHODS, SPREADING
from rules_autodiff.straight._program.kinds import TEXT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import (
    UNKNOWN,
    Known,
    Partial,
    Thing,
    Value,
    function_value,
    with_entries,
)
from rules_autodiff.straight._program.words import function_in_words
from rules_autodiff.straight._program.written import Call

from .expressions import (
    check_equality,
    constants_of,
    kinds_of,
    literal,
    spoken,
)
from .part import Part
from .rule_calls import call_by_rule
from .variables import row_of

__all__ = ["KnownCalls"]

EQUALITIES = frozenset({np.equal, np.not_equal, np.array_equal})


class KnownCalls(Part):
    """Reads calls and attributes."""

    def read_attribute(self, node: ast.Attribute) -> Any:
        reader = self.reader
        owner = reader.expressions.read_any(node.value)
        if isinstance(owner, Known):
            found = reader.captures.of_attribute(owner, node.attr)
            if isinstance(found, Method):
                return self.method_of(found, owner, node)
            if isinstance(found, Known):
                return found
            return reader.captured_value(node.attr, *found)
        if owner.kind.name == "object":
            return reader.objects.attribute(owner, node.attr, node)
        if owner.kind.name != "array" or node.attr not in ATTRIBUTES:
            what = spoken(owner.kind)
            refuse(f"the attribute {node.attr} of {what} is not known", node)
        written = self.known_method(node.attr, [owner], {}, node)
        return reader.operations.apply(written, [owner], f"{{}}.{node.attr}")

    def method_of(self, method: Method, owner: Known, node: ast.AST) -> Value:
        """A method of an object, or the value of a property."""
        entries = [function_value(method.function), function_value(owner)]
        whole = with_entries(Kind("function", tag=Partial(())), entries)
        if not method.is_property:
            return whole
        return self.reader.own_calls.invoke(whole, [], {}, node)

    def known_method(
        self, name: str, operands: list[Value], options: Any, node: ast.AST
    ) -> Any:
        operation = METHODS.get(name)
        homes = [home for home in (np, np.ndarray) if hasattr(home, name)]
        self.reader.unit.relied |= {
            getattr(home, name) for home in homes
        }  # both have rules
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call) if operation else None
        if written is None:
            what = ", ".join([*map(spoken, call.kinds[1:]), *options])
            whose = spoken(call.kinds[0])
            refuse(f"the method {name}({what}) of {whose} is not written out", node)
        return written

    def read_call(self, node: ast.Call) -> Value:
        reader = self.reader
        if isinstance(node.func, ast.Attribute):
            changing = reader.objects.method_call(node)
            if changing is not None:
                return changing
            owner = reader.expressions.read_any(node.func.value)
            apart = ("function", "object")
            if isinstance(owner, Value) and owner.kind.name not in apart:
                return self.method_call(owner, node.func.attr, node)
        f = reader.expressions.read_any(node.func)
        if isinstance(f, Thing):
            found = reader.captures.of_object(f, "__call__")
            if not isinstance(found, Method) or "__call__" in vars(f.value):
                refuse("an object is called in such a way", node)
            return reader.own_calls.call_value(self.method_of(found, f, node), node)
        if isinstance(f, Known):
            return self.call(f, node)
        return reader.own_calls.call_value(f, node)

    def method_call(self, owner: Value, name: str, node: ast.Call) -> Value:
        if owner.kind.name == "dict" and not (node.args or node.keywords):
            return self.dict_method(owner, name, node)
        if owner.kind.name != "array" or name in ATTRIBUTES:
            refuse(f"the method {name} of {spoken(owner.kind)}", node)
        operands = [owner, *map(self.argument, node.args)]
        options = self.options(node)
        written = self.known_method(name, operands, options, node)
        text = f"{{}}.{name}({arguments(len(node.args), options)})"
        return self.reader.operations.apply(written, operands, text)

    def dict_method(self, owner: Value, name: str, node: ast.AST) -> Value:
        """The keys, values or items of a dict, one by one."""
        variables = self.reader.variables
        keys, values = variables.iterated(owner), variables.entries_of(owner)
        pairs = zip(keys, values, strict=True)
        if name not in ("keys", "values", "items"):
            refuse(f"the method {name} of a dict", node)
        if name == "items":
            return row_of([row_of([*pair]) for pair in pairs])
        return row_of(keys if name == "keys" else values)

    def argument(self, node: ast.expr) -> Value:
        """An argument of a function of NumPy: a value, or a dtype by its name."""
        expressions = self.reader.expressions
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            owner = expressions.read_any(node.value)
            if isinstance(owner, Value) and owner.kind.name == "array":
                return text_value(DTYPE_NAMES[owner.kind.dtype])
        found = expressions.read_any(node)
        if isinstance(found, Known) and hashable(found.value) and found.value in DTYPES:
            return text_value(DTYPES[found.value])
        return expressions.as_value(found, node)

    def options(self, node: ast.Call) -> dict[str, Any]:
        """The keywords of a call, which must be literals."""
        found = {}
        for keyword in node.keywords:
            with self.reader.untraced():
                constant = literal(self.argument(keyword.value))
            if keyword.arg is None or constant is UNKNOWN:
                refuse("a keyword must be given by a literal", node)
            found[keyword.arg] = constant
        return found

    def call(self, f: Known, node: ast.Call) -> Value:
        reader = self.reader
        known = hashable(f.value)
        if known:
            reader.unit.relied.add(f.value)
        special = reader.builtin_readers.get(f.value) if known else None
        if special is not None:
            found: Value | None = special(f, node)
            if found is not None:
                return found
        made = reader.objects.construct(f, node)
        if made is not None:
            return made
        operation = FUNCTIONS.get(f.value) if known else None
        if operation is None:
            return reader.own_calls.call_written(f, node)
        if any(isinstance(a, ast.Starred) for a in node.args):
            refuse("a starred argument is not in its language", node)
        operands = self.operands(f.value, node)
        if isinstance(operands, Value):  # the array that numpy.array copies
            return self.copied(operands, node)
        listed = len(operands) == 1 and operands[0].kind.name == "many"
        if listed and not node.keywords and self.is_stacked(f.value, operands[0]):
            return reader.lists.as_array(operands[0])
        if f.value in EQUALITIES:
            check_equality(operands, node)
        options = self.options(node)
        if not is_ours(f.value):  # somebody else has a rule, for such a call perhaps
            return self.by_rule_alone(f, operands, options, node)
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call)
        name = getattr(f.value, "__name__", str(f.value))
        if written is None:
            ruled = call_by_rule(self.reader, f, operands, options)
            if ruled is not None:
                return ruled
            what = ", ".join([*map(spoken, call.kinds), *options])
            told = function_in_words(f.value)
            refuse(f"{told}({what}) is not written out", node)
        own = reader.unit.constant(name, f.value)
        if f.value in SPREADING:
            inner = ", ".join(["{}"] * len(operands))
            rest = "".join(f", {k}={v!r}" for k, v in options.items())
            return reader.operations.apply(written, operands, f"{own}([{inner}]{rest})")
        text = f"{own}({arguments(len(operands), options)})"
        return reader.operations.apply(written, operands, text)

    def by_rule_alone(
        self, f: Known, operands: list[Value], options: dict[str, Any], node: ast.AST
    ) -> Value:
        """A call of a function that has rules."""
        found = call_by_rule(self.reader, f, operands, options)
        if found is None:
            what = ", ".join([spoken(x.kind) for x in operands])
            name = function_in_words(f.value)
            refuse(f"no rule answers the call {name}({what}) here", node)
        return found

    def is_stacked(self, f: Any, out: Value) -> bool:
        """Whether a function makes the array of a list whose rows are the entries."""
        flat = self.reader.lists.entry_kind(out).ndim == 1
        return f in (np.array, np.stack) or (f is np.vstack and flat)

    def copied(self, x: Value, node: ast.Call) -> Value:
        """`numpy.array` of an array."""
        options = self.options(node)
        if not {"dtype"}.issuperset(options):
            refuse("numpy.array of an array with other options than dtype", node)
        dtype = options.get("dtype", DTYPE_NAMES[x.kind.dtype])
        written = self.known_method("astype", [x], {"dtype": dtype}, node)
        return self.reader.operations.apply(written, [x], f"{{}}.astype({dtype!r})")

    def operands(self, f: Any, node: ast.Call) -> list[Value] | Value:
        reader = self.reader
        if f not in SPREADING:
            read = self.argument if is_of_numpy(f) else reader.expressions.read
            given = [as_row(read(a)) for a in node.args]
            return [self.as_operand(x) if is_of_numpy(f) else x for x in given]
        if len(node.args) != 1:
            refuse("what is put together must be spelled out", node)
        whole = reader.expressions.read(node.args[0])
        if whole.kind.name == "many":
            return [whole]
        if f is np.array and whole.kind.name == "array":
            return whole
        if whole.kind.name not in ("row", "list"):
            refuse("what is put together must be spelled out", node)
        return [as_row(entry) for entry in reader.variables.entries_of(whole)]

    def as_operand(self, x: Value) -> Value:
        """A list as the array that it is for NumPy."""
        return self.reader.lists.as_array(x) if x.kind.name == "many" else x


ATTRIBUTES = frozenset({"T", "mT", "shape", "size", "ndim"})
# Classes that are given to NumPy as dtypes, and the dtypes of kinds.
DTYPES = {
    float: "float64", np.float64: "float64", int: "int64", np.int64: "int64",
    bool: "bool", np.bool_: "bool",
}  # fmt: skip
DTYPE_NAMES = {"d": "float64", "l": "int64", "?": "bool"}


def text_value(text: str) -> Value:
    return Value(repr(text), TEXT, constant=text, atom=True)


def is_of_numpy(f: Any) -> bool:
    module = getattr(f, "__module__", None) or ""
    return type(f) is np.ufunc or module.partition(".")[0] == "numpy"


def hashable(x: Any) -> bool:
    try:
        hash(x)
    except TypeError:
        return False
    return True


def as_row(value: Value) -> Value:
    """A list as the tuple that it is for NumPy."""
    if value.entries is None or value.kind.name not in ("row", "list"):
        return value
    return row_of([*map(as_row, value.entries)])


def arguments(count: int, options: dict[str, Any]) -> str:
    """The text of a call's arguments, with fields."""
    named = [f"{k}={v!r}" for k, v in options.items()]
    named = [text.replace("{", "{{").replace("}", "}}") for text in named]
    return ", ".join(["{}"] * count + named)
