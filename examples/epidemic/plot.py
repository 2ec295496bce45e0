"""The picture: the epidemic day by day, and what is known of its rates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from examples.epidemic.fit import Fit
from examples.epidemic.model import ill
from examples.epidemic.record import DAYS, IN_BED

__all__ = ["draw"]

STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE, ORANGE = "#1f5fa8", "#b3541e"
WIDE = 2.4477  # of the ellipse that holds 95 % of two normal numbers


def draw(one: Fit, path: Path) -> None:
    """Write record, fit and errors as PNG."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 4.5), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _days(left, one)
        _rates(right, one)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _days(axes: Any, one: Fit) -> None:
    fitted, J = ill(one.theta), one.jacobian
    # Residuals are twice the roots: so are their errors.
    spread = np.sqrt(np.einsum("ij,jk,ik->i", J, one.covariance, J)) / 2
    low, high = ((np.sqrt(fitted) + k * spread) ** 2 for k in (-1.96, 1.96))
    axes.fill_between(DAYS, low, high, color=BLUE, alpha=0.25, label="95 % band")
    axes.plot(DAYS, fitted, color=BLUE, label="model")
    axes.plot(DAYS, IN_BED, "o", color=ORANGE, label="counted")
    axes.set_title("Influenza in a boarding school, 1978")
    axes.set_xlabel("day")
    axes.set_ylabel("boys in bed")
    axes.legend(frameon=False)


def _rates(axes: Any, one: Fit) -> None:
    rates = np.exp(one.theta[:2])
    covariance = one.covariance[:2, :2] * np.outer(rates, rates)
    sizes, turns = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(turns[1, 1], turns[0, 1]))
    width, height = 2 * WIDE * np.sqrt(sizes[::-1])
    axes.add_patch(
        Ellipse(tuple(rates), width, height, angle=angle, color=BLUE, alpha=0.25)
    )
    axes.plot(*rates, "o", color=BLUE)
    axes.autoscale_view()
    axes.set_title("The rates, with their 95 % region", fontsize=10)
    axes.set_xlabel("contacts that infect / (1/day)")
    axes.set_ylabel("recovery / (1/day)")
