"""Arrays of classes that are written in array-API code, and SciPy's checks of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy._functions import arrays_in, stacked
from rules_scipy._lists import constant_like

__all__ = [
    "arrays",
    "beside",
    "check",
    "concrete",
    "full_like",
    "ignoring_warnings",
    "is_numpy",
    "kept",
    "refuse",
    "taken",
    "vector",
]


# SciPy's own checks


def check(f: Any, *args: Any, **kwargs: Any) -> None:
    """SciPy's errors and warnings for arguments that are not of a framework."""
    if is_numpy(args, kwargs):
        _call(f, args, kwargs)


def is_numpy(*values: Any) -> bool:
    """Whether no array of a framework is among values, or in containers there."""
    return all(isinstance(a, np.ndarray | np.generic) for a in arrays_in(values))


def concrete(x: Any) -> Any:
    """The numbers of an array, which traced ones do not have: None."""
    try:
        return np.asarray(x)
    except Exception:  # each framework raises its own
        return None


rc.non_differentiable(concrete)


def _call(f: Any, args: Any, kwargs: Any) -> None:
    f(*args, **kwargs)


rc.non_differentiable(_call)


def refuse(name: str, reason: str) -> Any:
    """An error that names what has no derivative."""
    message = f"{name} {reason}."
    raise rc.UnsupportedError(message)


# arrays


def arrays(*xs: Any) -> list[Any]:
    """Floating or complex arrays of one framework and precision; None as it is.

    In NumPy the precision is double, as SciPy's; else that of the framework's arrays.
    """
    found = [a for a in arrays_in(xs) if not isinstance(a, np.ndarray | np.generic)]
    if not found:
        return [_double(x) for x in xs]
    xp = rc.array_namespace(*found)
    kinds = [xp.real(a) if _is_complex(xp, a) else a for a in found]
    floats = [a for a in kinds if xp.isdtype(a.dtype, "real floating")]
    dtype = xp.result_type(*floats) if floats else (found[0] * 1.0).dtype
    # By index: torch.compile loses what it knows of NumPy arrays in an iterator.
    return [_in_dtype(xp, xs[i], dtype, found[0]) for i in range(len(xs))]


def _double(x: Any) -> Any:
    if x is None:
        return None
    x = np.asarray(x)
    kind = complex if x.dtype.kind == "c" else float
    return x if x.dtype == kind else x.astype(kind)


def _is_complex(xp: Any, x: Any) -> bool:
    return bool(xp.isdtype(x.dtype, "complex floating"))


def _in_dtype(xp: Any, x: Any, dtype: Any, like: Any) -> Any:
    if x is None:
        return None
    if is_numpy(x):
        x = constant_like(np.asarray(x), like)
    x = stacked(xp, x)
    own = xp.result_type(dtype, xp.complex64) if _is_complex(xp, x) else dtype
    return x if x.dtype == own else xp.astype(x, own)


def kept(x: Any) -> Any:
    """A copy, which later writes to the array do not reach, of NumPy's and PyTorch's.

    For what SciPy computes or copies when it makes an object.
    """
    if isinstance(x, np.ndarray):
        return np.array(x)
    return x.clone() if rc.is_array(x) and hasattr(x, "clone") else x


def full_like(x: Any, shape: Any, value: float = 0.0) -> Any:
    """An array of one number in the framework, precision and device of `x`."""
    return constant_like(np.full(tuple(shape), value), x) * _one(x)


def _one(x: Any) -> Any:
    xp = rc.array_namespace(x)
    return xp.ones((), dtype=x.dtype, device=getattr(x, "device", None))


def beside(x: Any, ndim: int) -> Any:
    """`x` with axes of length one after its own, for arrays of `ndim` axes."""
    xp = rc.array_namespace(x)
    return xp.reshape(x, (*x.shape, *(1,) * (ndim - len(x.shape))))


def vector(x: Any) -> Any:
    """A number as an array of one entry."""
    return rc.array_namespace(x).reshape(x, (1,)) if x.ndim == 0 else x


def taken(x: Any, index: Any) -> Any:
    """`x[index]` along the first axis."""
    return x[index]


def ignoring_warnings(f: Any, *args: Any, **kwargs: Any) -> Any:
    """`f(...)`, whose warnings were given before."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwargs)
