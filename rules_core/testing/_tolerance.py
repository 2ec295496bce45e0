r"""Tolerances for comparing two derivatives.

A rule may lose a third of the digits of its dtype: the relative tolerance is
\(\varepsilon^{2/3}\), 4e-11 for float64 and 2e-5 for float32. The error estimate of the
finite differences is added. There is no absolute tolerance, so that small derivatives
are checked as strictly as large ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ._differences import Vector

__all__ = ["Tolerance"]

# An estimated error above this share of the derivative's size proves nothing.
USELESS = 1e-3
# Units of round-off of the largest component that may be in all other components.
ROUNDING = 2**8


@final
@dataclass(frozen=True, slots=True)
class Tolerance:
    """The allowed error of a rule.

    Attributes:
        eps: Unit round-off of the coarsest dtype in play.
        rtol: The user's relative tolerance, or None.
        atol: The user's absolute tolerance.
    """

    eps: float
    rtol: float | None = None
    atol: float = 0.0

    @property
    def relative(self) -> float:
        """The relative tolerance that applies."""
        return self.eps ** (2 / 3) if self.rtol is None else self.rtol

    def excess(
        self, actual: Any, expected: Any, error: Any = 0.0, scale: Any = None
    ) -> Vector:
        """The difference of two vectors beyond the tolerance; positive is wrong.

        Args:
            actual: What the rule gives.
            expected: The reference.
            error: Error bound of the reference.
            scale: Sizes for the relative tolerance; by default each component's own, in
                addition to the round-off that sums leave in all of them.
        """
        actual, expected = np.atleast_1d(actual), np.atleast_1d(expected)
        with np.errstate(all="ignore"):
            if scale is None:
                scale = np.maximum(np.abs(actual), np.abs(expected))
                error = error + ROUNDING * self.eps * largest(actual, expected)
            allowed = self.relative * np.asarray(scale) + self.atol + np.asarray(error)
            excess = np.abs(actual - expected) - allowed
        equal = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
        excess = np.where(equal, -1.0, excess)
        return np.where(np.isnan(excess), np.inf, excess)

    def differs(self, actual: Vector, expected: Vector) -> int | None:
        """Index of the worst component that differs beyond tolerance, or None."""
        return worst(self.excess(actual, expected))


def worst(excess: Vector) -> int | None:
    """Index of the largest excess, None where none is positive."""
    if excess.size == 0 or not np.any(excess > 0):
        return None
    return worst_of(excess)


def worst_of(excess: Vector) -> int:
    """Index of the first component that is, up to rounding, as bad as the worst.

    Differences have noise, which would choose another of equal ones on each machine.
    """
    most = np.max(excess)
    return int(np.argmax(excess >= 0.999 * most if most > 0 else excess == most))


def largest(*vectors: Vector) -> float:
    """The largest finite size among all components."""
    sizes = np.abs(np.concatenate([np.ravel(v) for v in vectors]))
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
