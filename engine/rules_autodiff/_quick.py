"""The linear maps of the fast path: arithmetic on arrays of float64, and numbers.

An operation puts one tuple on the tape, ``(out, slot, map, kept)``, with three more
parts for a second operand: the cotangent of the operand in `slot` is
``map(dz, kept)``, or `dz` itself where there is no map. What is kept is what the map
needs, and nothing else stays alive. An item that was read is the shorter tuple
``(out, slot, key)``.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._core import Space, fit
from rules_autodiff._slots import Shadow

__all__ = ["ADD", "MATMUL", "MUL", "POW", "SUB", "TRUEDIV", "Linear", "give"]

Map = Callable[[Any, Any], Any]
Maps = tuple[Map | None, Any, Map | None, Any]


# The maps of arithmetic. An operand may be a number beside an array: its cotangent is
# then a sum, taken without an array of products.


def minus_sum(dz: Any, _kept: Any) -> Any:
    return -np.sum(dz)


def inner(dz: Any, x: Any) -> Any:
    return np.vdot(x, dz)


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
    return dz * (p * x ** (p - 1))


def column_times(dz: Any, y: Any) -> Any:
    return dz[:, None] * y


def times_row(dz: Any, x: Any) -> Any:
    return x[:, None] * dz


def from_left(dz: Any, xT: Any) -> Any:
    return xT @ dz


def add_maps(_x: Any, _y: Any, _z: Any) -> Maps:
    return None, None, None, None


def sub_maps(_x: Any, y: Any, _z: Any) -> Maps:
    if type(y) is np.ndarray:
        return None, None, operator.mul, -1.0
    return None, None, minus_sum, None


def mul_maps(x: Any, y: Any, _z: Any) -> Maps:
    if type(y) is not np.ndarray:
        return operator.mul, y, inner, x
    return (operator.mul if type(x) is np.ndarray else inner), y, operator.mul, x


def truediv_maps(_x: Any, y: Any, z: Any) -> Maps:
    by_y = over if type(y) is np.ndarray else inner_over
    return operator.truediv, y, by_y, (z, y)


def pow_maps(x: Any, p: Any, _z: Any) -> Maps:
    return power, (x, p), None, None


def matmul_maps(x: Any, y: Any, _z: Any) -> Maps:
    """For vectors and matrices."""
    if y.ndim == 2:
        if x.ndim == 2:
            return operator.matmul, y.T, from_left, x.T
        return operator.matmul, y.T, times_row, x
    if x.ndim == 2:
        return column_times, y, operator.matmul, x
    return operator.mul, y, operator.mul, x


class Linear:
    """An operator with its maps by both operands.

    Args:
        name: Its hook.
        operation: What it does.
        maps: Of operands and result, the maps of the cotangent and what they keep.
        dims: The largest number of axes for which the maps are right.
    """

    __slots__ = ("dims", "maps", "name", "operation")

    def __init__(
        self, name: str, operation: Any, maps: Callable[..., Maps], dims: int = 99
    ):
        self.name, self.operation, self.maps, self.dims = name, operation, maps, dims


ADD = Linear("add", operator.add, add_maps)
SUB = Linear("sub", operator.sub, sub_maps)
MUL = Linear("mul", operator.mul, mul_maps)
TRUEDIV = Linear("truediv", operator.truediv, truediv_maps)
POW = Linear("pow", operator.pow, pow_maps)
MATMUL = Linear("matmul", operator.matmul, matmul_maps, dims=2)


def give(slot: Any, ct: Any, fresh: bool) -> None:
    """Add a cotangent, summed over the axes that were broadcast.

    Args:
        slot: Where it goes.
        ct: The cotangent.
        fresh: Whether nobody else holds it.
    """
    if type(slot) is list:
        slot[0] += float(ct.sum()) if type(ct) is np.ndarray else float(ct)
        return
    if type(ct) is not np.ndarray or ct.shape != slot.shape:
        space = Space(slot.shape, "f", array=True)
        ct = fit(ct, space)
    if type(slot) is Shadow and slot.data is None:
        slot.data, slot.shared, slot.fresh = ct, True, fresh
    else:
        slot.gather(ct, fresh)
