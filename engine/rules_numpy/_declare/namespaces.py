"""The functions in formulas, for each namespace.

Those of this module are NumPy's. `MATH` and `CMATH` contain them for Python's numbers,
`framework(xp)` for the arrays of an array-API namespace.
"""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import (
    copysign,
    cos,
    cosh,
    exp,
    exp2,
    ldexp,
    log,
    logaddexp,
    logaddexp2,
    pi,
    rint,
    sign,
    sin,
    sinh,
    sqrt,
)

import rules_core as rc

__all__ = [
    "CMATH",
    "CONSTANTS",
    "FRAMEWORK",
    "GAUSS",
    "LN2",
    "LN10",
    "MATH",
    "NOTHING",
    "ZERO",
    "copysign",
    "cos",
    "cosh",
    "difference",
    "direction",
    "exp",
    "exp2",
    "framework",
    "hypotenuse",
    "inverse_part",
    "ldexp",
    "log",
    "logaddexp",
    "logaddexp2",
    "lorentzian",
    "nonzero",
    "one",
    "over",
    "over_number",
    "pi",
    "rebound",
    "rint",
    "share",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "zero_like",
]

Namespace = dict[str, Any]
LN2, LN10 = math.log(2.0), math.log(10.0)
LARGE = 1e8  # its square plus one is its square
GAUSS = 2.0 / math.sqrt(math.pi)  # the slope of erf at 0
ZERO, NOTHING = rc.ZeroTangent(), rc.NoTangent()
_CONSTANTS: Namespace = {
    "GAUSS": GAUSS, "LN2": LN2, "LN10": LN10, "pi": math.pi, "ZERO": ZERO,
    "NOTHING": NOTHING,
}  # fmt: skip
CONSTANTS = frozenset({*_CONSTANTS, *dir(builtins)})


def rebound(f: Callable[..., Any], namespace: Namespace) -> Callable[..., Any]:
    """`f` with other globals; name, code and speed are those of `f`."""
    code = f.__code__
    names = {name: namespace[name] for name in code.co_names if name in namespace}
    names["__builtins__"] = builtins
    made = FunctionType(code, names, f.__name__, f.__defaults__)
    made.__module__, made.__qualname__ = f.__module__, f.__qualname__
    made.__doc__ = f.__doc__
    return made


# NumPy


