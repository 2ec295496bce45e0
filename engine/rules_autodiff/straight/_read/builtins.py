"""Builtins that are read in a way of their own."""

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import BOOL, INT, Kind
from rules_autodiff.straight._program.refused import refuse
from rules_autodiff.straight._program.values import Known, Value, with_entries

from .expressions import truth_value
from .part import Part
from .variables import row_of

__all__ = ["Builtins"]

# The classes of values of a kind, where that says it all.
CLASSES: dict[str, type] = {
    "array": np.ndarray, "none": type(None), "text": str, "row": tuple, "list": list,
    "dict": dict, "many": list,
}  # fmt: skip
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
        value = self.reader.expressions.read(node.args[0])
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

    def call_len(self, _f: Known, node: ast.Call) -> Value | None:
        """The length of a row or array."""
        if len(node.args) != 1 or node.keywords:
            return None
        x = self.reader.expressions.untraced(node.args[0])
        if x.kind.has_parts and x.kind.name != "function":
            count = len(x.kind.parts)
            return Value(str(count), INT, constant=count, atom=True)
        if x.kind.name == "array":
            return Value(f"{x.text}.shape[0]", INT)
        if x.kind.name == "many":
            return Value(f"len({x.text})", INT)
        return None
