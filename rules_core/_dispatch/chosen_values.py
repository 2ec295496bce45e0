"""Counts rules that chose one of several valid values or tangents.

An example are the eigenvectors of equal eigenvalues. An AD system that runs a program
again for its derivative compares the values of both runs if the count changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

__all__ = ["CHOSEN"]


class _Chosen(local):
    """What rules chose in this thread.

    Attributes:
        count: How many returned another valid value than the function.
        tangents: How many returned one of several valid tangents.
        turn: How far those tangents are to be from the shortest ones: an AD system
            that compares two runs sets it. None where it compares none; there, rules
            return NaN.
    """

    count = 0
    tangents = 0
    turn: float | None = None

    @contextmanager
    def turned(self, turn: float) -> Iterator[None]:
        """Run rules with tangents that are so far from the shortest ones."""
        before, self.turn = self.turn, turn
        try:
            yield
        finally:
            self.turn = before


CHOSEN = _Chosen()