def over(a: Any, b: Any) -> Any:
    """a / b, by NumPy for Python's numbers too."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, b)


def hypotenuse(x: Any) -> Any:
    """√(1 + x²), also where x² overflows."""
    if np.asarray(x).dtype.kind != "c":
        return np.hypot(1.0, x)
    large = np.abs(x) > LARGE
    if not np.any(large):
        return np.sqrt(1.0 + x * x)
    small = np.where(large, 0.0, x)
    return np.where(
        large, x * np.copysign(1.0, np.real(x)), np.sqrt(1.0 + small * small)
    )


def lorentzian(x: Any) -> Any:
    """1 / (1 + x²), also where x² overflows."""
    if np.asarray(x).dtype.kind == "c":
        root = hypotenuse(x)
        return 1.0 / root / root
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + x * x)


def nonzero(x: Any) -> Any:
    """`x`, and 1 where it is 0."""
    return np.where(x == 0, 1.0, x)


def difference(y: Any, a: Any, b: Any) -> Any:
    """b - a, and 0 between equal infinities."""
    same = np.isinf(y) & (a == b)
    if not np.any(same):
        return b - a
    return np.where(same, 0.0, b) - np.where(same, 0.0, a)


def inverse_part(_y: Any, x: Any, other: Any) -> Any:
    """x / (x² + other²), also where a square overflows; NaN at the origin."""
    size = np.hypot(x, other)
    return over(over(x, size), size)


def direction(_y: Any, x: Any) -> Any:
    """conj(x) / |x|, and 0 at 0; `_y` is |x|."""
    return np.conjugate(np.sign(x))


def share(_y: Any, more: Any, less: Any, a: Any, b: Any) -> Any:
    """1 where `more`, or where `a` is the only NaN; 0 where `less`; a half at ties."""
    ties = a == b
    if not np.all(more | less | ties):
        nan, none = a != a, b != b  # noqa: PLR0124  the test for NaN
        more, ties = more | (nan & ~none), ties | (nan & none)
    return more + 0.5 * ties


def zero_like(_y: Any) -> float:
    """A zero like `y`."""
    return 0.0


one = np.ones_like


# Python's numbers


def over_number(a: Any, b: Any) -> Any:
    """a / b; infinite at zero, so that strong zeros need no exception."""
    if b == 0:
        return math.inf if isinstance(a, complex) else a * pole(b)
    return a / b


def pole(b: Any) -> Any:
    """1 / b at zero, from above: infinite, and so are all its derivatives."""
    return math.inf


rc.scalar_rule(pole, lambda y, b: (-pole(b) * pole(b),), holomorphic=True)


def _hypotenuse_of_complex(z: Any) -> Any:
    if max(abs(z.real), abs(z.imag)) > LARGE:
        return z * math.copysign(1.0, z.real)
    return cmath.sqrt(1.0 + z * z)


def _lorentzian_of_complex(z: Any) -> Any:
    root = _hypotenuse_of_complex(z)
    return 1.0 / root / root


def _sign_of_number(x: Any) -> float:
    return math.copysign(1.0, x) if x else 0.0


def _nonzero_number(x: Any) -> Any:
    return x or 1.0


def _round_number(x: Any) -> Any:
    return round(x) if math.isfinite(x) else x


def _one_number(_x: Any) -> float:
    return 1.0


def _inverse_part_of_number(_y: Any, x: Any, other: Any) -> Any:
    size = math.hypot(x, other)
    return over_number(over_number(x, size), size)


_NUMBERS: Namespace = {**_CONSTANTS, "over": over_number}
MATH: Namespace = {
    **_NUMBERS,
    **{name: getattr(math, name) for name in (
        "copysign", "cos", "cosh", "exp", "ldexp", "log", "sin", "sinh", "sqrt",
    )},
    "inverse_part": _inverse_part_of_number,
    "hypotenuse": lambda x: math.hypot(1.0, x),
    "lorentzian": lambda x: 1.0 / (1.0 + x * x),
    "nonzero": _nonzero_number,
    "one": _one_number,
    "rint": _round_number,
    "sign": _sign_of_number,
}  # fmt: skip
CMATH: Namespace = {
    **_NUMBERS,
    **{
        name: getattr(cmath, name)
        for name in ("cos", "cosh", "exp", "log", "sin", "sinh", "sqrt")
    },
    "hypotenuse": _hypotenuse_of_complex,
    "lorentzian": _lorentzian_of_complex,
}


# Frameworks: functions that their namespaces lack, or accept for arrays only.


def framework(xp: Any) -> Namespace:
    """The functions of a namespace of the array API."""

    def full_like(y: Any, x: Any) -> Any:
        return x if rc.is_array(x) else xp.zeros_like(y) + x

    def gap(y: Any, a: Any, b: Any) -> Any:
        a, b = full_like(y, a), full_like(y, b)
        same, none = xp.isinf(y) & (a == b), xp.zeros_like(y)
        return xp.where(same, none, b) - xp.where(same, none, a)

    def root(x: Any) -> Any:
        x = 1.0 * (x if rc.is_array(x) else xp.asarray(x))
        large = xp.abs(x) > float(xp.finfo(x.dtype).eps) ** -0.6
        small = xp.where(large, xp.zeros_like(x), x)
        if xp.isdtype(x.dtype, "complex floating"):
            negative = xp.signbit(xp.real(x))
            far = xp.where(negative, -x, x)
        else:
            far = xp.abs(x)
        return xp.where(large, far, xp.sqrt(1.0 + small * small))

    def lorentzian(x: Any) -> Any:
        if rc.is_array(x) and xp.isdtype(x.dtype, "complex floating"):
            return 1.0 / root(x) / root(x)
        return 1.0 / (1.0 + x * x)

    def sign_by_choice(x: Any) -> Any:
        # array_api_compat's writes under a mask, which torch rejects in batches.
        positive, none = xp.ones_like(x), xp.zeros_like(x)
        still = xp.where(x == 0, none, none + float("nan"))
        return xp.where(x > 0, positive, xp.where(x < 0, -positive, still))

    def inverse_part(y: Any, x: Any, other: Any) -> Any:
        x, other = full_like(y, x), full_like(y, other)
        size = xp.hypot(x, other)
        return x / size / size

    def direction(y: Any, x: Any) -> Any:
        if not xp.isdtype(x.dtype, "complex floating"):
            return sign_by_choice(x)
        # By y and not by sign(x), which a framework may treat as constant.
        return xp.conj(x) / xp.where(y == 0, xp.ones_like(y), y)

    def share(y: Any, more: Any, _less: Any, a: Any, b: Any) -> Any:
        nan, none = a != a, b != b  # noqa: PLR0124  the test for NaN
        one, zero = xp.ones_like(y), xp.zeros_like(y)
        shared = xp.where((a == b) | (nan & none), 0.5 * one, zero)
        return xp.where(more | (nan & (b == b)), one, shared)  # noqa: PLR0124

    return {
        **_CONSTANTS,
        **{name: getattr(xp, name) for name in (
            "cos", "cosh", "exp", "log", "logaddexp", "sin", "sinh", "sqrt",
        )},
        "difference": gap,
        "direction": direction,
        "exp2": lambda x: xp.exp(LN2 * x),
        "hypotenuse": root,
        "inverse_part": inverse_part,
        "lorentzian": lorentzian,
        "logaddexp2": lambda a, b: xp.logaddexp(LN2 * a, LN2 * b) / LN2,
        "nonzero": lambda x: xp.where(x == 0, xp.ones_like(x), x),
        "one": xp.ones_like,
        "over": lambda a, b: a / b,
        "rint": xp.round,
        "share": share,
        "sign": sign_by_choice,
        "zero_like": xp.zeros_like,
    }  # fmt: skip


FRAMEWORK = frozenset(framework(np))
