"""Sums of tangents, and sums in memory that an AD system owns."""

from __future__ import annotations

import sys
from typing import Any

from rules_core._base.arrays import array_namespace, is_array
from rules_core._base.errors import ProjectionError, UnsupportedError
from rules_core._base.frameworks import framework_of

from .base import AbstractTangent
from .container_sums import none_is_zero, total
from .containers import (
    StructuralTangent,
    backing,
    is_mutable,
    keyed,
    like,
    primal_type,
)
from .leaves import is_floating
from .structure import structure
from .thunks import BARE, AbstractThunk, InplaceableThunk, unthunk
from .zeros import AbstractZero, NotImplementedTangent, ZeroTangent

__all__ = ["accumulate", "is_inplaceable_destination"]


def accumulate(x: Any, y: Any, *, owned: bool = False) -> Any:
    """The sum `x + y` of two tangents of one primal.

    It writes to neither: others may refer to a cotangent, such as the caller of a
    pullback. `None` counts as zero, and plain tuples, lists and dicts are added entry
    by entry.

    Args:
        x: The tangent so far.
        y: The tangent to add.
        owned: For AD systems, which own their buffers: no other reference to `x` or any
            array in it exists, so the sum may be written into it. Use only the return
            value; it is owned again, and it shares no memory with `y`.

    Raises:
        ProjectionError: Two arrays of different shapes.

    >>> import numpy as np
    >>> from rules_core import accumulate
    >>> x, y = np.ones(2), np.array([1.0, 2.0])
    >>> accumulate(x, y), x
    (array([2., 3.]), array([1., 1.]))
    >>> accumulate(x, y, owned=True) is x, x
    (True, array([2., 3.]))
    """
    x, y = none_is_zero(x), none_is_zero(y)
    if owned and isinstance(x, AbstractZero):
        return y if isinstance(y, AbstractZero) else x + _copied(y, {})
    if isinstance(y, AbstractTangent):
        return _add_tangent(x, y, owned)
    if is_array(y) or is_array(x):
        return _add_arrays(x, y, owned)
    if isinstance(x, AbstractThunk) and isinstance(y, BARE):
        return total(unthunk(x), y, {})
    return total(x, y, {})


def _copied(x: Any, met: dict[int, Any]) -> Any:
    """A copy of a tangent that shares no writable array with `x`."""
    if isinstance(x, StructuralTangent):
        if (copy := met.get(id(x))) is not None:
            return copy
        result = met[id(x)] = like(x, {})
        for name, value in backing(x).items():
            backing(result)[name] = _copied(value, met)
        return result
    if isinstance(x, BARE) and (level := structure(x)) is not None:
        return level.rebuild([_copied(value, met) for value in level.values])
    return _copy(x) if is_inplaceable_destination(x) else x


def _copy(x: Any) -> Any:
    return x.copy() if hasattr(x, "flags") else x.clone()


def _add_tangent(x: Any, y: AbstractTangent, owned: bool) -> Any:
    if isinstance(y, InplaceableThunk) and is_inplaceable_destination(x):
        return _returned(y, y.add(x if owned else _copy(x)))
    if isinstance(y, AbstractThunk) and (is_array(x) or isinstance(x, BARE)):
        return accumulate(x, unthunk(y), owned=owned)
    if isinstance(y, AbstractThunk) and isinstance(x, AbstractThunk):
        return accumulate(unthunk(x), unthunk(y))
    if isinstance(x, StructuralTangent) and isinstance(y, StructuralTangent):
        return _add_structures(x, y, {}) if owned else x + y
    if isinstance(x, BARE):
        return total(x, y, {})
    if is_array(x) and isinstance(y, (AbstractZero, NotImplementedTangent)):
        return y.__radd__(x)  # some libraries' `x + y` raises instead of deferring
    return x + y


def is_inplaceable_destination(x: Any) -> bool:
    """Whether gradients may be accumulated into the memory of `x`.

    True for writeable floating NumPy arrays and views whose elements do not overlap,
    for such tensors of PyTorch that are neither recorded nor wrapped by a
    transformation, and for `MutableTangent`. False in all doubtful cases; arrays of JAX
    cannot be written to.

    >>> import numpy as np
    >>> from rules_core import is_inplaceable_destination
    >>> x = np.ones((2, 3))
    >>> is_inplaceable_destination(x), is_inplaceable_destination(x[:, 1:])
    (True, True)
    >>> is_inplaceable_destination(np.broadcast_to(x, (4, 2, 3)))
    False
    """
    if is_mutable(x):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(x) is numpy.ndarray:
        if not x.flags.writeable or not is_floating(array_namespace(x), x.dtype):
            return False
        return x.flags.c_contiguous or _is_disjoint(x.shape, x.strides)
    framework = framework_of(type(x))
    strides = None if framework is None else framework.writable_strides(x)
    return strides is not None and _is_disjoint(x.shape, strides)


def _is_disjoint(shape: Any, strides: Any) -> bool:
    """Whether no two elements share memory (a sufficient condition).

    Each axis, by growing stride, must step over the span of the previous axes.
    """
    if 0 in shape:
        return True
    reach = 0
    for stride, length in sorted(
        (abs(stride), length)
        for stride, length in zip(strides, shape, strict=True)
        if length > 1
    ):
        if stride <= reach:
            return False
        reach += stride * (length - 1)
    return True


def _add_arrays(x: Any, y: Any, owned: bool) -> Any:
    if isinstance(x, (AbstractTangent, *BARE)) or isinstance(y, BARE):
        return total(x, y, {})
    if _is_number(x) and _is_number(y) and _shape(x) != _shape(y):
        got = f"shape {_shape(y)}" if is_array(y) else f"a {type(y).__name__}"
        path = "what is accumulated"
        raise ProjectionError(path, f"have shape {_shape(x)}", got)
    if not (owned and _fits_into(x, y) and is_inplaceable_destination(x)):
        return x + y
    x += y
    return x


def _is_number(x: Any) -> bool:
    return is_array(x) or isinstance(x, (int, float, complex))


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(x.shape) if is_array(x) else ()


def _fits_into(x: Any, y: Any) -> bool:
    """Whether `x += y` equals `x + y`: one library and dtype, and nothing recorded."""
    if type(y) is not type(x) or x.dtype != y.dtype:
        return False
    framework = framework_of(type(x))
    return framework is None or framework.adds_in_place(x, y)


def _add_structures(x: Any, y: Any, met: dict[tuple[int, int], Any]) -> Any:
    """Entry by entry; a `MutableTangent` is updated, so that it stays shared."""
    if not isinstance(y, StructuralTangent) or not isinstance(x, StructuralTangent):
        return accumulate(x, y, owned=True)
    if (id(x), id(y)) in met:
        return met[id(x), id(y)]
    alike = primal_type(x) is primal_type(y) and type(x) is type(y)
    if not alike or (keyed(x) == "position" and len(x) != len(y)):
        return x + y  # raises an explanation
    result = met[id(x), id(y)] = x if is_mutable(x) else like(x, backing(x))
    for name, value in backing(y).items():
        old = backing(x).get(name, ZeroTangent())
        backing(result)[name] = _add_structures(old, value, met)
    return result


def _returned(y: InplaceableThunk, result: Any) -> Any:
    if result is None:
        message = (
            f"add of {y!r} must return the array that it was given, but got None. End "
            "it with `return x`."
        )
        raise UnsupportedError(message)
    return result
