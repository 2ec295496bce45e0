"""The fast path: arithmetic on arrays of float64 in reverse mode at first order.

The same derivatives as those of `_core`, without its generality: real operands, one
entry class, partial derivatives by two small functions per operator.
"""

import operator
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from rules_autodiff._plain import PLAIN
from rules_autodiff._slots import Shadow, add_to, take_from

__all__ = ["QUICK", "UNARY", "QuickEntry", "UnaryEntry", "is_quick"]

DOUBLE = np.dtype(float)
PLAIN_SCALARS = frozenset({float, int, np.float64})
Partial = Callable[[Any, Any, Any, Any], Any]


def is_quick(x: Any) -> bool:
    """Whether an operand is a plain real scalar or a plain array of float64."""
    cls = type(x)
    return cls in PLAIN_SCALARS or (cls is np.ndarray and x.dtype is DOUBLE)


def cotangent(dz: Any, _x: Any, _y: Any, _z: Any) -> Any:
    return dz


def negative(dz: Any, _x: Any, _y: Any, _z: Any) -> Any:
    return -dz


def times_y(dz: Any, _x: Any, y: Any, _z: Any) -> Any:
    return dz * y


def times_x(dz: Any, x: Any, _y: Any, _z: Any) -> Any:
    return dz * x


def over_y(dz: Any, _x: Any, y: Any, _z: Any) -> Any:
    return dz / y


def minus_z_over_y(dz: Any, _x: Any, y: Any, z: Any) -> Any:
    return -dz * z / y


def power_partial(dz: Any, x: Any, p: Any, _z: Any) -> Any:
    return dz * (p * x ** (p - 1))


def left_factor(dz: Any, x: Any, y: Any, _z: Any) -> Any:
    """dx of `x @ y`, for vectors and matrices."""
    if y.ndim == 1:
        return dz * y if x.ndim == 1 else dz[:, None] * y
    return y @ dz if x.ndim == 1 else dz @ y.T


def right_factor(dz: Any, x: Any, y: Any, _z: Any) -> Any:
    """dy of `x @ y`, for vectors and matrices."""
    if x.ndim == 1:
        return dz * x if y.ndim == 1 else x[:, None] * dz
    return x.T @ dz


# By hook name: the operation and its partial derivatives by both operands.
QUICK: dict[str, tuple[Any, Partial, Partial]] = {
    "add": (operator.add, cotangent, cotangent),
    "sub": (operator.sub, cotangent, negative),
    "mul": (operator.mul, times_y, times_x),
    "truediv": (operator.truediv, over_y, minus_z_over_y),
    "pow": (operator.pow, power_partial, power_partial),
    "matmul": (operator.matmul, left_factor, right_factor),
}


def safely(dz: Any, partial: Any) -> Any:
    """`dz * partial` with strong zeros: an infinite partial times zero is zero."""
    product = dz * partial
    if isfinite(product.sum()):
        return product
    return np.where(np.isfinite(partial), product, np.where(dz == 0, 0.0, product))


# Elementwise functions: the partial derivative by argument and result. They stand in
# for the rules of rules_numpy, where no other rule was registered.
UNARY: dict[Any, Callable[[Any, Any], Any]] = {
    np.exp: lambda _x, z: z,
    np.log: lambda x, _z: 1.0 / x,
    np.sqrt: lambda _x, z: 0.5 / z,
    np.sin: lambda x, _z: np.cos(x),
    np.cos: lambda x, _z: -np.sin(x),
    np.tanh: lambda _x, z: 1.0 - z * z,
    np.square: lambda x, _z: 2.0 * x,
    np.sum: lambda x, _z: np.broadcast_to(1.0, np.shape(x)),
    np.negative: lambda _x, _z: -1.0,
}


class UnaryEntry:
    """`z = f(x)` for an elementwise function of an array of float64."""

    __slots__ = ("into", "out", "partial", "x", "z")

    def __init__(self, partial: Any, x: Any, z: Any, into: Any, out: Any):
        self.partial = partial
        self.x = x
        self.z = z
        self.into = into
        self.out = out

    def is_sum(self) -> bool:
        return self.partial is UNARY[np.sum]

    def reverse(self, below: Any) -> None:
        dz = take_from(self.out, below)
        if dz is None:
            return
        with np.errstate(divide="ignore", invalid="ignore"):
            partial = self.partial(self.x, self.z)
            if below is PLAIN:
                ct = spread(dz, partial) if self.is_sum() else safely(dz, partial)
                give(self.into, ct)
            else:
                add_to(self.into, below.mul(dz, partial), below)


def spread(dz: Any, like: Any) -> Any:
    """The cotangent of a sum: the same number everywhere, stored once."""
    return np.broadcast_to(dz, like.shape) if like.shape else dz


class QuickEntry:
    """`z = x op y` with an array among the three."""

    __slots__ = ("by_x", "by_y", "into_x", "into_y", "out", "x", "y", "z")

    def __init__(
        self,
        by_x: Partial,
        by_y: Partial,
        x: Any,
        y: Any,
        z: Any,
        into_x: Any,
        into_y: Any,
        out: Any,
    ):
        self.by_x = by_x
        self.by_y = by_y
        self.x = x
        self.y = y
        self.z = z
        self.into_x = into_x
        self.into_y = into_y
        self.out = out

    def reverse(self, below: Any) -> None:
        out = self.out
        if type(out) is list:
            dz, out[0] = out[0], 0.0
            if dz == 0 and not below.is_active(dz):
                return
        else:
            dz, out.data = out.data, None
            if dz is None:
                return
        if below is not PLAIN:
            self.followed(dz, below)
            return
        if self.into_x is not None:
            give(self.into_x, self.by_x(dz, self.x, self.y, self.z))
        if self.into_y is not None:
            give(self.into_y, self.by_y(dz, self.x, self.y, self.z))

    def followed(self, dz: Any, below: Any) -> None:
        """The same by arithmetic that the level below can follow."""
        for slot, partial in ((self.into_x, self.by_x), (self.into_y, self.by_y)):
            if slot is not None:
                add_to(slot, below.call(partial, dz, self.x, self.y, self.z), below)


def give(slot: Any, ct: Any) -> None:
    """Add a cotangent, summed over the axes that were broadcast."""
    if type(slot) is list:
        slot[0] += float(ct.sum()) if isinstance(ct, np.ndarray) else ct
        return
    if type(ct) is not np.ndarray or ct.shape != slot.shape:
        ct = summed(np.asarray(ct), slot.shape)
    if slot.__class__ is Shadow and slot.data is None:
        slot.data, slot.shared = ct, True
    else:
        slot.add(ct, PLAIN)


def summed(ct: Any, shape: tuple[int, ...]) -> Any:
    lead = ct.ndim - len(shape)
    if lead > 0:
        ct = ct.sum(axis=tuple(range(lead)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and ct.shape[i] != 1)
    return ct.sum(axis=stretched, keepdims=True) if stretched else np.asarray(ct)
