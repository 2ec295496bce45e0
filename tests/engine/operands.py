"""Operands of every kind, and programs that put an operator between two of them."""

import array
import collections
import decimal
import fractions
import operator
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["DIRECTION", "HERE", "OPERANDS", "OPERATORS", "THERE", "program"]

HERE = np.array([1.3, 0.72, 2.15])
THERE = np.array([0.8, 1.6, 1.1])
DIRECTION = np.array([0.3, -0.7, 0.5])
Trio = collections.namedtuple("Trio", "a b c")


class Sub(np.ndarray):
    """A class of arrays with the operators of arrays."""


class Meaning(np.ndarray):
    """One with a product of its own."""

    def __mul__(self, other):
        return np.asarray(self) + np.asarray(other)

    __rmul__ = __mul__


class Ufuncs(np.ndarray):
    """One that answers for all functions of NumPy."""

    def __array_ufunc__(self, ufunc, method, *args, **_kwargs):
        if not all(isinstance(x, np.ndarray | float | int) for x in args):
            return NotImplemented
        given = [np.asarray(x) for x in args]
        return getattr(ufunc, method)(*given) * 2.0


class HasArray:
    def __init__(self, v):
        self.v = v

    def __array__(self, dtype=None, copy=None):
        return self.v * 1.0


class Alone:
    """Whose operators arrays leave to it."""

    __array_ufunc__ = None

    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return self.v * 2.0 + total(other)

    def __mul__(self, other):
        return self.v * 3.0 * total(other)

    def __rmul__(self, other):
        return self.v * 5.0 * total(other)

    def __rsub__(self, other):
        return total(other) - self.v * 7.0


class First:
    """The same by a priority."""

    __array_priority__ = 100.0
    __add__, __mul__ = Alone.__add__, Alone.__mul__
    __rmul__, __rsub__ = Alone.__rmul__, Alone.__rsub__

    def __init__(self, v):
        self.v = v


class Reflected:
    """With methods for the second place only."""

    def __init__(self, v):
        self.v = v

    def __radd__(self, other):
        return self.v * 2.0 + total(other)

    def __rmul__(self, other):
        return self.v * 3.0 * total(other)

    def __rtruediv__(self, other):
        return total(other) / self.v


class Floating:
    def __init__(self, v):
        self.v = v

    def __float__(self):
        return self.v * 1.0


class Row:
    """A sequence written in Python."""

    def __init__(self, v):
        self.v = v

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return self.v[i]


HOLDERS = (Alone, First, Reflected, HasArray, Row, Floating)


def total(z):
    """One number of whatever an operator gave, to which each entry adds in its way."""
    if isinstance(z, list | tuple | collections.deque | range | array.array):
        found = 0.0
        for k, entry in enumerate(z):
            found = found + total(entry) * (k + 1.0)
        return found
    if isinstance(z, np.ma.MaskedArray):
        return z.sum()
    if isinstance(z, np.ndarray):
        return total_of_array(np.asarray(z))
    if sp.issparse(z):
        return total(z.toarray())
    if isinstance(z, complex | np.complexfloating):
        return z.real + 2.0 * z.imag
    if isinstance(z, HOLDERS):
        return total(z.v)
    if isinstance(z, decimal.Decimal | fractions.Fraction):
        return float(z)
    if isinstance(z, memoryview):
        return total(z.tolist())
    return z * 1.0


def total_of_array(z):
    if z.dtype.kind == "O":
        return sum(float(entry) for entry in z.ravel())
    if z.dtype.kind == "c":
        z = z.real + 2.0 * z.imag
    return np.sum(z * np.arange(1.0, z.size + 1).reshape(z.shape))


PLACES = ([0, 1, 2], [1, 0, 2])
OPERANDS = {
    "int": lambda _: 2,
    "bool": lambda _: True,
    "float": lambda v: float(v[0]),
    "complex": lambda v: complex(v[0], 0.5),
    "float64": lambda v: v[0],
    "float32": lambda v: np.float32(v[0] * 1.25),
    "complex128": lambda v: np.complex128(v[0] + 0.5j),
    "int64": lambda _: np.int64(3),
    "zero axes": lambda v: np.array(v[0]),
    "one axis": lambda v: v * 1.0,
    "two axes": lambda v: np.outer(v, v),
    "whole numbers": lambda _: np.array([1, 2, 3]),
    "subclass": lambda v: (v * 1.0).view(Sub),
    "other product": lambda v: (v * 1.0).view(Meaning),
    "other ufuncs": lambda v: (v * 1.0).view(Ufuncs),
    "matrix": lambda v: np.matrix(np.outer(v, v)),
    "masked": lambda v: np.ma.masked_array(v * 1.0, [False, True, False]),
    "list": lambda v: [v[0], 2.0, v[2]],
    "list of lists": lambda v: [[v[0], 1.0, v[1]]],
    "list of arrays": lambda v: [v * 1.0],
    "tuple": lambda v: (v[0], 2.0, v[2]),
    "namedtuple": lambda v: Trio(v[0], v[1], 3.0),
    "range": lambda _: range(1, 4),
    "deque": lambda v: collections.deque([v[0], v[1], 1.5]),
    "memoryview": lambda v: memoryview(np.array(v).data),
    "array.array": lambda v: array.array("d", [v[0], v[1], 1.5]),
    "with __array__": lambda v: HasArray(v),
    "without ufuncs": lambda v: Alone(v[0]),
    "with priority": lambda v: First(v[0]),
    "reflected": lambda v: Reflected(v[0]),
    "with __float__": lambda v: Floating(v[0]),
    "sequence": lambda v: Row(v),
    "Decimal": lambda _: decimal.Decimal("1.5"),
    "Fraction": lambda _: fractions.Fraction(3, 2),
    "sparse matrix": lambda v: sp.csr_matrix((np.array(v), PLACES), shape=(3, 3)),
    "sparse array": lambda v: sp.csr_array((np.array(v), PLACES), shape=(3, 3)),
    "set": lambda _: {1.0, 2.0},
    "str": lambda _: "ab",
    "None": lambda _: None,
}
NAMES = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
    "rshift", "and_", "or_", "xor",
)  # fmt: skip
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
INPLACE = tuple("i" + name.strip("_") for name in NAMES)
OPERATORS = {name: getattr(operator, name) for name in NAMES + COMPARISONS + INPLACE}
OPERATORS["divmod"] = lambda x, y: divmod(x, y)[1]
CLASSES: dict[
    Any, Any
] = {}  # by name, a number: the class of a result is a part of the value


def number_of(z):
    return 1000.0 * CLASSES.setdefault(type(z).__name__, len(CLASSES))


def program(name, left, right, active):
    """A function of an array: an operator between two operands made of it.

    Args:
        name: The operator.
        left: The first operand.
        right: The second operand.
        active: Which of them are made of the argument, "left", "right" or "both"; the
            other one is a constant.
    """
    apply, one, other = OPERATORS[name], OPERANDS[left], OPERANDS[right]

    def f(v):
        x = one(THERE if active == "right" else v)
        y = other(THERE if active == "left" else v)
        z = apply(x, y)
        return total(z) + number_of(z)

    return f
