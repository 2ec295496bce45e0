"""Reductions that leave NaN out: those of the array without its NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare import NoValue, derivative
from rules_numpy.cumulative import cumprod_derivative, cumsum_derivative
from rules_numpy.reductions import (
    extreme_derivative,
    mean_derivative,
    prod_derivative,
    std_derivative,
    sum_derivative,
    var_derivative,
)

__all__: list[str] = []


def _without(a: Any, filler: float) -> tuple[Any, Any]:
    """The array with NaN replaced, and the mask of what counts."""
    keep = ~np.isnan(a)
    return np.where(keep, a, np.full_like(a, filler)), keep


def _masked(maps: Any, keep: Any) -> Any:
    """Tangents of NaN entries are left out, as the entries are."""
    push, pull = maps

    def nan_pushforward(da: Any) -> Any:
        return push(np.where(keep, da, np.zeros_like(da)))

    def nan_pullback(dy: Any) -> Any:
        da = pull(dy)
        return np.where(keep, da, np.zeros_like(da))

    return nan_pushforward, nan_pullback


def _both(where: Any, keep: Any) -> Any:
    return keep if where is True or where is NoValue else keep & where


@derivative(np.nansum, argnums=(0, 5))
def nansum_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """As `sum`."""
    full, keep = _without(a, 0.0)
    maps = sum_derivative(y, full, axis, dtype, None, keepdims, initial, where)
    return _masked(maps[0], keep), maps[1]


@derivative(np.nanprod, argnums=(0, 5))
def nanprod_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """As `prod`."""
    full, keep = _without(a, 1.0)
    maps = prod_derivative(y, full, axis, dtype, None, keepdims, initial, where)
    return _masked(maps[0], keep), maps[1]


@derivative([np.nanmax, np.nanmin], argnums=(0, 4))
def nanextreme_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """As `max` and `min`."""
    keep = ~np.isnan(a)
    mask = _both(where, keep)
    maps = extreme_derivative(y, a, axis, None, keepdims, initial, mask)
    return _masked(maps[0], keep), maps[1]


@derivative(np.nanmean)
def nanmean_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """As `mean`."""
    full, keep = _without(a, 0.0)
    mask = _both(where, keep)
    maps = mean_derivative(y, full, axis, dtype, None, keepdims, where=mask)
    return _masked(maps, keep)


@derivative(np.nanvar)
def nanvar_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NoValue,
    correction: Any = NoValue,
) -> Any:
    """As `var`."""
    full, keep = _without(a, 0.0)
    options = {"where": _both(where, keep), "mean": mean, "correction": correction}
    maps = var_derivative(y, full, axis, dtype, None, ddof, keepdims, **options)
    return _masked(maps, keep)


@derivative(np.nanstd)
def nanstd_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NoValue,
    correction: Any = NoValue,
) -> Any:
    """As `std`."""
    full, keep = _without(a, 0.0)
    options = {"where": _both(where, keep), "mean": mean, "correction": correction}
    maps = std_derivative(y, full, axis, dtype, None, ddof, keepdims, **options)
    return _masked(maps, keep)


@derivative(np.nancumsum)
def nancumsum_derivative(
    y: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None
) -> Any:
    """As `cumsum`."""
    full, keep = _without(a, 0.0)
    return _masked(cumsum_derivative(y, full, axis, dtype), keep)


@derivative(np.nancumprod)
def nancumprod_derivative(
    y: Any, a: Any, axis: Any = None, dtype: Any = None, out: Any = None
) -> Any:
    """As `cumprod`."""
    full, keep = _without(a, 1.0)
    return _masked(cumprod_derivative(y, full, axis, dtype), keep)
