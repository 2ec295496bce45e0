"""Logarithmic functions with removable singularities, and the logistic function."""

from __future__ import annotations

from typing import Any

import scipy.special

import rules_core as rc
from rules_scipy.special._declare import arrays, elementwise, scalar_rule

__all__ = ["expit", "logit", "strong_times", "xlog1py", "xlogy"]

expit = elementwise(scipy.special.expit)
logit = elementwise(scipy.special.logit)
xlogy = elementwise(scipy.special.xlogy)
xlog1py = elementwise(scipy.special.xlog1py)


@rc.primitive
def strong_times(x: Any, y: Any) -> Any:
    """`x · y`, zero where `x` is zero, also if `y` is infinite there.

    A primitive of its own because its derivative in `x` at `x = 0` is `y`, which that
    of `where(x == 0, 0, x * y)` is not.
    """
    xp, x, y = arrays(x, y)
    dead = (x == 0) & ~xp.isfinite(y)
    return x * xp.where(dead, xp.zeros_like(y), y)


def strong_times_partials(_z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """`y` and `x`."""
    return y, x


def expit_partials(_y: Any, x: Any) -> tuple[Any]:
    r"""$\sigma'(x) = \sigma(x)\, \sigma(-x)$, without $1 - \sigma$."""
    return (expit(x) * expit(-x),)


def logit_partials(y: Any, x: Any) -> tuple[Any]:
    r"""$\mathrm{logit}'(x) = 1 / (x (1 - x))$; infinite at 0 and 1, NaN beyond."""
    xp, y, x = arrays(y, x)
    return (xp.where(xp.isnan(y), y, 1 / (x * (1 - x))),)


def xlogy_partials(_z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    r"""$\ln y$ and $x / y$, which is 0 for $x = 0$."""
    xp, x, y = arrays(x, y)
    return xp.log(y), strong_times(x, 1 / y)


def xlog1py_partials(_z: Any, x: Any, y: Any) -> tuple[Any, Any]:
    r"""$\ln(1 + y)$ and $x / (1 + y)$, 0 for $x = 0$."""
    xp, x, y = arrays(x, y)
    return xp.log1p(y), strong_times(x, 1 / (1 + y))


scalar_rule(strong_times, strong_times_partials, holomorphic=True)
scalar_rule(expit, expit_partials)
scalar_rule(logit, logit_partials)
scalar_rule(xlogy, xlogy_partials, holomorphic=True)
scalar_rule(xlog1py, xlog1py_partials, holomorphic=True)
