"""Functions of `scipy.stats` and how they are covered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc
from rules_core.extend import stand_in

__all__ = ["DECLARED", "constant", "covers"]

# Functions of SciPy: "covered" or "constant".
DECLARED: dict[Any, str] = {}


def covers(*functions: Any) -> Callable[[Any], Any]:
    """Define a body that stands in for functions of SciPy in programs for NumPy."""
    for f in functions:
        DECLARED[f] = "covered"
    return stand_in(*functions)


def constant(*functions: Any) -> None:
    """Declare functions without derivative."""
    for f in functions:
        DECLARED[f] = "constant"
        rc.non_differentiable(f)
