"""The fast path's functions of one argument: elementwise, and of all entries.

They stand in for the rules of rules_numpy, where no other rule was registered.
"""

import math
from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from rules_autodiff._core import Space, spread

__all__ = ["FOLLOWED", "SHARED", "UNARY", "Elementwise", "Extreme", "Total"]

DOUBLE = np.dtype(float)
NUMBERS = (float, np.float64)

# In place of a map, where a level above follows the arithmetic.
FOLLOWED: dict[Any, Callable[[Any, Any], Any]] = {}


def stretched(dz: Any, space: Space) -> Any:
    """The cotangent of a sum: the same number everywhere, stored once."""
    strides = (0,) * len(space.shape)
    return np.ndarray(space.shape, DOUBLE, np.array(dz, DOUBLE), 0, strides)


def shared_out(dz: Any, space: Space) -> Any:
    """The cotangent of a mean."""
    return stretched(dz / math.prod(space.shape), space)


def to_winners(dz: Any, kept: Any) -> Any:
    """The cotangent of a maximum or minimum: equal entries share."""
    x, z = kept
    hit = x == z
    count = np.count_nonzero(hit)
    if count == 0:  # z is not a number
        hit = np.isnan(x)
        count = np.count_nonzero(hit)
    return hit * (dz / count)


def followed_mean(dz: Any, space: Space) -> Any:
    return spread(dz / math.prod(space.shape), space)


FOLLOWED.update({stretched: spread, shared_out: followed_mean})

# Maps whose results others may hold too, or which are no memory of their own.
SHARED = frozenset({None, stretched, shared_out})


class Total:
    """The sum or mean over all axes."""

    types = (np.ndarray,)

    def __init__(self, function: Any, through: Callable[[Any, Space], Any]):
        self.function, self.through = function, through

    def map_of(self, x: Any, _z: Any) -> Any:
        """The map of the cotangent, and what it keeps."""
        return self.through, Space(x.shape, "f", array=True)


class Extreme:
    """The maximum or minimum over all axes."""

    types = (np.ndarray,)

    def __init__(self, function: Any):
        self.function = function

    def map_of(self, x: Any, z: Any) -> Any:
        """The map of the cotangent, and what it keeps."""
        return to_winners, (x, z)


class Elementwise:
    """A function of numbers and arrays, by its partial derivative.

    Args:
        function: The function.
        partial: The partial derivative, a function of argument or result.
        result: Whether of the result.
        divides: Whether it is infinite where the function is not smooth.
        of_number: The same for a float.
        types: The classes of arguments.
    """

    def __init__(
        self,
        function: Any,
        partial: Callable[[Any], Any],
        *,
        result: bool = False,
        divides: bool = False,
        of_number: Callable[[float], float] | None = None,
        types: tuple[type, ...] = (np.ndarray, *NUMBERS),
    ):
        self.function, self.partial = function, partial
        self.result, self.divides = result, divides
        self.of_number, self.types = of_number or partial, types
        self.map = strong_map(self)

    def map_of(self, x: Any, z: Any) -> Any:
        """The map of the cotangent, and what it keeps."""
        return self.map, z if self.result else x

    def at_number(self, x: Any, z: Any) -> Any:
        """The partial derivative at a number."""
        at = z if self.result else x
        try:
            return self.of_number(float(at))
        except (ArithmeticError, ValueError):  # where NumPy has an infinity or NaN
            with np.errstate(all="ignore"):
                return self.partial(np.float64(at))


def strong_map(f: Elementwise) -> Callable[[Any, Any], Any]:
    """dx = f'(x) dz, zero wherever dz is, also where f' is infinite or not a number."""
    partial_of, divides = f.partial, f.divides

    def elementwise_map(dz: Any, kept: Any) -> Any:
        if divides:
            with np.errstate(divide="ignore"):
                partial = partial_of(kept)
        else:
            partial = partial_of(kept)
        flat = partial.ravel("K")
        if isfinite(flat.dot(flat)):  # one pass, and nothing is stored
            return dz * partial
        with np.errstate(invalid="ignore"):
            product = dz * partial
        return np.where(np.isfinite(partial) | (dz != 0), product, 0.0)

    def followed_map(dz: Any, kept: Any) -> Any:
        return dz * partial_of(kept)

    FOLLOWED[elementwise_map] = followed_map
    return elementwise_map


def itself(z: Any) -> Any:
    return z


def inverse(x: Any) -> Any:
    return 1.0 / x


def half_inverse(z: Any) -> Any:
    return 0.5 / z


def minus_sin(x: Any) -> Any:
    return -np.sin(x)


def minus_sin_of_number(x: float) -> float:
    return -math.sin(x)


def one_minus_square(z: Any) -> Any:
    return 1.0 - z * z


def twice(x: Any) -> Any:
    return 2.0 * x


def largest(x: Any) -> Any:
    return np.maximum.reduce(x, None)


def smallest(x: Any) -> Any:
    return np.minimum.reduce(x, None)


def whole(x: Any) -> Any:
    return np.add.reduce(x, None)


RULES = (
    Elementwise(np.exp, itself, result=True),
    Elementwise(np.log, inverse, divides=True),
    Elementwise(np.sqrt, half_inverse, result=True, divides=True),
    Elementwise(np.sin, np.cos, of_number=math.cos),
    Elementwise(np.cos, minus_sin, of_number=minus_sin_of_number),
    Elementwise(np.tanh, one_minus_square, result=True),
    Elementwise(np.square, twice),
    Elementwise(math.exp, itself, result=True, types=NUMBERS),
    Elementwise(math.log, inverse, types=NUMBERS),
    Elementwise(math.sqrt, half_inverse, result=True, types=NUMBERS),
    Elementwise(math.sin, np.cos, of_number=math.cos, types=NUMBERS),
    Elementwise(math.cos, minus_sin, of_number=minus_sin_of_number, types=NUMBERS),
    Elementwise(math.tanh, one_minus_square, result=True, types=NUMBERS),
)
UNARY: dict[Any, Elementwise | Total | Extreme] = {
    **{rule.function: rule for rule in RULES},
    # Without the two Python functions around the ufunc, which take a microsecond.
    np.sum: Total(whole, stretched),
    np.mean: Total(np.mean, shared_out),
    np.max: Extreme(largest),
    np.min: Extreme(smallest),
}
