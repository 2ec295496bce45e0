"""Clipping, and replacement of numbers that are not finite."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.derivative import NoValue, derivative

__all__: list[str] = []


# clip is a Python function with optional bounds, so it has no ufunc rule.
@derivative(np.clip, argnums=(0, 1, 2), linear=True)
def clip_derivative(
    y: Any,
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """The argument within the bounds, bounds included; otherwise the active bound."""
    low = _bound(a_min, min)
    high = _bound(a_max, max)
    above = np.False_ if high is None else a > high
    below = np.False_ if low is None else a < low
    crossed = np.False_ if low is None or high is None else np.greater(low, high)
    if crossed.any():  # NumPy's result is the upper bound
        above = above | crossed
        below = below & ~above
    inside = ~(above | below)
    return _chosen(y, a, inside), _chosen(y, low, below), _chosen(y, high, above)


def _bound(positional: Any, keyword: Any) -> Any:
    bound = keyword if positional is None or _missing(positional) else positional
    return None if bound is None or _missing(bound) else bound


def _missing(x: Any) -> bool:
    return x is NoValue


def _chosen(y: Any, x: Any, mask: Any) -> Any:
    if x is None:
        return None

    def chosen_pushforward(dx: Any) -> Any:
        return np.where(mask, dx, 0.0)

    def chosen_pullback(dy: Any) -> Any:
        return np.where(mask, dy, 0.0)

    return chosen_pushforward, chosen_pullback


@derivative(np.nan_to_num, argnums=(0, 2, 3, 4))
def nan_to_num_derivative(
    y: Any,
    x: Any,
    copy: Any = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Any:
    """Finite entries keep their derivative; replaced ones have their replacement's."""
    if x.dtype.kind == "c" and not np.all(np.isfinite(x)):
        message = (
            "the derivative of numpy.nan_to_num must be given finite complex numbers"
        )
        raise rc.UnsupportedError(message + "; replace real and imaginary part apart.")
    return (
        _chosen(y, x, np.isfinite(x)),
        _chosen(y, nan, np.isnan(x)),
        _chosen(y, posinf, np.isposinf(np.real(x))),
        _chosen(y, neginf, np.isneginf(np.real(x))),
    )
