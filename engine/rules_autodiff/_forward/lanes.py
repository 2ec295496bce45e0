"""`jacfwd` runs a rule once per tangent: the runs must agree.

They see one random state, and their results are compared.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._refusals import name_of, refused
from rules_autodiff._shadows.memory import same_entries

__all__ = ["check_equal", "nothing", "rewinder"]


def rewinder(f: Any, args: tuple[Any, ...]) -> Callable[[], None]:
    """A function that sets a call's random generator back to its present state."""
    owner = getattr(f, "__self__", args[0] if args else None)
    if isinstance(owner, np.random.Generator):
        bits = owner.bit_generator
        state = bits.state
        return lambda: setattr(bits, "state", state)
    if isinstance(owner, np.random.RandomState):
        legacy = owner.get_state()
        return lambda: owner.set_state(legacy)
    if isinstance(owner, random.Random):
        own = owner.getstate()
        return lambda: owner.setstate(own)
    return nothing


def nothing() -> None:
    """Most functions have no state."""


def check_equal(first: Any, last: Any, f: Any) -> None:
    """Refuse a rule whose results for one call differ."""
    if isinstance(first, np.ndarray | np.inexact | float | complex):
        one, other = np.asarray(first), np.asarray(last)
        if one.shape != other.shape or not same_entries(one, other):
            refused("impure", name_of(f))
