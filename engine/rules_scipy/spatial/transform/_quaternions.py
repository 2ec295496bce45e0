"""Unit quaternions `(..., 4)`, the real part last, and what they stand for.

Functions of an angle are written as functions of its square, by series near zero: so
all their derivatives are exact at the identity.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._axes import concat
from rules_scipy.spatial._lengths import root, sign, size

from ._dominant import attitude

__all__ = [
    "arc",
    "canonical_sign",
    "conjugate",
    "half_angle",
    "magnitude",
    "matrix",
    "normalised",
    "of_matrix",
    "of_mrp",
    "of_orthogonal",
    "of_rotvec",
    "mrp",
    "product",
    "rolled",
    "rotated",
    "rotvec",
    "series",
]


def normalised(q: Any) -> Any:
    """`q / |q|`."""
    xp = rc.array_namespace(q)
    return q / xp.sqrt(xp.sum(q * q, axis=-1, keepdims=True))


def rolled(q: Any, *, scalar_first: bool, back: bool = False) -> Any:
    """`q` with the real part moved to the end, or `back` to the front."""
    if not scalar_first:
        return q
    parts = [q[..., -1:], q[..., :-1]] if back else [q[..., 1:], q[..., :1]]
    return concat(parts, axis=-1)


def canonical_sign(q: Any) -> Any:
    """The factor that makes the last component that is not zero positive."""
    q = rc.ignore_derivatives(q)
    xp = rc.array_namespace(q)
    x, y, z, w = (sign(q[..., i]) for i in range(4))
    first = xp.where(w != 0, w, xp.where(x != 0, x, xp.where(y != 0, y, z)))
    return xp.where(first < 0, -xp.ones_like(w), xp.ones_like(w))[..., None]


def conjugate(q: Any) -> Any:
    """The inverse of a unit quaternion."""
    return concat([-q[..., :3], q[..., 3:]], axis=-1)


def product(p: Any, q: Any) -> Any:
    """First the rotation of `q`, then that of `p`."""
    xp = rc.array_namespace(p, q)
    a, b, c, d = (p[..., i] for i in range(4))
    x, y, z, w = (q[..., i] for i in range(4))
    parts = [
        d * x + a * w + b * z - c * y,
        d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w,
        d * w - a * x - b * y - c * z,
    ]
    return xp.stack(parts, axis=-1)


# functions of a square


def series(s: Any, coefficients: Any) -> Any:
    """`Σ cₖ sᵏ`."""
    total = 0.0 * s + coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * s + c
    return total


_HALF_SINE = [(-1) ** k / (2 ** (2 * k + 1) * factorial(2 * k + 1)) for k in range(12)]
_HALF_COSINE = [(-1) ** k / (4**k * factorial(2 * k)) for k in range(12)]
_ARC = [(-1) ** k / (2 * k + 1) for k in range(18)]


def arc(s: Any, w: Any) -> Any:
    """`atan2(√s, w) / √s`."""
    xp = rc.array_namespace(s)
    small = rc.ignore_derivatives((16.0 * s < w * w) & (w > 0))
    one = xp.ones_like(s)
    near = xp.where(small, w, one)
    short = xp.where(small, s, xp.zeros_like(s)) / (near * near)
    n = xp.sqrt(xp.where(small, one, s))
    far = xp.atan2(n, xp.where(small, one, w)) / n
    return xp.where(small, series(short, _ARC) / near, far)


def half_angle(s: Any) -> tuple[Any, Any]:
    """`sin(θ / 2) / θ` and `cos(θ / 2)` for `s = θ²`."""
    xp = rc.array_namespace(s)
    small = rc.ignore_derivatives(s < 1.0)
    angle = xp.sqrt(xp.where(small, xp.ones_like(s), s))
    near = xp.where(small, s, xp.zeros_like(s))
    scale = xp.where(small, series(near, _HALF_SINE), xp.sin(angle / 2.0) / angle)
    return scale, xp.where(small, series(near, _HALF_COSINE), xp.cos(angle / 2.0))


def of_rotvec(r: Any) -> Any:
    """The quaternion of a rotation vector `(..., 3)`."""
    xp = rc.array_namespace(r)
    scale, last = half_angle(xp.sum(r * r, axis=-1, keepdims=True))
    return concat([r * scale, last], axis=-1)


def rotvec(q: Any) -> Any:
    """The rotation vector `(..., 3)`, of an angle up to π.

    At π it jumps: the derivative is that of SciPy's branch.
    """
    xp = rc.array_namespace(q)
    q = q * canonical_sign(q)
    v = q[..., :3]
    return v * 2.0 * arc(xp.sum(v * v, axis=-1, keepdims=True), q[..., 3:])


def magnitude(q: Any) -> Any:
    """The angle, from zero to π; at both ends it has a kink, with derivative zero."""
    xp = rc.array_namespace(q)
    n = root(xp.sum(q[..., :3] * q[..., :3], axis=-1))
    return 2.0 * xp.atan2(n, size(q[..., 3]))


# matrices


def matrix(q: Any) -> Any:
    """`(..., 3, 3)`."""
    xp = rc.array_namespace(q)
    x, y, z, w = (q[..., i] for i in range(4))
    # Doubled as a vector: torch's tangent of a number times 2.0 is in double.
    twice = 2.0 * q
    x2, y2, z2 = (twice[..., i] for i in range(3))
    rows = [
        [x * x - y * y - z * z + w * w, x2 * y - z2 * w, x2 * z + y2 * w],
        [x2 * y + z2 * w, w * w - x * x + y * y - z * z, y2 * z - x2 * w],
        [x2 * z - y2 * w, y2 * z + x2 * w, w * w - x * x - y * y + z * z],
    ]
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def rotated(q: Any, v: Any, *, inverse: bool = False) -> Any:
    """The vectors `(..., 3)` rotated."""
    m = matrix(q)
    if inverse:
        m = rc.array_namespace(m).matrix_transpose(m)
    return (m @ v[..., None])[..., 0]


def of_matrix(m: Any) -> Any:
    """The quaternion of the rotation nearest to a matrix of positive determinant."""
    good = rc.array_namespace(m).linalg.det(rc.ignore_derivatives(m)) > 0
    return attitude(nan_unless(good[..., None, None], m))


def of_orthogonal(m: Any) -> Any:
    """The quaternion of a matrix that is a rotation, by SciPy's choice of formula."""
    xp = rc.array_namespace(m)
    entry = [[m[..., i, j] for j in range(3)] for i in range(3)]
    # No numbers times or plus Python's: see `matrix`.
    twice, one = 2.0 * m, xp.ones_like(m[..., 0, 0])
    trace = entry[0][0] + entry[1][1] + entry[2][2]
    skew = [entry[(i + 2) % 3][(i + 1) % 3] - entry[(i + 1) % 3][(i + 2) % 3]
            for i in range(3)]  # fmt: skip
    rows = []
    for i in range(3):
        row = [
            one - trace + twice[..., i, i] if i == j else entry[j][i] + entry[i][j]
            for j in range(3)
        ]
        rows.append(xp.stack([*row, skew[i]], axis=-1))
    rows.append(xp.stack([*skew, one + trace], axis=-1))
    sizes = xp.stack([entry[0][0], entry[1][1], entry[2][2], trace], axis=-1)
    choice = xp.argmax(rc.ignore_derivatives(sizes), axis=-1)[..., None]
    q = rows[3]
    for i in range(3):
        q = xp.where(choice == i, rows[i], q)
    return normalised(q)


# modified Rodrigues parameters


def of_mrp(p: Any) -> Any:
    """The quaternion of modified Rodrigues parameters `(..., 3)`."""
    xp = rc.array_namespace(p)
    s = xp.sum(p * p, axis=-1, keepdims=True)
    return concat([2.0 * p, 1.0 - s], axis=-1) / (1.0 + s)


def mrp(q: Any) -> Any:
    """Modified Rodrigues parameters `(..., 3)`, of length up to one."""
    xp = rc.array_namespace(q)
    last = rc.ignore_derivatives(q[..., 3:])
    side = xp.where(last < 0, -xp.ones_like(last), xp.ones_like(last))
    return side * q[..., :3] / (1.0 + side * q[..., 3:])
