"""Values that can have a derivative, and values that never have one."""

import inspect
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from rules_core.extend import is_sparse, is_sparse_class

__all__ = [
    "INERT",
    "NUMBERS",
    "SCALARS",
    "has_fields",
    "holds_records",
    "is_arithmetic",
    "is_float_array",
    "is_foreign",
    "is_number",
    "is_numeric",
    "is_sparse",
    "is_sparse_class",
]

# Classes that never have a derivative; tested first.
INERT = frozenset({
    int, bool, str, type(None), type, range, ModuleType, type(Ellipsis),
    np.bool_, np.int64, np.int32, np.intp, np.dtype, np.ufunc, type(np.sum),
    type(inspect.signature(np.sum).parameters["initial"].default),  # "no value"
})  # fmt: skip
SCALARS = frozenset({float, np.float64})  # the two classes of the fast path
NUMBERS = (float, complex, np.inexact)
_NUMERIC = (int, float, complex, np.generic, np.ndarray)
_PLAIN_NUMERIC = frozenset({
    int, float, bool, complex, np.ndarray,
    *(c for c in np.sctypeDict.values() if issubclass(c, np.number | np.bool_)),
})  # fmt: skip

# Classes of arrays whose operations are those of `ndarray`.
PLAIN_CLASSES = frozenset({np.ndarray, np.memmap, np.recarray})
OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "divmod",
    "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
MEANINGS = frozenset({
    "__array_ufunc__", "__array_function__", "__array_wrap__", "__getitem__",
    "__setitem__", "__iter__", "__neg__", "__pos__", "__abs__", "__invert__",
    "__float__", "__complex__", "__bool__", "__lt__", "__le__", "__gt__", "__ge__",
    "__eq__", "__ne__",
    *(f"__{way}{name}__" for name in OPERATORS for way in ("", "r", "i")),
})  # fmt: skip


def is_number(x: Any) -> bool:
    """Whether `x` is a real or complex scalar that can have a derivative."""
    return isinstance(x, NUMBERS)


def is_float_array(x: Any) -> bool:
    """Whether `x` is an array of real or complex floating numbers."""
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def is_numeric(x: Any) -> bool:
    """Whether operators on `x` are arithmetic: a Python or NumPy number, an array."""
    return isinstance(x, _NUMERIC)


def is_foreign(cls: type) -> bool:
    """Whether a class of arrays redefines operations."""
    if cls in PLAIN_CLASSES:
        return False
    own = cls.__mro__[: cls.__mro__.index(np.ndarray)]
    return any(name in MEANINGS for base in own for name in vars(base))


def has_operators(cls: type) -> bool:
    """Whether a class of numbers, as a subclass of `int`, has operators in Python."""
    every = (item for base in cls.__mro__ for item in vars(base).items())
    return any(type(f) is FunctionType and name in MEANINGS for name, f in every)


def is_arithmetic(x: Any) -> bool:
    """Whether operators on `x` are the arithmetic of numbers and plain arrays."""
    if type(x) in _PLAIN_NUMERIC:
        return True
    if isinstance(x, np.ndarray):
        return not is_foreign(type(x))
    return isinstance(x, _NUMERIC) and not has_operators(type(x))


def holds_records(x: Any) -> bool:
    """Whether a value is an array of records, or a list or tuple of such arrays."""
    if isinstance(x, list | tuple):
        return any(map(holds_records, x))
    return isinstance(x, np.ndarray | np.void) and has_fields(x.dtype)


def has_fields(dtype: Any) -> bool:
    """Whether a dtype, or a description of one, is that of records."""
    if isinstance(dtype, list) and dtype:
        return all(type(part) is tuple and part for part in dtype) and all(
            isinstance(part[0], str) for part in dtype
        )
    return isinstance(dtype, np.dtype) and dtype.names is not None
