"""Infinite intervals as finite ones, with the slope of the map between them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Line", "line_between"]


class Line(NamedTuple):
    """The line between two limits: a place is `start + sign * (...)` of a number.

    Attributes:
        start: The finite limit, or 0.
        sign: Whether places are above (1) or below (-1) it.
        ends: How many limits are infinite.
    """

    start: float
    sign: float
    ends: int

    def place(self, u: float) -> tuple[float, float]:
        """A place of the line, and the slope there."""
        if self.ends == 0:
            return u, 1.0
        if self.ends == 1:
            return self.start + self.sign * u / (1.0 - u), (1.0 - u) ** -2
        rest = 1.0 - u * u
        return u / rest, (1.0 + u * u) / rest**2

    def number(self, x: Any) -> Any:
        """The numbers of places."""
        if self.ends == 0:
            return x
        if self.ends == 1:
            far = self.sign * (x - self.start)
            return far / (1.0 + far)
        return 2.0 * x / (1.0 + np.sqrt(1.0 + 4.0 * x * x))


def line_between(a: float, b: float) -> Line:
    """The line between limits in any order."""
    finite = [x for x in (a, b) if math.isfinite(x)]
    start = finite[0] if finite else 0.0
    sign = 1.0 if max(a, b) == math.inf else -1.0
    return Line(start, sign, 2 - len(finite))
