"""Lay one image on another through `map_coordinates`, in PyTorch.

python -m examples.registration [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from examples._common.differences import gradient
from examples._common.minimise import minimised
from examples._common.report import check_gradients, picture, row
from examples._common.torch_host import TorchHost
from examples.registration.model import FIXED, MOVING, START, TRUE, loss, moved
from examples.registration.plot import draw

NAMES = {"angle / degrees": 180 / np.pi, "logarithm of the scale": 1.0,
         "shift down / pixels": 1.0, "shift right / pixels": 1.0}  # fmt: skip


def main() -> int:
    """Run the demonstration; 0 if the motion was found."""
    return run(picture("examples.registration", __doc__))


def run(path: Path) -> int:
    """Find the motion, report, and write the picture to `path`."""
    host = TorchHost(loss, steps=60, flat=1e-7, change=1e-12)
    check_gradients([host], START, gradient(lambda x: float(loss(x)), START, 1e-3))
    theta, evaluations = minimised(host, START)
    row("\nmotion", "true", "found")
    for i, (name, unit) in enumerate(NAMES.items()):
        row(name, f"{TRUE[i] * unit:.3f}", f"{theta[i] * unit:.3f}")
    before, after = [np.std(image - FIXED) for image in (MOVING, moved(MOVING, theta))]
    row("difference of the images", f"{before:.3f}", f"{after:.3f}")
    row("evaluations by L-BFGS", evaluations)
    draw(theta, path)
    print(f"\nPicture: {path}")
    return int(np.abs(theta - TRUE).max() > 0.1)


if __name__ == "__main__":
    sys.exit(main())
