"""Lazy tangents."""

from __future__ import annotations

import operator
from _thread import RLock  # the class of threading.RLock, without importing threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Self, final

from rules_core._base.arrays import array_namespace, is_array

from .base import AbstractTangent

__all__ = ["BARE", "AbstractThunk", "InplaceableThunk", "Thunk", "thunk", "unthunk"]

# Plain containers as tangents; Python's own `+` and `*` join and repeat these.
BARE = (tuple, list, dict)

# Attributes read from the value, which therefore compute the thunk.
_READ_ATTRIBUTES = ("dtype", "imag", "ndim", "real", "shape", "size")
_READ_METHODS = ("astype", "dot", "flatten", "mean", "ravel", "reshape", "sum")


def _binary(operation: Callable[[Any, Any], Any]) -> Any:
    def forced(self: AbstractThunk, a: Any, b: Any) -> Any:
        return operation(_number(a), _number(b))

    return forced


def _number(x: Any) -> Any:
    value = unthunk(x)
    if isinstance(value, BARE) and isinstance(x, AbstractThunk):
        name = type(value).__name__
        message = (
            f"{x!r} is a bare {name}, which Python would join or repeat instead of "
            f"adding or scaling: return Tangent({name}, …), or call accumulate"
        )
        raise TypeError(message)
    return value


class AbstractThunk(AbstractTangent):
    """Base class of the lazy tangents.

    Arithmetic, indexing, iteration and conversion to a number compute a thunk;
    conjugation and transposition give another thunk; a zero factor does not compute it.

    >>> from rules_core import ZeroTangent, thunk
    >>> lazy = thunk(lambda: 3.0)
    >>> lazy + 1.0, ZeroTangent() * lazy
    (4.0, ZeroTangent())
    """

    __slots__ = ()

    __tangent_rank__ = 2

    __tangent_plus__ = _binary(operator.add)
    __tangent_minus__ = _binary(operator.sub)
    __tangent_times__ = _binary(operator.mul)
    __tangent_divide__ = _binary(operator.truediv)
    __tangent_matmul__ = _binary(operator.matmul)

    def __unthunk__(self) -> Any:
        message = f"{type(self).__name__} must define __unthunk__"
        raise TypeError(message)

    def __neg__(self) -> Any:
        return -self.__unthunk__()

    def conj(self) -> Thunk:
        """The conjugate, lazily."""
        return Thunk(lambda: conjugate(self.__unthunk__()))

    def conjugate(self) -> Thunk:
        """The conjugate, lazily."""
        return self.conj()

    @property
    def T(self) -> Thunk:
        """The transpose, lazily."""
        return Thunk(lambda: self.__unthunk__().T)

    @property
    def mT(self) -> Thunk:
        """The transpose of the last two axes, lazily."""
        return Thunk(lambda: self.__unthunk__().mT)

    def __bool__(self) -> bool:
        return bool(self.__unthunk__())

    def __int__(self) -> int:
        return int(self.__unthunk__())

    def __float__(self) -> float:
        return float(self.__unthunk__())

    def __complex__(self) -> complex:
        return complex(self.__unthunk__())

    def __len__(self) -> int:
        return len(self.__unthunk__())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__unthunk__())

    def __getitem__(self, key: Any) -> Any:
        return self.__unthunk__()[key]

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        message = "a thunk must not be written to: call unthunk on it and copy first"
        raise TypeError(message)

    def __eq__(self, other: object) -> Any:
        return self.__unthunk__() == unthunk(other)

    def __hash__(self) -> int:
        return hash(self.__unthunk__())

    def __copy__(self) -> Self:
        return self


def _reading(name: str) -> property:
    return property(lambda self: getattr(self.__unthunk__(), name))


for _name in (*_READ_ATTRIBUTES, *_READ_METHODS):
    setattr(AbstractThunk, _name, _reading(_name))


@final
class Thunk(AbstractThunk):
    """A tangent that is computed at its first use, and only once.

    The value is cached; the function is dropped when it has returned. If it raises, the
    next use calls it again. Concurrent threads wait for one computation.

    Args:
        fn: Called without arguments; returns a tangent.

    >>> from rules_core import Thunk, unthunk
    >>> lazy = Thunk(lambda: print("computing") or 3.0)
    >>> unthunk(lazy), unthunk(lazy)
    computing
    (3.0, 3.0)
    """

    __slots__ = ("_fn", "_lock", "_value")

    def __init__(self, fn: Any) -> None:
        if not callable(fn):
            message = (
                f"thunk must be given a function of no arguments, but got {fn!r}: "
                "write thunk(lambda: value)"
            )
            raise TypeError(message)
        self._fn: Callable[[], Any] | None = fn
        self._lock = RLock()
        self._value: Any = None

    def __unthunk__(self) -> Any:
        if self._fn is not None:
            with self._lock:
                if self._fn is not None:
                    self._value = self._fn()
                    self._fn = None
        return self._value

    def __reduce__(self) -> Any:
        return _forced, (self.__unthunk__(),)

    def __repr__(self) -> str:
        fn = self._fn
        if fn is None:
            return f"Thunk({self._value!r})"
        return f"Thunk({getattr(fn, '__qualname__', fn)})"


def _forced(value: Any) -> Thunk:
    result = Thunk(lambda: value)
    result.__unthunk__()
    return result


@final
class InplaceableThunk(AbstractThunk):
    """A thunk that can also add itself to an array: `add(x)` does `x += value`.

    Useful if the in-place sum is cheaper than value and addition together. `accumulate`
    calls `add` on arrays that it may write to, and uses the value otherwise.

    Args:
        add: Adds the tangent to its argument in place and returns the argument.
        value: The tangent itself, a `Thunk`.

    >>> import numpy as np
    >>> from rules_core import InplaceableThunk, accumulate, thunk
    >>> def add(x):
    ...     x[0] += 2.0
    ...     return x
    >>> lazy = InplaceableThunk(add, thunk(lambda: np.array([2.0, 0.0])))
    >>> accumulate(np.ones(2), lazy)
    array([3., 1.])
    """

    __slots__ = ("add", "value")

    def __init__(self, add: Callable[[Any], Any], value: Any) -> None:
        self.add, self.value = add, value

    def __unthunk__(self) -> Any:
        return unthunk(self.value)

    def __reduce__(self) -> Any:
        return InplaceableThunk, (self.add, self.value)

    def __repr__(self) -> str:
        return f"InplaceableThunk({_qualname(self.add)}, {self.value!r})"


def thunk(fn: Callable[[], Any]) -> Thunk:
    """Delay `fn()` until its value is needed.

    Use it in pullbacks of several arguments for cotangents that cost more than the
    closure: unused ones are never computed. Also a decorator.

    >>> from rules_core import thunk, unthunk
    >>> unthunk(thunk(lambda: 2.0 * 3.0))
    6.0
    """
    return Thunk(fn)


def unthunk(x: Any) -> Any:
    """Remove one layer of laziness; other values are returned unchanged.

    >>> from rules_core import thunk, unthunk
    >>> unthunk(thunk(lambda: 3.0)), unthunk(3.0)
    (3.0, 3.0)
    """
    return x.__unthunk__() if isinstance(x, AbstractThunk) else x


def conjugate(x: Any) -> Any:
    """The complex conjugate of a tangent; a thunk stays a thunk."""
    if is_array(x):
        return array_namespace(x).conj(x)
    return x.conjugate()


def _qualname(fn: Any) -> str:
    return getattr(fn, "__qualname__", None) or repr(fn)
