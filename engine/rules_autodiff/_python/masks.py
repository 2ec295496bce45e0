"""The mask `where=` as booleans: NumPy takes anything that it can safely make one of.

Used as an index, `[1, 0, 1]` would mean entries by number.
"""

from typing import Any

import numpy as np

__all__ = ["mask_of_copyto", "mask_of_ufunc"]


def mask_of_ufunc(where: Any, shape: tuple[int, ...]) -> Any:
    """A ufunc's mask over an output of a shape; what NumPy refuses it refuses here."""
    mask = np.zeros(shape, bool)
    return np.logical_not(mask, out=mask, where=where)


def mask_of_copyto(where: Any, shape: tuple[int, ...]) -> Any:
    """The same for `numpy.copyto`, which words its errors otherwise."""
    mask = np.zeros(shape, bool)
    np.copyto(mask, src=True, where=where)
    return mask
