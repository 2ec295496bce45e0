"""The monthly record, as whole months since its first one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CSV = Path(__file__).parent / "data" / "mauna_loa_monthly.csv"


@dataclass(frozen=True)
class Record:
    """Monthly means.

    Attributes:
        month: Months since the first one, integers of shape (n,), with gaps.
        co2: Mole fraction in ppm, shape (n,).
        start: Time of month 0 as a decimal year.
    """

    month: Any
    co2: Any
    start: float

    def years(self, month: Any) -> Any:
        """Decimal years of months."""
        return self.start + np.asarray(month) / 12

    def first(self, n: int) -> Record:
        """The first `n` entries."""
        return Record(self.month[:n], self.co2[:n], self.start)


def load() -> Record:
    """Read the record shipped beside this file."""
    lines = CSV.read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if not line.startswith(("#", "year"))]
    year, month, co2, _ = np.array(rows, dtype=float).T
    count = np.rint(12 * year + month).astype(int)
    return Record(count - count[0], co2, float(year[0] + (month[0] - 0.5) / 12))
