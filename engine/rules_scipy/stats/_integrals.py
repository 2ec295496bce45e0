r"""Distribution functions without a closed form, as integrals of the density.

$F(z) = \int_a^z f$ and its complement by the double-exponential rule (Takahasi and
Mori, 1974) from $z$ outward: with the parameters inside, so that its derivatives in
them are those of the integrand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import rules_core as rc
from rules_scipy.special._arrays import where

from ._support import support_of

__all__ = ["tail_integrals"]

_COUNT = 60
_STEP = 0.065
_U = _STEP * np.arange(-_COUNT, _COUNT + 1)
# Half-line: s = exp(π/2 sinh u).
_HALF = np.exp(math.pi / 2 * np.sinh(_U))
_HALF_WEIGHTS = _STEP * _HALF * math.pi / 2 * np.cosh(_U)
# Unit interval, from its left end: s = 1 / (1 + exp(-π sinh u)).
_UNIT = 1 / (1 + np.exp(-math.pi * np.sinh(_U)))
_UNIT_WEIGHTS = _STEP * math.pi * np.cosh(_U) * _UNIT * _UNIT[::-1]


def tail_integrals(dist: Any, z: Any, shapes: Any) -> tuple[Any, Any]:
    """`cdf` and `sf` at `z`: the smaller one by an integral, the other is its rest."""
    ends = support_of(dist.ends, shapes, z)
    middle = _middle(dist, shapes, z, ends)
    low = rc.ignore_derivatives(z) < middle
    left = _outward(dist, where(low, z, middle), dist.ends[0], -1.0, shapes)
    right = _outward(dist, where(low, middle, z), dist.ends[1], 1.0, shapes)
    return where(low, left, 1 - right), where(low, 1 - left, right)


def _middle(dist: Any, shapes: Any, z: Any, ends: Any) -> Any:
    """A point between both tails, a constant."""
    found = (
        dist.formulas["middle"](*shapes) if "middle" in dist.formulas else ends.inner
    )
    return rc.ignore_derivatives(found + 0 * z)


def _outward(dist: Any, z: Any, end: float, sign: float, shapes: Any) -> Any:
    xp = rc.array_namespace(z)
    z, *shapes = [x[..., None] for x in xp.broadcast_arrays(z, *shapes)]
    if math.isfinite(end):
        nodes, weights = _like(xp, _UNIT, z), _like(xp, _UNIT_WEIGHTS, z)
        length = sign * (end - z)
    else:
        nodes, weights = _like(xp, _HALF, z), _like(xp, _HALF_WEIGHTS, z)
        length = 1.0 + 0 * z
    at = z + sign * length * nodes
    # Where the density vanishes, its derivatives may be quotients of zeros.
    seen = rc.ignore_derivatives(
        dist.density("pdf", *map(rc.ignore_derivatives, (at, *shapes)))
    )
    known = xp.isfinite(seen) & (seen > 0)
    if math.isfinite(end):  # a node that rounds to the end, where logarithms are not
        known = known & (rc.ignore_derivatives(at) != end)
    values = where(known, dist.density("pdf", where(known, at, z), *shapes), 0.0)
    return xp.sum(length * weights * values, axis=-1)


def _like(xp: Any, values: Any, like: Any) -> Any:
    return xp.asarray(values, dtype=like.dtype)
