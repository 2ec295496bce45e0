"""Elementary functions of arrays of any library, and of numbers."""

from __future__ import annotations

from typing import Any

import rules_core as rc

__all__ = [
    "absolute",
    "clip_below",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "imag",
    "log",
    "log1p",
    "real",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "where",
    "where_number",
]


def exp(x: Any) -> Any:
    """Exponential."""
    return rc.array_namespace(x).exp(x)


def expm1(x: Any) -> Any:
    """Exponential minus one."""
    return rc.array_namespace(x).expm1(x)


def log(x: Any) -> Any:
    """Natural logarithm."""
    return rc.array_namespace(x).log(x)


def log1p(x: Any) -> Any:
    """Logarithm of `1 + x`."""
    return rc.array_namespace(x).log1p(x)


def sqrt(x: Any) -> Any:
    """Square root."""
    return rc.array_namespace(x).sqrt(x)


def sin(x: Any) -> Any:
    """Sine."""
    return rc.array_namespace(x).sin(x)


def cos(x: Any) -> Any:
    """Cosine."""
    return rc.array_namespace(x).cos(x)


def sinh(x: Any) -> Any:
    """Hyperbolic sine."""
    return rc.array_namespace(x).sinh(x)


def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    return rc.array_namespace(x).cosh(x)


def floor(x: Any) -> Any:
    """Largest whole number below."""
    return rc.array_namespace(x).floor(x)


def real(x: Any) -> Any:
    """Real part; real arrays as they are."""
    if not rc.is_array(x):
        return x.real
    xp = rc.array_namespace(x)
    return xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x


def imag(x: Any) -> Any:
    """Imaginary part; zero for real arrays."""
    if not rc.is_array(x):
        return x.imag
    xp = rc.array_namespace(x)
    complex_ = xp.isdtype(x.dtype, "complex floating")
    return xp.imag(x) if complex_ else xp.zeros_like(x)


def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where the condition holds, otherwise `y`; numbers become arrays."""
    xp = rc.array_namespace(condition, x, y)
    example = x if rc.is_array(x) else y
    return xp.where(condition, _like(xp, example, x), _like(xp, example, y))


def _like(xp: Any, example: Any, x: Any) -> Any:
    if rc.is_array(x):
        return x
    if isinstance(x, complex):
        return xp.zeros_like(example) + x  # of the complex dtype
    if not rc.is_array(example):
        return xp.asarray(x)
    return xp.asarray(x, dtype=example.dtype)


def where_number(y: Any, x: Any) -> Any:
    """`x`, but NaN where `y` is: every derivative is NaN there too."""
    return where(y != y, y, x)  # noqa: PLR0124  the test for NaN


def absolute(x: Any) -> Any:
    """Absolute value of a real array, with slope 1 at zero."""
    return where(x < 0, -x, x)


def sign(x: Any) -> Any:
    """The constant -1, 0 or 1."""
    zero = rc.array_namespace(x).zeros_like(x)
    return where(x > 0, zero + 1, where(x < 0, zero - 1, zero))


def clip_below(x: Any, least: Any) -> Any:
    """`x`, at least `least`: for the branch that a selection leaves out."""
    return where(x < least, least, x)
