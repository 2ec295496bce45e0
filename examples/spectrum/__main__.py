"""Fit Voigt profiles to the sodium lines of a flame, and read its temperature.

python -m examples.spectrum [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from examples._common.differences import gradient
from examples._common.report import picture, row
from examples.spectrum.model import (
    COUNTS,
    NAMES,
    START,
    TRUE,
    counts,
    logarithms,
    loss,
    quantities,
)
from examples.spectrum.plot import draw
from rules_autodiff import grad, hessian, value_and_grad


def main() -> int:
    """Run the demonstration; 0 if the quantities are those of the flame."""
    return run(picture("examples.spectrum", __doc__))


def run(path: Path) -> int:
    """Fit the lines, report, and write the picture to `path`."""
    start = logarithms(START)
    known = gradient(loss, start, 1e-3)
    apart = np.abs(grad(loss)(start) - known).max() / np.abs(known).max()
    found = minimize(value_and_grad(loss), start, jac=True, method="BFGS")
    theta = quantities(found.x)
    # The curvature of the likelihood, from logarithms to the quantities.
    slopes = np.where(theta == found.x, 1.0, theta)
    errors = slopes * np.sqrt(np.diag(np.linalg.inv(hessian(loss)(found.x))))
    row("synthetic flame", "true", "found", "std. error")
    for name, *numbers in zip(NAMES, TRUE, theta, errors, strict=True):
        row(name, *(f"{x:.4g}" for x in numbers))
    mean = counts(theta)
    row(
        "\nχ² per degree",
        f"{np.sum((COUNTS - mean) ** 2 / mean) / (COUNTS.size - 6):.3f}",
    )
    row("gradient and differences", f"{apart:.0e}")
    draw(theta, path)
    print(f"\nPicture: {path}")
    far = np.abs(theta - TRUE) / errors
    return int(apart > 1e-6 or far.max() > 4)


if __name__ == "__main__":
    sys.exit(main())
