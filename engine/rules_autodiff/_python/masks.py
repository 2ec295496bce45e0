"""The mask `where=` as booleans: NumPy accepts everything that converts safely.

As an index, `[1, 0, 1]` would select entries by number.
"""

from typing import Any

import numpy as np

__all__ = ["mask_of_copyto", "mask_of_ufunc"]


def mask_of_ufunc(where: Any, shape: tuple[int, ...]) -> Any:
    """A ufunc's mask for an output of a shape; raises the errors that NumPy raises."""
    mask = np.zeros(shape, bool)
    return np.logical_not(mask, out=mask, where=where)


def mask_of_copyto(where: Any, shape: tuple[int, ...]) -> Any:
    """The mask of `numpy.copyto`, with its own error texts."""
    mask = np.zeros(shape, bool)
    np.copyto(mask, src=True, where=where)
    return mask
