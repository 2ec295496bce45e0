"""Functions and classes of `scipy.spatial` and how they are covered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc
from rules_core.extend import stand_in

__all__ = ["DECLARED", "OWN", "constant", "covers"]

# Functions and classes of SciPy: "covered" or "constant".
DECLARED: dict[Any, str] = {}
# Those of this pack by SciPy's.
OWN: dict[Any, Any] = {}


def covers(f: Any) -> Callable[[Any], Any]:
    """Let a function or class of this pack stand in for that of SciPy."""

    def define(own: Any) -> Any:
        DECLARED[f] = "covered"
        OWN[f] = own
        return stand_in(f)(own)

    return define


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for f in functions:
        DECLARED[f] = "constant"
        rc.non_differentiable(f)
