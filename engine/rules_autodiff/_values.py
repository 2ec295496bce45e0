"""Which values can carry a derivative, and which certainly carry none."""

import inspect
from types import ModuleType
from typing import Any

import numpy as np

__all__ = [
    "INERT",
    "NUMBERS",
    "SCALARS",
    "has_fields",
    "holds_records",
    "is_float_array",
    "is_number",
    "is_numeric",
]

# What is certainly no part of a derivative; asked first, by class.
INERT = frozenset({
    int, bool, str, type(None), type, range, ModuleType, type(Ellipsis),
    np.bool_, np.int64, np.int32, np.intp, np.dtype, np.ufunc, type(np.sum),
    type(inspect.signature(np.sum).parameters["initial"].default),  # "no value"
})  # fmt: skip
SCALARS = frozenset({float, np.float64})  # the two classes of the fast path
NUMBERS = (float, complex, np.inexact)
_NUMERIC = (int, float, complex, np.generic, np.ndarray)


def is_number(x: Any) -> bool:
    """Whether `x` is a real or complex scalar that can carry a derivative."""
    return isinstance(x, NUMBERS)


def is_float_array(x: Any) -> bool:
    """Whether `x` is an array of real or complex floating numbers."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def is_numeric(x: Any) -> bool:
    """Whether operators on `x` are arithmetic: a Python or NumPy number, an array."""
    return isinstance(x, _NUMERIC)


def holds_records(x: Any) -> bool:
    """Whether a value is an array of records, or a list or tuple of such."""
    if isinstance(x, list | tuple):
        return any(map(holds_records, x))
    return isinstance(x, np.ndarray | np.void) and has_fields(x.dtype)


def has_fields(dtype: Any) -> bool:
    """Whether a dtype, or what stands for one, is that of records."""
    if isinstance(dtype, list) and dtype:
        return all(type(part) is tuple and part for part in dtype) and all(
            isinstance(part[0], str) for part in dtype
        )
    return isinstance(dtype, np.dtype) and dtype.names is not None
