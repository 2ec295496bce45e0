"""The picture: the curve with its band, and what each standard contributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import make_interp_spline

from examples.calibration.model import (
    DOSES,
    KNOTS,
    NOISE,
    SIGNALS,
    calibrated,
    curve,
    dose_of,
)

__all__ = ["draw"]

STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE = "#1f5fa8", "#b3541e"


def draw(signal: float, by_signal: Any, by_noise: Any, path: Path) -> None:
    """Write the calibration and the gradients as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.5), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _curve(left, signal)
        _gradients(right, by_signal, by_noise)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _curve(axes: Any, signal: float) -> None:
    heights, covariance = calibrated(SIGNALS, NOISE)
    doses = np.linspace(0.0, 10.0, 200)
    basis = make_interp_spline(KNOTS, np.eye(KNOTS.size))(doses)
    spread = 1.96 * np.sqrt(np.einsum("ij,jk,ik->i", basis, covariance, basis))
    middle = curve(doses, *heights)
    axes.fill_between(
        doses, middle - spread, middle + spread, color=BLUE, alpha=0.25,
        label="95 % band",
    )  # fmt: skip
    axes.plot(doses, middle, color=BLUE, label="spline")
    axes.errorbar(DOSES, SIGNALS, NOISE, fmt="o", ms=4, color="0.3", label="standards")
    dose, error = dose_of(signal, SIGNALS, NOISE)
    axes.errorbar(
        [dose], [signal], xerr=[1.96 * error], fmt="s", color=ORANGE, label="read off"
    )
    axes.set(xlabel="dose / Gy", ylabel="signal")
    axes.legend(frameon=False, loc="lower right")


def _gradients(axes: Any, by_signal: Any, by_noise: Any) -> None:
    width = 0.3
    axes.bar(DOSES - width / 2, by_signal, width, color=BLUE, label="dose by signal")
    axes.bar(DOSES + width / 2, by_noise, width, color=ORANGE, label="error by noise")
    axes.axhline(0.0, color="0.3", lw=0.8)
    axes.set(xlabel="standard at dose / Gy", ylabel="derivative")
    axes.legend(frameon=False)
