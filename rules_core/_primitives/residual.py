"""`Residual`: an opaque object that a rule keeps for its backward pass."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import RLock
from typing import Any, final

from rules_core._base.arrays import is_array, type_name
from rules_core._base.errors import UnsupportedError
from rules_core._dispatch.rule_key import describe
from rules_core._tangents.leaves import is_numpy
from rules_core._tangents.structure import Structure

__all__ = ["Residual"]

_KEPT = 64
_LOCK = RLock()
_VALUES: OrderedDict[Any, Any] = OrderedDict()


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class Residual:
    """An object that only NumPy code knows, made of arrays: `make(*arrays)`.

    A factorisation, a plan or a handle cannot pass through a compiler, the arrays of
    which it is made can. A rule hands the residual to host primitives, in its pullback
    too; their bodies read `value`. The 64 latest objects are kept, so that the
    backward pass finds that of the forward pass; others are made again. Under `vmap`
    there is one for each example.

    Args:
        make: A function of NumPy arrays, without effects; one that lasts, not a lambda
            made anew in each call, for which no object would be found again.
        *arrays: Arrays, of a framework or of NumPy, and constants.

    >>> import numpy as np
    >>> import rules_core as rc
    >>> import scipy.linalg
    >>> def solve_by(lu, b):
    ...     return scipy.linalg.lu_solve(lu.value, b)
    >>> solve_by(rc.Residual(scipy.linalg.lu_factor, 2 * np.eye(2)), np.ones(2))
    array([0.5, 0.5])
    """

    make: Callable[..., Any]
    arrays: tuple[Any, ...]

    def __init__(self, make: Callable[..., Any], *arrays: Any) -> None:
        given: Any = make  # unchecked so far
        if not callable(given):
            message = (
                "Residual(make, *arrays): make must be a function of the arrays, but "
                f"got {make!r}. To keep an object pass the function that makes it."
            )
            raise UnsupportedError(message)
        object.__setattr__(self, "make", make)
        object.__setattr__(self, "arrays", arrays)

    @property
    def value(self) -> Any:
        """The object; in the body of a host function.

        Raises:
            UnsupportedError: Its arrays are those of a framework.
        """
        for x in self.arrays:
            if is_array(x) and not is_numpy(x):
                raise UnsupportedError(_not_numpy(self.make, x))
        key = (self.make, *map(_digest, self.arrays))
        with _LOCK:
            if key in _VALUES:
                _VALUES.move_to_end(key)
                return _VALUES[key]
        value = self.make(*self.arrays)
        with _LOCK:
            _VALUES[key] = value
            while len(_VALUES) > _KEPT:
                _VALUES.popitem(last=False)
        return value

    def __tangent_structure__(self) -> Structure:
        values = (self.make, self.arrays)
        return Structure(Residual, "field", ("make", "arrays"), values, _rebuilt)

    def __reduce__(self) -> Any:
        return Residual, (self.make, *self.arrays)

    def __repr__(self) -> str:
        return f"Residual({describe(self.make)}, {len(self.arrays)} arrays)"


def _rebuilt(values: Sequence[Any]) -> Residual:
    make, arrays = values
    return Residual(make, *arrays)


def _digest(x: Any) -> Any:
    """A key of equal contents."""
    if not is_numpy(x):
        return type(x), x
    return x.shape, x.dtype.str, blake2b(x.tobytes(), digest_size=16).digest()


def _not_numpy(make: Any, x: Any) -> str:
    return (
        f"the value of Residual({describe(make)}) must be read in the body of a host "
        f"function, which receives NumPy arrays, but got {type_name(type(x))} among "
        "its arrays. Pass the residual to a primitive with host=True."
    )
