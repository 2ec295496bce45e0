"""The rotation that takes vectors nearest to others (Wahba's problem)."""

from __future__ import annotations

from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._arrays import arrays, concrete
from rules_scipy._axes import concat
from rules_scipy._functions import is_traced
from rules_scipy.linalg._systems import det
from rules_scipy.spatial._lengths import cross, root

from ._dominant import attitude
from ._quaternions import matrix, of_rotvec, product, rotated

__all__ = ["aligned"]


def aligned(
    a: Any, b: Any, weights: Any, *, wants_sensitivity: bool
) -> tuple[Any, ...]:
    """The quaternion, the root of the weighted squares that are left, and sensitivity.

    Args:
        a: `(n, 3)` or `(3,)`.
        b: Like `a`.
        weights: `(n,)`, or None. One may be infinite, if it can be read.
        wants_sensitivity: Whether it is computed.
    """
    # Before the weights become an array of a framework, which may be traced.
    infinite = _infinite(weights)
    a, b, w = arrays(a, b, weights)
    a, b = (x[None, :] if len(x.shape) == 1 else x for x in (a, b))
    xp = rc.array_namespace(a, b)
    if a.shape != b.shape or a.shape[-1] != 3:
        message = f"Expected `a` and `b` of equal shapes, got {a.shape} and {b.shape}"
        raise ValueError(message)
    first = 0 if a.shape[0] == 1 else infinite
    w = xp.ones_like(a[:, 0]) if w is None else w
    if first is not None:
        q, w = _about_first(a, b, w, first)
    else:
        q = attitude(xp.matrix_transpose(w[:, None] * a) @ b)
    d = a - rotated(q, b)
    left = root(xp.sum(w * xp.sum(d * d, axis=-1), axis=-1))
    if not wants_sensitivity:
        return q, left
    return q, left, _sensitivity(a, b, w, q)


def _infinite(w: Any) -> int | None:
    """The number of the infinite weight; None: there is none."""
    known = None if w is None else concrete(rc.ignore_derivatives(w))
    if known is None or not np.isinf(known).any():
        return None
    return int(np.argmax(np.isinf(known)))


def _sensitivity(a: Any, b: Any, w: Any, q: Any) -> Any:
    """By symmetric functions of the singular values of B = Σ w a bᵀ."""
    xp = rc.array_namespace(a)
    m = xp.matrix_transpose(w[:, None] * a) @ b
    one = xp.sum(matrix(q) * m)
    kappa = 0.5 * (one * one - xp.sum(m * m))
    zeta = kappa * one - det(m)
    eye = xp.eye(3, dtype=m.dtype, device=getattr(m, "device", None))
    return xp.mean(w) / zeta * (kappa * eye + m @ xp.matrix_transpose(m))


def _about_first(a: Any, b: Any, w: Any, first: int) -> tuple[Any, Any]:
    """The vector `first` exactly, the others by a turn about it."""
    xp = rc.array_namespace(a)
    n = a.shape[0]
    others = [i for i in range(n) if i != first]
    axis = _unit(a[first])
    q = _least(_unit(b[first]), axis)
    if not others:
        return q, xp.where(xp.isinf(w), xp.zeros_like(w), w)
    rest = np.asarray(others)
    own, c, weight = a[rest], rotated(q, b[rest]), w[rest]
    along = xp.sum(c * axis, axis=-1) * xp.sum(own * axis, axis=-1)
    sine = xp.sum(weight * xp.sum(cross(c, own) * axis, axis=-1))
    cosine = xp.sum(weight * (xp.sum(c * own, axis=-1) - along))
    turn = of_rotvec(xp.atan2(sine, cosine) * axis)
    return product(turn, q), xp.where(xp.isinf(w), xp.zeros_like(w), w)


def _unit(x: Any) -> Any:
    return x / rc.array_namespace(x).sqrt(rc.array_namespace(x).sum(x * x))


def _least(b: Any, a: Any) -> Any:
    """The rotation of the least angle that takes one unit vector to another.

    For opposite ones there are many: the one SciPy takes has no derivative.
    """
    xp = rc.array_namespace(a, b)
    # One and the cosine, as a vector: torch's tangent of half a number is in double.
    real = 0.5 * xp.sum((a + b) ** 2, axis=-1, keepdims=True)
    opposite = rc.ignore_derivatives(real) < 1e-20
    if is_traced(opposite):
        real = nan_unless(~opposite, real)
    elif opposite:
        message = (
            "align_vectors of one vector with its opposite has no derivative, since "
            "many rotations take it there. Give a second vector."
        )
        raise rc.UnsupportedError(message)
    q = concat([cross(b, a), real])
    return q / xp.sqrt(xp.sum(q * q))
