r"""Quantiles that SciPy computes, by the theorem on inverse functions.

Where $F(x; \theta) = q$, $\partial_q x = 1 / f$ and $\partial_\theta x =
-\partial_\theta F / f$ with the density $f$; of both tails, the smaller one is
differentiated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.special._arrays import where
from rules_scipy.special._declare import elementwise, on_doubles, ufunc

__all__ = ["quantile"]

# SciPy's own code errs for arrays of shapes.
_ONE_BY_ONE = {"norminvgauss"}


def quantile(dist: Any, name: str) -> rc.Primitive:
    """The primitive of `ppf` or `isf` of a distribution's standard form.

    Args:
        dist: The standard form of the distribution.
        name: The name of the method.
    """
    method = getattr(dist.scipy, name)
    if dist.name in _ONE_BY_ONE:
        method = np.vectorize(method)

    def of_scipy(q: Any, *shapes: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(method(q, *shapes), dtype=float)

    of_scipy.__name__ = of_scipy.__qualname__ = f"{dist.name}_{name}"
    made = elementwise(on_doubles(of_scipy))
    sign = 1.0 if name == "ppf" else -1.0

    def in_q(y: Any, q: Any, *shapes: Any) -> Any:
        return sign / dist.density("pdf", y, *shapes)

    def in_shape(i: int) -> Any:
        def partial(y: Any, q: Any, *shapes: Any) -> Any:
            lower = q < 0.5 if name == "ppf" else q > 0.5
            slope = _slope(dist, lower, y, shapes, i)
            return -slope / dist.density("pdf", y, *shapes)

        return partial

    return ufunc(made, in_q, *[in_shape(i) for i in range(len(dist.parameters.shapes))])


def _slope(dist: Any, lower: Any, y: Any, shapes: Any, i: int) -> Any:
    """The derivative of `cdf` in a shape, by the smaller tail."""
    # Each element has its own shape, so that a tangent of ones gives all derivatives.
    own = shapes[i] + 0 * rc.ignore_derivatives(y)

    def tails(shape: Any) -> Any:
        given = (*shapes[:i], shape, *shapes[i + 1 :])
        return where(lower, dist.tail("cdf", y, *given), -dist.tail("sf", y, *given))

    return rc.jvp(tails, (own,), (1.0 + 0 * own,))[1]
