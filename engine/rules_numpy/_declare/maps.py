"""Derivatives that are one product: pairs of pushforward and pullback."""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core.extend import strong_product

__all__ = ["selects", "strong", "times", "times_number", "total_of"]


def strong(p: Any, dx: Any) -> Any:
    """`p dx`, zero where `dx` is zero and `p` infinite or NaN."""
    return p * dx if np.all(np.isfinite(p)) else strong_product(p, dx)


def times(p: Any) -> Any:
    """dy = p dx, elementwise."""

    def times_pushforward(dx: Any) -> Any:
        return strong(p, dx)

    def times_pullback(dy: Any) -> Any:
        return strong(np.conjugate(p), dy)

    return times_pushforward, times_pullback


def selects(p: Any) -> Any:
    """dy = p dx of a selection: zero where p is 0, even for infinities."""

    def selects_both_ways(dx: Any) -> Any:
        return strong(p, np.where(p == 0, 0.0, dx))

    return selects_both_ways, selects_both_ways


def times_number(p: Any) -> Any:
    """dy = p dx of an array with one number."""

    def number_pushforward(dx: Any) -> Any:
        return strong(p, dx)

    def number_pullback(dy: Any) -> Any:
        return np.sum(strong(np.conjugate(p), dy))

    return number_pushforward, number_pullback


def total_of(p: Any) -> Any:
    """dy = Σ p dx, a number."""

    def total_pushforward(dx: Any) -> Any:
        return np.sum(strong(p, dx))

    def total_pullback(dy: Any) -> Any:
        return strong(np.conjugate(p), dy)

    return total_pushforward, total_pullback
