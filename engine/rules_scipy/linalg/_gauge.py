"""Vectors that are determined up to a phase, or not at all.

A framework's own decomposition is differentiated; its vectors differ from SciPy's by
a phase, which is constant. Where values are equal there is no such phase, and vectors
have no derivative: an error, or NaN in code that a framework traces.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import nan_unless
from rules_numpy.linalg.equal_values import equal_groups
from rules_scipy._steps import At

from ._matrices import conjugate, is_complex

__all__ = [
    "distinct",
    "is_singular",
    "nan_if",
    "one_phase",
    "phases",
    "refuse_phase",
    "share",
]


def nan_if(wrong: Any, x: Any, message: str) -> Any:
    """An error where arrays can be read; in traced code NaN in place of `x`."""
    if isinstance(wrong, (np.ndarray, np.generic, bool)):
        if wrong:
            raise rc.UnsupportedError(message)
        return x
    return nan_unless(~wrong, x)


def is_singular(a: Any) -> Any:
    """Whether the smallest singular value is zero up to rounding."""
    if 0 in a.shape:
        return False
    xp = rc.array_namespace(a)
    s = rc.ignore_derivatives(xp.linalg.svdvals(rc.ignore_derivatives(a)))
    slack = 10.0 * max(a.shape[-2:]) * float(xp.finfo(a.dtype).eps)
    return xp.any(s[..., -1] <= slack * s[..., 0])


def share(f: str, w: Any, x: Any) -> Any:
    """The mean of `x` over equal values `w`: one of them alone has no derivative."""
    xp = rc.array_namespace(w)
    groups = xp.astype(equal_groups(f, rc.ignore_derivatives(w)), x.dtype)
    weights = groups / xp.sum(groups, axis=-1, keepdims=True)
    return (weights @ x[..., None])[..., 0]


def distinct(f: str, w: Any, x: Any) -> Any:
    """`x`, if no two values are equal."""
    xp = rc.array_namespace(w)
    groups = equal_groups(f, rc.ignore_derivatives(w))
    several = xp.any(xp.sum(xp.astype(groups, xp.int64), axis=-1) > 1)
    message = (
        f"the derivative of the vectors of scipy.linalg.{f} must be taken where no two "
        "values are equal, but got equal ones, whose vectors are not determined. Use "
        "the values alone, or a function of the matrix (expm, solve, polar) where it "
        "is meant, or make the values differ."
    )
    return nan_if(several, x, message)


def phases(own: Any, scipys: Any) -> Any:
    """The factors that make the columns of a framework those of SciPy."""
    xp = rc.array_namespace(own, scipys)
    own, scipys = rc.ignore_derivatives(own), rc.ignore_derivatives(scipys)
    size = xp.sum(xp.abs(own) ** 2, axis=-2, keepdims=True)
    factor = xp.sum(conjugate(own) * scipys, axis=-2, keepdims=True)
    return factor / xp.astype(size, factor.dtype)


def refuse_phase(f: str, turn: Any, size: Any, x: Any) -> Any:
    """`x`, if the part of cotangents along a change of phase is zero."""
    xp = rc.array_namespace(turn)
    if not is_complex(x):
        return x
    turn, size = rc.ignore_derivatives(turn), rc.ignore_derivatives(size)
    slack = float(xp.finfo(turn.dtype).eps) ** 0.5
    wrong = xp.any(xp.abs(turn) > slack * (1.0 + xp.max(xp.abs(size))))
    message = (
        f"the derivative of scipy.linalg.{f} must be wanted for a function that does "
        "not depend on the phase of a complex vector, but got one that does. Fix the "
        "phase in the function, for instance by one real entry."
    )
    return nan_if(wrong, x, message)


def one_phase(f: str, at: At, dy: Any, wanted: tuple[int, ...] | None) -> Any:
    """Cotangents of complex vectors that do not depend on their phases."""
    if wanted is None:
        return dy
    checked = []
    for i, d in zip(wanted, dy, strict=True):
        v = at.y[i]
        if i == 0 or not is_complex(v):
            checked.append(d)
            continue
        part = conjugate(v) * d
        xp = rc.array_namespace(part)
        turn = xp.imag(xp.sum(part, axis=-2))
        checked.append(refuse_phase(f, turn, xp.abs(part), d))
    return tuple(checked)
