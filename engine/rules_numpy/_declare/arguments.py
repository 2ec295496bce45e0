"""Arguments as plain arrays, and cotangents in the arguments' form.

NumPy accepts numbers and nested lists instead of arrays; the rules receive only arrays,
and a cotangent is returned in the form of its argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import signed

__all__ = [
    "NoValue",
    "array_of",
    "check_entries",
    "fit",
    "is_number_type",
    "moves",
    "restore",
    "signed",
    "tangent_array",
]

NoTangent = rc.NoTangent()
_PLAIN = (np.ndarray, np.generic)
_NUMBERS = frozenset({float, int, complex, bool})


def _cures() -> dict[type, str]:
    """Classes with other arithmetic than arrays, and the remedy.

    NumPy imports `ma` when it is asked for: not at the import of the pack.
    """
    return {
        np.matrix: "convert it by np.asarray",
        np.ma.MaskedArray: "convert it by .filled(value) and give the mask as an array",
    }


def is_number_type(cls: type) -> bool:
    """Whether a class is one of Python's own numbers."""
    return cls in _NUMBERS


def check_entries(x: Any, what: Any) -> None:
    """Raise an error for an array of objects that contains numbers.

    Raises:
        UnsupportedError: It contains a number.
    """
    try:
        rc.has_tangent(x)
    except rc.UnsupportedError:
        cure = "Convert it by .astype(float) first"
        _refuse(what, "arrays of numbers", "objects", cure)


def array_of(x: Any, what: Any) -> Any:
    """`x` as an array or NumPy scalar.

    Raises:
        UnsupportedError: A matrix, a masked array, or objects.
    """
    if type(x) is np.ndarray or isinstance(x, np.generic):
        return _of_numbers(x, what)
    if isinstance(x, np.ndarray):
        _of_numbers(x, what)
        return _of_subclass(x, what)
    if rc.is_array(x):
        return x
    return _of_numbers(np.asarray(x), what)


def _of_numbers(x: Any, what: Any) -> Any:
    if x.dtype.kind == "O":
        check_entries(x, what)
    elif x.dtype.kind in "SU":  # bytes that hold a number, read as a text
        cure = "Convert it by .astype(float) first"
        _refuse(what, "arrays of numbers", "texts", cure)
    return x


def _of_subclass(x: Any, what: Any) -> Any:
    for cls, cure in _cures().items():
        if isinstance(x, cls):
            _refuse(what, "plain arrays", f"a {type(x).__name__}", cure.capitalize())
    return x


def _refuse(what: Any, must: str, got: str, cure: str) -> None:
    message = (
        f"the derivative of {name_of(what)} must be given {must}, but got {got}. "
        f"{cure}."
    )
    raise rc.UnsupportedError(message)


def name_of(f: Any) -> str:
    """`numpy.linalg.inv`, for messages."""
    owner = getattr(f, "__objclass__", None)
    module = getattr(f, "__module__", None)
    name = getattr(f, "__name__", str(f))
    if owner is not None:
        return f"{owner.__module__}.{owner.__name__}.{name}"
    return f"{module or 'numpy'}.{name}"


# The default of many public parameters, without a public name in NumPy.
NoValue = np._NoValue  # noqa: SLF001  see above

# Classes that are never active; tested first, for speed.
_STILL = frozenset({
    type(None), type(NoValue), bool, int, str, type, slice, type(Ellipsis),
    np.bool_, np.int64, np.ufunc, type(np.dtype(float)), type(np.dtype(np.float32)),
    type(np.dtype(complex)), type(np.dtype(int)),
})  # fmt: skip


def moves(x: Any) -> bool:
    """Whether an argument has a tangent.

    Raises:
        UnsupportedError: It is an array of objects or records that contains numbers.
    """
    cls = type(x)
    if cls in _STILL:
        return False
    if isinstance(x, _PLAIN):
        kind = x.dtype.kind
        return kind in "fc" or (kind in "OV" and rc.has_tangent(x))
    if cls in (tuple, list):
        return any(map(moves, x))
    return rc.tangent_type(x) is not rc.NoTangent


def fit(x: Any, dx: Any) -> Any:
    """`dx` projected onto the tangents of the array `x`; fast if it already matches."""
    if type(dx) is np.ndarray and type(x) is np.ndarray:
        if dx.dtype is x.dtype and dx.shape == x.shape:
            return dx
    elif type(dx) is type(x) and isinstance(dx, np.generic):
        return dx
    return rc.ProjectTo(x)(dx)


def restore(x: Any, dx: Any) -> Any:
    """The cotangent of `x` from that of `array_of(x)`: entries for a list."""
    if isinstance(x, _PLAIN):
        return fit(x, dx)
    if isinstance(dx, rc.AbstractTangent):
        return dx
    if isinstance(x, (list, tuple)):
        return _entries(x, fit(np.asarray(x), dx))
    if type(x) is float and isinstance(dx, float):
        return dx
    if type(x) is float and type(dx) is np.ndarray:
        return np.sum(np.real(dx), dtype=np.float64)
    return rc.ProjectTo(x)(dx)


def _entries(x: Any, dx: Any) -> Any:
    if not moves(x):
        return NoTangent
    if not isinstance(x, (list, tuple)):
        return restore(x, dx)
    return rc.Tangent(type(x), *(_entries(xi, dx[i]) for i, xi in enumerate(x)))


def tangent_array(x: Any, dx: Any) -> Any:
    """The tangent of `array_of(x)` from that of `x`; zeros pass."""
    if isinstance(dx, rc.AbstractZero):
        return dx
    if not isinstance(x, (list, tuple)):
        return np.asarray(dx) if isinstance(dx, (float, complex)) else dx
    return np.stack([_leaf(xi, dxi) for xi, dxi in zip(x, dx, strict=True)])


def _leaf(x: Any, dx: Any) -> Any:
    if isinstance(dx, rc.AbstractZero):
        return np.zeros(np.shape(x))
    return tangent_array(x, dx)
