"""Results that have a derivative at some points only."""

from __future__ import annotations

from typing import Any

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._functions import is_traced

__all__ = ["regular"]


@rc.primitive
def regular(y: Any, good: Any, message: str) -> Any:
    """`y`; the derivative of a row that is not good is an error, or NaN if traced.

    Args:
        y: `(..., n)`.
        good: `(...)`.
        message: Of the error.
    """
    return y


@rc.frule.define(regular)
def regular_frule(tangents: Any, y: Any, good: Any, message: str) -> Any:
    return y, _known(tangents[1], good, message)


@rc.rrule.define(regular)
def regular_rrule(y: Any, good: Any, message: str) -> Any:
    def regular_pullback(dy: Any) -> Any:
        none = rc.NoTangent()
        return none, _known(dy, good, message), none, none

    return y, regular_pullback


def _known(dy: Any, good: Any, message: str) -> Any:
    dy = rc.unthunk(dy)
    if isinstance(dy, rc.AbstractZero):
        return dy
    if is_traced(good) or is_traced(rc.ignore_derivatives(dy)):
        return nan_unless(good[..., None], dy)
    if bool((~good[..., None] & (rc.ignore_derivatives(dy) != 0)).any()):
        raise rc.UnsupportedError(message)
    return dy
