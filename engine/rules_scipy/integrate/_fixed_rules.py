"""Integrals by fixed places: sums, in array-API code, which are differentiated.

What moves a jump of the function has no derivative, as for `quad`: the sum's own one
would be zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as _sp
import scipy.special
from scipy.integrate._quadrature import QMCQuadResult

import rules_core as rc
from rules_scipy._functions import Function, is_traced, like

from ._moving_jumps import if_unmoved
from ._quadrature import DECLARED, refuse, tuple_of
from ._regions import points_like, region_run

__all__ = ["fixed_quad", "qmc_quad"]


def fixed_quad(
    func: Function, a: Any, b: Any, args: Any = (), n: int = 5
) -> tuple[Any, None]:
    """`scipy.integrate.fixed_quad`: Gauss's rule of `n` places.

    >>> from rules_autodiff import grad
    >>> from rules_scipy import integrate
    >>> round(grad(lambda b: integrate.fixed_quad(lambda x: x**3, 0.0, b)[0])(2.0), 6)
    8.0
    """
    args = tuple_of(args)
    low = like(a, a, b, args, func)
    high = like(b, low)
    _refuse_infinite(low, high)
    nodes, weights = (like(x, low) for x in scipy.special.roots_legendre(n))
    xp = rc.array_namespace(low)
    x = (high - low) * (nodes + 1.0) / 2.0 + low
    y = (high - low) / 2.0 * xp.sum(weights * func(x, *args), axis=-1)
    ends = low.reshape((1,)), high.reshape((1,))
    start = rc.ignore_derivatives(ends)
    example, run = (points_like(start[0]),), region_run()
    return if_unmoved(y, _first, func, args, start, example, run, "fixed_quad"), None


def _first(fun: Any, args: Any, x: Any) -> Any:
    return fun(x[:, 0], *args)


def _refuse_infinite(*ends: Any) -> None:
    known = [x for x in ends if not is_traced(x)]
    if any(bool(rc.array_namespace(x).isinf(x)) for x in known):
        message = "Gaussian quadrature is only available for finite limits."
        raise ValueError(message)


rc.non_differentiable(_refuse_infinite)


def qmc_quad(
    func: Function, a: Any, b: Any, *, n_estimates: int = 8, n_points: int = 1024,
    qrng: Any = None, log: bool = False,
) -> Any:  # fmt: skip
    """`scipy.integrate.qmc_quad`: the mean over random points.

    The points are constants: in compiled code they are drawn once, when it is traced.
    """
    refuse("qmc_quad", log=log)
    low = like(a, a, b, func).reshape((-1,))
    high = like(b, low).reshape((-1,))
    low, high = low + 0.0 * high, high + 0.0 * low
    xp = rc.array_namespace(low)
    samples = _points(qrng, n_estimates, n_points, low.shape[0])
    lower, upper = xp.where(high < low, high, low), xp.where(high < low, low, high)
    volume = xp.prod(high - low)  # negative where an odd number of limits are turned
    found = []
    for sample in samples:
        x = like(sample, low) * (upper - lower) + lower
        found.append(xp.sum(func(x.T)) * volume / n_points)
    estimates = xp.stack(found)
    y, spread = xp.mean(estimates), estimates - xp.mean(estimates)
    start = rc.ignore_derivatives((low, high))
    example, run = (points_like(start[0]),), region_run()
    y = if_unmoved(y, _columns, func, (), start, example, run, "qmc_quad")
    error = xp.sqrt(xp.sum(spread * spread) / (n_estimates * (n_estimates - 1.0)))
    return QMCQuadResult(y, error)


def _columns(fun: Any, args: Any, x: Any) -> Any:
    return fun(x.T)


def _points(qrng: Any, n_estimates: int, n_points: int, n: int) -> list[Any]:
    """The points in the unit cube, as SciPy draws them."""
    seen: list[Any] = []

    def record(x: Any) -> Any:
        seen.append(x.T)
        return np.zeros(x.shape[1:])

    given = {"n_estimates": n_estimates, "n_points": n_points, "qrng": qrng}
    _sp.qmc_quad(record, np.zeros(n), np.ones(n), **given)
    return seen[-n_estimates:]


rc.non_differentiable(_points)

for _own in (fixed_quad, qmc_quad):
    DECLARED.cover(getattr(_sp, _own.__name__), _own)
