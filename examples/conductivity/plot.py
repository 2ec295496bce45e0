"""The picture: the plate, its temperature, and what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from examples.conductivity.model import READINGS, SIDE, TRUE

__all__ = ["draw"]


def draw(found: Any, path: Path) -> None:
    """Write the three fields as PNG."""
    with mpl.rc_context({"font.size": 10}):
        figure = Figure(figsize=(11, 3.6), layout="constrained")
        axes = figure.subplots(1, 3)
        limits = {"vmin": np.exp(TRUE.min()), "vmax": np.exp(TRUE.max())}
        _field(figure, axes[0], np.exp(TRUE), "conductivity", norm="log", **limits)
        _field(figure, axes[1], READINGS, "temperature, as read", cmap="inferno")
        _field(figure, axes[2], np.exp(found), "found", norm="log", **limits)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _field(figure: Any, axes: Any, values: Any, title: str, **options: Any) -> None:
    image = axes.imshow(values.reshape(SIDE, SIDE), origin="lower", **options)
    axes.set(title=title, xticks=[], yticks=[])
    figure.colorbar(image, ax=axes)
