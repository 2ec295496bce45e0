"""Calls of what the table of operations knows, and attributes, read."""

import ast
import functools
from typing import Any

import numpy as np

from rules_autodiff.straight._guard.captures import Method
from rules_autodiff.straight._guard.trust import is_ours
from rules_autodiff.straight._operations.table import FUNCTIONS, METHODS, SPREADING
from rules_autodiff.straight._program.kinds import INT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import (
    UNKNOWN,
    Known,
    Local,
    Partial,
    Thing,
    Value,
    function_value,
    with_entries,
)
from rules_autodiff.straight._program.written import Call

from .expressions import (
    Expressions,
    check_equality,
    constants_of,
    kinds_of,
    literal,
    spoken,
)
from .rule_calls import call_by_rule
from .variables import row_of

__all__ = ["Applications"]

EQUALITIES = frozenset({np.equal, np.not_equal, np.array_equal})


class Applications(Expressions):
    """Reads calls and attributes."""

    def read_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.read_any(node.value)
        if isinstance(owner, Known):
            found = self.captures.of_attribute(owner, node.attr)
            if isinstance(found, Method):
                return self.method_of(found, owner, node)
            if isinstance(found, Known):
                return found
            return self.captured_value(node.attr, *found)
        if owner.kind.name != "array" or node.attr not in ATTRIBUTES:
            what = spoken(owner.kind)
            refuse(f"the attribute {node.attr} of {what} is not known", node)
        written = self.known_method(node.attr, [owner], {}, node)
        return self.apply(written, [owner], f"{{}}.{node.attr}")

    def method_of(self, method: Method, owner: Known, node: ast.AST) -> Value:
        """A method of an object, or the value of a property."""
        entries = [function_value(method.function), function_value(owner)]
        whole = with_entries(Kind("function", tag=Partial(())), entries)
        return self.invoke(whole, [], {}, node) if method.is_property else whole

    def invoke(
        self, f: Value, values: list[Value], named: dict[str, Value], node: ast.AST
    ) -> Value:
        """The value of a call of a function that is a value."""
        raise NotImplementedError

    def known_method(
        self, name: str, operands: list[Value], options: Any, node: ast.AST
    ) -> Any:
        operation = METHODS.get(name)
        homes = [home for home in (np, np.ndarray) if hasattr(home, name)]
        self.unit.relied |= {getattr(home, name) for home in homes}  # both have rules
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call) if operation else None
        if written is None:
            refuse(f"the method {name} is not written out for this", node)
        return written

    def read_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            owner = self.read_any(node.func.value)
            if isinstance(owner, Value) and owner.kind.name != "function":
                return self.method_call(owner, node.func.attr, node)
        f = self.read_any(node.func)
        if isinstance(f, Thing):
            found = self.captures.of_object(f, "__call__")
            if not isinstance(found, Method) or "__call__" in vars(f.value):
                refuse("an object is called in such a way", node)
            return self.call_value(self.method_of(found, f, node), node)
        if isinstance(f, Known):
            return self.call(f, node)
        return self.call_value(f, node)

    def method_call(self, owner: Value, name: str, node: ast.Call) -> Value:
        if owner.kind.name == "dict" and not (node.args or node.keywords):
            return self.dict_method(owner, name, node)
        if owner.kind.name != "array" or name in ATTRIBUTES:
            refuse(f"the method {name} of {spoken(owner.kind)}", node)
        operands = [owner, *map(self.read, node.args)]
        options = self.options(node)
        written = self.known_method(name, operands, options, node)
        text = f"{{}}.{name}({arguments(len(node.args), options)})"
        return self.apply(written, operands, text)

    def dict_method(self, owner: Value, name: str, node: ast.AST) -> Value:
        """The keys, values or items of a dict, one by one."""
        keys, values = self.iterated(owner), self.entries_of(owner)
        pairs = zip(keys, values, strict=True)
        if name not in ("keys", "values", "items"):
            refuse(f"the method {name} of a dict", node)
        if name == "items":
            return row_of([row_of([*pair]) for pair in pairs])
        return row_of(keys if name == "keys" else values)

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
        if hashable(f.value):
            self.unit.relied.add(f.value)
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
        listed = len(operands) == 1 and operands[0].kind.name == "many"
        if listed and not node.keywords and self.is_stacked(f.value, operands[0]):
            return self.as_array(operands[0])
        if f.value in EQUALITIES:
            check_equality(operands, node)
        options = self.options(node)
        if not is_ours(f.value):  # somebody else has a rule, for such a call perhaps
            return self.by_rule_alone(f, operands, options, node)
        call = Call(kinds_of(operands), constants_of(operands), options)
        written = operation(call)
        name = getattr(f.value, "__name__", str(f.value))
        if written is None:
            ruled = call_by_rule(self, f, operands, options)
            if ruled is not None:
                return ruled
            what = ", ".join(map(spoken, call.kinds))
            refuse(f"{name}({what}) is not written out", node)
        own = self.unit.constant(name, f.value)
        if f.value in SPREADING:
            inner = ", ".join(["{}"] * len(operands))
            rest = "".join(f", {k}={v!r}" for k, v in options.items())
            return self.apply(written, operands, f"{own}([{inner}]{rest})")
        text = f"{own}({arguments(len(operands), options)})"
        return self.apply(written, operands, text)

    def by_rule_alone(
        self, f: Known, operands: list[Value], options: dict[str, Any], node: ast.AST
    ) -> Value:
        """A call of a function that has rules."""
        found = call_by_rule(self, f, operands, options)
        if found is None:
            refuse(f"no one rule answers such a call of {f.value!r}", node)
        return found

    def is_stacked(self, f: Any, out: Value) -> bool:
        """Whether a function makes the array of a list whose rows are the entries."""
        flat = self.entry_kind(out).ndim == 1
        return f in (np.array, np.stack) or (f is np.vstack and flat)

    def operands(self, f: Any, node: ast.Call) -> list[Value]:
        if f not in SPREADING:
            given = [as_row(self.read(a)) for a in node.args]
            return [self.as_operand(x) if is_of_numpy(f) else x for x in given]
        if len(node.args) != 1:
            refuse("what is put together must be spelled out", node)
        whole = self.read(node.args[0])
        if whole.kind.name == "many":
            return [whole]
        if whole.kind.name not in ("row", "list"):
            refuse("what is put together must be spelled out", node)
        return [as_row(entry) for entry in self.entries_of(whole)]

    def as_operand(self, x: Value) -> Value:
        """A list as the array that it is for NumPy."""
        return self.as_array(x) if x.kind.name == "many" else x

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
        if x.kind.has_parts and x.kind.name != "function":
            count = len(x.kind.parts)
            return Value(str(count), INT, constant=count, atom=True)
        if x.kind.name == "array":
            return Value(f"{x.text}.shape[0]", INT)
        if x.kind.name == "many":
            return Value(f"len({x.text})", INT)
        return None


# Builtins that are read in a way of their own, by the names of methods.
SPECIAL: dict[Any, str] = {
    functools.partial: "call_partial", sum: "call_sum", len: "call_len",
    isinstance: "call_isinstance", list: "call_list", tuple: "call_tuple",
    divmod: "call_divmod",
}  # fmt: skip
ATTRIBUTES = frozenset({"T", "mT", "shape", "size", "ndim"})


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
