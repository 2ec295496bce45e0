r"""`scipy.integrate.nsum`, whose derivative is the sum of the derivatives.

A derivative's sum is that of its first terms, and Euler's and Maclaurin's formula for
the others:

$$ \sum_{j \ge n} g(x_j) = \tfrac1h \int_{x_n}^\infty g\,dx + \tfrac12 g(x_n)
   - \tfrac{h}{12} g'(x_n) + \dots $$

>>> import jax, jax.numpy as jnp
>>> from rules_scipy import integrate
>>> def zeta(s):
...     return integrate.nsum(lambda k: k**-s, 1.0, jnp.inf).sum
>>> round(float(jax.grad(zeta)(2.0)), 3)
-0.938
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.integrate as _sp
from scipy.optimize import OptimizeResult

import rules_core as rc
from rules_scipy._functions import Function, Run, if_converged, like

from ._double_exponential import component, mapped
from ._integrals import integral
from ._quadrature import DECLARED, at_fixed
from ._resolved import remembered
from ._runs import SEEN

__all__ = ["nsum"]


def nsum(
    f: Function, a: Any, b: Any, *, step: Any = 1, args: Any = (), log: bool = False,
    maxterms: int = 2**20, tolerances: Any = None,
) -> Any:  # fmt: skip
    """`scipy.integrate.nsum` of numbers; `sum` of its result has derivatives.

    They are in `args` and in what `f` captures: in the limits and the step they are an
    error.
    """
    found = _nsum(
        f, a, b, step=step, args=args, log=log, maxterms=maxterms,
        tolerances=tolerances,
    )  # fmt: skip
    found["sum"] = at_fixed(found["sum"], (a, b, step), _PLACES)
    return found


def _nsum(
    f: Function, a: Any, b: Any, *, step: Any = 1, args: Any = (), log: bool = False,
    maxterms: int = 2**20, tolerances: Any = None,
) -> Any:  # fmt: skip
    """`nsum` between fixed limits."""
    args = tuple(args) if isinstance(args, list | tuple) else (args,)
    _refuse(f, log, a, b, step, args)
    ends = [rc.ignore_derivatives(like(x, a, args, f)) for x in (a, b, step)]
    given = {"maxterms": maxterms, "tolerances": tolerances}
    settings = {"given": given, "in_numpy": isinstance(ends[0], np.ndarray),
                "jumps": Run(_no_jumps, 0), "step": float(step)}  # fmt: skip
    vectors = Run(_by_nsum, 3, None, of_vector=True, **settings)
    run = Run(_by_nsum, 3, None, vectors=vectors, of_vector=False, **settings)
    y, success, counts, _ = integral(f, args, ends[0], ends[1], run, None)
    y = if_converged(y, success, "nsum")
    return OptimizeResult(
        success=success == 1, status=counts[1], sum=y, error=counts[0], nfev=counts[2]
    )


_PLACES = (
    "derivative of scipy.integrate.nsum in its limits or its step: sum f(a + n * step) "
    "over the whole numbers n, with a and step in args"
)


def _refuse(f: Any, log: Any, a: Any, b: Any, step: Any, args: Any) -> None:
    shapes = [np.shape(x) for x in (a, b, step, *args)]
    reason = None
    if log:
        reason = "nsum(log=True): sum exp(f(x) - c) with a constant c"
    elif any(shapes):
        reason = "nsum of arrays: sum for each element"
    if reason is not None:
        message = f"There is no rule for {reason}."
        raise rc.UnsupportedError(message)


rc.non_differentiable(_refuse)


# in numbers


def _no_jumps(settings: Any, functions: Any, *given: Any) -> Any:
    """A sum's terms stand at fixed places: the derivative of its code is its own."""
    return np.zeros(1 + len(given) - 2), 1, (), {}


def _by_nsum(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    (f,), step = functions, settings["step"]
    a, b = float(a), float(b)
    if SEEN in settings:
        parts = remembered(lambda x: np.asarray(f(x))[settings[SEEN] :])
        y = _sum(parts, a, b, step)
        y = y if settings["of_vector"] else y[0]
        return y, int(np.all(np.isfinite(y))), (0.0, 0.0, 0.0), {}
    own = f if settings["in_numpy"] else mapped(f)
    found = _sp.nsum(own, a, b, step=step, **settings["given"])
    counts = tuple(float(found[k]) for k in ("error", "status", "nfev"))
    return np.float64(found.sum), int(found.success), counts, {}


# Up to so many terms are added; of more, the last ones by Euler's and Maclaurin's
# formula, which must agree for two starts.
_FEW, _MOST, _PRECISION = 64, 4096, 1e-10


def _sum(g: Any, a: Any, b: Any, h: float) -> Any:
    """The sum of a vector, that over all places from 0; NaN where it is not found."""
    if np.isinf(a):
        below = _sum(lambda x: g(-x), -b if np.isfinite(b) else h, np.inf, h)
        return below if np.isfinite(b) else below + _sum(g, 0.0, b, h)
    count = np.floor((b - a) / h) + 1.0
    if count <= _MOST:
        return sum((g(a + h * j) for j in range(max(int(count), 0))), 0.0 * g(a))
    n, before = _FEW, None
    head = sum(g(a + h * j) for j in range(n))
    while n <= _MOST:
        found = head + _tail(g, a + h * n, a + h * (count - 1.0), h)
        size = _PRECISION * np.max(np.abs(found) + np.abs(head))
        if before is not None and np.max(np.abs(found - before)) <= size:
            return found
        head = head + sum(g(a + h * j) for j in range(n, 2 * n))
        n, before = 2 * n, found
    return np.nan * head


def _tail(g: Any, low: float, high: float, h: float) -> Any:
    at_end = 0.5 * g(low) - (g(low + h) - g(low - h)) / 24.0
    if np.isfinite(high):
        at_end = at_end + 0.5 * g(high) + (g(high + h) - g(high - h)) / 24.0
    given = {"maxlevel": 8, "minlevel": 2, "rtol": 1e-12, "atol": None}
    values = [component(g, i, low, high, given, 1e-12) for i in range(len(at_end))]
    return at_end + np.array([y if good else np.nan for y, good in values]) / h


DECLARED.follow(_sp.nsum, nsum, _nsum, a=_PLACES, b=_PLACES)
