"""Sums, products and multiples of linear systems, as those of SciPy's state spaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._axes import concat

from ._axis import alike, fixed

__all__ = ["NAMES", "Operators"]

NAMES = (
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __neg__ __truediv__ "
    "__rtruediv__"
)


class Operators:
    """What systems in the form of four matrices have, and others do not.

    Attributes:
        parts: The arrays of the system.
        dt: The step of a discrete system.
    """

    # NumPy's arrays leave sums and products to the system.
    __array_ufunc__ = None

    parts: tuple[Any, ...]
    dt: Any

    def made(self, parts: Sequence[Any]) -> Any:
        """A system of this kind, of other matrices."""
        raise NotImplementedError

    def taken(self, other: Any) -> Any:
        """Another system, or a matrix or number; None where SciPy takes neither."""
        raise NotImplementedError

    def _with(self, other: Any, name: str) -> Any:
        """The other operand, None if there is no operator for both."""
        other = self.taken(other)
        if len(self.parts) != 4 or other is None:
            return None
        if not isinstance(other, Operators):
            return other
        if len(other.parts) != 4:
            return None
        if self.dt != other.dt:
            message = f"Cannot {name} systems with different `dt`."
            raise TypeError(message)
        return other

    def __add__(self, other: Any) -> Any:
        other = self._with(other, "add")
        if other is None:
            return NotImplemented
        if not isinstance(other, Operators):
            return self._plus(other)
        a, b, c, d, a2, b2, c2, d2 = alike(*self.parts, *other.parts)
        found = _diagonal(a, a2, 0.0), concat([b, b2], 0), concat([c, c2], 1), d + d2
        return self.made(found)

    def _plus(self, other: Any) -> Any:
        """A number or a matrix is a system without states."""
        A, B, C, D = self.parts
        if rc.is_array(other) and 0 < other.ndim < 2:
            other = other[None, :]
        shape = tuple(getattr(other, "shape", ())) or (1, 1)
        if shape != tuple(D.shape):
            message = (
                "Cannot add systems with incompatible dimensions "
                f"({tuple(D.shape)} and {shape})"
            )
            raise ValueError(message)
        return self.made((A, B, C, D + other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __neg__(self) -> Any:
        if len(self.parts) != 4:
            message = f"bad operand type for unary -: {type(self).__name__!r}"
            raise TypeError(message)
        A, B, C, D = self.parts
        return self.made((A, B, -C, -D))

    def __sub__(self, other: Any) -> Any:
        other = self._with(other, "subtract")
        return NotImplemented if other is None else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        other = self._with(other, "subtract")
        return NotImplemented if other is None else (-self) + other

    def __mul__(self, other: Any) -> Any:
        """The other system first, and then this one."""
        other = self._with(other, "multiply")
        if other is None:
            return NotImplemented
        A, B, C, D = self.parts
        if not isinstance(other, Operators):
            return self.made((A, _times(B, other), C, _times(D, other)))
        a, b, c, d, a2, b2, c2, d2 = alike(A, B, C, D, *other.parts)
        return self.made((
            _diagonal(a, a2, b @ c2),
            concat([b @ d2, b2], 0),
            concat([c, d @ c2], 1),
            d @ d2,
        ))  # fmt: skip

    def __rmul__(self, other: Any) -> Any:
        other = self._with(other, "multiply")
        if other is None:
            return NotImplemented
        if isinstance(other, Operators):
            return other * self
        A, B, C, D = self.parts
        return self.made((A, B, _times(other, C), _times(other, D)))

    def __truediv__(self, other: Any) -> Any:
        other = self._with(other, "divide")
        if other is None or isinstance(other, Operators):
            return NotImplemented
        if getattr(other, "ndim", 0) > 0:
            message = "Cannot divide StateSpace by non-scalar numpy arrays"
            raise ValueError(message)
        return self * (1 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented


def _times(a: Any, b: Any) -> Any:
    """As `numpy.dot`."""
    numbers = [x for x in (a, b) if not getattr(x, "ndim", 0)]
    return a * b if numbers else a @ b


def _diagonal(a: Any, b: Any, corner: Any) -> Any:
    """Two blocks on the diagonal, and one above."""
    n, m = a.shape[0], b.shape[0]
    upper = [a, corner + fixed(np.zeros((n, m)), a)]
    return concat([concat(upper, 1), concat([fixed(np.zeros((m, n)), a), b], 1)], 0)
