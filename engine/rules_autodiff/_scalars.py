"""The fast path: operators on real scalars in reverse mode at first order.

An operation puts one list on the tape, ``[cotangent, value, node, partial, node,
partial]``, which is at once the node of its result: partial derivatives in place of a
closure. Everything else goes the general way.
"""

from typing import Any

import numpy as np

from rules_autodiff._run import Run

__all__ = ["ScalarTape"]

# Classes of which products and sums are plain numbers again.
REAL = frozenset({float, int, np.float64})


FLOATS = frozenset({float, np.float64})


class ScalarTape(Run):
    """Operators that record numbers; for a run whose level below is plain Python."""

    tape: list[Any]
    nodes: dict[int, list[Any]]

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
