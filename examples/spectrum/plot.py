"""The picture: counts and fit around both lines, and residuals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.spectrum.model import COUNTS, DETUNING, counts

__all__ = ["draw"]

STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE = "#1f5fa8"


def draw(theta: Any, path: Path) -> None:
    """Write the spectrum as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.5), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True, sharey="row", height_ratios=(3, 1))
        for column, mean, read, title in zip(
            axes.T, counts(theta), COUNTS, ("D₂ 588.995 nm", "D₁ 589.592 nm"),
            strict=True,
        ):  # fmt: skip
            column[0].plot(DETUNING, read, ".", color="0.4", ms=4, label="counts")
            column[0].plot(DETUNING, mean, color=BLUE, label="Voigt profile")
            column[0].set_title(title)
            column[1].plot(
                DETUNING, (read - mean) / np.sqrt(mean), ".", color="0.4", ms=4
            )
            column[1].set(xlabel="detuning / pm")
        axes[0, 0].set_ylabel("counts")
        axes[0, 0].legend(frameon=False)
        axes[1, 0].set_ylabel("residual / σ")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
