"""Find how well a plate conducts heat from its temperature, by a sparse solver.

python -m examples.conductivity [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from examples._common.minimise import by_scipy
from examples._common.report import picture, row
from examples.conductivity.model import NOISE, READINGS, SIDE, TRUE, loss, temperature
from examples.conductivity.plot import draw
from rules_autodiff import value_and_grad

FAR = 0.35  # of the logarithm of the conductivity, on average


def main() -> int:
    """Run the demonstration; 0 if the plate was found."""
    return run(picture("examples.conductivity", __doc__), steps=120)


def run(path: Path, steps: int) -> int:
    """Find the plate, compare, and write the picture to `path`."""
    print(f"{SIDE**2} unknown conductivities, {SIDE**2} readings of temperature.\n")
    start = np.zeros(SIDE**2)
    apart = check(start)
    with tqdm(unit=" evaluations") as bar:

        def step(value: float) -> None:
            bar.set_postfix(loss=f"{value:.1f}", refresh=False)
            bar.update()

        found = by_scipy(
            value_and_grad(loss), start, step, steps=steps, flat=1e-3, change=1e-9
        )
    misfit = (temperature(found) - READINGS) / NOISE
    error = np.abs(found - TRUE).mean()
    row("gradient and differences", f"{apart:.0e}")
    row("misfit / noise", f"{np.sqrt(np.mean(misfit**2)):.2f}")
    row("error of log conductivity", f"{error:.2f}")
    draw(found, path)
    print(f"\nPicture: {path}")
    return int(apart > 1e-5 or error > FAR)


def check(at: Any) -> float:
    """How far the slope in one direction is from a difference, relatively."""
    move, h = np.cos(np.arange(at.size)), 1e-4
    slope = (loss(at + h * move) - loss(at - h * move)) / (2 * h)
    return float(abs(value_and_grad(loss)(at)[1] @ move / slope - 1))


if __name__ == "__main__":
    sys.exit(main())
