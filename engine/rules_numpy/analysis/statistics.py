"""Covariances, weighted counts, rounding, distinct entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.axes import scatter_add
from rules_numpy._declare.derivative import derivative
from rules_numpy.linalg.products import adjoint

__all__: list[str] = []


@derivative([np.round, np.around, np.fix], argnums=0)
def round_derivative(y: Any, a: Any, *_options: Any, **_kw: Any) -> Any:
    """A step function."""
    return None


def _rows(m: Any, rowvar: Any) -> Any:
    m = np.atleast_2d(m)
    return m if rowvar or m.shape[0] == 1 else np.transpose(m)


@dataclass(frozen=True)
class _Sample:
    """Observations of several variables.

    Attributes:
        x: The centred variables, one a row.
        weights: Weights of the observations: repetitions times importance.
        count: The divisor of the sum.
    """

    x: Any
    weights: Any
    count: Any


@derivative(np.cov, argnums=(0, 1, 6))
def cov_derivative(
    y: Any,
    m: Any,
    other: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """C = X W Xᴴ / n with centred rows X: dC = (dX W Xᴴ + X W dXᴴ) / n.

    Of importances a also X dW Xᴴ / n - C dn / n, with n = Σ w - ddof Σ w a / Σ w.
    """
    lost = ddof if ddof is not None else (0 if bias else 1)
    often = 1.0 if fweights is None else np.asarray(fweights) * 1.0
    importance = 1.0 if aweights is None else np.real(aweights)  # as NumPy casts them
    variables = _given(m, other, rowvar)
    weights = np.broadcast_to(often * importance, variables.shape[-1:])
    total = np.sum(weights)
    used = total - lost * (np.sum(weights * importance) / total if lost else 0.0)
    x = variables - np.expand_dims(np.matmul(variables, weights) / total, -1)
    sample = _Sample(x, weights, np.maximum(used, 0.0))
    pairs = _covariance(y, sample, m, other, rowvar)
    return *pairs, None if aweights is None else _by_importance(y, sample, often, lost)


def _given(m: Any, other: Any, rowvar: Any) -> Any:
    """The variables, one a row."""
    x = _rows(m, rowvar)
    return x if other is None else np.concatenate([x, _rows(other, rowvar)])


def _covariance(y: Any, sample: _Sample, m: Any, other: Any, rowvar: Any) -> Any:
    x, weights, count = sample.x, sample.weights, sample.count

    def pair(a: Any, start: int) -> Any:
        rows = _rows(a, rowvar).shape[0]

        def cov_pushforward(da: Any) -> Any:
            moved = _rows(da, rowvar)
            front = np.zeros((start, moved.shape[1]))
            back = np.zeros((x.shape[0] - start - rows, moved.shape[1]))
            dx = np.concatenate([front, moved, back])
            half = np.matmul(dx * weights, adjoint(x)) / count
            return np.reshape(half + adjoint(half), np.shape(y))

        def cov_pullback(dy: Any) -> Any:
            dc = np.reshape(dy, (x.shape[0], x.shape[0]))
            dx = np.matmul(dc + adjoint(dc), x * weights)[start : start + rows] / count
            share = weights / np.sum(weights)
            dx = dx - np.sum(dx, axis=-1, keepdims=True) * share
            turned = dx if rowvar or np.atleast_2d(a).shape[0] == 1 else dx.T
            return np.reshape(turned, a.shape)

        return cov_pushforward, cov_pullback

    start = _rows(m, rowvar).shape[0]
    return pair(m, 0), None if other is None else pair(other, start)


def _by_importance(y: Any, sample: _Sample, often: Any, lost: Any) -> Any:
    """The mean depends on them too, but Σ w x = 0 cancels this term."""
    x, weights, count = sample.x, sample.weights, sample.count
    total = np.sum(weights)
    importance = weights / np.where(often == 0, 1.0, often)
    mean = np.sum(weights * importance) / total
    by_count = often * (1.0 - lost * (2.0 * importance - mean) / total)

    def importance_pushforward(da: Any) -> Any:
        da = np.real(da)
        moved = np.matmul(x * (often * da), adjoint(x))
        moved = np.reshape(moved, np.shape(y)) - y * np.sum(by_count * da)
        return moved / count

    def importance_pullback(dy: Any) -> Any:
        dc = np.reshape(dy, (x.shape[0], x.shape[0]))
        own = often * np.real(np.sum(np.conjugate(x) * np.matmul(dc, x), axis=0))
        return (own - by_count * np.real(np.sum(np.conjugate(y) * dy))) / count

    return importance_pushforward, importance_pullback


@derivative(np.corrcoef, argnums=(0, 1))
def corrcoef_derivative(
    y: Any, x: Any, other: Any = None, rowvar: Any = True, *, dtype: Any = None
) -> Any:
    """R = C / (d dᵀ) with d = √diag(C): by the derivative of C."""
    variables = _given(x, other, rowvar)
    rows = variables - np.mean(variables, axis=-1, keepdims=True)
    count = rows.shape[-1] - 1
    c = np.matmul(rows, adjoint(rows)) / count
    scale = np.sqrt(np.real(np.diagonal(c)))
    over = 1.0 / (scale[:, None] * scale)
    r = c * over
    sample = _Sample(rows, np.ones(rows.shape[-1]), count)
    pairs = _covariance(c, sample, x, other, rowvar)
    return tuple(
        None if p is None else _normalised(p, y, r, over, scale) for p in pairs
    )


def _normalised(pair: Any, y: Any, r: Any, over: Any, scale: Any) -> Any:
    """dR = dC / (d dᵀ) - R (δ + δᵀ) with δ = dd / d = diag(dC) / (2 d²)."""

    def corrcoef_pushforward(da: Any) -> Any:
        dc = pair[0](da)
        rate = np.real(np.diagonal(dc)) / (2.0 * scale**2)
        return np.reshape(dc * over - r * (rate[:, None] + rate), np.shape(y))

    def corrcoef_pullback(dy: Any) -> Any:
        dr = np.reshape(dy, r.shape)
        lost = np.real(np.conjugate(r) * dr)
        rate = -(np.sum(lost, axis=0) + np.sum(lost, axis=1)) / (2.0 * scale**2)
        return pair[1](dr * over + rate[:, None] * np.eye(r.shape[0]))

    return corrcoef_pushforward, corrcoef_pullback


@derivative(np.bincount, argnums=1)
def bincount_derivative(y: Any, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    """Linear in the weights."""

    def bincount_pushforward(dw: Any) -> Any:
        return np.bincount(x, dw, minlength)

    def bincount_pullback(dy: Any) -> Any:
        return np.take(dy, x)

    return bincount_pushforward, bincount_pullback


@derivative(np.unique)
def unique_derivative(
    y: Any,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The tangent of a distinct entry is the mean of those of equal entries."""
    values = y[0] if isinstance(y, tuple) else y
    _, inverse = np.unique(ar, return_inverse=True, axis=axis, equal_nan=equal_nan)
    flat = np.ravel(inverse)
    own = 0 if axis is None else axis
    counts = np.bincount(flat, minlength=values.shape[own])
    shape = [1] * values.ndim
    shape[own] = -1
    over = np.reshape(1.0 / counts, shape)
    rest = len(y) - 1 if isinstance(y, tuple) else None

    def unique_pushforward(da: Any) -> Any:
        dx = np.moveaxis(np.ravel(da) if axis is None else da, own, 0)
        places = np.reshape(np.arange(values.size), np.moveaxis(values, own, 0).shape)
        total = scatter_add(dx, places[flat], places.shape)
        moved = np.moveaxis(total, 0, own) * over
        return moved if rest is None else (moved, *[rc.NoTangent()] * rest)

    def unique_pullback(dy: Any) -> Any:
        dvalues = dy if rest is None else dy[0]
        return np.reshape(np.take(dvalues * over, flat, axis=own), ar.shape)

    return unique_pushforward, unique_pullback


@derivative([np.unique_values] if hasattr(np, "unique_values") else [])
def unique_values_derivative(y: Any, x: Any) -> Any:
    """As `unique`, in NumPy's order of the values."""
    order = np.argsort(y)
    back = np.argsort(order)
    push, pull = unique_derivative(np.sort(y), x)

    def unique_values_pushforward(dx: Any) -> Any:
        return push(dx)[back]

    def unique_values_pullback(dy: Any) -> Any:
        return pull(dy[order])

    return unique_values_pushforward, unique_values_pullback
