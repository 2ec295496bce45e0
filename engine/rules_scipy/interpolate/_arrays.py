"""Arrays of interpolants in any framework, and the places of points among knots."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import nan_unless, stand_in
from rules_scipy._functions import arrays_in, stacked
from rules_scipy._lists import constant_like

__all__ = [
    "DECLARED",
    "OWN",
    "along",
    "arrays",
    "beside",
    "check",
    "concrete",
    "constant",
    "covers",
    "covers_class_methods",
    "covers_methods",
    "field",
    "full_like",
    "increasing",
    "ignoring_warnings",
    "interval",
    "is_numpy",
    "own_class",
    "place",
    "placed",
    "refuse",
    "taken",
    "wrapped",
]

# Functions and classes of SciPy: "covered" or "constant".
DECLARED: dict[Any, str] = {}
# Those of this pack by SciPy's.
OWN: dict[Any, Any] = {}


def covers(f: Any) -> Callable[[Any], Any]:
    """Let a function or class of this pack stand in for that of SciPy."""

    def define(own: Any) -> Any:
        DECLARED[f] = "covered"
        OWN[f] = own
        return stand_in(f)(own)

    return define


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for f in functions:
        DECLARED[f] = "constant"
        rc.non_differentiable(f)


def own_class(x: Any) -> Any:
    """The class of this pack of an instance; in programs `type` tells SciPy's."""
    return OWN.get(type(x), type(x))


def covers_methods(cls: Any, own: Callable[[Any], Any], names: str) -> None:
    """Let methods of SciPy's instances be those of this pack's.

    Args:
        cls: The class of SciPy.
        own: Makes this pack's instance of SciPy's.
        names: Methods, by spaces.
    """
    for name in names.split():
        # Fields are properties in later versions of SciPy.
        method = inspect.getattr_static(cls, name, None)
        method = getattr(method, "fget", method)
        if inspect.isfunction(method):
            stand_in(method)(_by_own(own, name, is_field=not _is_method(cls, name)))


def covers_class_methods(cls: Any, names: str) -> None:
    """Let constructors of this pack's classes stand in for those of SciPy's."""
    for name in names.split():
        stand_in(getattr(cls, name).__func__)(_by_own_class(name))


def _by_own_class(name: str) -> Any:
    def body(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(OWN.get(cls, cls), name)(*args, **kwargs)

    return body


def _is_method(cls: Any, name: str) -> bool:
    return inspect.isfunction(inspect.getattr_static(cls, name))


def _by_own(own: Any, name: str, *, is_field: bool) -> Any:
    def body(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = getattr(own(self), name)
        return found if is_field else found(*args, **kwargs)

    return body


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
    return [_in_dtype(xp, x, dtype, found[0]) for x in xs]


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


def taken(x: Any, index: Any) -> Any:
    """`x[index]` along the first axis."""
    return x[index]


# axes


def placed(y: Any, count: int, axis: int) -> Any:
    """Values with the axes of points first, these put where the data's axis was."""
    if not axis:
        return y
    order = list(range(len(y.shape)))
    order = order[count : count + axis] + order[:count] + order[count + axis :]
    return rc.array_namespace(y).permute_dims(y, tuple(order))


def along(x: Any, axis: int) -> Any:
    """`x` with an axis first."""
    return rc.array_namespace(x).moveaxis(x, axis, 0)


# places


def increasing(x: Any, *, strictly: bool = True) -> Any:
    """`x`, and NaN in a framework where it does not increase.

    Traced values cannot raise an error; NumPy's were checked by SciPy. Solvers of
    equations refuse NaN.
    """
    if is_numpy(x):
        return x
    xp = rc.array_namespace(x)
    d = rc.ignore_derivatives(x[1:] - x[:-1])
    in_order = xp.all(d > 0) if strictly else xp.all(d >= 0)
    return nan_unless(in_order, x)


def interval(t: Any, q: Any, first: Any, last: Any) -> Any:
    """The interval i with t[i] <= q < t[i + 1], from `first` to `last`."""
    xp = rc.array_namespace(t, q)
    t, q = rc.ignore_derivatives(t), rc.ignore_derivatives(q)
    flat = place(t, xp.reshape(q, (-1,)), "right") - 1
    return xp.reshape(xp.clip(flat, first, last), q.shape)


def place(t: Any, q: Any, side: str) -> Any:
    """`searchsorted`; PyTorch warns of tensors that are not contiguous."""
    t, q = (x.contiguous() if hasattr(x, "contiguous") else x for x in (t, q))
    return rc.array_namespace(t, q).searchsorted(t, q, side=side)


def wrapped(q: Any, first: Any, last: Any) -> Any:
    """Points moved by whole periods into the first one."""
    xp = rc.array_namespace(q, first)
    turns = rc.ignore_derivatives(xp.floor((q - first) / (last - first)))
    return q - turns * (last - first)


def field(x: Any, *names: str) -> Any:
    """The first attribute that an instance has: SciPy's versions differ."""
    return next(getattr(x, name) for name in names if hasattr(x, name))


def ignoring_warnings(f: Any, *args: Any, **kwargs: Any) -> Any:
    """`f(...)`, whose warnings were given before."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args, **kwargs)
