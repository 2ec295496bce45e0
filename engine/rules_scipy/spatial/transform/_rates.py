"""Angular rates of a rotation vector that moves, and the equations of a spline.

Functions of an angle are written as functions of its square, by series near zero.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import rules_core as rc
from rules_scipy._axes import concat
from rules_scipy.spatial._lengths import cross

from ._quaternions import series

__all__ = ["acceleration", "blocks", "skew", "times", "to_rate", "to_vector"]


def skew(r: Any) -> Any:
    """The matrices of cross products with vectors `(..., 3)`."""
    xp = rc.array_namespace(r)
    x, y, z = (r[..., i] for i in range(3))
    zero = xp.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def times(a: Any, x: Any) -> Any:
    """Products of matrices and vectors."""
    return (a @ x[..., None])[..., 0]


# functions of θ², with the coefficients of their series


def _alternating(*shift: int) -> list[float]:
    """Of Σ (-1)ᵏ s^k (number) / (2 k + shift)!."""
    return [(-1) ** k / factorial(2 * k + shift[0]) for k in range(14)]


# (1 - cos θ) / θ² and (θ - sin θ) / θ³.
_VERSINE, _SINE = _alternating(2), _alternating(3)
# (1 - θ / 2 cot (θ / 2)) / θ²: |B₂ₖ| / (2 k)! of Bernoulli's numbers.
_COTANGENT = [
    1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000,
    1 / 74724249600, 3617 / 10670622842880000, 43867 / 5109094217170944000,
    174611 / 802857662698291200000, 77683 / 14101100039391805440000,
    236364091 / 1693824136731743669452800000,
    657931 / 186134520519971831808000000,
]  # fmt: skip


def _split(s: Any) -> tuple[Any, Any, Any]:
    """Whether a square is small; the square if so, and the angle if not."""
    xp = rc.array_namespace(s)
    small = rc.ignore_derivatives(s < 1.0)
    near = xp.where(small, s, xp.zeros_like(s))
    return small, near, xp.sqrt(xp.where(small, xp.ones_like(s), s))


def _square(r: Any) -> Any:
    return rc.array_namespace(r).sum(r * r, axis=-1)[..., None]


def _pair(r: Any) -> tuple[Any, Any]:
    """(1 - cos θ) / θ² and (θ - sin θ) / θ³."""
    xp = rc.array_namespace(r)
    small, near, angle = _split(_square(r))
    one = (1.0 - xp.cos(angle)) / angle**2
    two = (angle - xp.sin(angle)) / angle**3
    one = xp.where(small, series(near, _VERSINE), one)
    return one, xp.where(small, series(near, _SINE), two)


def to_rate(r: Any) -> Any:
    """The matrix from the slope of a rotation vector to the angular rate."""
    one, two = _pair(r)
    s = skew(r)
    return _identity(s) - one[..., None] * s + two[..., None] * (s @ s)


def to_vector(r: Any) -> Any:
    """The inverse of `to_rate`."""
    xp = rc.array_namespace(r)
    small, near, angle = _split(_square(r))
    far = (1.0 - 0.5 * angle / xp.tan(0.5 * angle)) / angle**2
    k = xp.where(small, series(near, _COTANGENT), far)[..., None]
    s = skew(r)
    return _identity(s) + 0.5 * s + k * (s @ s)


def _identity(s: Any) -> Any:
    return rc.array_namespace(s).eye(
        3, dtype=s.dtype, device=getattr(s, "device", None)
    )


def acceleration(r: Any, dr: Any) -> Any:
    """The angular acceleration without that of the vector.

    With a = (1 - cos θ) / θ² and b = (θ - sin θ) / θ³ as functions of θ², and p the
    cross product of r and its slope: -2 a' (r . dr) p + 2 b' (r . dr) r x p + b dr x p.
    """
    xp = rc.array_namespace(r, dr)
    small, near, angle = _split(_square(r))
    one = (-angle * xp.sin(angle) - 2.0 * (xp.cos(angle) - 1.0)) / angle**4
    two = (-2.0 * angle + 3.0 * xp.sin(angle) - angle * xp.cos(angle)) / angle**5
    one = xp.where(small, series(near, _slope(_VERSINE, -2.0)), one)
    two = xp.where(small, series(near, _slope(_SINE, 2.0)), two)
    p = cross(r, dr)
    along = xp.sum(r * dr, axis=-1)[..., None]
    return along * (one * p + two * cross(r, p)) + _pair(r)[1] * cross(dr, p)


def _slope(coefficients: list[float], factor: float) -> list[float]:
    return [factor * k * c for k, c in enumerate(coefficients)][1:]


# the equations of a spline


def blocks(back: Any, forth: Any, dt: Any) -> Any:
    """The block tridiagonal matrix of the rates at inner times, as a dense one."""
    xp = rc.array_namespace(back)
    n = dt.shape[0] - 1
    zero = xp.zeros_like(back[0])
    eye = _identity(back)
    rows = []
    for i in range(n):
        row = [zero] * n
        row[i] = eye * (4.0 / dt[i] + 4.0 / dt[i + 1])
        if i > 0:
            row[i - 1] = 2.0 * back[i] / dt[i]
        if i < n - 1:
            row[i + 1] = 2.0 * forth[i + 1] / dt[i + 1]
        rows.append(concat(row, axis=1))
    return concat(rows, axis=0)
