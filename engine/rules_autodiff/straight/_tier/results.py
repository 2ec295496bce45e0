"""Derivatives in the user's form: of the argument's class, in their own memory."""

import sys
from math import isfinite
from typing import Any

import numpy as np
from numpy import ndarray

from rules_core import NoTangent

from .settings import STRICT
from .signatures import DOUBLE, NotFinite, leave

__all__ = ["array_like", "check_finite", "given", "is_finite"]

NO_TANGENT = NoTangent()
NOT_FINITE = "a derivative is not finite"


def references(row: tuple[Any, ...]) -> int:
    """The reference count, in a loop over a row, of an unshared entry."""
    for entry in row:
        return sys.getrefcount(entry)
    return 0


UNSHARED = references((object(),))  # depends on Python's version


def given(args: Any, active: Any, cotangents: Any) -> tuple[Any, ...]:
    """Cotangents in the user's form.

    Raises:
        Left: One is not finite: zeros are strong, and only the tape checks for them.
    """
    results = []
    places = iter(active)  # `zip` would hold references to the cotangents
    for ct in cotangents:
        x = args[next(places)]
        if type(ct) is tuple or ct is None:
            results.append(in_form_of(x, ct))
            continue
        if not is_finite(ct):
            raise NotFinite(NOT_FINITE)
        if type(ct) is ndarray:
            if ct.shape != x.shape or ct.dtype is not DOUBLE:
                leave("a derivative is not of its argument's form")
            shared = ct.base is not None or sys.getrefcount(ct) > UNSHARED
            results.append(np.array(ct) if shared else ct)
        elif type(x) is ndarray:
            results.append(np.zeros(x.shape))
        else:
            results.append(ct if type(ct) is type(x) else type(x)(ct))
    return tuple(results)


def in_form_of(x: Any, cotangents: Any) -> Any:
    """The cotangents of a container, in its form."""
    if cotangents is None:
        return NO_TANGENT
    if type(x) is dict:
        values = [*x.values()]
        return dict(zip(x, given(values, range(len(x)), cotangents), strict=True))
    entries = given(x, range(len(x)), cotangents)
    return list(entries) if type(x) is list else entries


def check_finite(total: Any, *numbers: Any) -> None:
    """Let the tape do it where numbers with this sum are not all finite."""
    if not isfinite(total) and not (numbers and all(map(isfinite, numbers))):
        raise NotFinite(NOT_FINITE)


def array_like(x: Any, ct: Any) -> Any:
    """The cotangent of an array, in memory of its own."""
    if type(ct) is not ndarray:
        check_finite(ct)
        return np.zeros(x.shape)
    if not is_finite(ct):
        raise NotFinite(NOT_FINITE)
    if ct.shape != x.shape or ct.dtype is not DOUBLE:
        leave("a derivative is not of its argument's form")
    return np.array(ct)


def is_finite(x: Any) -> bool:
    """Whether a number, or every entry of an array, is finite."""
    if type(x) is not ndarray:
        return isfinite(x)
    flat = x if x.ndim == 1 else x.ravel("K")
    seen = "overflow" in STRICT.seen
    if isfinite(flat.dot(flat)):
        return True
    if not seen:
        STRICT.seen.discard("overflow")  # of squares above 1e308, not of the program
    return bool(np.isfinite(flat).all())
