"""Products with a zero that does not move: it stays zero times infinity.

A weight of zero, or a cotangent that a selection has made zero, is zero nearby too. So
the product is zero there, whatever the slope of the other factor is.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._own_rules.arithmetic import strong, strong_quotient
from rules_autodiff._python.values import is_float_array, is_number

__all__ = ["Product", "product_of"]

# Functions of two factors, entry by entry, and whose zeros count. A divisor has none;
# of a strong product the second factor is a partial derivative, whose zeros may be
# those that a convention chose at a kink.
ENTRYWISE = {
    operator.mul: (True, True), np.multiply: (True, True), strong: (True, False),
    operator.truediv: (True, False), np.true_divide: (True, False),
    strong_quotient: (True, False),
}  # fmt: skip
# Sums of products, and where the factors are among the arguments.
TWO = slice(0, 2)
SUMS: dict[Any, slice] = {
    operator.matmul: TWO, np.matmul: TWO, np.dot: TWO, np.inner: TWO, np.outer: TWO,
    np.vdot: TWO, np.tensordot: TWO, np.kron: TWO, np.convolve: TWO, np.correlate: TWO,
    np.vecdot: TWO, np.linalg.vecdot: TWO, np.einsum: slice(1, None),
}  # fmt: skip
OPTIONS = frozenset({"axes", "axis", "mode"})
WHOLE = (np.ndarray, bool, int, np.integer, np.bool_)


def product_of(f: Any, args: tuple[Any, ...], kwargs: Any) -> "Product | None":
    """A call as a product of some arguments; None if it is none."""
    zeros: tuple[bool, ...]
    if f in ENTRYWISE:
        function, places, zeros = operator.mul, TWO, ENTRYWISE[f]
        known = len(args) == 2 and not kwargs
    elif f in SUMS:
        function, places = f, SUMS[f]
        zeros = (True,) * len(args[places])
        known = OPTIONS.issuperset(kwargs)
    else:
        return None
    if not known or not all(map(is_factor, args[places])):
        return None
    return Product(function, args, kwargs, places, zeros)


def is_factor(x: Any) -> bool:
    return isinstance(x, WHOLE) or is_number(x)


class Product:
    """A function that sums products of entries of its factors.

    Args:
        f: The function, for factors without signs.
        args: The arguments.
        kwargs: The options.
        places: The factors among the arguments.
        zeros: For each factor whether its zeros count.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Any,
        places: slice,
        zeros: tuple[bool, ...],
    ):
        self.f, self.args, self.kwargs = f, args, kwargs
        self.places, self.zeros = places, zeros

    def present(self, probes: Any) -> list[Any]:
        """Each factor as ones, with zeros where it is a zero that does not move."""
        rows = zip(self.args[self.places], probes[self.places], self.zeros, strict=True)
        return [
            np.where(still(x, probe), 0.0, 1.0) if own else np.ones(np.shape(x))
            for x, probe, own in rows
        ]

    def reached(self, present: list[Any], marks: list[Any]) -> Any:
        """Where the value depends on the marked entries of a factor."""
        found: Any = False
        for place, mark in enumerate(marks):
            if not np.any(mark):
                continue
            factors = [*present]
            factors[place] = np.asarray(mark, float)
            args = [*self.args]
            args[self.places] = factors
            found = found | np.greater(self.f(*args, **self.kwargs), 0.0)
        return found

    def moving(self, probes: Any) -> Any:
        """Where the value moves, by the probes of the arguments."""
        marks = [is_nan(probe) for probe in probes[self.places]]
        return self.reached(self.present(probes), marks)

    def infinite(self, tangents: Any, probes: Any) -> Any:
        """Where a tangent that is not finite reaches the value; None: all do."""
        marks = [is_infinite(dx) for dx in tangents[self.places]]
        if not any(map(np.any, marks)):
            return None
        present = self.present(probes)
        if all(map(np.all, present)):
            return None
        return self.reached(present, marks)


def still(x: Any, probe: Any) -> Any:
    """Where a factor is zero and does not move."""
    return np.equal(x, 0) & np.logical_not(is_nan(probe))


def is_numeric(dx: Any) -> bool:
    return is_number(dx) or is_float_array(dx)


def is_nan(probe: Any) -> Any:
    """Where a probe says that the value moves."""
    return np.isnan(probe) if is_numeric(probe) else False


def is_infinite(dx: Any) -> Any:
    """Where a tangent is infinite or not a number."""
    return np.logical_not(np.isfinite(dx)) if is_numeric(dx) else False
