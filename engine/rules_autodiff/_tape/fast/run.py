"""The fast path of reverse mode at first order: real scalars, and arrays of float64.

A scalar operation puts one list on the tape, ``[cotangent, value, node, partial, node,
partial]``, which is at once the node of its result: partial derivatives in place of a
closure. An operation on arrays puts one tuple there (see `maps`). Everything else
goes the general way.
"""

from collections.abc import Iterator
from operator import mul
from types import ModuleType
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._hooks.calls import NATIVE
from rules_autodiff._hooks.close_calls import ALMOST, subtracted
from rules_autodiff._hooks.operators import castable
from rules_autodiff._python.errors import AFTERWARDS, note_half_written
from rules_autodiff._python.plain_level import PLAIN
from rules_autodiff._python.values import is_arithmetic
from rules_autodiff._shadows.memory import CALLBACK
from rules_autodiff._shadows.slots import UNUSED, Shadow, Window
from rules_autodiff._tape.entries import is_item
from rules_autodiff._tape.reverse import ReverseRun

from .gathered import MAKERS, gathered
from .items import (
    CONSTANT,
    DOUBLE,
    FLOATS,
    MISS,
    REAL,
    SIGNS,
    increase,
    is_plain_key,
    write_array,
    write_item,
)
from .known import KNOWN, known
from .maps import (
    ADD,
    DOT,
    MATMUL,
    MUL,
    POW,
    SUB,
    TRUEDIV,
    Linear,
    column_times,
    minus,
    times,
    widen,
)
from .rule_calls import DIRECT, by_steps, directly, is_simple_call
from .sweep import followed

