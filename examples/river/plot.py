"""The picture: the release, what the gauges saw, and the residuals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.river.fit import Fit
from examples.river.model import DX, GAUGES, OUTLET, simulate
from examples.river.record import Record, truth

__all__ = ["draw"]

STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE, GREY = "#1f5fa8", "#555555"
COLOURS = ("#b3541e", "#1f5fa8", "#3c7a3c")


def draw(record: Record, one: Fit, path: Path) -> None:
    """Write release, readings and residuals as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 7.5), layout="constrained")
        grid = figure.add_gridspec(2, 2, width_ratios=(3, 2))
        _release(figure.add_subplot(grid[0, :]), one)
        fitted = simulate(np.exp(one.theta[:-1]), np.exp(one.theta[-1]))
        _readings(figure.add_subplot(grid[1, 0]), record, fitted)
        _residuals(figure.add_subplot(grid[1, 1]), record, fitted)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _release(axes: Any, one: Fit) -> None:
    theta, spread = one.theta[:-1], one.spread[:-1]
    edges = np.arange(len(theta) + 1)
    low, high = np.exp(theta - 1.96 * spread), np.exp(theta + 1.96 * spread)
    axes.stairs(
        high, edges, baseline=low, fill=True, color=BLUE, alpha=0.25, label="95 % band"
    )
    axes.stairs(np.exp(theta), edges, baseline=None, color=BLUE, label="found")
    axes.stairs(
        truth(len(theta)),
        edges,
        baseline=None,
        color="black",
        linestyle="--",
        label="truth",
    )
    axes.set_yscale("log")
    axes.set_title("What the outlet let into the river, found from three gauges")
    axes.set_ylabel("release / (kg/s)")
    axes.set_xlabel("time / h")
    axes.margins(x=0)
    axes.legend(frameon=False, loc="upper right")


def _readings(axes: Any, record: Record, fitted: Any) -> None:
    hours = (np.arange(len(fitted)) + 1) / 2
    for i, gauge in enumerate(GAUGES):
        away = (gauge - OUTLET) * DX / 1e3
        where = f"{abs(away):.0f} km {'seaward' if away > 0 else 'landward'}"
        axes.plot(hours, record.seen[:, i], ".", color=COLOURS[i], markersize=4)
        axes.plot(hours, fitted[:, i], color=COLOURS[i], linewidth=1, label=where)
    axes.set_title("Readings and fit", fontsize=10)
    axes.set_ylabel("concentration / (g/m³)")
    axes.set_xlabel("time / h")
    axes.margins(x=0)
    axes.legend(frameon=False)


def _residuals(axes: Any, record: Record, fitted: Any) -> None:
    rest = (record.seen - fitted) / record.deviation
    hours = (np.arange(len(fitted)) + 1) / 2
    axes.axhline(0, color=GREY, linewidth=0.8)
    for i, colour in enumerate(COLOURS):
        axes.plot(hours, rest[:, i], ".", color=colour, markersize=4)
    axes.set_title(
        f"Residuals: {rest.std():.2f} standard deviations r.m.s.", fontsize=10
    )
    axes.set_ylabel("residual / standard deviation")
    axes.set_xlabel("time / h")
    axes.margins(x=0)
