"""Integrals over boxes in numbers: SciPy's adaptive cubature of weighted sums.

A function takes the places in one part of the box, and weights, and returns the sum: so
a derivative needs one pullback for each part of the box, and not for each place.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.integrate as _sp
from scipy.integrate._rules import (
    GaussKronrodQuadrature,
    GenzMalikCubature,
    ProductNestedFixed,
)

__all__ = ["SEEN", "by_box", "nodes_of"]

# A setting of integrals of derivatives: how many numbers of the vector are those of the
# function, which was looked at before.
SEEN = "seen"
_POINTS = {"gk15": 15, "gk21": 21, "gauss-kronrod": 21}


@cache
def nodes_of(rule: str, dimensions: int) -> tuple[Any, Any, Any]:
    """Places in a cube of side 2, their weights, and weights of the less exact rule.

    Both have all places, so that a function is always called with as many.
    """
    if rule == "genz-malik":
        own: Any = GenzMalikCubature(dimensions)
    elif rule in _POINTS:
        own = ProductNestedFixed([GaussKronrodQuadrature(_POINTS[rule])] * dimensions)
    else:
        message = f"unknown rule {rule}"
        raise ValueError(message)
    nodes, weights = own.nodes_and_weights
    fewer, less = own.lower_nodes_and_weights
    rows = np.concatenate([nodes, fewer])
    both = np.zeros((2, len(rows)))
    both[0, : len(nodes)], both[1, len(nodes) :] = weights, less
    rows, place = np.unique(rows.round(14), axis=0, return_inverse=True)
    summed = np.zeros((2, len(rows)))
    for own_sum, own_weights in zip(summed, both, strict=True):
        np.add.at(own_sum, place.reshape(-1), own_weights)
    return rows, summed[0], summed[1]


class _Rule:
    """A rule of SciPy's cubature for functions of places and weights."""

    def __init__(self, fun: Any, rule: str, a: Any, b: Any) -> None:
        self.fun = fun
        self.rows, self.weights, self.fewer = nodes_of(rule, len(a))
        ends = np.sort([a, b], axis=0)
        self.turned = np.isneginf(ends[0]) & np.isfinite(ends[1]) & _turns()
        self.known: dict[Any, Any] = {}

    def _both(self, f: Any, a: Any, b: Any) -> Any:
        key = a.tobytes() + b.tobytes()
        if key not in self.known:
            half = (b - a) / 2
            # What SciPy makes of infinite limits, seen by a function that knows places.
            found = f(a + half * (self.rows + 1))
            stretch = found[:, -1]
            x = found[:, :-1] / stretch[:, None]
            x = np.where(self.turned, -x, x)
            scale = stretch * np.prod(half)
            own = np.asarray(self.fun(x, scale * self.weights))
            less = np.asarray(self.fun(x, scale * self.fewer))
            self.known[key] = own, np.abs(own - less)
        return self.known[key]

    def estimate(self, f: Any, a: Any, b: Any, _: Any = ()) -> Any:
        return self._both(f, a, b)[0].copy()

    def estimate_error(self, f: Any, a: Any, b: Any, _: Any = ()) -> Any:
        return self._both(f, a, b)[1].copy()


@cache
def _turns() -> bool:
    """Whether cubature calls the function at -x where only the lower end is infinite.

    So SciPy 1.17 does, and its integrals are wrong there; here the places are turned.
    """
    places: list[Any] = []

    def zero(x: Any) -> Any:
        places.append(x)
        return np.zeros(len(x))

    _sp.cubature(zero, [-np.inf], [0.0])
    return bool(np.max(places[0]) > 0.0)


def _places(x: Any) -> Any:
    return np.concatenate([x, np.ones_like(x[:, :1])], axis=1)


def by_box(settings: Any, functions: Any, a: Any, b: Any) -> Any:
    """A run: the integral of the function, or of its derivative."""
    options = dict(settings["options"])
    rule = _Rule(functions[0], options.pop("rule"), a, b)
    if SEEN not in settings:
        found = _sp.cubature(_places, a, b, rule=rule, **options)
        names = ("error", "status", "subdivisions", "regions")
        others = {name: getattr(found, name) for name in names}
        error = float(np.max(found.error, initial=0.0))
        return found.estimate, int(found.status == "converged"), (error,), others
    tolerance = _tolerance(rule, a, b, options)
    options |= {"rtol": 0.0, "atol": tolerance}
    found = _sp.cubature(_places, a, b, rule=rule, **options)
    y, success = found.estimate[settings[SEEN] :], found.status == "converged"
    return y if success else y * np.nan, int(success), (0.0,), {}


# Divisions before the size of a derivative is known, and the part of the largest
# component that smaller ones need not reach.
_FEW, _SMALL = 3, 1e-8


def _tolerance(rule: Any, a: Any, b: Any, options: Any) -> Any:
    """A part of the integral of a derivative's size, since the sum may be zero."""
    few = {"rtol": 0.0, "atol": 0.0, "max_subdivisions": _FEW}
    found = _sp.cubature(_places, a, b, rule=rule, **(options | few))
    size = sum(np.abs(region.estimate) for region in found.regions)
    size = np.maximum(size, _SMALL * np.max(size, initial=0.0))
    return options["atol"] + options["rtol"] * size
