"""Leaves that have a tangent: floating Python numbers, arrays and sparse matrices."""

from __future__ import annotations

import sys
from typing import Any

from rules_core._base.arrays import array_namespace, is_array, is_array_type
from rules_core._base.errors import UnsupportedError
from rules_core._base.frameworks import framework_of

from .sparse import is_sparse, zero_sparse

__all__ = [
    "is_complex",
    "is_complex_dtype",
    "is_concrete",
    "is_float0",
    "is_floating",
    "is_number",
    "is_numpy",
    "is_same_kind",
    "number_type",
    "signed",
    "zero_number",
]

_FLOATING = ("real floating", "complex floating")
# The dtypes seen so far, with their classes: some compare equal to others.
_KNOWN: dict[tuple[type, Any], bool] = {}
_COMPLEX: dict[tuple[type, Any], bool] = {}

# Entries of an object array that have no tangent.
_NAMES = (str, bytes, int, type, type(None))


def is_number(x: Any) -> bool:
    """Whether `x` is a leaf with a tangent.

    Raises:
        UnsupportedError: `x` is a NumPy array of objects or of records.
    """
    cls = type(x)
    if cls is float or cls is complex:
        return True
    if is_array_type(cls):
        dtype = x.dtype
        return _KNOWN.get((type(dtype), dtype)) or _is_floating_array(x)
    if isinstance(x, (float, complex)):
        return True
    return is_sparse(x) and x.dtype.kind in "fc"


def signed(x: Any) -> Any:
    """Integers in a type with a sign; other values unchanged.

    Formulas negate and shift their arguments. Unsigned and narrow integers would wrap,
    booleans raise an error.

    >>> import numpy as np
    >>> from rules_core.extend import signed
    >>> -signed(np.array([3], "u1"))
    array([-3])
    """
    if not is_array_type(type(x)):
        return x
    dtype = x.dtype
    if _KNOWN.get((type(dtype), dtype)) or getattr(dtype, "kind", "i") not in "biu":
        return x
    xp = array_namespace(x)
    if is_floating(xp, dtype):  # and known to be from now on
        return x
    if not xp.isdtype(dtype, ("bool", "integral")):
        return x
    whole = xp.asarray(0).dtype
    if xp.isdtype(dtype, "bool"):
        return xp.astype(x, whole)
    spare = xp.iinfo(whole).bits - xp.iinfo(dtype).bits
    if xp.isdtype(dtype, "unsigned integer") and spare <= 0:
        return xp.astype(x, xp.asarray(0.0).dtype)
    return xp.astype(x, whole) if spare > 0 else x


def _is_floating_array(x: Any) -> bool:
    dtype = x.dtype
    if getattr(dtype, "hasobject", False) or getattr(dtype, "names", None):
        return _refused(x)
    return is_floating(array_namespace(x), dtype)


def _refused(x: Any) -> bool:
    """False for an array of names or of nothing; an error for hidden numbers."""
    if is_float0(x):
        return False
    if x.dtype == object and all(isinstance(entry, _NAMES) for entry in x.flat):
        return False
    message = (
        "a NumPy array must hold numbers to have a tangent, but got dtype "
        f"{x.dtype}. Use a list or tuple of arrays instead."
    )
    raise UnsupportedError(message)


def is_float0(x: Any) -> bool:
    """Whether this is JAX's float0 array, its tangent of integers."""
    return getattr(x.dtype, "names", None) == ("float0",)


def is_same_kind(x: Any, dx: Any) -> bool:
    """Whether a number and a possible tangent have one class, dtype and shape."""
    if type(x) is not type(dx):
        return False
    return not is_array(x) or bool(x.dtype == dx.dtype and x.shape == dx.shape)


def is_floating(xp: Any, dtype: Any) -> bool:
    """Whether a dtype is real or complex floating, bfloat16 and similar included."""
    key = type(dtype), dtype
    answer = _KNOWN.get(key)
    if answer is None:
        answer = _KNOWN[key] = _ask_floating(xp, dtype)
    return answer


def _ask_floating(xp: Any, dtype: Any) -> bool:
    try:
        return bool(xp.isdtype(dtype, _FLOATING))
    except TypeError:  # dtypes foreign to NumPy, and JAX's keys
        return str(dtype).startswith(("bfloat", "float8", "float6", "float4"))


def is_complex(x: Any) -> bool:
    """Whether a number or array is complex."""
    if not is_array(x):
        return isinstance(x, complex)
    dtype = x.dtype
    key = type(dtype), dtype
    answer = _COMPLEX.get(key)
    if answer is None:
        kind = getattr(dtype, "kind", None)  # NumPy's and JAX's dtypes have a kind
        known = kind is not None
        answer = kind == "c" if known else is_complex_dtype(array_namespace(x), dtype)
        _COMPLEX[key] = answer
    return answer


def is_complex_dtype(xp: Any, dtype: Any) -> bool:
    """Whether a dtype is complex floating."""
    try:
        return bool(xp.isdtype(dtype, "complex floating"))
    except TypeError:  # bfloat16 and similar, unknown to NumPy
        return False


def zero_number(x: Any) -> Any:
    """A zero like `x`, of its shape, dtype, device and library."""
    if isinstance(x, (float, complex)) and not is_array(x):
        return 0.0 if isinstance(x, float) else 0j
    if is_sparse(x):
        return zero_sparse(x)
    if not is_numpy(x):
        return array_namespace(x).zeros_like(x)
    zero = sys.modules["numpy"].zeros(x.shape, x.dtype)
    return zero if hasattr(x, "__array_finalize__") else zero[()]


def number_type(x: Any) -> type:
    """The class of the tangents of a number leaf."""
    if not is_array(x):
        return next((cls for cls in (float, complex) if isinstance(x, cls)), type(x))
    # The class that users know; tracers and parameters are internal.
    numpy, framework = sys.modules.get("numpy"), framework_of(type(x))
    if numpy is not None and isinstance(x, numpy.ndarray):
        array: type = numpy.ndarray
        return array
    return type(x) if framework is None else framework.array


def is_numpy(x: Any) -> bool:
    """Whether `x` is a NumPy array or scalar."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, (numpy.ndarray, numpy.generic))


def is_concrete(x: Any) -> bool:
    """Whether reading an array's value loses no derivative.

    False for what frameworks trace, record or wrap by a transformation.
    """
    framework = framework_of(type(x))
    return framework is None or framework.is_concrete(x)
