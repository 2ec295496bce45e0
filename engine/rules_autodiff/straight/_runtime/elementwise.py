"""Run-time helpers of elementwise functions: powers, extremes, clips, on any shape."""

import math
from typing import Any

import numpy as np

__all__ = [
    "as_real", "clipped", "clipped_high", "clipped_low", "exponents_slope",
    "log_or_zero", "math_inverse_part", "math_nonzero", "math_part_of", "math_rint",
    "math_share", "math_sign", "nonzero", "np_inverse_part", "np_nonzero", "np_share",
    "one", "power_slope", "real_power", "scaled", "sign_or_one", "tanh_back",
    "unfollowed",
]  # fmt: skip

# NumPy is faster with an array of one number than with a Python number.
one = np.array(1.0)
one.flags.writeable = False
log = np.log  # captured now: a program may rebind the name


TINY, HUGE = 1e-250, 1e250  # squares are exact in this range


class Unfollowed(ArithmeticError):
    """A value at which only the tape has the derivative."""


def unfollowed(what: str) -> Any:
    """Fall back to the tape."""
    raise Unfollowed(what)


def as_real(y: Any) -> Any:
    """Check that the result of a user's function is a number."""
    if type(y) is not float and type(y) is not np.float64:
        unfollowed("a function returns another kind than before")


def scaled(d: Any, y: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent of `x` in `x * y`, unbroadcast to the shape of `x`."""
    own = d.shape
    if own == shape:
        return d * y
    if len(own) == 2:  # by a matrix product, without a temporary array
        n, m = own
        if shape == (n, 1) and y.size == m == y.shape[-1]:
            return d.dot(y.reshape(m, 1))
        if shape[-1] == m == math.prod(shape) and y.shape == (n, 1):
            return y.reshape(n).dot(d).reshape(shape)
    lead = len(own) - len(shape)
    pairs = enumerate(zip(own[lead:], shape, strict=True), lead)
    axes = [axis for axis, (n, m) in pairs if n != m]
    return np.add.reduce(d * y, (*range(lead), *axes)).reshape(shape)


def tanh_back(d: Any, z: Any) -> Any:
    """(1 - z²) d, with one allocation, which dominates for large arrays."""
    partial = z * z
    np.subtract(one, partial, partial)
    return np.multiply(d, partial, partial)


# powers


def real_power(x: Any, p: Any) -> Any:
    """A power of numbers; an error if it is complex."""
    z = x**p
    return unfollowed("a complex power") if type(z) is complex else z


def power_slope(x: Any, p: Any) -> Any:
    """The derivative of a power in its base: p·x^(p−1), and 0 where p is 0."""
    if type(x) is not np.ndarray is not type(p):
        return p * x ** (p - 1) if p else 0.0
    return p * x ** (p - 1 + (((x == 0) | np.isnan(x)) & (p == 0)))


def exponents_slope(x: Any, z: Any) -> Any:
    """The derivative of a power in its exponent: x^p·log x, and 0 at x = 0."""
    if type(x) is not np.ndarray:
        return z * log_or_zero(x)
    return z * log(x + (x == 0))


def log_or_zero(x: Any) -> float:
    """The logarithm of a number; 0 at 0."""
    return math.log(x) if x else 0.0


# functions of formulas, where another one is quicker than the pack's


def math_sign(x: Any) -> float:
    """The sign of a number; 0 at 0."""
    return 1.0 if x > 0 else -1.0 if x < 0 else x * 0.0


def math_rint(x: Any) -> float:
    """A number rounded; an error for infinity."""
    return float(round(x))


def sign_or_one(z: Any) -> Any:
    """A nonnegative divisor of the derivative: zeros become ones."""
    return z or 1.0


math_nonzero = sign_or_one


def nonzero(z: Any) -> Any:
    """A nonnegative array divisor of the derivative: zeros become ones."""
    return z + (z == 0)


np_nonzero = nonzero


def np_share(more: Any, less: Any, a: Any, b: Any) -> Any:
    """1 where `more`, a half at ties; without a mask of ties where there is none."""
    decided = np.count_nonzero(more) + np.count_nonzero(less)
    if decided == more.size:
        return more
    ties = a == b
    if decided + np.count_nonzero(ties) != more.size:
        unfollowed("an extreme that is not a number")
    return more + 0.5 * ties


def math_share(more: bool, less: bool, a: Any, b: Any) -> float:
    """1 if `more`, a half at a tie."""
    if more:
        return 1.0
    return 0.0 if less else tied(a, b)


def tied(a: Any, b: Any) -> float:
    return 0.5 if a == b else unfollowed("an extreme that is not a number")


def math_part_of(x: Any, z: Any, numbers: Any) -> float:
    """The part of a number in the extreme of several: equal floats share."""
    ties = numbers.count(z)
    if math.isnan(z) or (ties > 1 and not all(isinstance(n, float) for n in numbers)):
        unfollowed("an extreme that is not a number, or whole")
    return 1.0 / ties if x == z else 0.0


# clip: the bounds are inside; with low > high the upper bound applies


def above_of(x: Any, low: Any, high: Any) -> Any:
    if high is None:
        return False
    above = np.greater(x, high)
    return above if low is None else above | np.greater(low, high)


def below_of(x: Any, low: Any, above: Any) -> Any:
    return False if low is None else np.less(x, low) & ~np.asarray(above)


def clipped(d: Any, x: Any, low: Any, high: Any) -> Any:
    """The cotangent of `x` in `clip(x, low, high)`."""
    above = above_of(x, low, high)
    return np.where(above | below_of(x, low, above), 0.0, d)


def clipped_low(d: Any, x: Any, low: Any, high: Any) -> Any:
    """The cotangent of the lower bound."""
    return np.where(below_of(x, low, above_of(x, low, high)), d, 0.0)


def clipped_high(d: Any, x: Any, low: Any, high: Any) -> Any:
    """The cotangent of the upper bound."""
    return np.where(above_of(x, low, high), d, 0.0)


def np_inverse_part(x: Any, y: Any) -> Any:
    """x / (x² + y²), without overflow."""
    square = x * x + y * y
    if type(square) is np.ndarray and square.size:
        low, high = np.minimum.reduce(square, None), np.maximum.reduce(square, None)
    else:
        low = high = square
    if np.all(low > TINY) and np.all(high < HUGE):
        return x / square
    h = np.hypot(x, y)  # ten times slower
    return x / h / h


math_inverse_part = np_inverse_part
