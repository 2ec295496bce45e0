"""The picture: the weighting, and the errors of both filters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.weighting.model import RATE, START, TONES, gain, levels

__all__ = ["draw"]

STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE = "#1f5fa8", "#b3541e"


def draw(theta: Any, path: Path) -> None:
    """Write the responses as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2)
        usual, found = np.asarray(levels(START)), np.asarray(levels(theta))
        left.semilogx(
            TONES, gain(TONES), color="0.3", lw=4, alpha=0.4, label="IEC 61672"
        )
        left.semilogx(TONES, usual, color=ORANGE, label="bilinear transform")
        left.semilogx(TONES, found, color=BLUE, label="fitted")
        left.set(xlabel="frequency / Hz", ylabel="gain / dB")
        left.legend(frameon=False)
        right.semilogx(TONES, usual - gain(TONES), color=ORANGE)
        right.semilogx(TONES, found - gain(TONES), color=BLUE)
        right.set(xlabel="frequency / Hz", ylabel="error / dB", ylim=(-4, 1))
        right.set_title(f"at {RATE // 1000} kHz")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)
