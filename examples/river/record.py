"""What the gauges saw: a river of which the truth is known, read with errors.

There is no public record of a spill whose truth is known as well. The readings are
made here: two spills on top of a leak, a decay of 0.7 per day, and independent errors
of each gauge, normal with a standard deviation of 0.05 g/m³ and 3 % of the value, from
NumPy's generator PCG64 with seed 1978.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from examples.river.model import simulate

__all__ = ["DECAY", "HOURS", "Record", "make", "truth"]

HOURS, DECAY = 30, 0.7  # and per day
FLOOR, SHARE, SEED = 0.05, 0.03, 1978


@dataclass(frozen=True)
class Record:
    """Readings.

    Attributes:
        seen: In g/m³, shape (2 hours, 3).
        deviation: Standard deviations of their errors, as the gauges' makers tell.
    """

    seen: Any
    deviation: Any

    @property
    def hours(self) -> int:
        """How long it is."""
        return len(self.seen) // 2


def truth(hours: int = HOURS) -> Any:
    """What was let out, in kg/s, shape (hours,)."""
    release = np.full(hours, 0.2)
    release[4:7] = 6.0
    release[15:20] = 2.5
    return release


def make(hours: int = HOURS) -> Record:
    """The record; the same at every call."""
    clean = simulate(truth(hours), DECAY)
    deviation = FLOOR + SHARE * clean
    errors = np.random.default_rng(SEED).standard_normal(clean.shape)
    return Record(clean + deviation * errors, deviation)
