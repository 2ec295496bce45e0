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

from ._arrays import floor
from ._declare import arrays

__all__ = ["Difference", "slope_of"]

_PAIRS = 6
_SIDE = np.arange(1.0, _PAIRS + 1)
_NODES = np.concatenate([-_SIDE[::-1], _SIDE])


def _weights() -> Any:
    """Weights of the central first difference: exact for polynomials to degree 12."""
    top = factorial(_PAIRS) ** 2
    side = [
        -((-1) ** k) * top / (k * factorial(_PAIRS - k) * factorial(_PAIRS + k))
        for k in range(1, _PAIRS + 1)
    ]
    return np.concatenate([-np.array(side[::-1]), side])


_WEIGHTS = _weights()


def slope_of(f: Callable[[Any], Any], x: Any, step: Any) -> Any:
    """The derivative at `x` of an elementwise function of arrays of shape (…, 12).

    Args:
        f: The function, of one or several outputs; its other arguments have a last axis
            of length 1.
        x: The point.
        step: About a tenth of the scale on which `f` varies; rounded to a power of two,
            so that the points are exact.
    """
    xp, x, step = arrays(x, step)
    step = rc.ignore_derivatives(step)
    step = 2.0 ** floor(xp.log2(step))
    nodes = xp.asarray(_NODES, dtype=x.dtype)
    values = f(x[..., None] + step[..., None] * nodes)
    weights = xp.asarray(_WEIGHTS, dtype=x.dtype)

    def slope(of: Any) -> Any:
        return xp.sum(of * weights, axis=-1) / step

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
