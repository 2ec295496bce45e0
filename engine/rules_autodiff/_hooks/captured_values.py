"""Functions with an frule that capture values with derivatives.

An rrule says what it knows of its function's captured values: their cotangents, or
`NoTangent()`, which is an error. An frule gets their tangents and may leave them
unread, as each derived from partials does. Whether it reads them shows when they are
undefined.
"""

from typing import Any

import numpy as np

from rules_autodiff._python.leaves import leaves, mapped
from rules_autodiff._refusals import name_of, refused, rule_of
from rules_core import NoTangent, NotImplementedTangent, unthunk, zero_tangent

from .interface import Hooks

__all__ = ["check_captured_read"]


def check_captured_read(run: Hooks, found: Any, f: Any) -> None:
    """Refuse an frule that does not read the tangents of what its function captures."""
    rule = found.rule
    if rule.kind != "frule" or rule.constant or found.bound or not run.is_active(f):
        return
    own = mapped(zero_tangent(f), undefined, {})
    needs = tuple(map(run.is_active, found.args))
    with np.errstate(all="ignore"):
        _, dy = found.run((own, *map(zero_tangent, found.args)), needs)
        dy = unthunk(dy)
    if isinstance(dy, NoTangent | NotImplementedTangent):
        return
    if not any(np.isnan(leaf).any() for leaf in leaves(dy)):
        refused("captured unread", name_of(f), rule_of(rule))


def undefined(x: Any) -> Any:
    return x * np.nan
