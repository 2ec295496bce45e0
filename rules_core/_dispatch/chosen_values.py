"""Rules that chose one of several right values, other than the function's own.

Such a rule says so here; an AD system that runs a program again for its derivative
looks whether the count has moved, and then compares the values of both runs.
"""

from __future__ import annotations

from threading import local

__all__ = ["CHOSEN"]


class _Chosen(local):
    """How many values were chosen in this thread."""

    count = 0


CHOSEN = _Chosen()
