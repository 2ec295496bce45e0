"""Arrays of interpolants in any framework, and the places of points among knots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc
from rules_core.extend import nan_unless, stand_in
from rules_scipy._arrays import (
    arrays,
    beside,
    check,
    concrete,
    full_like,
    ignoring_warnings,
    is_numpy,
    kept,
    refuse,
    taken,
)
from rules_scipy._axes import moveaxis
from rules_scipy._methods import covers_methods

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
    "kept",
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


def defining(cls: type, name: str) -> Any:
    """The class of SciPy that has a method of a class: its own, or a base."""
    return next(base for base in cls.__mro__ if name in vars(base))


def covers_class_methods(cls: Any, names: str) -> None:
    """Let constructors of this pack's classes stand in for those of SciPy's."""
    for name in names.split():
        stand_in(getattr(cls, name).__func__)(_by_own_class(name))


def _by_own_class(name: str) -> Any:
    def body(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(OWN.get(cls, cls), name)(*args, **kwargs)

    return body


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
    return moveaxis(x, axis, 0)


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
    xp = rc.array_namespace(t, q)
    if hasattr(t, "contiguous"):  # which leaves the axis of `vmap` where it is
        t, q = xp.stack([t])[0], xp.stack([q])[0]
    return xp.searchsorted(t, q, side=side)


def wrapped(q: Any, first: Any, last: Any) -> Any:
    """Points moved by whole periods into the first one."""
    xp = rc.array_namespace(q, first)
    turns = rc.ignore_derivatives(xp.floor((q - first) / (last - first)))
    return q - turns * (last - first)


def field(x: Any, *names: str) -> Any:
    """The first attribute that an instance has: SciPy's versions differ."""
    return next(getattr(x, name) for name in names if hasattr(x, name))
