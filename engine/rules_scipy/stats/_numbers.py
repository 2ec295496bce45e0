"""Numbers and arrays of any library as floating arrays, and elementary functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import find_adapter
from rules_scipy.special import _arrays

__all__ = [
    "EULER", "INF", "LOG_2PI", "acosh", "asin", "asinh", "atan", "atan2", "atanh",
    "cosh", "expm1_over", "floats", "log1mexp", "log1p_over", "log_cosh", "logaddexp",
    "plain", "raised", "sinh", "softplus", "tan", "tanh",
]  # fmt: skip

INF = math.inf
EULER = float(np.euler_gamma)
LOG_2PI = math.log(2 * math.pi)


def floats(*xs: Any) -> tuple[Any, ...]:
    """The namespace of arrays, numbers and lists, and these as arrays of its floats."""
    xs = tuple([np.asarray(x) if isinstance(x, list | tuple) else x for x in xs])
    host = find_adapter(xs, {})
    arrays = [x for x in xs if rc.is_array(x)]
    if host is not None:
        arrays = [x for x in arrays if not isinstance(x, np.ndarray | np.generic)]
    xp = rc.array_namespace(*arrays) if arrays else rc.array_namespace(np.asarray(0.0))
    kinds = [x.dtype for x in arrays if xp.isdtype(x.dtype, "real floating")]
    dtype = xp.result_type(*kinds) if kinds else xp.asarray(0.0).dtype
    return xp, *[_floating(xp, x, dtype) for x in xs]


def _floating(xp: Any, x: Any, dtype: Any) -> Any:
    if not rc.is_array(x) or isinstance(x, np.ndarray | np.generic):
        return xp.asarray(x, dtype=dtype)
    return x if x.dtype == dtype else xp.astype(x, dtype)


def plain(y: Any) -> Any:
    """A number of NumPy in place of its array without axes."""
    return y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y


# elementary functions of arrays


def raised(x: Any, k: Any) -> Any:
    """`x` to a constant power: one to the power zero, also at `x = 0` in JAX."""
    none = k == 0
    return _arrays.where(none, 1.0 + 0 * x, x ** _arrays.where(none, 1.0, k))


def _of_array(name: str) -> Any:
    def function(x: Any) -> Any:
        return getattr(rc.array_namespace(x), name)(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of the array API."
    return function


asin, asinh, atan, atanh = map(_of_array, ("asin", "asinh", "atan", "atanh"))
acosh, cosh, sinh, tan, tanh = map(_of_array, ("acosh", "cosh", "sinh", "tan", "tanh"))


def atan2(y: Any, x: Any) -> Any:
    """The angle of the point `(x, y)`."""
    xp = rc.array_namespace(y, x)
    return xp.atan2(y + 0 * x, x + 0 * y)


def logaddexp(x: Any, y: Any) -> Any:
    r"""$\log(e^x + e^y)$."""
    xp = rc.array_namespace(x, y)
    return xp.logaddexp(x + 0 * y, y + 0 * x)


def softplus(x: Any) -> Any:
    r"""$\log(1 + e^x)$."""
    return logaddexp(0 * x, x)


def log_cosh(x: Any) -> Any:
    r"""$\log \cosh x$."""
    return logaddexp(x, -x) - math.log(2)


def log1mexp(x: Any) -> Any:
    r"""$\log(1 - e^x)$ for $x < 0$."""
    near = x > -math.log(2)
    small = _arrays.where(near, x, -1.0)
    large = _arrays.where(near, -1.0, x)
    return _arrays.where(
        near,
        _arrays.log(-_arrays.expm1(small)),
        _arrays.log1p(-_arrays.exp(large)),
    )


_TERMS = 9
_NEAR = 0.02


def log1p_over(c: Any, x: Any) -> Any:
    r"""$\log(1 + c x) / c$, which is $x$ at $c = 0$: by its series there."""
    u = c * x
    near = _arrays.absolute(rc.ignore_derivatives(u)) < _NEAR
    small = _arrays.where(near, u, 0 * u)
    series = 0 * small
    for k in range(_TERMS, 0, -1):
        series = (-1.0) ** (k - 1) / k + small * series
    divisor = _arrays.where(near, 1 + 0 * u, c + 0 * u)
    return _arrays.where(
        near, x * series, _arrays.log1p(_arrays.where(near, 0 * u, u)) / divisor
    )


def expm1_over(c: Any, w: Any) -> Any:
    r"""$(e^{c w} - 1) / c$, which is $w$ at $c = 0$: by its series there."""
    u = c * w
    near = _arrays.absolute(rc.ignore_derivatives(u)) < _NEAR
    small = _arrays.where(near, u, 0 * u)
    series = 0 * small
    for k in range(_TERMS, 0, -1):
        series = 1.0 / math.factorial(k) + small * series
    divisor = _arrays.where(near, 1 + 0 * u, c + 0 * u)
    return _arrays.where(
        near, w * series, _arrays.expm1(_arrays.where(near, 0 * u, u)) / divisor
    )
