"""Chains and powers of matrices, traces and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_numpy._declare.arguments import array_of, moves, restore
from rules_numpy._declare.derivative import derivative

from .products import adjoint

__all__: list[str] = []


@derivative(np.linalg.multi_dot, arrays=False)
def multi_dot_derivative(y: Any, arrays: Any, *, out: Any = None) -> Any:
    """A chain of matrices, the first and the last perhaps vectors."""
    plain = [array_of(x, np.linalg.multi_dot) for x in arrays]

    def chain(parts: Any) -> Any:
        total = parts[0]
        for part in parts[1:]:
            total = np.dot(total, part)
        return total

    def multi_dot_pushforward(tangents: Any) -> Any:
        total: Any = rc.ZeroTangent()
        for i, dx in enumerate(tangents):
            if not isinstance(dx, rc.AbstractZero):
                total = total + chain([*plain[:i], dx, *plain[i + 1 :]])
        return total

    def multi_dot_pullback(dy: Any) -> Any:
        cotangents: list[Any] = [
            restore(x, _link(plain, i, dy)) if moves(x) else rc.NoTangent()
            for i, x in enumerate(arrays)
        ]
        if isinstance(arrays, np.ndarray):
            return np.stack(cotangents)
        return rc.Tangent(type(arrays), *cotangents)

    def _link(parts: Any, i: int, dy: Any) -> Any:
        if not all(part.ndim for part in parts):  # two, one of them a number
            terms = np.conjugate(parts[1 - i]) * dy
            return terms if parts[i].ndim else np.sum(terms)
        last = parts[-1].ndim == 1
        wide = [np.atleast_2d(parts[0]), *parts[1:]]
        wide[-1] = wide[-1][:, None] if last else wide[-1]
        dy = np.reshape(dy, (wide[0].shape[0], wide[-1].shape[-1]))
        for part in wide[:i]:
            dy = np.matmul(adjoint(part), dy)
        for part in reversed(wide[i + 1 :]):
            dy = np.matmul(dy, adjoint(part))
        return np.reshape(dy, parts[i].shape)

    return multi_dot_pushforward, multi_dot_pullback


@derivative(np.linalg.matrix_power)
def matrix_power_derivative(y: Any, a: Any, n: Any) -> Any:
    """d aⁿ = Σ aⁱ da aⁿ⁻¹⁻ⁱ; for n < 0 that of the inverse."""
    base = a if n >= 0 else np.linalg.inv(a)
    powers = [np.linalg.matrix_power(base, i) for i in range(abs(n))]

    def between(m: Any, turn: Any) -> Any:
        total = np.zeros_like(a) * m
        for left, right in zip(powers, reversed(powers), strict=True):
            total = total + np.matmul(np.matmul(turn(left), m), turn(right))
        return total

    def matrix_power_pushforward(da: Any) -> Any:
        dbase = da if n >= 0 else -np.matmul(np.matmul(base, da), base)
        return between(dbase, _same)

    def matrix_power_pullback(dy: Any) -> Any:
        dbase = between(dy, adjoint)
        if n >= 0:
            return dbase
        inverse = adjoint(base)
        return -np.matmul(np.matmul(inverse, dbase), inverse)

    return matrix_power_pushforward, matrix_power_pullback


def _same(m: Any) -> Any:
    return m


@derivative([np.trace], linear=True)
def trace_derivative(
    y: Any,
    a: Any,
    offset: Any = 0,
    axis1: Any = 0,
    axis2: Any = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The sum of a diagonal."""

    def trace_pushforward(da: Any) -> Any:
        return np.trace(da, offset, axis1, axis2, dtype)

    def trace_pullback(dy: Any) -> Any:
        unit = np.eye(a.shape[axis1], a.shape[axis2], offset)
        spread = np.expand_dims(np.expand_dims(dy, -1), -1) * unit
        return np.moveaxis(spread, (-2, -1), (axis1, axis2))

    return trace_pushforward, trace_pullback


if hasattr(np.linalg, "trace"):

    @derivative(np.linalg.trace)
    def linalg_trace_derivative(
        y: Any, x: Any, /, *, offset: Any = 0, dtype: Any = None
    ) -> Any:
        """As `np.trace`, of the last two axes."""
        return trace_derivative(y, x, offset, -2, -1, dtype)


if hasattr(np.linalg, "diagonal"):

    @derivative(np.linalg.diagonal)
    def linalg_diagonal_derivative(y: Any, x: Any, /, *, offset: Any = 0) -> Any:
        """As `np.diagonal`, of the last two axes."""

        def diagonal_pushforward(dx: Any) -> Any:
            return np.linalg.diagonal(dx, offset=offset)

        def diagonal_pullback(dy: Any) -> Any:
            unit = np.eye(x.shape[-2], x.shape[-1], offset)
            rows, columns = np.nonzero(unit)
            on = np.zeros((len(rows), x.shape[-2]))
            off = np.zeros((len(rows), x.shape[-1]))
            on[np.arange(len(rows)), rows] = 1.0
            off[np.arange(len(rows)), columns] = 1.0
            return np.einsum("...k,ki,kj->...ij", dy, on, off)

        return diagonal_pushforward, diagonal_pullback
