"""The picture: record, fit and forecast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.co2.model import predict
from examples.co2.record import Record

FORECAST = 12 * 14  # months beyond the record
STYLE: Any = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
BLUE, GREY = "#1f5fa8", "#555555"


def draw(record: Record, theta: Any, path: Path) -> None:
    """Write data, mean and 95 % band of the fit as PNG."""
    months = np.arange(record.month[-1] + FORECAST + 1)
    mean, deviation = predict(theta, record, months)
    years = record.years(months)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 7.5), layout="constrained")
        above, left, right = _axes(figure)
        _series(above, record, years, mean, deviation)
        above.set_title(
            "Atmospheric CO₂ at Mauna Loa: Gaussian process, Matérn kernels"
        )
        above.set_ylabel("CO₂ / ppm")
        above.legend(loc="upper left", frameon=False)
        _zoom(left, record, years, mean, deviation)
        _residuals(right, record, mean)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _axes(figure: Any) -> Any:
    grid = figure.add_gridspec(2, 2, height_ratios=(3, 2))
    places = grid[0, :], grid[1, 0], grid[1, 1]
    return [figure.add_subplot(place) for place in places]


def _series(axes: Any, record: Record, years: Any, mean: Any, deviation: Any) -> None:
    last = record.years(record.month[-1])
    axes.fill_between(
        years,
        mean - 1.96 * deviation,
        mean + 1.96 * deviation,
        color=BLUE,
        alpha=0.25,
        linewidth=0,
        label="95 % band, without noise",
    )
    axes.plot(years, mean, color=BLUE, linewidth=1, label="posterior mean")
    axes.plot(
        record.years(record.month),
        record.co2,
        ".",
        color="black",
        markersize=2.5,
        label="monthly means",
    )
    axes.axvline(
        last, color=GREY, linewidth=0.8, linestyle=":", label="end of the record"
    )
    axes.margins(x=0.01)
    axes.set_xlabel("year")


def _zoom(axes: Any, record: Record, years: Any, mean: Any, deviation: Any) -> None:
    _series(axes, record, years, mean, deviation)
    last = record.years(record.month[-1])
    shown = (years > last - 4) & (years < last + 6)
    low, high = mean[shown] - 2 * deviation[shown], mean[shown] + 2 * deviation[shown]
    axes.set_xlim(last - 4, last + 6)
    axes.set_ylim(low.min() - 0.5, high.max() + 0.5)
    axes.set_title("The end of the record and the forecast", fontsize=10)
    axes.set_ylabel("CO₂ / ppm")


def _residuals(axes: Any, record: Record, mean: Any) -> None:
    rest = record.co2 - mean[record.month]
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.plot(record.years(record.month), rest, ".", color="black", markersize=2.5)
    axes.set_title(f"Monthly means less fit: {rest.std():.2f} ppm r.m.s.", fontsize=10)
    axes.set_ylabel("residual / ppm")
    axes.set_xlabel("year")
    axes.margins(x=0.01)
