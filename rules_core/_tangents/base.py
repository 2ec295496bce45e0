"""The algebra of tangents: which operand decides `+`, `-`, `*`, `/` and `@`.

Each kind of tangent has a rank; of two operands the higher ranked one decides, the left
one among equals:

    NotImplementedTangent > NoTangent > ZeroTangent > thunks > structural tangents

Everything that is not an `AbstractTangent` (arrays, numbers, primals) ranks below.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = ["AbstractTangent"]


class AbstractTangent:
    """Base class of the tangents that are neither numbers nor arrays.

    Every tangent can be added to a tangent of its primal, scaled by a number, and added
    to the primal: `t + t`, `2 * t`, `x + t`.

    A subclass defines its `__tangent_rank__` and the operations `__tangent_plus__`,
    `__tangent_minus__`, `__tangent_times__` and `__tangent_divide__`, each of which
    receives both operands in order. (Dunder names, because structural tangents have
    fields of any other name.)

    >>> from rules_core import AbstractTangent, ZeroTangent
    >>> isinstance(ZeroTangent(), AbstractTangent)
    True
    """

    __slots__ = ()

    __tangent_rank__: ClassVar[int] = 0

    def __tangent_plus__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __tangent_minus__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __tangent_times__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __tangent_divide__(self, a: Any, b: Any) -> Any:
        return NotImplemented

    def __tangent_matmul__(self, a: Any, b: Any) -> Any:
        return self.__tangent_times__(a, b)

    def __add__(self, other: Any) -> Any:
        return _leader(self, other).__tangent_plus__(self, other)

    def __radd__(self, other: Any) -> Any:
        return self.__tangent_plus__(other, self)

    def __sub__(self, other: Any) -> Any:
        return _leader(self, other).__tangent_minus__(self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.__tangent_minus__(other, self)

    def __mul__(self, other: Any) -> Any:
        return _leader(self, other).__tangent_times__(self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.__tangent_times__(other, self)

    def __matmul__(self, other: Any) -> Any:
        return _leader(self, other).__tangent_matmul__(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.__tangent_matmul__(other, self)

    def __truediv__(self, other: Any) -> Any:
        return _leader(self, other).__tangent_divide__(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.__tangent_divide__(other, self)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        return self.__tangent_times__(-1, self)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **keywords: Any
    ) -> Any:
        # NumPy's arrays call this, for `x += tangent` too, before they would make an
        # object array of the tangent.
        operation = _UFUNCS.get(ufunc.__name__)
        out = keywords.pop("out", None)
        if operation is None or method != "__call__" or keywords:
            return NotImplemented
        result = operation(*inputs)
        if out is None or isinstance(result, AbstractTangent):
            return result
        out[0][...] = result
        return out[0]


def _leader(a: Any, b: Any) -> AbstractTangent:
    """The deciding operand: the higher ranked one, the left one among equals."""
    leader: AbstractTangent = b if _rank(b) > _rank(a) else a
    return leader


def _rank(x: Any) -> int:
    return x.__tangent_rank__ if isinstance(x, AbstractTangent) else 0


def _binary(name: str) -> Any:
    def operation(a: Any, b: Any) -> Any:
        return getattr(_leader(a, b), name)(a, b)

    return operation


def _conjugate(a: Any) -> Any:
    return a.conjugate()


def _negative(a: Any) -> Any:
    return -a


def _positive(a: Any) -> Any:
    return a


_UFUNCS = {
    "add": _binary("__tangent_plus__"),
    "subtract": _binary("__tangent_minus__"),
    "multiply": _binary("__tangent_times__"),
    "divide": _binary("__tangent_divide__"),
    "true_divide": _binary("__tangent_divide__"),
    "matmul": _binary("__tangent_matmul__"),
    "negative": _negative,
    "positive": _positive,
    "conjugate": _conjugate,
}
