"""Splines with FITPACK's knots: which a call asks for, and their coefficients.

Knots are those of interpolation, or given, or none inside. Between these FITPACK
smooths: it searches a parameter until a tolerance of 0.1 % is met, and what it finds is
no function with a derivative of use; that is an error.
"""

from __future__ import annotations

from typing import Any

import rules_core as rc

from ._arrays import ignoring_warnings, is_numpy, refuse
from ._interpolating import interpolated, least_squares
from ._knots import inner_knots, whole_knots

__all__ = ["fitted", "how_it_ended"]

_SMOOTHED = (
    "with s > 0 chooses knots and a smoothing parameter by a search that ends at a "
    "tolerance, which has no derivative. Give s=0, or knots "
    "(LSQUnivariateSpline, make_lsq_spline), or use make_smoothing_spline with lam"
)


def fitted(
    name: str, x: Any, y: Any, w: Any, ends: Any, k: int, s: Any, t: Any, scipys: Any
) -> Any:
    """Knots and coefficients of a spline near data.

    Args:
        name: Of SciPy's function.
        x: Abscissae, `(n,)`.
        y: Data, `(n, ...)`.
        w: Weights.
        ends: Of the interval.
        k: The degree.
        s: The smoothing factor: a number.
        t: The knots inside, or None.
        scipys: `scipys()` says how SciPy ended: its number `ier`.
    """
    if t is not None:
        knots = whole_knots(t, ends, k)
        return knots, least_squares(x, y, knots, k, w)
    ier = -1 if s == 0 else scipys() if is_numpy(x, y, w) else 0
    if ier == -1:
        knots = whole_knots(inner_knots(x, k), ends, k)
        return knots, interpolated(x, y, knots, k)
    if ier == -2:
        knots = whole_knots(x[:0], ends, k)
        return knots, least_squares(x, y, knots, k, w)
    return refuse(name, _SMOOTHED)


def how_it_ended(f: Any, *args: Any, **kwargs: Any) -> int:
    """FITPACK's number `ier`."""
    return int(ignoring_warnings(f, *args, full_output=1, **kwargs)[2])


rc.non_differentiable(how_it_ended)
