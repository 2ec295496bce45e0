"""Ufuncs: functions that go entry by entry."""

from . import (
    arithmetic,
    comparison,
    emath,
    exponential,
    trigonometric,
)

__all__ = [
    "arithmetic",
    "comparison",
    "emath",
    "exponential",
    "trigonometric",
]
