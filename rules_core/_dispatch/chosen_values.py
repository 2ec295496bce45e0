"""Counts rules that returned another valid value than the function.

An example are the eigenvectors of equal eigenvalues. An AD system that runs a program
again for its derivative compares the values of both runs if the count changed.
"""

from __future__ import annotations

from threading import local

__all__ = ["CHOSEN"]


class _Chosen(local):
    """The count of such values in this thread."""

    count = 0


CHOSEN = _Chosen()
