"""A tidal river in plain NumPy, and how well a release explains what gauges saw.

The concentration c of a dissolved substance along the river obeys

    ∂c/∂t + ∂(u c - D ∂c/∂x)/∂x = q δ(x - x₀) / A - k c

The tide turns the current u back and forth, so that a gauge sees one spill several
times, from both sides. Nothing here knows JAX, PyTorch or derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DX", "GAUGES", "JUMP", "OUTLET", "SPREAD", "prior", "simulate"]

CELLS, LENGTH = 40, 20e3  # m
DX = LENGTH / CELLS
SECTION = 180.0  # m², the river's cross-section
DISPERSION = 30.0  # m²/s
DT = 600.0  # s
PER_HOUR = round(3600 / DT)
EVERY = PER_HOUR // 2  # steps between two readings
MEAN_FLOW, TIDE, PERIOD = 0.10, 0.65, 12.42  # m/s, m/s, h: the lunar semidiurnal tide

OUTLET = 16  # cell of the suspected outlet, 8 km down
GAUGES = (10, 21, 30)  # cells, counted from the landward end


def current(hour: float) -> float:
    """Velocity in m/s, towards the sea if positive."""
    return float(MEAN_FLOW + TIDE * np.cos(2 * np.pi * hour / PERIOD))


def simulate(release: Any, decay: Any) -> Any:
    """Readings of the gauges every half hour, in g/m³, shape (2 hours, 3).

    Args:
        release: What the outlet lets out in each hour, in kg/s, shape (hours,).
        decay: Rate of decay per day.
    """
    c = np.zeros(CELLS)
    flux = np.zeros(CELLS + 1)  # through the walls of the cells
    seen = np.zeros((2 * len(release), len(GAUGES)))
    for step in range(len(release) * PER_HOUR):
        u = current(step / PER_HOUR)
        # Upwind: what flows through a wall is the water of the side that it comes from.
        if u >= 0:
            flux[0] = 0.0  # the river brings clean water
            flux[1:] = u * c
        else:
            flux[:-1] = u * c
            flux[-1] = 0.0  # and so does the sea
        flux[1:-1] -= DISPERSION / DX * (c[1:] - c[:-1])
        c -= DT / DX * (flux[1:] - flux[:-1])
        c[OUTLET] += 1e3 * DT / (SECTION * DX) * release[step // PER_HOUR]
        c *= 1.0 - DT / 86400 * decay
        if (step + 1) % EVERY == 0:
            seen[step // EVERY] = c[list(GAUGES)]
    return seen


# What is fitted: logarithms, so that releases and rate stay positive. Beforehand a
# release is thought to be about 1 kg/s within a factor of twenty, and to change from
# hour to hour by a factor of about three; the rate to be about 1 per day.
JUMP, SPREAD = 1.1, 3.0


def prior(theta: Any) -> Any:
    """Minus the logarithm of the prior of `(*releases, decay)`, in any host."""
    jumps, sizes = (theta[1:-1] - theta[:-2]) / JUMP, theta[:-1] / SPREAD
    return 0.5 * ((jumps * jumps).sum() + (sizes * sizes).sum() + theta[-1] ** 2)
