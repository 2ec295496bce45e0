"""A phantom of a head, moved and read again, and the loss of laying one on the other.

The ellipses are those of Shepp and Logan (1974), with the contrast of Toft (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.ndimage import gaussian_filter, map_coordinates

__all__ = ["FIXED", "MOVING", "SIDE", "START", "TRUE", "loss", "moved"]

SIDE = 96
# Brightness, half axes, centre, and angle in degrees.
_ELLIPSES = [
    (1.0, 0.69, 0.92, 0.0, 0.0, 0), (-0.8, 0.6624, 0.874, 0.0, -0.0184, 0),
    (-0.2, 0.11, 0.31, 0.22, 0.0, -18), (-0.2, 0.16, 0.41, -0.22, 0.0, 18),
    (0.1, 0.21, 0.25, 0.0, 0.35, 0), (0.1, 0.046, 0.046, 0.0, 0.1, 0),
    (0.1, 0.046, 0.046, 0.0, -0.1, 0), (0.1, 0.046, 0.023, -0.08, -0.605, 0),
    (0.1, 0.023, 0.023, 0.0, -0.606, 0), (0.1, 0.023, 0.046, 0.06, -0.605, 0),
]  # fmt: skip


def phantom(side: int) -> Any:
    """The head, looked at from above."""
    y, x = np.mgrid[1 : -1 : 1j * side, -1 : 1 : 1j * side]
    image = np.zeros((side, side))
    for bright, a, b, x0, y0, degrees in _ELLIPSES:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        u, v = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        image += bright * ((u / a) ** 2 + (v / b) ** 2 <= 1)
    return image


_MIDDLE = (SIDE - 1) / 2
_GRID = np.mgrid[:SIDE, :SIDE] - _MIDDLE


def moved(image: Any, theta: Any) -> Any:
    """The image turned, enlarged and shifted.

    Args:
        image: The image.
        theta: The angle in radians, the logarithm of the scale, the shift in pixels.
    """
    xp = rc.array_namespace(image, theta)
    rows, columns = xp.asarray(_GRID[0]), xp.asarray(_GRID[1])
    size = xp.exp(theta[1])
    c, s = size * xp.cos(theta[0]), size * xp.sin(theta[0])
    places = xp.stack([
        c * rows - s * columns + theta[2] + _MIDDLE,
        s * rows + c * columns + theta[3] + _MIDDLE,
    ])  # fmt: skip
    return map_coordinates(image, places, order=3, mode="nearest")


TRUE = np.array([0.2, 0.06, 4.0, -5.5])
START = np.zeros(4)
_RNG = np.random.default_rng(2)
_HEAD = gaussian_filter(phantom(SIDE), 0.7)
FIXED = moved(_HEAD, TRUE) + 0.02 * _RNG.normal(size=(SIDE, SIDE))
MOVING = _HEAD + 0.02 * _RNG.normal(size=(SIDE, SIDE))
_BLUR = 2.0
_SMOOTH = gaussian_filter(FIXED, _BLUR)
_START = gaussian_filter(MOVING, _BLUR)


def loss(theta: Any) -> Any:
    """The mean square of the difference of the blurred images, in percent."""
    xp = rc.array_namespace(theta)
    gap = moved(xp.asarray(_START), theta) - xp.asarray(_SMOOTH)
    return 100 * xp.mean(gap**2)
