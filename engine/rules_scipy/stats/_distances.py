"""Distances of two samples' distributions on a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats as st

import rules_core as rc
from rules_core.extend import find_adapter
from rules_scipy._axes import concat
from rules_scipy.special._arrays import absolute, sqrt

from ._declare import covers
from ._numbers import floats, plain

__all__ = ["energy_distance", "wasserstein_distance"]


def _weights(values: Any, weights: Any) -> Any:
    """Weights of sum one."""
    xp, values = floats(values)
    if values.shape[0] == 0:
        message = "Distribution can't be empty."
        raise ValueError(message)
    if weights is None:
        return xp.ones_like(rc.ignore_derivatives(values)) / values.shape[0]
    own = floats(weights, values)[1]
    if own.shape != values.shape:
        message = "Values and weights of a distribution must be of equal size."
        raise ValueError(message)
    if find_adapter((own,), {}) is None:
        _check_weights(own)
    return own / xp.sum(own)


def _check_weights(weights: Any) -> None:
    """Raise SciPy's errors."""
    if np.any(weights < 0):
        message = "All weights must be non-negative."
        raise ValueError(message)
    if not 0 < np.sum(weights) < np.inf:
        message = (
            "Weight array-like sum must be positive and finite. Set as None for an "
            "equal distribution of weight."
        )
        raise ValueError(message)


rc.non_differentiable(_check_weights)


def _distance(power: Callable[[Any], Any], *given: Any) -> Any:
    """The integral of a power of the difference of two distribution functions.

    At ties between the samples the derivative is the mean of those from both sides: of
    the orders in which the first sample's, or the second's, come first.
    """
    known = [x for x in given if x is not None]
    xp, *arrays = floats(*known)
    u, v, u_weights, v_weights = (None if x is None else arrays.pop(0) for x in given)
    values = concat([u, v])
    own = concat([_weights(u, u_weights), -_weights(v, v_weights)])
    first = _integral(xp, power, values, own)
    return 0.5 * first + 0.5 * _integral(xp, power, xp.flip(values), xp.flip(own))


def _integral(xp: Any, power: Any, values: Any, own: Any) -> Any:
    order = xp.argsort(rc.ignore_derivatives(values), stable=True)
    values, own = xp.take(values, order, axis=0), xp.take(own, order, axis=0)
    heights = xp.cumulative_sum(own)[:-1]
    return xp.sum(power(heights) * (values[1:] - values[:-1]))


@covers(st.wasserstein_distance)
def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """`scipy.stats.wasserstein_distance`, with derivatives in values and weights."""
    return plain(_distance(absolute, u_values, v_values, u_weights, v_weights))


@covers(st.energy_distance)
def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """`scipy.stats.energy_distance`, with derivatives in values and weights."""
    given = (u_values, v_values, u_weights, v_weights)
    return plain(sqrt(2 * _distance(lambda height: height * height, *given)))
