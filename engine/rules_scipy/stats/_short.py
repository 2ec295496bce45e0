"""Short samples: SciPy tells whether it has a value for so few numbers."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.special._arrays import where

__all__ = ["has_no_value", "nan_where", "without_value"]

# No statistic of this many numbers is without a value for their count alone.
_ENOUGH = 8
_PLAIN = (str, bool, int, float)


def has_no_value(
    scipy: Any, sizes: tuple[int, ...], names: Any = None, options: Any = None
) -> bool:
    """Whether SciPy's result for samples of these sizes is NaN; its error is raised.

    Args:
        scipy: The function of SciPy.
        sizes: Of its samples.
        names: Those of the samples; None where they are given by position.
        options: Its other arguments; numbers in place of arrays.
    """
    if min(sizes, default=_ENOUGH) >= _ENOUGH:
        return False
    own = {} if options is None else options
    given = tuple([(name, _known(own[name])) for name in own if name not in _BY_VALUE])
    lost: bool = _ask(scipy, sizes, names, given)
    return lost


# What depends on the numbers, or only on shapes.
_BY_VALUE = ("limits", "inclusive", "axis", "keepdims", "nan_policy")


def _known(x: Any) -> Any:
    if x is None or isinstance(x, _PLAIN):
        return x
    if isinstance(x, list | tuple):
        return tuple([_known(entry) for entry in x])
    return 1.5


def _ask(scipy: Any, sizes: Any, names: Any, given: Any) -> bool:
    return _answer(scipy, sizes, names, given)


rc.non_differentiable(_ask)


@functools.cache
def _answer(scipy: Any, sizes: Any, names: Any, given: Any) -> bool:
    samples = [
        (1.0 + np.arange(size) ** 1.3)[:: 1 - 2 * (i % 2)]
        for i, size in enumerate(sizes)
    ]
    # SciPy 1.15 takes the default None of `window_length` for a number.
    options = {name: value for name, value in given if value is not None}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if names is None:
            y = scipy(*samples, **options)
        else:
            y = scipy(**dict(zip(names, samples, strict=True)), **options)
    parts = y if isinstance(y, tuple) else (y,)
    return all(np.size(part) > 0 and bool(np.all(np.isnan(part))) for part in parts)


def without_value(xp: Any, samples: Any, formula: Callable[..., Any]) -> Any:
    """What the formula returns, NaN with derivatives that are NaN.

    Args:
        xp: The array library.
        samples: Along the last axis, or None.
        formula: Of the samples.
    """
    sums = [xp.sum(x * math.nan, axis=-1) for x in samples if x is not None]
    lost = functools.reduce(operator.add, sums) + math.nan
    y = formula(*[None if x is None else _longer(xp, x) for x in samples])
    if isinstance(y, tuple):
        several: Any = y  # of named fields
        return several._make([part + lost for part in y])
    return y + lost


def nan_where(xp: Any, lost: Any, x: Any) -> Any:
    """NaN and derivatives that are NaN where `lost`, else zero: a sum over `x`.

    Frameworks compute the derivative of each branch: that of `x * nan` is NaN also
    where it is not taken. So `x` is chosen first, and the factor is a constant.
    """
    lost = lost[..., None]
    factor = xp.where(lost, math.nan, xp.zeros_like(rc.ignore_derivatives(x)))
    return xp.sum(where(lost, x, 0.0) * factor, axis=-1)


def _longer(xp: Any, x: Any) -> Any:
    zero = xp.sum(xp.zeros_like(rc.ignore_derivatives(x)), axis=-1)
    return xp.stack([zero + k for k in range(1, 2 * _ENOUGH)], axis=-1)
