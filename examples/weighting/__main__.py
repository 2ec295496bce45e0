"""Design a filter for sound levels by its gradient through `sosfilt`, in JAX.

python -m examples.weighting [--output DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from examples._common.differences import gradient
from examples._common.jax_host import JaxHost
from examples._common.minimise import minimised
from examples._common.report import check_gradients, picture, row
from examples.weighting.model import START, TONES, gain, levels, loss, sections
from examples.weighting.plot import draw


def main() -> int:
    """Run the demonstration; 0 if the filter is within a tenth of a decibel."""
    return run(picture("examples.weighting", __doc__))


def run(path: Path) -> int:
    """Design the filter, report, and write the picture to `path`."""
    host = JaxHost(loss, steps=400, flat=1e-7, change=1e-12)
    check_gradients([host], START, gradient(lambda x: float(loss(x)), START, 1e-5))
    theta, evaluations = minimised(host, START)
    row("\nlargest error / dB", "20 kHz", "below 10 kHz")
    low, worst = TONES < 10_000, 0.0
    for name, x in (("bilinear transform", START), ("fitted", theta)):
        error = np.abs(np.asarray(levels(x)) - gain(TONES))
        worst = error.max()
        row(name, f"{worst:.3f}", f"{error[low].max():.3f}")
    radius = max(abs(np.roots(s[3:])).max() for s in np.asarray(sections(theta)))
    row("largest pole", f"{radius:.4f}")
    row("evaluations by L-BFGS", evaluations)
    draw(theta, path)
    print(f"\nPicture: {path}")
    return int(worst > 0.1 or radius >= 1)


if __name__ == "__main__":
    sys.exit(main())
