"""Integrals of log-concave densities over half-lines, to full relative accuracy.

The derivatives of the incomplete gamma and beta functions in their parameters are
integrals of one sign (see `_parameters`). The integrand may have features at scales
many powers of ten apart, such as a flat stretch before a sharp edge, so the nodes must
cluster at the ends of each panel: the tanh-sinh rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["half_line"]

_DROP = 45.0  # exp(-45) is below the rounding error of the whole integral
_PANEL = 80  # nodes on each side of a panel's centre
_RANGE = 3.4  # beyond it the weights are below 1e-19


def _tanh_sinh() -> tuple[Any, Any, Any]:
    """Distances of the nodes from both ends of [0, 1], and their weights."""
    t = np.linspace(-_RANGE, _RANGE, 2 * _PANEL + 1)
    g = np.pi * np.sinh(t)
    left, right = 1 / (1 + np.exp(-g)), 1 / (1 + np.exp(g))
    weights = (t[1] - t[0]) * np.pi * np.cosh(t) * left * right
    return left[:, None], right[:, None], weights[:, None]


_LEFT, _RIGHT, _WEIGHTS = _tanh_sinh()


def half_line(
    drop: Callable[[Any], Any], weight: Callable[[Any], Any], corner: Any, scale: Any
) -> Any:
    r"""$\int_0^\infty w(s)\, e^{-D(s)}\, ds$ for convex $D$ with $D(0) = 0$.

    Args:
        drop: $D$, of arrays of shape (k, n) or (n,).
        weight: $w$, of one sign and slowly varying on the scale of $D$.
        corner: Where $D$ may bend sharply, shape (n,); outside the range it is ignored.
        scale: A positive length at which $D$ is still small, shape (n,).

    Returns:
        The integrals, shape (n,).
    """
    end = _where_dropped(drop, scale)
    middle = np.clip(corner, 0, end)
    return _panel(drop, weight, np.zeros_like(end), middle) + _panel(
        drop, weight, middle, end
    )


def _where_dropped(drop: Callable[[Any], Any], scale: Any) -> Any:
    """The point, to a factor of two, from which the integrand is negligible."""
    end = np.array(scale)
    short = drop(end) <= _DROP
    while short.any():
        end = np.where(short, 2 * end, end)
        short = drop(end) <= _DROP
    return end


def _panel(
    drop: Callable[[Any], Any], weight: Callable[[Any], Any], start: Any, end: Any
) -> Any:
    length = end - start
    from_start = start + length * _LEFT
    nodes = np.where(_LEFT < 0.5, from_start, end - length * _RIGHT)
    values = _WEIGHTS * np.exp(-drop(nodes)) * weight(nodes)
    return length * values.sum(axis=0)
