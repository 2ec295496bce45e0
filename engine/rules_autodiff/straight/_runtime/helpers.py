"""Functions that generated code calls: cotangents that are not single expressions.

All names in `HELPERS` are names of generated code. `np_` names are NumPy's functions,
`math_` names those of `math`. Numbers are floats, arrays are float64. Kinks that would
need much code raise `Unfollowed`: then the tape computes the gradient.
"""

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from rules_autodiff._shadows.memory import overlaps_itself, owner_of

from . import arrays, elementwise, strong_zeros
from .elementwise import unfollowed
from .strong_zeros import MADE

__all__ = ["HELPERS"]

NAMES = [
    "add_at", "apart", "array_of", "copied", "filled", "fit", "fitted", "listed",
    "math_ceil", "math_cos", "math_cosh", "math_exp", "math_floor", "math_hypot",
    "math_hypotenuse", "math_log", "math_logaddexp", "math_lorentzian", "math_sin",
    "math_sinh", "math_sqrt", "np_add_reduce", "np_array", "np_cos", "np_cosh",
    "np_exp", "np_hypotenuse", "np_logaddexp", "np_lorentzian", "np_maximum_reduce",
    "np_minimum_reduce", "np_ndarray", "np_rint", "np_roll", "np_sign", "np_sin",
    "np_sinh", "np_sqrt", "np_tril", "np_triu", "np_where", "np_zeros", "of_length",
    "reached_alone", "size_of", "spread", "summed", "vdot", "wide", "wide_lanes",
    "with_fraction", "zero_entries",
]  # fmt: skip

LARGE = 5000  # entries from which a repeated number is stored once
DOUBLE = np.dtype(float)
ALL_DIGITS = 2.0**52  # from here on each float is a whole number

np_zeros, np_array, np_ndarray = np.zeros, np.array, np.ndarray
np_add_reduce = np.add.reduce
np_maximum_reduce, np_minimum_reduce = np.maximum.reduce, np.minimum.reduce
np_cos, np_sin, np_cosh, np_sinh = np.cos, np.sin, np.cosh, np.sinh
np_exp, np_sqrt, np_sign, np_where = np.exp, np.sqrt, np.sign, np.where
math_logaddexp = np_logaddexp = np.logaddexp
np_rint, np_roll, np_tril, np_triu = np.rint, np.roll, np.tril, np.triu
math_cos, math_sin, math_cosh, math_sinh = math.cos, math.sin, math.cosh, math.sinh
math_exp, math_log, math_sqrt = math.exp, math.log, math.sqrt
math_hypot, math_floor, math_ceil = math.hypot, math.floor, math.ceil
math_hypotenuse, np_hypotenuse = partial(math.hypot, 1.0), partial(np.hypot, 1.0)
add_at = np.add.at
copied = np.array
size_of = math.prod


def with_fraction(x: float) -> float:
    """A number of which an integer does not keep all digits."""
    return x if abs(x) < ALL_DIGITS else unfollowed("an integer keeps all digits")


def math_lorentzian(x: Any) -> Any:
    """1 / (1 + x²)."""
    return 1.0 / (1.0 + x * x)


np_lorentzian = math_lorentzian


def fit(d: Any, shape: tuple[int, ...]) -> Any:
    """Unbroadcast: the cotangent of an operand that was broadcast from `shape`."""
    own = d.shape
    if own == shape:
        return d
    lead = len(own) - len(shape)
    pairs = enumerate(zip(own[lead:], shape, strict=True), lead)
    axes = [axis for axis, (n, m) in pairs if n != m]
    return np_add_reduce(d, (*range(lead), *axes)).reshape(shape)


def fitted(d: Any, shape: tuple[int, ...]) -> Any:
    """`fit`, and a note where a sum is zero of entries that are not."""
    total = fit(d, shape)
    if total is not d and not np.all(total):
        new = np.equal(total, 0) & np.not_equal(fit(np.abs(d), shape), 0)
        MADE.zero = MADE.zero or bool(np.any(new))
    return total


