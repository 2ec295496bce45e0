"""Mooncake's terms: duals, fdata and rdata.

A tangent is split into *fdata*, which has an address (the shadow of an array), and
*rdata*, which is passed by value (the cotangent of a number).
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

import numpy as np

from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._shadows.slots import tangent_of
from rules_core import MutableTangent, NoTangent, Tangent, structure, tangent_type

from .entry_places import has_address, shadow_class

__all__ = [
    "CoDual", "Dual", "NoFData", "NoRData", "fdata", "fdata_type", "rdata",
    "rdata_type", "tangent",
]  # fmt: skip

P = TypeVar("P")
T = TypeVar("T")


@final
@dataclass(frozen=True)
class CoDual(Generic[P, T]):
    """A primal and the part of its cotangent that has an address.

    `primal(a) is primal(b)` implies `fdata(a) is fdata(b)`: aliases in the program are
    aliases in the derivative.

    Attributes:
        primal: The value.
        fdata: For an array its shadow, an array of its shape to which cotangents are
            added. For another object with an address a cotangent for each entry,
            numbers included: a list for a list, a dict for a dict, a `MutableTangent`
            for an object. For a tuple the tuple of its entries' fdata; otherwise
            `NoFData()`.

    >>> import numpy as np
    >>> from rules_autodiff import CoDual
    >>> CoDual(np.ones(2), np.zeros(2)).fdata
    array([0., 0.])
    """

    primal: P
    fdata: T


@final
@dataclass(frozen=True)
class Dual(Generic[P, T]):
    """A primal and its tangent.

    Attributes:
        primal: The value.
        tangent: Its tangent; for an array a writable array.

    >>> from rules_autodiff import Dual
    >>> Dual(2.0, 1.0).tangent
    1.0
    """

    primal: P
    tangent: T


@final
@dataclass(frozen=True)
class NoFData:
    """The fdata of values without address: numbers, and values without tangent."""


@final
@dataclass(frozen=True)
class NoRData:
    """The rdata of values not passed by value: arrays, and values without tangent."""


def split_types(x: Any) -> tuple[type, type]:
    if is_number(x):
        return NoFData, tangent_type(x)
    if is_float_array(x):
        return np.ndarray, NoRData
    if has_address(x):
        return shadow_class(x), NoRData
    level = None if type(x) in INERT else structure(x)
    if level is None:
        return NoFData, NoRData
    parts = [split_types(value) for value in level.values]
    address = any(f is not NoFData for f, _ in parts)
    passed = any(r is not NoRData for _, r in parts)
    return (tangent_type(x) if address else NoFData), (
        tangent_type(x) if passed else NoRData
    )


def fdata_type(primal: Any) -> type:
    """The class of the part of a tangent of `primal` that has an address.

    >>> import numpy as np
    >>> from rules_autodiff import fdata_type
    >>> [fdata_type(x).__name__ for x in (1.0, np.ones(2), [1.0], (1.0, 2.0))]
    ['NoFData', 'ndarray', 'list', 'NoFData']
    """
    return split_types(primal)[0]


def rdata_type(primal: Any) -> type:
    """The class of the part of a tangent of `primal` that is passed by value.

    >>> import numpy as np
    >>> from rules_autodiff import rdata_type
    >>> rdata_type(1.0).__name__, rdata_type(np.ones(2)).__name__
    ('float', 'NoRData')
    """
    return split_types(primal)[1]


def fdata(t: Any) -> Any:
    """The part of a tangent that has an address: `tangent(fdata(t), rdata(t))` is `t`.

    Args:
        t: A canonical tangent, as `rules_core.materialise` makes it.

    >>> import numpy as np
    >>> from rules_autodiff import fdata
    >>> from rules_core import Tangent
    >>> fdata(2.0), fdata(np.ones(2)), fdata(Tangent(tuple, 2.0, np.ones(2)))
    (NoFData(), array([1., 1.]), Tangent(tuple, NoFData(), array([1., 1.])))
    """
    return split(t)[0]


def rdata(t: Any) -> Any:
    """The part of a tangent that is passed by value: `tangent(fdata(t), rdata(t))`.

    Args:
        t: A canonical tangent, as `rules_core.materialise` makes it.

    >>> import numpy as np
    >>> from rules_autodiff import rdata
    >>> from rules_core import Tangent
    >>> rdata(2.0), rdata(np.ones(2)), rdata(Tangent(tuple, 2.0, np.ones(2)))
    (2.0, NoRData(), Tangent(tuple, 2.0, NoRData()))
    """
    return split(t)[1]


def split(t: Any) -> tuple[Any, Any]:
    if is_number(t):
        return NoFData(), t
    if is_float_array(t) or isinstance(t, MutableTangent):
        return t, NoRData()
    level = structure(t) if isinstance(t, Tangent) else None
    if level is None:
        return NoFData(), NoRData()
    if issubclass(level.primal, (list, dict, deque)):
        return t, NoRData()
    pairs = [split(part) for part in level.values]
    address = any(not isinstance(f, NoFData) for f, _ in pairs)
    passed = any(not isinstance(r, NoRData) for _, r in pairs)
    return (
        level.rebuild([f for f, _ in pairs]) if address else NoFData(),
        level.rebuild([r for _, r in pairs]) if passed else NoRData(),
    )


def tangent(fdata: Any, rdata: Any) -> Any:
    """The tangent that consists of an fdata and an rdata.

    >>> from rules_autodiff import NoFData, NoRData, tangent
    >>> tangent(NoFData(), 2.0), tangent(NoFData(), NoRData())
    (2.0, NoTangent())

    Raises:
        TypeError: Both contain one part.
    """
    if isinstance(rdata, NoRData):
        return NoTangent() if isinstance(fdata, NoFData) else fdata
    if isinstance(fdata, NoFData):
        return rdata
    one, other = structure(fdata), structure(rdata)
    if one is None or other is None or one.names != other.names:
        message = (
            f"fdata and rdata must be two parts of one tangent, but got {fdata!r} and "
            f"{rdata!r}."
        )
        raise TypeError(message)
    pairs = zip(one.values, other.values, strict=True)
    return tangent_of(one, [tangent(f, r) for f, r in pairs])
