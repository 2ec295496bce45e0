"""A spline through standards, fitted by SciPy: a plain program for NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import curve_fit

__all__ = ["DOSES", "KNOTS", "NOISE", "SIGNALS", "calibrated", "curve", "dose_of"]

# A detector that saturates, read at known doses (in gray).
KNOTS = np.linspace(0.0, 10.0, 5)
DOSES = np.linspace(0.0, 10.0, 16)
NOISE = np.full(DOSES.size, 0.03)
SIGNALS = 2.0 * DOSES / (3.0 + DOSES)
SIGNALS = SIGNALS + NOISE * np.random.default_rng(3).normal(size=DOSES.size)


def curve(dose: Any, *heights: Any) -> Any:
    """The cubic spline with these heights at the knots."""
    return make_interp_spline(KNOTS, np.array(heights))(dose)


def calibrated(signals: Any, noise: Any) -> tuple[Any, Any]:
    """The heights of the curve through the standards, and their covariance."""
    start = np.ones(KNOTS.size)
    return curve_fit(curve, DOSES, signals, p0=start, sigma=noise, absolute_sigma=True)


def dose_of(signal: float, signals: Any, noise: Any) -> tuple[Any, Any]:
    """The dose at which the curve has a signal, and its standard deviation.

    Errors of the heights move the curve, and the dose by its slope.
    """
    heights, covariance = calibrated(signals, noise)
    spline = make_interp_spline(KNOTS, heights - signal)
    dose = _root(spline)
    by_heights = make_interp_spline(KNOTS, np.eye(KNOTS.size))(dose)
    height = np.sqrt(by_heights @ covariance @ by_heights)
    return dose, height / spline(dose, 1)


def _root(spline: Any) -> Any:
    """By Newton's method: the curve rises."""
    dose = 3.0
    for _ in range(8):
        dose = dose - spline(dose) / spline(dose, 1)
    return dose
