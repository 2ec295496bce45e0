"""Partials in parameters that have no formula, by differences of high order.

The function is analytic in the parameter, and is called at twelve points around it: the
truncation is of order twelve in the step, so that the step can be a large part of the
scale on which the function varies, and little of SciPy's accuracy is lost. The partial
is code that calls the function, so that it has derivatives in every argument again; in
the parameter itself each of them loses a few digits more.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import nan_unless

from ._arrays import floor
from ._declare import arrays

__all__ = ["Difference", "slope_of"]

_PAIRS = 6
_SIDE = np.arange(1.0, _PAIRS + 1)
_NODES = np.concatenate([-_SIDE[::-1], _SIDE])


def _weights(pairs: int) -> Any:
    """Weights of the central first difference: exact for polynomials to `2 pairs`."""
    top = factorial(pairs) ** 2
    side = [
        -((-1) ** k) * top / (k * factorial(pairs - k) * factorial(pairs + k))
        for k in range(1, pairs + 1)
    ]
    side += [0.0] * (_PAIRS - pairs)
    return np.concatenate([-np.array(side[::-1]), side])


_WEIGHTS, _FEWER = _weights(_PAIRS), _weights(_PAIRS - 1)
# Where two orders differ by more, a pole or an edge is near and neither is the slope.
_AGREEMENT, _NOISE = 1e-4, 1e-7


def slope_of(f: Callable[[Any], Any], x: Any, step: Any) -> Any:
    """The derivative at `x` of an elementwise function of arrays of shape (…, 12).

    Args:
        f: The function, of one or several outputs; its other arguments have a last axis
            of length 1.
        x: The point.
        step: About a tenth of the scale on which `f` varies; rounded to a power of two,
            so that the points are exact.

    Returns:
        The slope; NaN where the difference of order ten is another one.
    """
    xp, x, step = arrays(x, step)
    step = rc.ignore_derivatives(step)
    step = 2.0 ** floor(xp.log2(step))
    nodes = xp.asarray(_NODES, dtype=x.dtype)
    values = f(x[..., None] + step[..., None] * nodes)
    weights = xp.asarray(_WEIGHTS, dtype=x.dtype)

    fewer = xp.asarray(_FEWER, dtype=x.dtype)

    def slope(of: Any) -> Any:
        found = xp.sum(of * weights, axis=-1) / step
        other = xp.sum(of * fewer, axis=-1) / step
        size = xp.max(xp.abs(of), axis=-1) / step
        known = xp.abs(found - other) <= _AGREEMENT * xp.abs(found) + _NOISE * size
        return nan_unless(rc.ignore_derivatives(known), found)

    return tuple(map(slope, values)) if isinstance(values, tuple) else slope(values)


class Difference:
    """The partial in one argument by differences, for `ufunc`.

    Args:
        step: A number, or a function of the arguments; see `slope_of`.
    """

    def __init__(self, step: Any = 0.125) -> None:
        self.step = step

    def of(self, f: Any, position: int) -> Callable[..., Any]:
        """The partial of `f` in the argument at `position`."""

        def partial(_y: Any, *args: Any) -> Any:
            x = args[position]
            width = self.step(*args) if callable(self.step) else self.step
            wide = [a[..., None] if rc.is_array(a) else a for a in args]

            def along(moved: Any) -> Any:
                return f(*wide[:position], moved, *wide[position + 1 :])

            return slope_of(along, x, 0 * x + width)

        vars(partial)["difference"] = True
        return partial
