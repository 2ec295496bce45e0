"""The picture: both images, and their difference before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from examples.registration.model import FIXED, MOVING, moved

__all__ = ["draw"]


def draw(theta: Any, path: Path) -> None:
    """Write the images as PNG."""
    images = {
        "first": (FIXED, {"cmap": "gray", "vmin": 0, "vmax": 1}),
        "second": (MOVING, {"cmap": "gray", "vmin": 0, "vmax": 1}),
        "difference": (MOVING - FIXED, _DIFFERENCE),
        "after registration": (moved(MOVING, theta) - FIXED, _DIFFERENCE),
    }
    with mpl.rc_context({"font.size": 10}):
        figure = Figure(figsize=(11, 3.1), layout="constrained")
        for axes, (title, (image, options)) in zip(
            figure.subplots(1, 4), images.items(), strict=True
        ):
            axes.imshow(image, **options)
            axes.set(title=title, xticks=[], yticks=[])
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


_DIFFERENCE: Any = {"cmap": "RdBu", "vmin": -0.8, "vmax": 0.8}
