"""How often a product was zero because zeros are strong, on values: for AD systems."""

from typing import Any

from rules_core._tangents.leaves import is_numpy

__all__ = ["note_strong_zeros", "strong_zeros_met"]

_met = [0]


def strong_zeros_met() -> int:
    """How often a zero met an infinite partial derivative, or NaN, until now.

    In forward mode a zero is strong only where nothing moves: an AD system that knows
    the difference asks before and after a pass.

    >>> import numpy as np
    >>> from rules_core import NoTangent, frule
    >>> from rules_core.extend import strong_zeros_met
    >>> before = strong_zeros_met()
    >>> with np.errstate(divide="ignore"):
    ...     _, dy = frule((NoTangent(), 0.0), np.sqrt, 0.0)
    >>> float(dy), strong_zeros_met() - before
    (0.0, 1)
    """
    return _met[0]


def note_strong_zeros(dead: Any) -> None:
    """Note such a product.

    Args:
        dead: Where it is zero for that reason; of NumPy, or a truth.

    >>> import numpy as np
    >>> from rules_core.extend import note_strong_zeros, strong_zeros_met
    >>> before = strong_zeros_met()
    >>> note_strong_zeros(np.array([False, True]))
    >>> note_strong_zeros(np.array([False, False]))
    >>> strong_zeros_met() - before
    1
    """
    if dead is True or (is_numpy(dead) and dead.any()):
        _met[0] += 1
