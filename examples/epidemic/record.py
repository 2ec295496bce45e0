"""The record: how many boys of a boarding school were in bed with influenza.

An outbreak of 1978 among 763 boys in the north of England, counted every day; from
"Influenza in a boarding school", British Medical Journal 1 (1978), p. 587.
"""

from __future__ import annotations

import numpy as np

__all__ = ["DAYS", "IN_BED", "PUPILS"]

PUPILS = 763
IN_BED = np.array(
    [3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], dtype=np.float64
)
DAYS = np.arange(14.0)
