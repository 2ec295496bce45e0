"""The linear maps of the fast path: arithmetic on arrays of float64, and numbers.

An operation puts one tuple on the tape, ``(out, slot, map, kept)``, with three more
parts for a second operand: the cotangent of the operand in `slot` is
``map(dz, kept)``, or `dz` itself where there is no map, and has the operand's shape.
What is kept is what the map needs, and nothing else stays alive. An item that was read
is the shorter tuple ``(out, slot, key)``.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from rules_autodiff._own_rules.arithmetic import base_partial, strong, strong_quotient
from rules_autodiff._own_rules.own_rule import Space, fit

from .elementwise import FOLLOWED, STRICT, filled, shared_out, stretched

__all__ = [
    "ADD", "DOT", "MATMUL", "MOVING", "MUL", "POW", "SUB", "TRUEDIV",
    "Linear", "column_times", "from_left", "inner", "minus", "summed", "times",
    "times_row", "widen", "widened",
]  # fmt: skip

LARGE = 100_000  # products of numbers from which on the memory counts

Map = Callable[[Any, Any], Any]
Maps = tuple[Map | None, Any, Map | None, Any]


# The maps of arithmetic. An operand may be a number beside an array: its cotangent is
# then a sum, taken without an array of products.


def minus(dz: Any, _kept: Any) -> Any:
    return -dz


# Maps that move or share a cotangent: they make no 0 · ∞.
MOVING = frozenset({None, minus, stretched, filled, shared_out})


def whole_sum(dz: Any, _kept: Any) -> Any:
    return np.sum(dz)


def minus_sum(dz: Any, _kept: Any) -> Any:
    return -np.sum(dz)


def inner(dz: Any, x: Any) -> Any:
    return x.dot(dz) if x.ndim == 1 else np.vdot(x, dz)


def over(dz: Any, kept: Any) -> Any:
    """dy of `z = x / y`."""
    z, y = kept
    return -dz * z / y


def inner_over(dz: Any, kept: Any) -> Any:
    z, y = kept
    return -np.vdot(z, dz) / y


def power(dz: Any, kept: Any) -> Any:
    """dx of `x**p` for a whole p > 0."""
    x, p = kept
    partial = x + x if p == 2 else p * x ** (p - 1)
    return np.multiply(dz, partial, partial)


# Of small arrays `a.dot(b)` takes half the time of `a @ b`; of a column and a row it
# takes two thirds of the time of a product that is broadcast. Of large ones it takes
# longer, for it fills what it returns with zeros first. The transpose of a product with
# few columns is quicker from the other side, where rows are read as they lie.


def times(dz: Any, y: Any) -> Any:
    return dz @ y if dz.size * y.size > LARGE else dz.dot(y)


def from_left(dz: Any, xT: Any) -> Any:
    return (dz.T @ xT.T).T if xT.size > LARGE else xT.dot(dz)


def column_times(dz: Any, y: Any) -> Any:
    return dz[:, None].dot(y[None])


def times_row(dz: Any, x: Any) -> Any:
    return x[:, None].dot(dz[None])


def add_maps(x: Any, y: Any, _z: Any) -> Maps:
    by_x = None if type(x) is ndarray else whole_sum
    return by_x, None, None if type(y) is ndarray else whole_sum, None


def sub_maps(x: Any, y: Any, _z: Any) -> Maps:
    by_x = None if type(x) is ndarray else whole_sum
    return by_x, None, minus if type(y) is ndarray else minus_sum, None


def mul_maps(x: Any, y: Any, _z: Any) -> Maps:
    by_x = operator.mul if type(x) is ndarray else inner
    return by_x, y, operator.mul if type(y) is ndarray else inner, x


def truediv_maps(x: Any, y: Any, z: Any) -> Maps:
    by_y = over if type(y) is ndarray else inner_over
    if type(x) is ndarray:
        return operator.truediv, y, by_y, (z, y)
    return sum_over, y, by_y, (z, y)


def sum_over(dz: Any, y: Any) -> Any:
    return np.sum(dz / y)


def pow_maps(x: Any, p: Any, _z: Any) -> Maps:
    return power, (x, p), None, None


def matmul_maps(x: Any, y: Any, _z: Any) -> Maps:
    """For vectors and matrices."""
    if y.ndim == 2:
        if x.ndim == 2:
            return times, y.T, from_left, x.T
        return times, y.T, times_row, x
    if x.ndim == 2:
        return column_times, y, times, x
    return operator.mul, y, operator.mul, x


class Linear:
    """An operator with its maps by both operands.

    Args:
        name: Its hook.
        operation: What it does.
        maps: Of operands and result, the maps of the cotangent and what they keep.
        entrywise: Whether arrays of different shapes are broadcast.
    """

    __slots__ = ("entrywise", "maps", "name", "operation")

    def __init__(
        self,
        name: str,
        operation: Any,
        maps: Callable[..., Maps],
        *,
        entrywise: bool = True,
    ):
        self.name, self.operation, self.maps = name, operation, maps
        self.entrywise = entrywise


ADD = Linear("add", operator.add, add_maps)
SUB = Linear("sub", operator.sub, sub_maps)
MUL = Linear("mul", operator.mul, mul_maps)
TRUEDIV = Linear("truediv", operator.truediv, truediv_maps)
POW = Linear("pow", operator.pow, pow_maps, entrywise=False)
MATMUL = Linear("matmul", operator.matmul, matmul_maps, entrywise=False)
DOT = Linear("dot", np.dot, matmul_maps, entrywise=False)


# The same with strong zeros.


def strong_inner(dz: Any, x: Any) -> Any:
    return np.sum(strong(dz, x))


def strong_over(dz: Any, kept: Any) -> Any:
    z, y = kept
    return strong(-dz, z / y)


def strong_inner_over(dz: Any, kept: Any) -> Any:
    return np.sum(strong_over(dz, kept))


def strong_sum_over(dz: Any, y: Any) -> Any:
    return np.sum(strong_quotient(dz, y))


def strong_power(dz: Any, kept: Any) -> Any:
    x, p = kept
    return strong(dz, base_partial(x, p))


FOLLOWED.update({
    operator.mul: strong, operator.truediv: strong_quotient, inner: strong_inner,
    over: strong_over, inner_over: strong_inner_over, sum_over: strong_sum_over,
    power: strong_power,
})  # fmt: skip


# broadcasting: the axes are found when the operands meet, not on the way back


def summed(dz: Any, kept: Any) -> Any:
    """The cotangent of an operand that was broadcast along `axes`."""
    by, own, axes, shape = kept
    d = dz if by is None else by(dz, own)
    return np.add.reduce(d, axes).reshape(shape)


def summed_followed(dz: Any, kept: Any) -> Any:
    """The cotangent of a broadcast operand, by maps that the level above knows."""
    by, own, _, shape = kept
    d = dz if by is None else FOLLOWED.get(by, by)(dz, own)
    return fit(d, Space(shape, "f", array=True))


FOLLOWED[summed] = summed_followed
STRICT.update({by: FOLLOWED[by] for by in (*FOLLOWED,) if by not in STRICT})


def widen(x: Any, y: Any, z: Any, maps: Maps) -> Maps:
    """The maps of two arrays of different shapes."""
    by_x, for_x, by_y, for_y = maps
    return *widened(x, z, by_x, for_x), *widened(y, z, by_y, for_y)


def widened(x: Any, z: Any, by: Map | None, own: Any) -> tuple[Map | None, Any]:
    """The map by an operand that may have been broadcast to the shape of `z`."""
    shape, whole = x.shape, z.shape
    if shape == whole:
        return by, own
    lead = len(whole) - len(shape)
    pairs = enumerate(zip(whole[lead:], shape, strict=True), lead)
    stretched = [axis for axis, (n, m) in pairs if n != m]
    return summed, (by, own, (*range(lead), *stretched), shape)
