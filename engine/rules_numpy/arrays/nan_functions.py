"""Reductions that ignore NaN: those of the array without its NaN."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from rules_numpy._declare.axes import given
from rules_numpy._declare.derivative import derivative

from .cumulative import cumprod_derivative, cumsum_derivative
from .reductions import (
    extreme_derivative,
    mean_derivative,
    prod_derivative,
    std_derivative,
    sum_derivative,
    var_derivative,
)

__all__: list[str] = []

Maps = Callable[..., Any]
_NAMES = ("__name__", "__qualname__", "__doc__")  # the module is this one


def _masked(maps: Any, keep: Any) -> Any:
    """Tangents of NaN entries are ignored, like the entries."""
    push, pull = maps

    def nan_pushforward(da: Any) -> Any:
        return push(np.where(keep, da, np.zeros_like(da)))

    def nan_pullback(dy: Any) -> Any:
        da = pull(dy)
        return np.where(keep, da, np.zeros_like(da))

    return nan_pushforward, nan_pullback


def _filled(plain: Maps, filler: float) -> Maps:
    """By this function of the array with NaN replaced."""

    @wraps(plain, assigned=_NAMES)
    def nan_derivative(y: Any, a: Any, *options: Any) -> Any:
        keep = ~np.isnan(a)
        full = np.where(keep, a, np.full_like(a, filler))
        maps = plain(y, full, *options)
        if not isinstance(maps[0], tuple):
            return _masked(maps, keep)
        return _masked(maps[0], keep), maps[1]

    return nan_derivative


def _weighted(plain: Maps) -> Maps:
    """By this function with a mask, for the entry count."""

    @wraps(plain, assigned=_NAMES)
    def nan_derivative(
        y: Any, a: Any, *options: Any, where: Any = True, **kw: Any
    ) -> Any:
        keep = ~np.isnan(a)
        full = np.where(keep, a, np.zeros_like(a))
        return _masked(plain(y, full, *options, where=_both(where, keep), **kw), keep)

    return nan_derivative


def _extreme(plain: Maps) -> Maps:
    """By this function with a mask, the fifth of the options."""

    @wraps(plain, assigned=_NAMES)
    def nan_derivative(y: Any, a: Any, *options: Any) -> Any:
        keep = ~np.isnan(a)
        where = options[4] if len(options) > 4 else True
        maps = plain(y, a, *options[:4], where=_both(where, keep))
        return _masked(maps[0], keep), maps[1]

    return nan_derivative


def _both(where: Any, keep: Any) -> Any:
    masked = where is not True and given(where)
    return np.logical_and(keep, where) if masked else keep


derivative(np.nansum, argnums=(0, 5))(_filled(sum_derivative, 0.0))
derivative(np.nanprod, argnums=(0, 5))(_filled(prod_derivative, 1.0))
derivative(np.nancumsum)(_filled(cumsum_derivative, 0.0))
derivative(np.nancumprod)(_filled(cumprod_derivative, 1.0))
derivative(np.nanmean)(_weighted(mean_derivative))
derivative(np.nanvar)(_weighted(var_derivative))
derivative(np.nanstd)(_weighted(std_derivative))
derivative([np.nanmax, np.nanmin], argnums=(0, 4))(_extreme(extreme_derivative))
