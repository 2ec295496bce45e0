"""The sodium doublet of a flame, as counted by a spectrometer: a program for NumPy.

The counts are synthetic: drawn from the line widths that physics gives for a flame of
known temperature. A line is a Voigt profile, the Gaussian of the Doppler effect and of
the spectrometer convolved with the Lorentzian of collisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import voigt_profile

__all__ = [
    "COUNTS",
    "DETUNING",
    "NAMES",
    "START",
    "TRUE",
    "counts",
    "logarithms",
    "loss",
    "quantities",
    "widths",
]

# Wavelengths of the D lines in air / pm, from the NIST atomic spectra database.
_D2, _D1 = 588_995.095, 589_592.424
_SPEED, _BOLTZMANN, _MASS = 299_792_458.0, 1.380649e-23, 22.98977 * 1.66053907e-27

# Two windows around the lines, by an etalon with steps of a quarter picometre.
DETUNING = np.arange(-24.0, 24.25, 0.25)  # pm
NAMES = ("temperature / K", "collision width / pm", "D2 / counts", "D1 / counts",
         "shift / pm", "background / counts")  # fmt: skip
TRUE = np.array([2200.0, 1.6, 9000.0, 4600.0, 0.35, 60.0])
START = np.array([1200.0, 0.8, 5000.0, 5000.0, 0.0, 100.0])


def widths(temperature: Any) -> tuple[Any, Any]:
    """The standard deviations of the Doppler shifts of both lines / pm."""
    speed = np.sqrt(_BOLTZMANN * temperature / _MASS) / _SPEED
    return _D2 * speed, _D1 * speed


def counts(theta: Any) -> Any:
    """The expected counts around both lines, (2, places)."""
    temperature, collisions, strong, weak, shift, background = theta
    first, second = widths(temperature)
    at = DETUNING - shift
    return np.stack([
        strong * voigt_profile(at, first, collisions) + background,
        weak * voigt_profile(at, second, collisions) + background,
    ])  # fmt: skip


COUNTS = np.random.default_rng(589).poisson(counts(TRUE)).astype(float)


def loss(log_theta: Any) -> Any:
    """The negative logarithm of Poisson's likelihood, up to a constant.

    Args:
        log_theta: Logarithms of the quantities, but the shift itself.
    """
    mean = counts(quantities(log_theta))
    return np.sum(mean - COUNTS * np.log(mean))


_SHIFT = 4


def quantities(log_theta: Any) -> Any:
    """The quantities themselves."""
    is_shift = np.arange(log_theta.size) == _SHIFT
    return np.where(is_shift, log_theta, np.exp(np.where(is_shift, 0.0, log_theta)))


def logarithms(theta: Any) -> Any:
    """What is fitted."""
    is_shift = np.arange(theta.size) == _SHIFT
    return np.where(is_shift, theta, np.log(np.where(is_shift, 1.0, theta)))
