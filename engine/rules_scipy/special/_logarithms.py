"""Logarithmic functions with removable singularities, and the logistic function."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc
from rules_core.extend import note_strong_zeros

from ._arrays import log, log1p, where_number
from ._declare import arrays, is_complex, ufunc

__all__ = ["expit", "logit", "xlog1py", "xlogy"]


@rc.primitive
def strong_times(x: Any, y: Any) -> Any:
    """`x · y`, zero where `x` is zero, even if `y` is infinite there.

    A separate primitive because its derivative in `x` at `x = 0` is `y`, unlike that of
    `where(x == 0, 0, x * y)`.
    """
    xp, x, y = arrays(x, y)
    dead = (x == 0) & ~xp.isfinite(y)
    note_strong_zeros(dead)
    return x * xp.where(dead, xp.zeros_like(y), y)


@rc.frule.define(strong_times, symbolic_zeros=True)
def strong_times_frule(tangents: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """`dx · y + x · dy`, with zeros as strong as in the product itself."""
    _, dx, dy = tangents
    dz: Any = rc.ZeroTangent()
    if not isinstance(dx, rc.AbstractZero):
        dz = dz + strong_times(dx, y)
    if not isinstance(dy, rc.AbstractZero):
        dz = dz + strong_times(x, dy)
    return strong_times(x, y), dz


@rc.rrule.define(strong_times)
def strong_times_rrule(x: Any, y: Any) -> tuple[Any, rc.Pullback]:
    """`conj(y) · dz` and `conj(x) · dz`, likewise."""
    return strong_times(x, y), rc.Pullback(_strong_times_pull, x, y)


def _strong_times_pull(x: Any, y: Any, dz: Any) -> tuple[Any, Any, Any]:
    xp, x_, y_ = arrays(x, y)
    if is_complex(x_) or is_complex(y_):
        x_, y_ = xp.conj(x_), xp.conj(y_)
    dx, dy = strong_times(dz, y_), strong_times(x_, dz)
    return rc.NoTangent(), rc.ProjectTo(x)(dx), rc.ProjectTo(y)(dy)


expit: rc.Primitive = ufunc(scipy.special.expit, lambda y, x: expit(x) * expit(-x))
logit = ufunc(scipy.special.logit, lambda y, x: where_number(y, 1 / x + 1 / (1 - x)))
xlogy = ufunc(
    scipy.special.xlogy,
    lambda z, x, y: log(y),
    lambda z, x, y: strong_times(x, 1 / where_number(z, y)),
    holomorphic=True,
)
xlog1py = ufunc(
    scipy.special.xlog1py,
    lambda z, x, y: log1p(y),
    lambda z, x, y: strong_times(x, 1 / (1 + where_number(z, y))),
    holomorphic=True,
)
