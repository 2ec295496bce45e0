"""Weights of which no two are alike, for directions along which nothing cancels."""

from __future__ import annotations

from typing import Any

__all__ = ["uneven"]

_GOLDEN = 0.6180339887498949


def uneven(xp: Any, n: int, **dtype: Any) -> Any:
    """`n` numbers between 1/2 and 3/2.

    Args:
        xp: The namespace of the arrays.
        n: How many.
        **dtype: That of the array, if it is not the namespace's own.
    """
    return 0.5 + (_GOLDEN * xp.arange(1.0, n + 1.0, **dtype)) % 1.0
