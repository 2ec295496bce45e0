"""Declaring the functions of this pack."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import signed

__all__ = [
    "arrays",
    "elementwise",
    "is_complex",
    "no_derivative",
    "on_doubles",
    "scalar_rule",
    "signed",
    "strong",
]


def elementwise(function: Callable[..., Any]) -> rc.Primitive:
    """The primitive of a NumPy-only elementwise function."""
    return rc.primitive(function, host=True, elementwise=True)


def arrays(*xs: Any) -> tuple[Any, ...]:
    """The namespace of `xs`, and `xs` with numbers as 0-d arrays of their dtype."""
    xp = rc.array_namespace(*xs)
    floating = [
        x.dtype
        for x in xs
        if rc.is_array(x) and xp.isdtype(x.dtype, ("real floating", "complex floating"))
    ]
    dtype = xp.result_type(*floating) if floating else xp.asarray(0.0).dtype
    wide = xp.result_type(dtype, xp.complex64)
    return xp, *(
        x
        if rc.is_array(x)
        else xp.asarray(x, dtype=wide if isinstance(x, complex) else dtype)
        for x in xs
    )


def is_complex(x: Any) -> bool:
    """Whether `x` is a complex number or an array of them."""
    if not rc.is_array(x):
        return isinstance(x, complex)
    return bool(rc.array_namespace(x).isdtype(x.dtype, "complex floating"))


def _is_integer(x: Any) -> bool:
    if not rc.is_array(x):
        return isinstance(x, int)
    return bool(rc.array_namespace(x).isdtype(x.dtype, ("integral", "bool")))


def no_derivative(x: Any, why: str) -> Any:
    """The partial in an argument without a formula: an error if it is needed.

    Args:
        x: The argument; an integer has no tangent anyway.
        why: What is missing and the remedy, for the error.
    """
    return rc.NoTangent() if _is_integer(x) else rc.not_implemented(why)


def on_doubles(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of float64 arrays of one shape (n,) accept a ufunc's arguments.

    Arguments broadcast; the widest floating argument decides the dtype of the result,
    which is computed in double.
    """

    @wraps(function)
    def broadcasting(*args: Any) -> Any:
        arrays = [np.asarray(x) for x in args]
        if any(x.dtype.kind not in "biuf" for x in arrays):
            message = (
                f"{function.__name__} must be given real arguments, but got dtypes "
                f"{', '.join(str(x.dtype) for x in arrays)}."
            )
            raise TypeError(message)
        dtypes = [x.dtype for x in args if hasattr(x, "dtype") and x.dtype.kind == "f"]
        dtype = np.result_type(*dtypes) if dtypes else np.dtype(float)
        flat = [x.ravel() for x in np.broadcast_arrays(*map(_double, arrays))]
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
        return function(*flat).reshape(shape).astype(dtype)[()]

    return broadcasting


def _double(x: Any) -> Any:
    return x.astype(np.float64)


def scalar_rule(
    f: rc.Primitive, partials: Callable[..., Any], *, holomorphic: bool = False
) -> None:
    """`rc.scalar_rule` without warnings at poles, like SciPy's functions."""

    @wraps(partials)
    def silent(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return partials(*args)

    rc.scalar_rule(f, silent, holomorphic=holomorphic)


def strong(partial: Any, dx: Any) -> Any:
    """`partial · dx`, but zero where `dx` is zero and the partial is infinite or NaN.

    The mask is on the partial, not the product, so that derivatives of this are
    correct.
    """
    xp, partial, dx = arrays(partial, dx)
    return xp.where(~xp.isfinite(partial) & (dx == 0), 0 * dx, partial) * dx
