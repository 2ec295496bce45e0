"""The calibration in JAX and in PyTorch: the program of `model`, in array-API code."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

import rules_core as rc
from examples.calibration.model import DOSES, KNOTS, NOISE, SIGNALS
from rules_scipy.interpolate import make_interp_spline
from rules_scipy.optimize import curve_fit

__all__ = ["dose_of", "in_jax", "in_torch"]


BASIS = make_interp_spline(KNOTS, np.eye(KNOTS.size))(DOSES)


def curve(_: Any, *heights: Any) -> Any:
    """The cubic spline with these heights at the knots, at the doses of standards.

    A solver calls it in NumPy, where a spline is not made anew: it is linear.
    """
    xp = rc.array_namespace(*heights)
    return xp.asarray(BASIS) @ xp.stack(heights)


def dose_of(signal: float, signals: Any, noise: Any) -> tuple[Any, Any]:
    """The dose at which the curve has a signal, and its standard deviation."""
    xp, start = rc.array_namespace(noise), np.ones(KNOTS.size)
    heights, covariance = curve_fit(
        curve, DOSES, signals, p0=start, sigma=noise, absolute_sigma=True
    )
    spline = make_interp_spline(KNOTS, heights - signal)
    dose = 3.0 + 0.0 * heights[0]
    for _ in range(8):  # Newton's method: the curve rises
        dose = dose - spline(dose) / spline(dose, 1)
    by_heights = make_interp_spline(KNOTS, xp.eye(KNOTS.size, dtype=dose.dtype))(dose)
    height = xp.sqrt(by_heights @ covariance @ by_heights)
    return dose, height / spline(dose, 1)


def in_jax(signal: float) -> Any:
    """The gradient of the standard deviation in the noise, compiled by JAX."""
    with jax.enable_x64(True):
        gradient = jax.grad(lambda noise: dose_of(signal, SIGNALS, noise)[1])
        return np.asarray(jax.jit(gradient)(jnp.asarray(NOISE)))


def in_torch(signal: float) -> Any:
    """The gradient of the standard deviation in the noise, by PyTorch."""
    noise = torch.tensor(NOISE, requires_grad=True)
    loss = dose_of(signal, torch.tensor(SIGNALS), noise)[1]
    loss.backward()  # type: ignore[no-untyped-call]  # PyTorch has no type for it
    return np.asarray(noise.grad)
