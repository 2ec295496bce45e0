"""The fast path's functions of one argument: elementwise, and of all entries.

They stand in for the rules of rules_numpy, where no other rule was registered.
"""

import math
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from rules_autodiff._own_rules.arithmetic import strong
from rules_autodiff._own_rules.own_rule import Space, spread

from .formulas import partial_functions

__all__ = [
    "FOLLOWED",
    "OF_ALL_ENTRIES",
    "SHARED",
    "STRICT",
    "UNARY",
    "Elementwise",
    "Extreme",
    "Total",
    "filled",
    "is_finite",
    "shared_out",
    "stretched",
    "to_winners",
]

DOUBLE = np.dtype(float)
NUMBERS = (float, np.float64)
LITTLE = 5000  # entries of an array that are written sooner than shared

# Maps in which zeros are strong, 0 · ∞ = 0, as those of the fast path are not: where a
# level above follows the arithmetic, and on plain values.
FOLLOWED: dict[Any, Callable[[Any, Any], Any]] = {}
STRICT: dict[Any, Callable[[Any, Any], Any]] = {}


def stretched(dz: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a sum: one number everywhere, stored once."""
    strides = (0,) * len(shape)
    return np.ndarray(shape, DOUBLE, np.array(dz, DOUBLE), 0, strides)


def filled(dz: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a sum in memory of its own: quicker for few entries."""
    dx = np.empty(shape)
    dx.fill(dz)
    return dx


def shared_out(dz: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of a mean."""
    return stretched(dz / math.prod(shape), shape)


def to_winners(dz: Any, kept: Any) -> Any:
    """The cotangent of a maximum or minimum: equal entries share."""
    x, z = kept
    hit = x == z
    count = np.count_nonzero(hit)
    if count == 0:  # z is not a number
        hit = np.isnan(x)
        count = np.count_nonzero(hit)
    return hit * (dz / count)


def only_to_winners(dz: Any, kept: Any) -> Any:
    """The cotangent of a maximum or minimum where that of the result is infinite."""
    x, _ = kept
    share = to_winners(1.0, kept)
    return np.where(share == 0, 0.0, dz) * share if x.size else share


def followed_sum(dz: Any, shape: tuple[int, ...]) -> Any:
    return spread(dz, Space(shape, "f", array=True))


def followed_mean(dz: Any, shape: tuple[int, ...]) -> Any:
    return spread(dz / math.prod(shape), Space(shape, "f", array=True))


FOLLOWED.update({
    stretched: followed_sum, filled: followed_sum, shared_out: followed_mean
})  # fmt: skip
STRICT.update(FOLLOWED)
STRICT[to_winners] = only_to_winners

# Maps whose results others may hold too, or which are no memory of their own.
SHARED = frozenset({None, stretched, shared_out})


class Total:
    """The sum or mean over all axes."""

    types = (np.ndarray,)
    map = None
    result = False

    def __init__(self, function: Any, through: Callable[[Any, Any], Any]):
        self.function, self.through = function, through

    def map_of(self, x: Any, _z: Any) -> Any:
        """The map of the cotangent, and what it keeps."""
        if x.size < LITTLE and self.through is stretched:
            return filled, x.shape
        return self.through, x.shape


class Extreme:
    """The maximum or minimum over all axes."""

    types = (np.ndarray,)
    map = None
    result = False

    def __init__(self, function: Any):
        self.function = function

    def map_of(self, x: Any, z: Any) -> Any:
        """The map of the cotangent, and what it keeps."""
        return to_winners, (x, z)


class Elementwise:
    """A function of numbers and arrays, by its partial derivative.

    Args:
        function: The function.
        types: The classes of arguments.

    Attributes:
        partial: The partial derivative, a function of argument or result.
        result: Whether of the result.
        of_number: The partial derivative for a float.
        of_array: The partial derivative for an array: new memory, to be overwritten.
        map: The map of the cotangent.
    """

    partial: Callable[[Any], Any]
    of_number: Callable[[float], Any]
    of_array: Callable[[Any], Any]
    map: Callable[[Any, Any], Any]
    result: bool

    def __init__(self, function: Any, types: tuple[type, ...]):
        self.function, self.types = function, types

    def read_formula(self) -> None:
        """Take the partial derivative from the pack, which is there by now."""
        partials = partial_functions(getattr(np, self.function.__name__))
        self.partial, self.of_number, self.of_array, self.result = partials
        if self.function in (np.tanh, math.tanh):
            self.of_array = one_minus_square
        self.map = quick_map(self)
        STRICT[self.map] = strict_map(self)
        FOLLOWED[self.map] = followed_map(self)

    def at_number(self, x: Any, z: Any) -> Any:
        """The partial derivative at a number."""
        at = z if self.result else x
        try:
            return self.of_number(float(at))
        except (ArithmeticError, ValueError):  # where NumPy has an infinity or NaN
            with np.errstate(all="ignore"):
                return self.partial(np.float64(at))


def is_finite(z: Any) -> bool:
    """Whether no entry of an array is infinite or not a number."""
    flat = z if z.ndim == 1 else z.ravel("K")
    # One pass, and nothing is stored; but squares overflow above 1e154.
    return isfinite(flat.dot(flat)) or bool(np.isfinite(z).all())


def quick_map(f: Elementwise) -> Callable[[Any, Any], Any]:
    """dx = f'(x) dz, as NumPy multiplies."""
    of_array = f.of_array
    if f.function in (np.exp, math.exp):  # whose partial derivative is not new
        return multiply

    def elementwise_map(dz: Any, kept: Any) -> Any:
        partial = of_array(kept)
        return multiply(dz, partial, partial)

    return elementwise_map


def strict_map(f: Elementwise) -> Callable[[Any, Any], Any]:
    """dx = f'(x) dz, zero wherever dz is, also where f' is infinite or not a number."""

    def elementwise_map(dz: Any, kept: Any) -> Any:
        with np.errstate(divide="ignore"):
            partial = f.partial(kept)
        return strong(dz, partial)

    return elementwise_map


def followed_map(f: Elementwise) -> Callable[[Any, Any], Any]:
    partial_of = f.partial
    return lambda dz, kept: strong(dz, partial_of(kept))


# As they are now: a program may give other functions these names.
multiply, subtract = np.multiply, np.subtract
# Beside an array of one number NumPy takes two thirds of the time that it takes beside
# a Python number.
ONE = np.array(1.0)


def one_minus_square(z: Any) -> Any:
    """The derivative of tanh by one operation less than the formula's product."""
    partial = z * z
    return subtract(ONE, partial, partial)


def largest(x: Any) -> Any:
    return np.maximum.reduce(x, None)


def smallest(x: Any) -> Any:
    return np.minimum.reduce(x, None)


def whole(x: Any) -> Any:
    return np.add.reduce(x, None)


UNARY: dict[Any, Elementwise] = {
    **{f: Elementwise(f, (np.ndarray, *NUMBERS)) for f in (
        np.exp, np.log, np.sqrt, np.sin, np.cos, np.tanh, np.square,
    )},
    **{f: Elementwise(f, NUMBERS) for f in (
        math.exp, math.log, math.sqrt, math.sin, math.cos, math.tanh,
    )},
}  # fmt: skip
OF_ALL_ENTRIES: dict[Any, Total | Extreme] = {
    # Without the two Python functions around the ufunc, which take a microsecond.
    np.sum: Total(whole, stretched),
    np.mean: Total(np.mean, shared_out),
    np.max: Extreme(largest),
    np.min: Extreme(smallest),
}
