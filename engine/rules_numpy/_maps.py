"""Derivatives that are one product: pairs of pushforward and pullback."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["times", "times_number", "total_of"]


def times(p: Any) -> Any:
    """dy = p dx, entry by entry."""

    def times_pushforward(dx: Any) -> Any:
        return p * dx

    def times_pullback(dy: Any) -> Any:
        return np.conjugate(p) * dy

    return times_pushforward, times_pullback


def times_number(p: Any) -> Any:
    """dy = p dx of an array with one number."""

    def number_pushforward(dx: Any) -> Any:
        return p * dx

    def number_pullback(dy: Any) -> Any:
        return np.sum(np.conjugate(p) * dy)

    return number_pushforward, number_pullback


def total_of(p: Any) -> Any:
    """dy = Σ p dx, a number."""

    def total_pushforward(dx: Any) -> Any:
        return np.sum(p * dx)

    def total_pullback(dy: Any) -> Any:
        return np.conjugate(p) * dy

    return total_pushforward, total_pullback
