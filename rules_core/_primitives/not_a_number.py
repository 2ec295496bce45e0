"""NaN in place of what does not exist, in derivatives of every order."""

from __future__ import annotations

from typing import Any

from rules_core._base.arrays import array_namespace

__all__ = ["nan_unless"]


def nan_unless(good: Any, x: Any) -> Any:
    """`x` where `good`, NaN elsewhere.

    A product, because the derivative of `xp.where(good, x, nan)` with respect to `x`
    would be zero where `x` is not good: a second derivative would be wrong in silence.

    Args:
        good: A condition, of a shape that broadcasts with that of `x`.
        x: A floating array, real or complex.

    >>> import numpy as np
    >>> from rules_core.extend import nan_unless
    >>> nan_unless(np.array([True, False]), np.ones(2))
    array([ 1., nan])
    """
    xp = array_namespace(x)
    one = xp.ones_like(xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x)
    return x * xp.where(good, one, float("nan") * one)
