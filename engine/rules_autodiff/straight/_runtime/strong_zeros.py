"""What written code calls that asks for strong zeros: 0 · ∞ = 0 of zeros that stay.

A reverse pass begins with constants, and moving or leaving out entries keeps zeros as
they are. Until a product or a sum has made a zero of other numbers, all zeros are zero
nearby too.
"""

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_core.extend import note_strong_zeros

__all__ = ["MADE", "NAMES"]

NAMES = ("added", "noted", "scattered", "strong_product")


class Made(threading.local):
    """What is known of the zeros of a reverse pass.

    Attributes:
        zero: Whether an operation has made one, which may move.
        strong: How often one that stays met infinity.
    """

    zero = False
    strong = 0

    def begin(self) -> None:
        """A reverse pass begins."""
        self.zero, self.strong = False, 0


MADE = Made()


def strong_product(dz: Any, partial: Callable[[], Any]) -> Any:
    """`dz p`, zero wherever `dz` is, also where p is infinite or not a number."""
    with np.errstate(all="ignore"):
        try:
            p = partial()
        except ZeroDivisionError:  # of numbers, by Python
            p = math.inf
        zero = np.equal(dz, 0)
        dead = zero & np.logical_not(np.isfinite(p))
        if dead.any():
            note_strong_zeros(True)
            MADE.strong += not MADE.zero
            p = np.where(dead, 0.0, p) if dead.ndim else 0.0
        product = dz * p
    MADE.zero = MADE.zero or bool(np.any(np.equal(product, 0) & ~zero))
    return product


def noted(ct: Any) -> Any:
    """A cotangent that an operation has made, in which zeros may be new."""
    MADE.zero = MADE.zero or not np.all(ct)
    return ct


def added(bar: Any, ct: Any) -> Any:
    """The sum of two cotangents, in which zeros may be new."""
    total = bar + ct
    MADE.zero = MADE.zero or bool(np.any(np.equal(total, 0) & np.not_equal(ct, 0)))
    return total


def scattered(dest: Any, key: Any, value: Any) -> None:
    """Add a cotangent to entries that may be named repeatedly."""
    MADE.zero = True
    np.add.at(dest, key, value)
