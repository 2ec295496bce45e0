"""The fast path of reverse mode at first order: scalars, and arrays of float64.

An operation puts one list on the tape, ``[cotangent, value, node, partial, node,
partial]``, which is at once the node of its result: partial derivatives in place of a
closure. Everything else goes the general way.
"""

from typing import Any

import numpy as np

from rules_autodiff._quick import QUICK, UNARY, QuickEntry, UnaryEntry, is_quick
from rules_autodiff._run import Run
from rules_autodiff._slots import Shadow
from rules_core import rrule

__all__ = ["FastTape"]

QUICK_KINDS = frozenset({np.ufunc, type(np.sum)})

# Classes of which products and sums are plain numbers again.
REAL = frozenset({float, int, np.float64})


FLOATS = frozenset({float, np.float64})


class FastTape(Run):
    """Operators that record numbers; for a run whose level below is plain Python."""

    tape: list[Any]
    nodes: dict[int, list[Any]]
    shadows: dict[int, Any]
    trusted: dict[Any, bool]

    def array_slot(self, a: Any) -> Any:
        raise NotImplementedError

    def add(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL and self.plain:
            return self.both(x + y, x, 1.0, y, 1.0)
        return self.binary("add", x, y)

    def sub(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL and self.plain:
            return self.both(x - y, x, 1.0, y, -1.0)
        return self.binary("sub", x, y)

    def mul(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL and self.plain:
            z = x * y
            nodes = self.nodes
            one, other = nodes.get(id(x)), nodes.get(id(y))
            if one is None:
                if other is None:
                    return z
                node = [0.0, z, other, x]
            elif other is None:
                node = [0.0, z, one, y]
            else:
                node = [0.0, z, one, y, other, x]
            nodes[id(z)] = node
            self.tape.append(node)
            return z
        return self.binary("mul", x, y)

    def truediv(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL and self.plain:
            z = x / y
            return self.both(z, x, 1.0 / y, y, -z / y)
        return self.binary("truediv", x, y)

    def neg(self, x: Any) -> Any:
        if type(x) in FLOATS and self.plain:
            z = -x
            node = self.nodes.get(id(x))
            if node is not None:
                entry = self.nodes[id(z)] = [0.0, z, node, -1.0]
                self.tape.append(entry)
            return z
        return self.unary("neg", x)

    def pow(self, x: Any, p: Any) -> Any:
        if type(x) in FLOATS and type(p) is int and self.plain:
            z = x**p
            node = self.nodes.get(id(x))
            if node is not None:
                partial = p * x ** (p - 1) if p else 0.0
                entry = self.nodes[id(z)] = [0.0, z, node, partial]
                self.tape.append(entry)
            return z
        return self.binary("pow", x, p)

    def both(self, z: Any, x: Any, by_x: Any, y: Any, by_y: Any) -> Any:
        """Note `z` with its two partial derivatives."""
        nodes = self.nodes
        one, other = nodes.get(id(x)), nodes.get(id(y))
        if one is None:
            if other is None:
                return z
            node = [0.0, z, other, by_y]
        elif other is None:
            node = [0.0, z, one, by_x]
        else:
            node = [0.0, z, one, by_x, other, by_y]
        nodes[id(z)] = node
        self.tape.append(node)
        return z

    # arrays

    def binary(self, name: str, x: Any, y: Any) -> Any:
        known = self.plain and name in QUICK and is_quick(x) and is_quick(y)
        if not known or not fits_quick(name, x, y):
            return super().binary(name, x, y)
        return self.quick(name, x, y)

    def quick(self, name: str, x: Any, y: Any) -> Any:
        """Arithmetic on real scalars and arrays at first order."""
        one = self.array_slot(x) if type(x) is np.ndarray else self.nodes.get(id(x))
        other = self.array_slot(y) if type(y) is np.ndarray else self.nodes.get(id(y))
        operation, by_x, by_y = QUICK[name]
        z = operation(x, y)
        if one is None and other is None:
            return z
        out: Any
        if type(z) is np.ndarray:
            out = self.shadows[id(z)] = Shadow(z)
        else:
            out = self.nodes[id(z)] = [0.0, z]
        self.tape.append(QuickEntry(by_x, by_y, x, y, z, one, other, out))
        return z

    def quick_call(self, f: Any, args: Any, kwargs: Any) -> Any:
        if not self.plain or kwargs or len(args) != 1 or type(f) not in QUICK_KINDS:
            return NotImplemented
        x = args[0]
        if f not in UNARY or not is_quick(x) or not self.trusts(f, x):
            return NotImplemented
        slot = self.slot(x)
        z = f(x)
        out: Any
        if type(z) is np.ndarray:
            out = self.shadows[id(z)] = Shadow(z)
        else:
            out = self.nodes[id(z)] = [0.0, z]
        self.tape.append(UnaryEntry(UNARY[f], x, z, slot, out))
        return z

    def trusts(self, f: Any, x: Any) -> bool:
        """Whether a function has the rule that the fast path stands in for."""
        known = self.trusted.get((f, type(x)))
        if known is None:
            found = rrule.resolve(f, (x,), {}, self.config)
            module = "" if found is None else found.rule.module
            known = module.partition(".")[0] == "rules_numpy"
            self.trusted[f, type(x)] = known
        return known


def fits_quick(name: str, x: Any, y: Any) -> bool:
    """Whether the fast path has the derivative for these operands."""
    if name == "matmul":
        return bool(x.ndim < 3 and y.ndim < 3)
    return name != "pow" or (type(y) is int and y > 0 and type(x) is np.ndarray)
