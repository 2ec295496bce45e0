"""Interpolation, integration, phases."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import signed
from rules_numpy._declare.axes import along, given, scatter_add
from rules_numpy._declare.derivative import derivative
from rules_numpy._declare.maps import times, times_number

__all__: list[str] = []


@derivative(np.interp, argnums=(0, 1, 2, 3, 4, 5))
def interp_derivative(
    y: Any,
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> Any:
    """y = (1 - t) fⱼ + t fⱼ₊₁ with t = (x - xⱼ) / (xⱼ₊₁ - xⱼ)."""
    x, xp, fp = map(signed, (x, xp, fp))
    if period is not None:
        return _periodic_interp(x, xp, fp, period)
    j = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, xp.size - 2)
    before, after = x < xp[0], x > xp[-1]
    x0, x1 = np.take(xp, j), np.take(xp, j + 1)
    f0, f1 = np.take(fp, j), np.take(fp, j + 1)
    inside = ~(before | after)
    t = np.where(inside, (x - x0) / (x1 - x0), np.where(before, 0.0, 1.0))
    slope = np.where(inside, (f1 - f0) / (x1 - x0), 0.0)
    outer = (before if given(left) else False) | (after if given(right) else False)
    share = np.where(outer, 0.0, 1.0)
    nodes = _node_maps(j, j + 1, -slope * (1.0 - t), -slope * t, xp)
    values = _node_maps(j, j + 1, share * (1.0 - t), share * t, fp)
    ends = [_picked(x_end, m) for x_end, m in ((left, before), (right, after))]
    return times(slope), nodes, values, *ends, None


def _periodic_interp(x: Any, xp: Any, fp: Any, period: Any) -> Any:
    """The nodes, wrapped into one period and in order, with one more at either end."""
    wrapped = np.mod(xp, period)
    order = np.argsort(wrapped)
    low, high = order[-1:], order[:1]
    index = np.concatenate([low, order, high])
    turns = np.concatenate([[-1.0], np.zeros(xp.size), [1.0]])
    nodes = np.take(wrapped, index) + turns * period
    at = np.mod(x, period)
    j = np.clip(np.searchsorted(nodes, at, side="right") - 1, 0, nodes.size - 2)
    x0, x1 = np.take(nodes, j), np.take(nodes, j + 1)
    i0, i1 = np.take(index, j), np.take(index, j + 1)
    t = (at - x0) / (x1 - x0)
    slope = (np.take(fp, i1) - np.take(fp, i0)) / (x1 - x0)
    # The number of periods subtracted from the point and added to the nodes.
    of_x = -np.floor(x / period)
    of_nodes = turns - np.floor(np.take(xp, index) / period)
    of_period = of_x - (1.0 - t) * np.take(of_nodes, j) - t * np.take(of_nodes, j + 1)
    return (
        times(slope),
        _node_maps(i0, i1, -slope * (1.0 - t), -slope * t, xp),
        _node_maps(i0, i1, 1.0 - t, t, fp),
        None,
        None,
        times_number(slope * of_period),
    )


def _node_maps(i0: Any, i1: Any, w0: Any, w1: Any, nodes: Any) -> Any:
    """dy = w₀ d[i₀] + w₁ d[i₁]."""

    def node_pushforward(d: Any) -> Any:
        return w0 * np.take(d, i0) + w1 * np.take(d, i1)

    def node_pullback(dy: Any) -> Any:
        d0 = scatter_add(np.conjugate(w0) * dy, i0, nodes.shape)
        return d0 + scatter_add(np.conjugate(w1) * dy, i1, nodes.shape)

    return node_pushforward, node_pullback


def _picked(x: Any, mask: Any) -> Any:
    if x is None:
        return None

    def picked_pushforward(dx: Any) -> Any:
        return np.where(mask, dx, 0.0)

    def picked_pullback(dy: Any) -> Any:
        return np.sum(np.where(mask, dy, np.zeros_like(dy)))

    return picked_pushforward, picked_pullback


@derivative(
    [f for f in (np.trapezoid, getattr(np, "trapz", None)) if f], argnums=(0, 1, 2)
)
def trapezoid_derivative(
    area: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1
) -> Any:
    """Σ (yᵢ + yᵢ₊₁) / 2 (xᵢ₊₁ - xᵢ)."""
    head, tail = along(1, None, axis, y.ndim), along(None, -1, axis, y.ndim)
    means = (y[head] + y[tail]) / 2.0
    widths = dx if x is None else _widths(x, y, axis)

    def y_pushforward(dy: Any) -> Any:
        return np.trapezoid(dy, x, dx, axis)

    def y_pullback(dout: Any) -> Any:
        terms = np.conjugate(widths) * _along(dout, means, axis) / 2.0
        zero = np.zeros_like(terms[along(0, 1, axis, terms.ndim)])
        front = np.concatenate([terms, zero], axis=axis)
        return front + np.concatenate([zero, terms], axis=axis)

    def x_pushforward(d: Any) -> Any:
        return np.sum(means * _widths(d, y, axis), axis=axis)

    def x_pullback(dout: Any) -> Any:
        terms = np.conjugate(means) * _along(dout, means, axis)
        zero = np.zeros_like(terms[along(0, 1, axis, terms.ndim)])
        back = -np.diff(np.concatenate([zero, terms, zero], axis=axis), axis=axis)
        if x.ndim == 1 and y.ndim > 1:
            others = tuple(i for i in range(y.ndim) if i != axis % y.ndim)
            return np.sum(back, axis=others)
        return rc.ProjectTo(x)(back)

    def width_pushforward(d: Any) -> Any:
        return np.sum(means * d, axis=axis)

    def width_pullback(dout: Any) -> Any:
        return rc.ProjectTo(dx)(np.conjugate(means) * _along(dout, means, axis))

    by_y = y_pushforward, y_pullback
    if x is not None:
        return by_y, (x_pushforward, x_pullback), None
    widths_move = width_pushforward, width_pullback
    by_width = widths_move if np.ndim(dx) else times_number(np.sum(means, axis=axis))
    return by_y, None, by_width


def _widths(x: Any, y: Any, axis: int) -> Any:
    if x.ndim == 1:
        shape = [1] * y.ndim
        shape[axis] = -1
        return np.reshape(np.diff(x), shape)
    return np.diff(x, axis=axis)


def _along(dout: Any, like: Any, axis: int) -> Any:
    return np.broadcast_to(np.expand_dims(dout, axis), like.shape)


@derivative(np.unwrap)
def unwrap_derivative(
    y: Any, p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2.0 * np.pi
) -> Any:
    """Integer multiples of the period are added: tangents are unchanged."""

    def unwrap_pushforward(dp: Any) -> Any:
        return dp

    return unwrap_pushforward, unwrap_pushforward