__all__ = ["FastRun", "reverse_run"]


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
        rules_of_one: Those of them that take one argument and are known.
    """

    move = staticmethod(followed)

    def __init__(self) -> None:
        super().__init__(PLAIN)
        self.trusted: dict[Any, Any] = {}
        self.rules_of_one: dict[Any, Any] = {}

    # operands

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

    # numbers

    def add(self, x: Any, y: Any) -> Any:
        if type(x) is ndarray is type(y):
            if x.dtype is DOUBLE is y.dtype and x.shape == y.shape != ():
                return self.pair(x + y, x, None, None, y, None, None)
        elif type(x) in REAL and type(y) in REAL:
            return self.both(x + y, x, 1.0, y, 1.0)
        return self.linear(ADD, x, y)

    def sub(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            z = self.both(x - y, x, 1.0, y, -1.0)
            if -ALMOST < z < ALMOST:
                subtracted(self, z, x, y)
            return z
        alike = type(x) is ndarray is type(y) and x.shape == y.shape != ()
        if alike and x.dtype is DOUBLE is y.dtype:
            z = self.pair(x - y, x, None, None, y, minus, None)
        else:
            z = self.linear(SUB, x, y)
        if not (self.close or (type(z) is ndarray and is_far(z))):
            subtracted(self, z, x, y)
        return z

    def mul(self, x: Any, y: Any) -> Any:
        if type(x) is ndarray is type(y):
            if x is y and x.dtype is DOUBLE and x.ndim:
                return self.linear(POW, x, 2)
            if x.dtype is DOUBLE is y.dtype and x.shape == y.shape != ():
                return self.pair(x * y, x, mul, y, y, mul, x)
        elif type(x) in REAL and type(y) in REAL:
            return self.both(x * y, x, y, y, x)
        return self.linear(MUL, x, y)

    def truediv(self, x: Any, y: Any) -> Any:
        if type(x) in REAL and type(y) in REAL:
            try:
                z = x / y
                return self.both(z, x, 1.0 / y, y, -z / y)
            except ZeroDivisionError:  # of Python's 1 / 0, also where NumPy says inf
                return self.binary("truediv", x, y)
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
                try:
                    return self.one(x**p, x, p * x ** (p - 1) if p else 0.0)
                except ArithmeticError:  # Python's, also of the derivative alone
                    return self.binary("pow", x, p)
            if p > 0 and type(x) is ndarray:
                return self.linear(POW, x, p)
        elif is_exponent(p) and type(x) is ndarray and id(p) not in self.nodes:
            return self.linear(POW, x, p)
        return self.binary("pow", x, p)

    def matmul(self, x: Any, y: Any) -> Any:
        if type(x) is ndarray is type(y) and x.ndim < 3 and y.ndim < 3:
            if y.ndim == 1 and x.ndim == 2 and x.dtype is DOUBLE is y.dtype:
                return self.pair(x @ y, x, column_times, y, y, times, x)
            return self.linear(MATMUL, x, y)
        return self.binary("matmul", x, y)

    def dot(self, x: Any, y: Any) -> Any:
        """`np.dot` of vectors and matrices, whose maps are those of `@`."""
        if x.ndim < 3 and y.ndim < 3 and x.dtype is DOUBLE is y.dtype:
            return self.linear(DOT, x, y)
        return NotImplemented

    def one(self, z: Any, x: Any, by_x: Any) -> Any:
        """Note `z` with its partial derivative."""
        node = self.nodes.get(id(x))
        if node is not None:
            entry = self.nodes[id(z)] = [UNUSED, z, node, by_x]
            self.tape.append(entry)
        return z

    def both(self, z: Any, x: Any, by_x: Any, y: Any, by_y: Any) -> Any:
        """Note `z` with its two partial derivatives."""
        nodes = self.nodes
        one, other = nodes.get(id(x)), nodes.get(id(y))
        if one is None:
            if other is None:
                return z
            node = [UNUSED, z, other, by_y]
        elif other is None:
            node = [UNUSED, z, one, by_x]
        else:
            node = [UNUSED, z, one, by_x, other, by_y]
        nodes[id(z)] = node
        self.tape.append(node)
        return z

    # arrays

    def pair(
        self, z: Any, x: Any, by_x: Any, for_x: Any, y: Any, by_y: Any, for_y: Any
    ) -> Any:
        """Note `z`, made of two arrays of float64, with the maps of its cotangent."""
        shadows = self.shadows
        one, other = shadows.get(id(x)), shadows.get(id(y))
        if one is None or one() is not x:
            one = None if x.base is None else self.find_view(x)
        if other is None or other() is not y:
            other = None if y.base is None else self.find_view(y)
        if one is other is None:
            return z
        out = shadows[id(z)] = Shadow(z, CALLBACK)
        self.tape.append(entry(out, one, by_x, for_x, other, by_y, for_y))
        return z

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
            out: Any = Shadow(z, CALLBACK)
            shadows[id(z)] = out
        elif op is MATMUL or op is DOT:
            out = self.nodes[id(z)] = [UNUSED, z]
        else:  # arrays without axes
            return self.binary(op.name, x, y)
        maps = op.maps(x, y, z)
        if op.entrywise and type(x) is type(y) and x.shape != y.shape:
            maps = widen(x, y, z, maps)
        by_x, for_x, by_y, for_y = maps
        self.tape.append(entry(out, one, by_x, for_x, other, by_y, for_y))
        return z

    # calls

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        cls = type(owner)
        if cls is ModuleType:
            f = getattr(owner, name)
            if type(f) in NATIVE:
                rule = self.rules_of_one.get(f)
                if rule is not None and len(args) == 1 and not kwargs:
                    z = self.quick_unary(rule, args[0])
                    if z is not NotImplemented:
                        return z
                return self.call_native(f, args, kwargs)
            return self.call(f, *args, **kwargs)
        if cls is ndarray and name in METHODS:
            return self.call_native(METHODS[name], (owner, *args), kwargs)
        return super().method(owner, name, *args, **kwargs)

    def call_native(self, f: Any, args: Any, kwargs: Any) -> Any:
        rule = self.trusted.get(f)
        if rule is None and f in KNOWN:
            rule = self.trusted[f] = known(self, f)
            if rule and type(rule) is not Linear:
                self.rules_of_one[f] = rule
        if rule and not kwargs:
            result: Any = NotImplemented
            if type(rule) is Linear:
                if len(args) == 2:
                    result = quick_binary(self, rule, *args)
            elif len(args) == 1:
                result = self.quick_unary(rule, args[0])
            if result is not NotImplemented:
                return result
        call = directly if type(f) in DIRECT else gathered if f in MAKERS else None
        if call is not None and is_simple_call(self, f, args, kwargs):
            result = call(self, f, args, kwargs)
            if result is not NotImplemented:
                return result
        return super().call_native(f, args, kwargs)

    def quick_unary(self, rule: Any, x: Any) -> Any:
        cls = type(x)
        if cls not in rule.types:
            return NotImplemented
        if cls is ndarray:
            if x.dtype is not DOUBLE or not x.ndim:
                return NotImplemented
            slot = self.shadows.get(id(x))
            if slot is None or slot() is not x:
                slot = None if x.base is None else self.find_view(x)
            z = rule.function(x)
            if slot is None:
                return z
            by, kept = rule.map, z if rule.result else x
            if by is None:  # of all entries
                out: Any = [UNUSED, z]
                self.nodes[id(z)] = out
                by, kept = rule.map_of(x, z)
            else:
                out = self.shadows[id(z)] = Shadow(z, CALLBACK)
            self.tape.append((out, slot, by, kept))
            return z
        z = rule.function(x)
        node = self.nodes.get(id(x))
        if node is not None:
            entry = self.nodes[id(z)] = [UNUSED, z, node, rule.at_number(x, z)]
            self.tape.append(entry)
        return z

    def by_rule(self, found: Any, f: Any) -> Any:
        plain = not (found.bound or found.method or found.kwargs or self.debug)
        if plain and found.outer is None and found.rule.steps is not None:
            result = by_steps(self, found, f)
            if result is not NotImplemented:
                return result
        return super().by_rule(found, f)

    # items and writes

    def getitem(self, owner: Any, key: Any) -> Any:
        if type(owner) is ndarray and owner.dtype is DOUBLE and is_plain_key(key):
            value = owner[key]
            if type(value) is np.float64:
                slot = self.find(owner)
                if slot is not None:
                    if slot.shape is None:
                        slot.pin(owner)
                    node = self.nodes[id(value)] = [UNUSED, value]
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
            write_item(self, owner, key, value)
        elif not (
            type(owner) is ndarray
            and owner.dtype is DOUBLE
            and write_array(self, owner, key, value)
        ):
            super().store_item(value, owner, key)

    def write(self, dest: Any, key: Any, value: Any) -> None:
        if type(value) in FLOATS and is_item(dest, key):
            write_item(self, dest, key, value)
        elif not (dest.dtype is DOUBLE and write_array(self, dest, key, value)):
            super().write(dest, key, value)

    def inplace(self, name: str, x: Any, y: Any) -> Any:
        if type(x) is not ndarray or x.dtype is not DOUBLE:
            return super().inplace(name, x, y)
        try:
            if name in SIGNS and increase(self, x, y, SIGNS[name]):
                return x
            if not is_arithmetic(y):
                return super().inplace(name, x, y)
            value = getattr(self, name)(x, y)
        except AFTERWARDS as error:
            note_half_written(error)
            raise
        self.write(x, Ellipsis, castable(value, x, name, y))
        return x


def is_exponent(p: Any) -> bool:
    """Whether the slope of `x**p` is finite wherever the power is."""
    return type(p) is float and p > 1.0


def is_far(z: Any) -> bool:
    """Whether a difference of float64 does not begin with nearly nothing."""
    return z.dtype is DOUBLE and not (z.size and -ALMOST < z.item(0) < ALMOST)


def entry(
    out: Any, one: Any, by_x: Any, for_x: Any, other: Any, by_y: Any, for_y: Any
) -> tuple[Any, ...]:
    """The tape's note of two operands, of which a constant has no slot."""
    if other is None:
        return out, one, by_x, for_x
    if one is None:
        return out, other, by_y, for_y
    return out, one, by_x, for_x, other, by_y, for_y


def quick_binary(run: FastRun, op: Linear, x: Any, y: Any) -> Any:
    if type(x) is not ndarray or type(y) is not ndarray:
        return NotImplemented
    if not (x.ndim and y.ndim):
        return NotImplemented
    return getattr(run, op.name)(x, y)
