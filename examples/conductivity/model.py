"""A heated plate by SciPy's sparse solver: a plain program for NumPy.

-div(k grad u) = 1 on a square, u = 0 at its edge, by finite volumes: a flux for each
edge between two cells, by the harmonic mean of their conductivities.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

__all__ = ["NOISE", "READINGS", "SIDE", "TRUE", "loss", "temperature"]

SIDE = 32
_STEP = sp.diags_array([1.0, -1.0], offsets=[0, -1], shape=(SIDE + 1, SIDE))
_EYE = sp.eye_array(SIDE)
# Rows are edges between cells, or between a cell and the cold boundary.
DIFFERENCE = sp.vstack([sp.kron(_STEP, _EYE), sp.kron(_EYE, _STEP)]).tocsr()
_TOUCH = abs(DIFFERENCE)  # the one or two cells of each edge
HEAT = np.full(SIDE**2, 1.0 / SIDE**2)


def temperature(log_k: Any) -> Any:
    """The temperature of each cell, from the logarithm of its conductivity."""
    resistance = 0.5 * (_TOUCH @ np.exp(-log_k))
    conduct = sp.diags_array(1.0 / resistance)
    return spsolve((DIFFERENCE.T @ conduct @ DIFFERENCE).tocsc(), HEAT)


def _plate() -> Any:
    """A plate with a disc that conducts better, and a bar that conducts worse."""
    y, x = (np.mgrid[:SIDE, :SIDE] + 0.5) / SIDE
    disc = (x - 0.3) ** 2 + (y - 0.65) ** 2 < 0.04
    bar = (abs(x - 0.68) < 0.09) & (abs(y - 0.4) < 0.28)
    return (1.5 * disc - 1.5 * bar).ravel()


TRUE = _plate()
# Every cell is read, with an error of half a percent of the highest temperature.
_HOT = temperature(TRUE)
NOISE = 0.005 * _HOT.max()
READINGS = _HOT + NOISE * np.random.default_rng(1).normal(size=_HOT.size)

# Steps of the conductivity cost as much as their length: edges stay sharp.
_INNER = DIFFERENCE[np.asarray(_TOUCH.sum(axis=1)) == 2]
_WEIGHT, _ROUND = 4.0, 0.05


def loss(log_k: Any) -> Any:
    """Half the sum of squares of the misfit, and the total variation."""
    misfit = (temperature(log_k) - READINGS) / NOISE
    steps = _INNER @ log_k
    return 0.5 * misfit @ misfit + _WEIGHT * np.sum(np.sqrt(steps**2 + _ROUND**2))
