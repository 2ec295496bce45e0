"""Convolution and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_numpy._declare.derivative import derivative
from rules_numpy.linalg.products import product_maps

__all__ = ["convolve_derivative"]


def _start(mode: Any, n: int, m: int) -> int:
    """The start of a mode's result within the full convolution."""
    name = {0: "valid", 1: "same", 2: "full"}.get(mode, mode)
    if name == "full":
        return 0
    return (min(n, m) - 1) // 2 if name == "same" else min(n, m) - 1


def _full(dy: Any, start: int, length: int) -> Any:
    """The cotangent of the full convolution."""
    after = length - start - dy.shape[0]
    zeros = [np.zeros(k, dy.dtype) for k in (start, after)]
    return np.concatenate([zeros[0], dy, zeros[1]])


def _convolution_maps(f: Any, a: Any, v: Any, mode: Any, turn: Any) -> Any:
    """y = a * turn(v), cut to a mode; `turn` is linear up to conj, its own inverse."""
    n, m = a.shape[0], v.shape[0]
    kernel = turn(v)
    start = _start(mode, n, m)

    def to_a(dy: Any) -> Any:
        seed = _full(dy, start, n + m - 1)
        return np.convolve(seed, np.conjugate(kernel)[::-1], "valid")[:n]

    def to_v(dy: Any) -> Any:
        seed = _full(dy, start, n + m - 1)
        return turn(np.convolve(seed, np.conjugate(a)[::-1], "valid")[:m])

    return product_maps(f, a, v, to_a, to_v)


@derivative(np.convolve, argnums=(0, 1))
def convolve_derivative(y: Any, a: Any, v: Any, mode: Any = "full") -> Any:
    """The cotangent of a factor is the cotangent correlated with the other factor."""
    a, v = np.atleast_1d(a), np.atleast_1d(v)

    def product(left: Any, right: Any) -> Any:
        return np.convolve(left, right, mode)

    return _convolution_maps(product, a, v, mode, _as_it_is)


def _as_it_is(v: Any) -> Any:
    return v


def _reversed(v: Any) -> Any:
    return np.conjugate(v)[::-1]


@derivative(np.correlate, argnums=(0, 1))
def correlate_derivative(y: Any, a: Any, v: Any, mode: Any = "valid") -> Any:
    """Convolution with the reversed conjugate; of the longer with the shorter."""

    def product(left: Any, right: Any) -> Any:
        return np.correlate(left, right, mode)

    if v.shape[0] <= a.shape[0]:
        return _convolution_maps(product, a, v, mode, _reversed)
    # NumPy correlates the longer one with the shorter one and reverses the result.
    swapped = _convolution_maps(product, v, a, mode, _reversed)

    def to_a(dy: Any) -> Any:
        return swapped[1][1](np.conjugate(dy)[::-1])

    def to_v(dy: Any) -> Any:
        return swapped[0][1](np.conjugate(dy)[::-1])

    return product_maps(product, a, v, to_a, to_v)
