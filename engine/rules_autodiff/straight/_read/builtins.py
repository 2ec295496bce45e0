"""Builtins that are read in a way of their own."""

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._guard.trust import is_ours
from rules_autodiff.straight._program.kinds import BOOL, INT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Known, Value, with_entries

from .expressions import ONCE, truth_value
from .part import Part
from .variables import row_of

__all__ = ["Builtins"]

# The classes of values of a kind, where that says it all.
CLASSES: dict[str, type] = {
    "array": np.ndarray, "none": type(None), "text": str, "row": tuple, "list": list,
    "dict": dict, "many": list,
}  # fmt: skip
# The classes of numbers; what is a float may be a whole number.
POSSIBLE: dict[str, tuple[type, ...]] = {
    "real": (float, np.float64, int), "int": (int, np.int64), "bool": (bool, np.bool_),
}  # fmt: skip
NUMERIC = frozenset({"array", *POSSIBLE})
ASKED = frozenset({float, int, bool, complex, str, tuple, list, dict, np.ndarray})
ASKED |= {np.float64, np.floating, np.integer, np.number, np.generic}


class Builtins(Part):
    """Reads calls of builtins."""

    def call_isinstance(self, _f: Known, node: ast.Call) -> Value | None:
        """`isinstance`, answered where the kind knows, and else asked as it stands."""
        if len(node.args) != 2 or node.keywords:
            return None
        x = self.reader.expressions.untraced(node.args[0])
        classes = self.classes(node.args[1])
        if x.kind.name in CLASSES:
            return truth_value(issubclass(CLASSES[x.kind.name], classes))
        if x.kind.name not in ("real", "int", "bool"):
            refuse("the class of such a value is asked for", node)
        answers = {issubclass(cls, classes) for cls in POSSIBLE[x.kind.name]}
        if len(answers) == 1:
            return truth_value(answers.pop())
        names = [self.reader.unit.constant(f"class_{c.__name__}", c) for c in classes]
        return Value(f"isinstance({x.text}, ({', '.join(names)},))", BOOL)

    def classes(self, node: ast.expr) -> tuple[type, ...]:
        """The classes that `isinstance` is asked for."""
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return (*self.classes(node.left), *self.classes(node.right))
        found = []
        for part in nodes:
            known = self.reader.expressions.read_any(part)
            if not isinstance(known, Known) or known.value not in ASKED:
                refuse("such a class is asked for", node)
            found.append(known.value)
        return tuple(found)

    def call_getattr(self, _f: Known, node: ast.Call) -> Any:
        """`getattr(owner, "name")`, whose name is a literal or held to be one."""
        if len(node.args) != 2 or node.keywords:
            return None
        name = self.reader.expressions.settled(node.args[1])
        if type(name) is not str or not name.isidentifier():
            refuse("an attribute of a name that is computed", node)
        read = ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node)
        return self.reader.known_calls.read_attribute(read)

    def call_map(self, _f: Known, node: ast.Call) -> Value | None:
        """`map` of what is of known length, as the calls that it makes."""
        reader = self.reader
        if len(node.args) < 2 or node.keywords or not reader.tracing:
            return None
        rows = [
            reader.variables.iterated(reader.expressions.read(over))
            for over in node.args[1:]
        ]
        found = [
            self.call_of(node, place, [*given])
            for place, given in enumerate(zip(*rows, strict=False))
        ]
        return with_entries(Kind("row", tag=ONCE), found)

    def call_of(self, node: ast.Call, place: int, given: list[Value]) -> Value:
        """A call of the first argument of `node`."""
        reader = self.reader
        names = []
        for count, value in enumerate(given):
            name = f"__y{node.lineno}_{node.col_offset}_{place}_{count}"
            reader.locals.add(name)
            reader.variables.assign(name, reader.variables.named(value))
            names.append(ast.Name(name, ast.Load()))
        call = ast.Call(node.args[0], [*names], [])
        for part in (call, *names):
            ast.copy_location(part, node)
        return reader.variables.named(reader.expressions.read(call))

    def call_list(self, _f: Known, node: ast.Call) -> Value | None:
        """`list` of what is of known length."""
        if node.keywords or len(node.args) > 1:
            return None
        return replace(with_entries(Kind("list"), self.entries(node)), fresh=True)

    def call_tuple(self, _f: Known, node: ast.Call) -> Value | None:
        """`tuple` of what is of known length."""
        if node.keywords or len(node.args) > 1:
            return None
        return row_of(self.entries(node))

    def entries(self, node: ast.Call) -> list[Value]:
        """The entries of the one argument of a call, or none without one."""
        if not node.args:
            return []
        value = self.reader.expressions.read_items(node.args[0])
        return self.reader.variables.iterated(value)

    def call_divmod(self, _f: Known, node: ast.Call) -> Value | None:
        """`divmod` of whole numbers."""
        if len(node.args) != 2 or node.keywords:
            return None
        x, y = map(self.reader.expressions.read, node.args)
        if x.kind is not INT or y.kind is not INT:
            return None
        ops: tuple[Any, ...] = (ast.FloorDiv, ast.Mod)
        return row_of([self.reader.expressions.binary(op, x, y, node) for op in ops])

    def call_ndim(self, f: Known, node: ast.Call) -> Value | None:
        """The number of axes, which the kind knows, so that a test of it is decided."""
        kind = self.kind_of_argument(f, node)
        if kind is None or kind.name not in NUMERIC:
            return None
        return Value(str(kind.ndim), INT, constant=kind.ndim, atom=True)

    def call_isscalar(self, f: Known, node: ast.Call) -> Value | None:
        """Whether a value is a number or a text."""
        kind = self.kind_of_argument(f, node)
        if kind is None or not (kind.name in CLASSES or kind.name in POSSIBLE):
            return None
        return truth_value(kind.name in POSSIBLE or kind.name == "text")

    def kind_of_argument(self, f: Known, node: ast.Call) -> Kind | None:
        """The kind of the only argument, a variable, of a function with our rules."""
        if len(node.args) != 1 or node.keywords or not is_ours(f.value):
            return None
        if not isinstance(node.args[0], ast.Name):
            return None  # its value may be an error
        kind: Kind = self.reader.expressions.untraced(node.args[0]).kind
        return kind

    def call_len(self, _f: Known, node: ast.Call) -> Value | None:
        """The length of a row or array."""
        if len(node.args) != 1 or node.keywords:
            return None
        x = self.reader.expressions.untraced(node.args[0])
        if x.kind.has_parts and x.kind.name not in ("function", "object"):
            count = len(x.kind.parts)
            return Value(str(count), INT, constant=count, atom=True)
        if x.kind.name == "array":
            return Value(f"{x.text}.shape[0]", INT)
        if x.kind.name == "many":
            return Value(f"len({x.text})", INT)
        return None
