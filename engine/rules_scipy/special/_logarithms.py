"""Logarithmic functions with removable singularities, and the logistic function."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc

from ._declare import (
    arrays,
    elementwise,
    is_complex,
    scalar_rule,
)

__all__ = ["expit", "logit", "strong_times", "xlog1py", "xlogy"]

expit = elementwise(scipy.special.expit)
logit = elementwise(scipy.special.logit)
xlogy = elementwise(scipy.special.xlogy)
xlog1py = elementwise(scipy.special.xlog1py)


@rc.primitive
def strong_times(x: Any, y: Any) -> Any:
    """`x · y`, zero where `x` is zero, even if `y` is infinite there.

    A separate primitive because its derivative in `x` at `x = 0` is `y`, unlike that of
    `where(x == 0, 0, x * y)`.
    """
    xp, x, y = arrays(x, y)
    dead = (x == 0) & ~xp.isfinite(y)
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


def expit_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$\sigma'(x) = \sigma(x)\, \sigma(-x)$, without $1 - \sigma$."""
    return (expit(x) * expit(-x),)


def logit_partials(y: Any, x: Any) -> tuple[Any]:
    r"""$\mathrm{logit}'(x) = 1 / x + 1 / (1 - x)$; infinite at 0 and 1, NaN beyond."""
    xp, y, x = arrays(y, x)
    return (xp.where(xp.isnan(y), y, 1 / x + 1 / (1 - x)),)


def xlogy_partials(z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    r"""$\ln y$ and $x / y$, which is 0 for $x = 0$."""
    xp, x, y = arrays(x, y)
    return xp.log(y), strong_times(x, 1 / _in_domain(xp, z, y))


def xlog1py_partials(z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    r"""$\ln(1 + y)$ and $x / (1 + y)$, 0 for $x = 0$."""
    xp, x, y = arrays(x, y)
    return xp.log1p(y), strong_times(x, 1 / (1 + _in_domain(xp, z, y)))


def _in_domain(xp: Any, z: Any, y: Any) -> Any:
    """`y`, but NaN where the result is, so that every derivative is NaN there too."""
    return xp.where(xp.isnan(z), z, y)


scalar_rule(expit, expit_partials)
scalar_rule(logit, logit_partials)
scalar_rule(xlogy, xlogy_partials, holomorphic=True)
scalar_rule(xlog1py, xlog1py_partials, holomorphic=True)
