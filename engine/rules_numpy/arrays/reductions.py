"""Sums, means, variances and products over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.axes import (
    count_of,
    expand,
    flag,
    given,
    kept,
    normal_axes,
    spread,
    tail,
    untail,
)
from rules_numpy._declare.derivative import NoValue, derivative
from rules_numpy._declare.maps import selects, times_number

from .cumulative import exclusive_products

__all__ = ["reduced_count"]


def _masked(a: Any, where: Any) -> Any:
    if where is True or not given(where):
        return a
    return np.where(where, a, np.zeros_like(a))


@derivative([np.sum], argnums=(0, 5), linear=True)
def sum_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """d Σ a = Σ da; the initial value is one more term."""

    def sum_pushforward(da: Any) -> Any:
        return np.sum(da, axis, dtype, None, keepdims, where=where)

    def sum_pullback(dy: Any) -> Any:
        return _masked(spread(expand(dy, a, axis, keepdims), a.shape), where)

    return (sum_pushforward, sum_pullback), (_over(y), np.sum)


def _over(y: Any) -> Any:
    def over(dx: Any) -> Any:
        return np.broadcast_to(dx, np.shape(y))

    return over


def reduced_count(a: Any, axis: Any, where: Any) -> Any:
    """The number of entries of each mean, with reduced axes of length one."""
    if where is True or not given(where):
        return count_of(a, axis)
    return np.sum(np.broadcast_to(where, a.shape), axis=axis, keepdims=True)


@derivative(np.mean, linear=True)
def mean_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """d mean(a) = mean(da)."""

    def mean_pushforward(da: Any) -> Any:
        return np.mean(da, axis, dtype, None, keepdims, where=where)

    def mean_pullback(dy: Any) -> Any:
        share = expand(dy, a, axis, keepdims) / reduced_count(a, axis, where)
        return _masked(spread(share, a.shape), where)

    return mean_pushforward, mean_pullback


def _deviations(a: Any, axis: Any, where: Any, mean: Any) -> Any:
    """a - mean(a), zero outside the mask.

    NumPy counts the entries of a mask by summing it. `[2, 0, 1]` counts three; then the
    deviations do not cancel, and the derivative of the mean stays.
    """
    if given(mean):
        return _masked(a - mean, where)
    if where is True or not given(where):
        return a - np.mean(a, axis=axis, keepdims=True)
    off = _masked(a - np.mean(a, axis=axis, keepdims=True, where=where), where)
    left = np.sum(off, axis=axis, keepdims=True) / reduced_count(a, axis, where)
    return _masked(off - left, where)


def _freedom(a: Any, axis: Any, where: Any, ddof: Any, correction: Any) -> Any:
    lost = correction if given(correction) else ddof
    return reduced_count(a, axis, where) - lost


@derivative(np.var)
def var_derivative(
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
    """d var = 2 Σ Re(conj(a - m) da) / (n - ddof); that of the mean m cancels."""
    slope = 2.0 * _deviations(a, axis, where, mean)
    slope = slope / _freedom(a, axis, where, ddof, correction)
    return _weighted(slope, a, axis, keepdims)


@derivative(np.std)
def std_derivative(
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
    """d std = d var / (2 std), zero where the deviations are all zero."""
    size = expand(y, a, axis, keepdims)
    size = np.where(size == 0, 1.0, size)
    slope = _deviations(a, axis, where, mean) / size
    slope = slope / _freedom(a, axis, where, ddof, correction)
    return _weighted(slope, a, axis, keepdims)


def _weighted(slope: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """dy = Σ Re(conj(slope) da) and its adjoint."""

    def weighted_pushforward(da: Any) -> Any:
        terms = np.real(np.conjugate(slope) * da)
        return np.sum(terms, axis=axis, keepdims=flag(keepdims))

    def weighted_pullback(dy: Any) -> Any:
        return slope * expand(dy, a, axis, keepdims)

    return weighted_pushforward, weighted_pullback


@derivative([np.prod], argnums=(0, 5))
def prod_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """∂ᵢ Π aⱼ = Π over j ≠ i, correct for zeros among the aⱼ."""
    used = (
        a if where is True or not given(where) else np.where(where, a, np.ones_like(a))
    )
    others = untail(exclusive_products(tail(used, axis)), a, axis)
    first = initial if given(initial) else 1
    slope = _masked(others * first, where)

    def prod_pushforward(da: Any) -> Any:
        return np.sum(slope * da, axis=axis, keepdims=flag(keepdims))

    def prod_pullback(dy: Any) -> Any:
        return np.conjugate(slope) * expand(dy, a, axis, keepdims)

    if not given(initial):
        return (prod_pushforward, prod_pullback), None
    rest = np.prod(used, axis=axis, keepdims=flag(keepdims))
    return (prod_pushforward, prod_pullback), times_number(rest)


def _extreme(y: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Any:
    """Maximum and minimum: ties share. The weights are computed on demand."""

    def shares() -> tuple[Any, Any]:
        """Weights of the entries and of the initial value."""
        top = expand(y, a, axis, keepdims)
        hit = a == top
        if np.isnan(top).any():
            hit = hit | (np.isnan(a) & np.isnan(top))
        if where is not True and given(where):
            hit = np.logical_and(hit, where)
        first = np.asarray(given(initial) and initial == top)
        count = np.maximum(np.sum(hit, axis=axis, keepdims=True) + first, 1)
        return hit / count, first / count

    def extreme_pushforward(da: Any) -> Any:
        pushforward, _ = selects(shares()[0])
        return np.sum(pushforward(da), axis=axis, keepdims=flag(keepdims))

    def extreme_pullback(dy: Any) -> Any:
        _, pullback = selects(shares()[0])
        return pullback(expand(dy, a, axis, keepdims))

    if not given(initial):
        return (extreme_pushforward, extreme_pullback), None
    lead = np.broadcast_to(shares()[1], kept(a.shape, axis))
    return (extreme_pushforward, extreme_pullback), times_number(
        np.reshape(lead, np.shape(y))
    )


@derivative([np.max, np.min, np.amax, np.amin], argnums=(0, 4))
def extreme_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NoValue,
    where: Any = True,
) -> Any:
    """The largest (smallest) entries; ties share."""
    return _extreme(y, a, axis, keepdims, initial, where)


@derivative(np.ptp)
def ptp_derivative(
    y: Any, a: Any, axis: Any = None, out: Any = None, keepdims: Any = False
) -> Any:
    """The maximum less the minimum."""
    options = (axis, True, NoValue, True)
    high, _ = _extreme(np.max(a, axis=axis, keepdims=True), a, *options)
    low, _ = _extreme(np.min(a, axis=axis, keepdims=True), a, *options)

    def ptp_pushforward(da: Any) -> Any:
        return np.reshape(high[0](da) - low[0](da), np.shape(y))

    def ptp_pullback(dy: Any) -> Any:
        dy = expand(dy, a, axis, keepdims)
        return high[1](dy) - low[1](dy)

    return ptp_pushforward, ptp_pullback


@derivative(np.average, argnums=(0, 2))
def average_derivative(
    y: Any,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    """mean = Σ w a / Σ w: d mean = Σ (w da + (a - mean) dw) / Σ w."""
    mean = y[0] if returned else y
    level = expand(mean, a, axis, keepdims)
    w = _weights_like(weights, a, axis)
    scale = np.sum(w, axis=axis, keepdims=True)
    slopes = np.broadcast_to(w / scale, a.shape), (a - level) / scale

    def pair(k: int) -> Any:
        def average_pushforward(dx: Any) -> Any:
            dx = dx if k == 0 else _weights_like(dx, a, axis)
            dmean = np.sum(slopes[k] * dx, axis=axis, keepdims=flag(keepdims))
            if not returned:
                return dmean
            dscale = np.sum(dx, axis=axis, keepdims=flag(keepdims)) if k else 0.0
            return dmean, np.broadcast_to(dscale, np.shape(y[1]))

        def average_pullback(dy: Any) -> Any:
            dmean, dscale = dy if returned else (dy, None)
            dx = np.conjugate(slopes[k]) * expand(dmean, a, axis, keepdims)
            if k == 0:
                return dx
            if returned:
                dx = dx + expand(dscale, a, axis, keepdims)
            return _weights_back(dx, weights, a, axis)

        return average_pushforward, average_pullback

    return pair(0), None if weights is None else pair(1)


def _weights_like(w: Any, a: Any, axis: Any) -> Any:
    """Weights broadcast to the array: of its shape, or an array over the axes."""
    if w is None:
        return np.ones_like(np.real(a))
    if w.shape == a.shape:
        return w
    axes = normal_axes(axis, a.ndim)
    sorted_w = np.transpose(w, np.argsort(axes).tolist())
    return np.broadcast_to(np.reshape(sorted_w, _only(axes, a)), a.shape)


def _only(axes: Any, a: Any) -> tuple[int, ...]:
    return tuple(n if i in axes else 1 for i, n in enumerate(a.shape))


def _weights_back(dx: Any, w: Any, a: Any, axis: Any) -> Any:
    if w.shape == a.shape:
        return dx
    axes = normal_axes(axis, a.ndim)
    others = tuple(i for i in range(a.ndim) if i not in axes)
    return np.transpose(np.sum(dx, axis=others), np.argsort(np.argsort(axes)).tolist())
