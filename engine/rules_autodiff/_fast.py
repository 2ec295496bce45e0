"""The fast path of reverse mode at first order: real scalars, and arrays of float64.

A scalar operation puts one list on the tape, ``[cotangent, value, node, partial, node,
partial]``, which is at once the node of its result: partial derivatives in place of a
closure. An operation on arrays puts one tuple there (see `_quick`). Everything else
goes the general way.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._calls import HANDLERS, NATIVE
from rules_autodiff._entries import ItemWrite, is_item
from rules_autodiff._memory import CALLBACK
from rules_autodiff._plain import PLAIN
from rules_autodiff._quick import (
    ADD,
    MATMUL,
    MUL,
    POW,
    SUB,
    TRUEDIV,
    Linear,
    minus,
    widen,
)
from rules_autodiff._reverse import ReverseRun
from rules_autodiff._slots import Shadow, Window
from rules_autodiff._unary import UNARY, is_finite
from rules_core import rrule

__all__ = ["FastRun", "reverse_run"]

DOUBLE = np.dtype(float)

# Classes of which products and sums are plain numbers again.
REAL = frozenset({float, int, np.float64})
FLOATS = frozenset({float, np.float64})

# Indices of which NumPy asks nothing that a user may have written.
KEYS = frozenset({int, tuple, slice, ndarray, list, np.int64, type(Ellipsis)})

CONSTANT = "biu"  # kinds of arrays that carry no derivative
MISS = object()  # not for the fast path

# Functions that are operators under another name.
BINARY = {
    np.add: ADD, np.subtract: SUB, np.multiply: MUL, np.divide: TRUEDIV,
    np.matmul: MATMUL, np.dot: MATMUL,
}  # fmt: skip


METHODS = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "dot": np.dot,
}  # fmt: skip


def reverse_run(below: Any) -> ReverseRun:
    """A new run over a level; over plain Python by the fast path."""
    return FastRun() if below is PLAIN else ReverseRun(below)


class FastRun(ReverseRun):
    """A run whose level below is plain Python: operators record numbers.

    Attributes:
        trusted: Functions that were called, and what the fast path knows of them.
    """

    def __init__(self) -> None:
        super().__init__(PLAIN)
        self.trusted: dict[Any, Any] = {}

    # numbers

    def add(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            return self.both(x + y, x, 1.0, y, 1.0)
        return self.linear(ADD, x, y)

    def sub(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            return self.both(x - y, x, 1.0, y, -1.0)
        return self.linear(SUB, x, y)

    def mul(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            return self.both(x * y, x, y, y, x)
        return self.linear(MUL, x, y)

    def truediv(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            z = x / y
            return self.both(z, x, 1.0 / y, y, -z / y)
        return self.linear(TRUEDIV, x, y)

    def neg(self, x: Any) -> Any:
        if type(x) in FLOATS:
            return self.one(-x, x, -1.0)
        if type(x) is ndarray and x.ndim:
            slot = self.find(x)
            if slot is not None and slot is not MISS:
                z = -x
                out = self.shadows[id(z)] = Shadow(z, CALLBACK)
                self.tape.append((out, slot, minus, None))
                return z
        return self.unary("neg", x)

    def pow(self, x: Any, p: Any) -> Any:
        if type(p) is int:
            if type(x) in FLOATS:
                return self.one(x**p, x, p * x ** (p - 1) if p else 0.0)
            if p > 0 and type(x) is ndarray:
                return self.linear(POW, x, p)
        return self.binary("pow", x, p)

    def matmul(self, x: Any, y: Any) -> Any:
        if type(x) is type(y) is ndarray and x.ndim < 3 and y.ndim < 3:
            return self.linear(MATMUL, x, y)
        return self.binary("matmul", x, y)

    def one(self, z: Any, x: Any, by_x: Any) -> Any:
        """Note `z` with its partial derivative."""
        node = self.nodes.get(id(x))
        if node is not None:
            entry = self.nodes[id(z)] = [0.0, z, node, by_x]
            self.tape.append(entry)
        return z

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

    def find(self, x: Any) -> Any:
        """The slot of an operand of the fast path; None for a constant, or `MISS`."""
        cls = type(x)
        if cls is ndarray:
            if x.dtype is not DOUBLE:
                return None if x.dtype.kind in CONSTANT else MISS
            found = self.shadows.get(id(x))
            if found is not None and found() is x:
                return found
            return None if x.base is None else self.find_view(x)
        return self.nodes.get(id(x)) if cls in REAL else MISS

    def find_view(self, x: Any) -> Any:
        """The window of a view, found by `find` when it is used again."""
        slot = self.array_slot(x)
        if type(slot) is Window:
            self.shadows[id(x)] = slot
        return slot

    def linear(self, op: Linear, x: Any, y: Any) -> Any:
        """An operator with an array among its operands."""
        shadows = self.shadows
        # As `find` does for owners of memory; it is asked for all else. Two calls would
        # cost as much as the sum of two small arrays.
        one, other = shadows.get(id(x)), shadows.get(id(y))
        if type(x) is not ndarray or x.dtype is not DOUBLE:
            one = self.find(x)
        elif one is None or one() is not x:
            one = None if x.base is None else self.find_view(x)
        if type(y) is not ndarray or y.dtype is not DOUBLE:
            other = self.find(y)
        elif other is None or other() is not y:
            other = None if y.base is None else self.find_view(y)
        if one is MISS or other is MISS:
            return self.binary(op.name, x, y)
        z = op.operation(x, y)
        if one is None and other is None:
            return z
        if type(z) is ndarray:
            if op.strong and not is_finite(z):
                return self.binary(op.name, x, y)
            out: Any = Shadow(z, CALLBACK)
            shadows[id(z)] = out
        elif op is MATMUL:
            out = self.nodes[id(z)] = [0.0, z]
        else:  # arrays without axes
            return self.binary(op.name, x, y)
        maps = op.maps(x, y, z)
        if op.entrywise and type(x) is type(y) and x.shape != y.shape:
            maps = widen(x, y, z, maps)
        by_x, for_x, by_y, for_y = maps
        if other is None:
            self.tape.append((out, one, by_x, for_x))
        elif one is None:
            self.tape.append((out, other, by_y, for_y))
        else:
            self.tape.append((out, one, by_x, for_x, other, by_y, for_y))
        return z

    # calls

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        cls = type(owner)
        if cls is ModuleType:
            f = getattr(owner, name)
            if type(f) in NATIVE:
                return self.call_native(f, args, kwargs)
            return self.call(f, *args, **kwargs)
        if cls is ndarray and name in METHODS:
            return self.call_native(METHODS[name], (owner, *args), kwargs)
        return super().method(owner, name, *args, **kwargs)

    def call_native(self, f: Any, args: Any, kwargs: Any) -> Any:
        known = self.trusted.get(f)
        if known is None and f in KNOWN:
            known = self.trusted[f] = self.known(f)
        if known and not kwargs:
            result: Any = NotImplemented
            if type(known) is Linear:
                if len(args) == 2:
                    result = self.quick_binary(known, *args)
            elif len(args) == 1:
                result = self.quick_unary(known, args[0])
            if result is not NotImplemented:
                return result
        return super().call_native(f, args, kwargs)

    def quick_binary(self, op: Linear, x: Any, y: Any) -> Any:
        if type(x) is not ndarray or type(y) is not ndarray:
            return NotImplemented
        if not (x.ndim and y.ndim):
            return NotImplemented
        return getattr(self, op.name)(x, y)

    def quick_unary(self, rule: Any, x: Any) -> Any:
        cls = type(x)
        if cls not in rule.types:
            return NotImplemented
        if cls is ndarray:
            slot = self.find(x)
            if slot is MISS or not x.ndim:
                return NotImplemented
            z = rule.function(x)
            if slot is None:
                return z
            if type(z) is ndarray:
                out: Any = Shadow(z, CALLBACK)
                self.shadows[id(z)] = out
            else:
                out = self.nodes[id(z)] = [0.0, z]
            by, kept = rule.map_of(x, z)
            self.tape.append((out, slot, by, kept))
            return z
        z = rule.function(x)
        node = self.nodes.get(id(x))
        if node is not None:
            entry = self.nodes[id(z)] = [0.0, z, node, rule.at_number(x, z)]
            self.tape.append(entry)
        return z

    def known(self, f: Any) -> Any:
        """What the fast path knows of a function, if its rules are those of our pack.

        Whoever registered another rule, or an overlay, gets it.
        """
        if f in HANDLERS:
            return False
        seen, verdict = SEEN.get(f, ((), None))
        for table, types, rule in seen:
            if table.get(types) is not rule:
                verdict = None
        if verdict is None:
            seen = [self.rule_of(f, args) for args in examples(KNOWN[f])]
            verdict = KNOWN[f] if all(is_ours(rule) for _, _, rule in seen) else False
            SEEN[f] = seen, verdict
        return verdict

    def rule_of(self, f: Any, args: Any) -> Any:
        """The live table of a function's rules, an entry of it, and the rule there."""
        call = rrule.resolve(f, args, {}, self.config)
        types = () if call is None else tuple(map(type, call.args))
        table = rrule.table(f, self.config)
        return table, types, table.get(types)

    # items

    def getitem(self, owner: Any, key: Any) -> Any:
        if type(owner) is ndarray and owner.dtype is DOUBLE and type(key) in KEYS:
            value = owner[key]
            if type(value) is np.float64:
                slot = self.find(owner)
                if slot is not None:
                    if slot.shape is None:
                        slot.pin(owner)
                    node = self.nodes[id(value)] = [0.0, value]
                    self.tape.append((node, slot, key))
                return value
            base = value.base
            if base is not None and (base is owner or base is owner.base):
                return value  # a view
        return super().getitem(owner, key)

    def array_items(self, a: Any) -> Iterator[Any]:
        if type(a) is not ndarray or a.ndim != 1:
            yield from super().array_items(a)
            return
        for i in range(len(a)):
            yield self.getitem(a, i)

    def store_item(self, value: Any, owner: Any, key: Any) -> None:
        if type(value) in FLOATS and is_item(owner, key):
            self.write_item(owner, key, value)
        else:
            super().store_item(value, owner, key)

    def write(self, dest: Any, key: Any, value: Any) -> None:
        if type(value) in FLOATS and is_item(dest, key):
            self.write_item(dest, key, value)
        else:
            super().write(dest, key, value)

    def write_item(self, dest: Any, key: Any, value: Any) -> None:
        """One entry of an array of float64, at first order."""
        node = self.nodes.get(id(value))
        out = self.find(dest)
        if out is None:
            if node is not None:
                self.watch_late(dest)
                out = self.array_slot(dest)
        elif out.shape is None:
            out.pin(dest)
        entry = ItemWrite(dest, key, dest[key], out, node)
        dest[key] = value
        self.tape.append(entry)
        self.changes.append(entry)


KNOWN: dict[Any, Any] = {**UNARY, **BINARY}
# By function, the rules that were there when the fast path last looked, and whether
# they are ours.
SEEN: dict[Any, tuple[Any, Any]] = {}


def examples(found: Any) -> list[Any]:
    """Arguments of each kind that the fast path takes."""
    if isinstance(found, Linear):
        return [(np.ones(1), np.ones(1))]
    return [(np.ones(1) if cls is ndarray else cls(1.0),) for cls in found.types]


def is_ours(rule: Any) -> bool:
    return rule is not None and rule.module.partition(".")[0] == "rules_numpy"
