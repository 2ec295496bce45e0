"""The reference: finite differences of a loss in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["gradient"]


def gradient(loss: Callable[[Any], float], theta: Any, step: float) -> Any:
    """The gradient of `loss` at `theta`, by differences of fourth order."""

    def along(i: int, distance: float) -> float:
        shift = np.zeros_like(theta)
        shift[i] = distance
        return loss(theta + shift)

    def slope(i: int) -> float:
        near = along(i, step) - along(i, -step)
        far = along(i, 2 * step) - along(i, -2 * step)
        return (8 * near - far) / (12 * step)

    return np.array([slope(i) for i in range(len(theta))])
