"""Debug mode: does a function whose code is not lifted write into memory?

What is written by C code without a mutating rule is neither followed nor undone, and
residuals may lie there. Looking costs a copy of every array that could be reached, so
it is done under `rules_core.debug_mode` alone.
"""

from typing import Any

import numpy as np

from rules_autodiff._refusals import name_of, refused
from rules_autodiff._shadows.memory import same_entries

from .interface import Hooks

__all__ = ["call_unseen"]


def call_unseen(run: Hooks, f: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
    """`f(*args, **kwargs)`, which must write into no array."""
    if not run.debug:
        return run.below.call(f, *args, **kwargs)
    before = [(a, a.copy()) for a in reachable(run, f, args, kwargs)]
    result = run.below.call(f, *args, **kwargs)
    for a, old in before:
        if not same_entries(a, old):
            refused("unseen", name_of(f), a.shape)
    return result


def reachable(run: Hooks, f: Any, args: tuple[Any, ...], kwargs: Any) -> list[Any]:
    """The float arrays of a call, and those that the run knows."""
    known = [*args, *kwargs.values(), getattr(f, "__self__", None)]
    known += [guard() for guard in list(run.guards.values())]
    known += [owner for owner, _ in run.exported.values()]
    return [a for a in known if isinstance(a, np.ndarray) and a.dtype.kind in "fc"]
