"""Debug mode: does a function that nobody looks into write into memory?

What is written by C code without a mutating rule is neither followed nor undone, and
residuals may lie there. Looking costs a copy of every array that could be reached, so
it is done under `rules_core.debug_mode` alone.
"""

from typing import Any

import numpy as np

from rules_autodiff._refusals import name_of, refused
from rules_autodiff._shadows.memory import same_entries

from .interface import Hooks

__all__ = ["Watching"]


class Watching(Hooks):
    """How a run calls functions that it does not look into.

    Attributes:
        debug: Whether debug mode was on when the run began.
    """

    debug: bool
    guards: dict[int, Any]
    exported: dict[int, tuple[Any, str]]

    def call_unseen(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        """`f(*args, **kwargs)`, which must write into no array."""
        if not self.debug:
            return self.below.call(f, *args, **kwargs)
        before = [(a, a.copy()) for a in self.reachable(f, args, kwargs)]
        result = self.below.call(f, *args, **kwargs)
        for a, old in before:
            if not same_entries(a, old):
                refused("unseen", name_of(f), a.shape)
        return result

    def reachable(self, f: Any, args: tuple[Any, ...], kwargs: Any) -> list[Any]:
        """The float arrays of a call, and those that the run knows."""
        known = [*args, *kwargs.values(), getattr(f, "__self__", None)]
        known += [guard() for guard in list(self.guards.values())]
        known += [owner for owner, _ in self.exported.values()]
        return [a for a in known if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
