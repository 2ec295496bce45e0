"""Calibrate a detector by a spline, and ask which standards to measure again.

python -m examples.calibration [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from examples._common.report import picture, row
from examples.calibration.frameworks import in_jax, in_torch
from examples.calibration.model import DOSES, NOISE, SIGNALS, dose_of
from examples.calibration.plot import draw
from rules_autodiff import grad

SIGNAL = 1.2


def main() -> int:
    """Run the demonstration; 0 if gradients agree with differences."""
    return run(picture("examples.calibration", __doc__))


def run(path: Path) -> int:
    """Calibrate, differentiate, compare, and write the picture to `path`."""
    dose, error = dose_of(SIGNAL, SIGNALS, NOISE)
    row("dose / Gy at the signal 1.2", f"{dose:.3f} ± {error:.3f}")
    by_noise = grad(spread)(NOISE)
    by_signal = grad(lambda signals: dose_of(SIGNAL, signals, NOISE)[0])(SIGNALS)
    best = int(np.argmax(by_noise))
    row("measure again the dose", f"{DOSES[best]:.2f}")
    row("error if twice as exact", f"{spread(halved(best)):.4f}")
    apart = np.abs(by_noise - differences(spread, NOISE)).max()
    row("gradient and differences", f"{apart:.0e} apart of {by_noise.max():.1f}")
    for name, gradient in (("JAX", in_jax), ("PyTorch", in_torch)):
        also = np.abs(gradient(SIGNAL) - by_noise).max()
        row(f"its gradient in {name}", f"{also:.0e} apart")
        apart = max(apart, also)
    draw(SIGNAL, by_signal, by_noise, path)
    print(f"\nPicture: {path}")
    return int(apart > 1e-4)


def spread(noise: Any) -> Any:
    """The standard deviation of the dose."""
    return dose_of(SIGNAL, SIGNALS, noise)[1]


def halved(i: int) -> Any:
    """The noise, if one standard is measured twice as exactly."""
    noise = NOISE.copy()
    noise[i] /= 2.0
    return noise


def differences(f: Any, x: Any, h: float = 1e-3) -> Any:
    """Central differences of order four; SciPy's covariance has eight digits."""

    def slope(step: Any) -> Any:
        near, far = f(x + step) - f(x - step), f(x + 2 * step) - f(x - 2 * step)
        return (8.0 * near - far) / (12.0 * h)

    return np.array([slope(step) for step in h * np.eye(x.size)])


if __name__ == "__main__":
    sys.exit(main())