def wide(d: Any, shape: tuple[int, ...]) -> Any:
    """A tangent in the shape of a result, to which it is broadcast."""
    if type(d) is np_ndarray and d.shape == shape:
        return d
    made = np.empty(shape)
    made[...] = d
    return made


def wide_lanes(d: Any, shape: tuple[int, ...]) -> Any:
    """Several tangents in the shape of a result."""
    return wide(d, (*shape, d.shape[-1]))


def zero_entries(values: list[Any], *lanes: int) -> list[Any]:
    """The tangent of a list whose entries have none."""
    shapes = [x.shape if type(x) is np_ndarray else () for x in values]
    if lanes:
        return [np_zeros((*shape, *lanes)) for shape in shapes]
    return [np_zeros(shape) if shape else 0.0 for shape in shapes]


def summed(d: Any) -> Any:
    """The sum of all entries, as a number."""
    return np_add_reduce(d, None)


def spread(d: Any, shape: tuple[int, ...]) -> Any:
    """An array with a broadcast number or smaller array."""
    if math.prod(shape) >= LARGE:
        if type(d) is np_ndarray:
            return np.broadcast_to(d, shape)
        return np_ndarray(shape, DOUBLE, np_array(d, DOUBLE), 0, (0,) * len(shape))
    made = np.empty(shape)
    if type(d) is np_ndarray:
        made[...] = d
    else:
        made.fill(d)
    return made


def vdot(d: Any, x: Any) -> Any:
    """The inner product of arrays of one shape; of other shapes the smaller spreads."""
    if d.shape == x.shape:
        return d.dot(x) if d.ndim == 1 else np.vdot(d, x)
    return np_add_reduce(d * x, None)


def filled(shape: tuple[int, ...], value: Any) -> Any:
    """A new array with one number everywhere."""
    made = np.empty(shape)
    made.fill(value)
    return made


def apart(y: Any, copies: tuple[Any, ...]) -> None:
    """Check that a result is not a view of copies that were made for a call.

    A view of the arrays themselves would show later writes to them.
    """
    if any(map(partial(np.may_share_memory, y), copies)):
        unfollowed("a function returns a view of its argument")


def reached_alone(x: Any, others: tuple[Any, ...], captured: tuple[Any, ...]) -> None:
    """Check that an argument may be written to, and is reached by its name alone."""
    owner = owner_of(x)
    alone = x.flags.writeable and not overlaps_itself(x)
    if not alone or any(owner_of(y) is owner for y in arrays_in((*others, *captured))):
        unfollowed("an array that is written to is read-only or has a second name")


def arrays_in(values: Iterable[Any]) -> Iterator[Any]:
    for x in values:
        if isinstance(x, np.ndarray):
            yield x
        elif isinstance(x, list | tuple):
            yield from arrays_in(x)
        elif isinstance(x, dict):
            yield from arrays_in(x.values())


def listed(one: Any, other: list[Any]) -> list[Any]:
    """The sum of two cotangents of a list; the first may be 0.0."""
    if type(one) is float:
        return other
    return [x + y for x, y in zip(one, other, strict=True)]


def array_of(entries: list[Any], dtype: Any) -> Any:
    """NumPy's array of a list, which must have the expected dtype."""
    made = np_array(entries)
    if made.dtype != dtype:
        unfollowed("a list makes an array of another dtype")
    return made


def of_length(x: Any, count: int) -> None:
    """Check that an array has as many entries as variables to unpack into."""
    if len(x) != count:
        message = f"{count} variables for {len(x)} values"
        raise ValueError(message)


HELPERS: dict[str, Any] = {
    **{name: globals()[name] for name in NAMES},
    **{name: getattr(arrays, name) for name in arrays.__all__},
    **{name: getattr(elementwise, name) for name in elementwise.__all__},
    **{name: getattr(strong_zeros, name) for name in strong_zeros.NAMES},
}
